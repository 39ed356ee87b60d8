// World: a small cluster in plain numbers, with every rule that a demand can be judged by.
//
// Nodes, running pods and one or two demands are values of this file alone: the generator draws them, `documents`
// writes them as manifests for the engine, and the judge solves them exhaustively. Nothing here knows the engine's
// model.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace reprieve::worlds {

using Json = nlohmann::json;

// What a world may be drawn with; the table of results has a line for each.
enum class Rule : std::uint8_t {
    kHostAffinity,
    kZoneAffinity,
    kHostAntiAffinity,
    kZoneAntiAffinity,
    kHostSpread,
    kZoneSpread,
    kPorts,
    kStrictBudgets,
    kBudgets,
    kGangVictims,
    kTwoDemands,
};
inline constexpr int kRules = 11;
[[nodiscard]] const char* to_text(Rule rule);

// The label that says where a rule looks: every node is a host of its own, most are in a zone.
enum class Level : std::uint8_t { kHost, kZone };

// A required term of pod affinity, or of anti-affinity, to pods with that label.
struct Near {
    bool anti = false;
    Level level = Level::kHost;
    int app = 0;
    friend bool operator==(const Near&, const Near&) = default;
};

// A hard constraint of topology spread over pods with that label.
struct Spread {
    Level level = Level::kHost;
    int max_skew = 1;
    int min_domains = 0;  // 0: not written
    int app = 0;
    friend bool operator==(const Spread&, const Spread&) = default;
};

// What a pod asks for and is, apart from its name and place: pods with equal traits are interchangeable.
struct Traits {
    int app = 0;  // label `app`
    int cpu = 1;
    int priority = 0;
    int port = 0;  // host port; 0: none
    std::vector<Near> near;
    std::vector<Spread> spreads;
    friend bool operator==(const Traits&, const Traits&) = default;
};

struct WorldPod {
    std::string name;
    Traits traits;
    int node = -1;  // -1: it waits
    int gang = -1;
    int start = 0;  // seconds after the world began
    bool is_protected = false;
};

// How the pods of a group may be taken: Volcano's rule (surplus, else whole), or a core group's disruption mode.
enum class GangKind : std::uint8_t { kVolcano, kCoreAll, kCoreSingle };

struct WorldGang {
    std::string name;
    int min = 1;
    GangKind kind = GangKind::kVolcano;
};

struct WorldNode {
    std::string name;
    int zone = 0;  // -1: in no zone
    int cpu = 4;
    int pods = 110;
};

// When the worlds begin: 2026-01-01T00:00:00Z, in seconds.
inline constexpr std::int64_t kBegin = 1767225600;

struct WorldBudget {
    int app = 0;
    int allowed = 0;
};

struct World {
    std::uint64_t number = 0;
    std::vector<Rule> rules;
    std::vector<WorldNode> nodes;
    std::vector<WorldPod> pods;
    std::vector<WorldGang> gangs;
    std::vector<WorldBudget> budgets;
    bool strict_budgets = false;
};

// Somebody who wants room: a pending pod by itself, or a gang of pending pods.
struct WorldDemand {
    std::string name;       // "default/x"
    int gang = -1;          // -1: one pod
    std::vector<int> pods;  // all that wait; of a gang at least `min` must be placed
    int min = 1;
    int priority = 0;
};
// In the order in which a cycle serves them.
[[nodiscard]] std::vector<WorldDemand> demands_of(const World& world);

// As the engine reads it.
[[nodiscard]] std::vector<Json> documents(const World& world);
[[nodiscard]] Json config(const World& world);

// A world is told by its number alone.
[[nodiscard]] World draw_world(std::uint64_t number);

}  // namespace reprieve::worlds
