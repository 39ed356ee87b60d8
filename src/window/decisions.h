// Decisions: a plan cut into what people ask about: for whom, who leaves, what is placed where, and the proof.
//
// A decision is everything that a plan does for one owner (a pod, a gang or a serving deployment). Its id is made from
// the plan's id, which is a digest of all inputs: the same decision has the same id on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve::window {

struct Decision {
    std::string id;
    std::string owner;  // "for"
    std::string action;
    Time at;
    std::int64_t cycle = 0;
    std::vector<Eviction> evictions;
    std::vector<Placement> placements;
    std::optional<Certificate> certificate;
    std::string outcome = "planned";  // or what history says: carriedOut, partly, dropped, superseded
    std::string started;              // RFC 3339; empty: not yet
    friend bool operator==(const Decision&, const Decision&) = default;
};

// In the order of owners, those that evict first.
[[nodiscard]] std::vector<Decision> decisions_of(const Plan& plan, std::int64_t cycle);

// The part of a decision's id that is its plan's.
[[nodiscard]] std::string decision_digest(const std::string& plan_id);

// What a decision is filtered and described by, as the cluster knows its owner.
struct OwnerFacts {
    std::string queue;
    std::optional<std::int32_t> priority;
    std::vector<std::string> pods;  // that it consists of
};
[[nodiscard]] OwnerFacts owner_facts(const Cluster& cluster, const std::string& owner);

}  // namespace reprieve::window
