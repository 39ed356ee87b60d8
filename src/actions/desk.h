// Desk: what every action of a cycle works with.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "actions/demands.h"
#include "actions/plan_builder.h"
#include "search/placement.h"
#include "search/proof.h"
#include "search/session.h"
#include "state/demand.h"

namespace reprieve {

struct Desk {
    Session& session;
    Placer& placer;
    PlanBuilder& plan;
    // Others were promised room and are not served yet: no gang takes more than its minimum.
    bool surplus_waits = false;

    [[nodiscard]] Snapshot& snapshot() const { return session.snapshot; }
    // The members of a gang that must come together, among those that some node does not refuse for good.
    [[nodiscard]] Mandatory members_of(const Demand& demand) const {
        return mandatory_members(snapshot(), demand, [this](PodId pod) { return placer.could_run(pod); });
    }
};

// What is known after trying to serve a demand.
struct Served {
    bool done = false;    // placed, or waiting for a place that is held
    std::string why_not;  // else: one sentence
    bool never = false;
    // No set of evictions that the action may make lets the demand in. Without it a refusal is `unknown`.
    std::optional<Proof> proof;
    // The action that speaks in `why_not`; none: allocate, or whatever holds for every action.
    std::optional<ActionKind> by = std::nullopt;
    // The gang has its minimum: no action speaks, whoever said so first.
    bool surplus_only = false;

    // The action evicts nobody for such a demand.
    [[nodiscard]] static Served not_mine(std::string why_not = "", std::optional<ActionKind> by = std::nullopt) {
        return {.why_not = std::move(why_not), .proof = Proof::nobody(), .by = by};
    }
    // Only members beyond the gang's minimum are left.
    [[nodiscard]] static Served surplus() {
        Served out = not_mine("its gang has its minimum; surplus members take idle room only");
        out.surplus_only = true;
        return out;
    }
    // Fewer members than must be placed could ever run; `allocate` says so. The literal algorithms claim nothing.
    [[nodiscard]] static Served lacks_members(bool improve) {
        Served out = not_mine();
        if (!improve) out.proof.reset();
        return out;
    }
};

// The group whose topology rule binds a demand: also a single pod's that is in a set without a minimum.
[[nodiscard]] GangId home_of(const Snapshot& snapshot, const Demand& demand);

// "ns/name" of whoever a demand is for: the gang where it has a minimum, else the pod.
[[nodiscard]] std::string owner_name(const Snapshot& snapshot, const Demand& demand);

}  // namespace reprieve
