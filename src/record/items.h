// What the loop hands to the recorder, in the order in which it happened: plain data, made on the loop's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actions/cycle.h"
#include "base/time.h"
#include "model/plan.h"
#include "model/world.h"

namespace reprieve {

// What a pod's lifeline is made of.
struct PodSight {
    std::string uid;
    std::string node;
    Time created;
    Time started;  // where it runs
    Time leaving;
    bool runs = false;
    std::string controller;  // its name; empty: none
};

struct FactItem {
    Time at;
    std::string key;  // "Pod team/a", "PodGroup.scheduling.volcano.sh team/g"
    std::shared_ptr<const FactText> text;
    std::optional<PodSight> pod;  // of pods that are there
};

struct BeliefItem {
    Time at;
    std::string key;
    std::string overlay;  // empty: as told
};

// What the cluster knows of a demand at the moment of its decision, and later nobody does.
struct DemandFacts {
    std::string queue;
    std::optional<std::int32_t> priority;
    std::string lost;  // work that goes with its victims, a JSON object; empty: none
};

struct CycleItem {
    Time at;
    Plan plan;
    std::vector<Eviction> news;            // evictions that the plan before did not ask for
    std::vector<std::string> news_queues;  // those of the victims, in the same order
    std::map<std::string, DemandFacts> demands;
    std::string use;  // of each queue, a JSON object; empty: not told now
    CycleInputs inputs;
    Duration planning;
    Duration whole;
    std::int64_t changes = 0;
    bool sound = true;
    bool acted = false;
};

struct StepItem {
    Time at;
    SinkReport report;
};

// Everything that was there at the start has been told.
struct ReadyItem {
    Time at;
};

// What happened between two moments is known only by its result.
struct MissedItem {
    Time at;  // the later one
    Time from;
    std::string why;
};

using RecordItem = std::variant<FactItem, BeliefItem, CycleItem, StepItem, ReadyItem, MissedItem>;

[[nodiscard]] inline Time time_of(const RecordItem& item) {
    return std::visit([](const auto& one) { return one.at; }, item);
}

}  // namespace reprieve
