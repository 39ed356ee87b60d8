// Random worlds as manifests: nodes with zones, taints and devices; pods of every kind that a rule speaks of; gangs,
// queues and budgets; some pods leaving, some nominated. Drawn with rapidcheck, so a failing world shrinks.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace reprieve::property {

using Json = nlohmann::json;

struct WorldSize {
    int nodes = 5;
    int running = 14;
    int pending = 5;
};

// What a world is made of beyond amounts of cpu and memory.
struct WorldTaste {
    bool rules = true;  // ports, affinity, spread, volumes, taints, selectors
    bool devices = true;
    bool gangs = true;
    bool queues = true;
    bool moving = true;  // terminating and nominated pods
};

// Within [low, high].
[[nodiscard]] int draw(int low, int high);
// True once in `times`.
[[nodiscard]] bool rarely(int times);

[[nodiscard]] std::vector<Json> random_world(const WorldSize& size = {}, const WorldTaste& taste = {});

// Few nodes that gangs fill up, room that was promised, and more waiting than fits.
[[nodiscard]] std::vector<Json> filled_world();

// A running or pending pod of some kind; `node` empty: pending.
[[nodiscard]] Json random_pod(const std::string& name, const std::string& node, const WorldTaste& taste);
[[nodiscard]] Json random_node(const std::string& name, const WorldTaste& taste);

// Any other kind of object, under one of a few names: queues and quotas, groups and their parents, budgets, claims and
// volumes, classes, namespaces, controllers, serving deployments, racks.
[[nodiscard]] Json random_rarity();

// A SchedulerConfig without its header.
[[nodiscard]] Json random_config();

}  // namespace reprieve::property
