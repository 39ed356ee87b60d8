// NodeVictims: who must go so that one pod fits on one node.
//
// The definition: remove every unit that may be taken; the pod must then pass all filters and its queue's limits; add
// the units back, those that break a budget first, each from most to least important; whoever cannot come back is a
// victim. Where only amounts of resources on the node decide, the same walk is done by arithmetic, without touching the
// state.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plugins/cost.h"
#include "search/units.h"

namespace reprieve {

struct VictimRules {
    Attack attack;
    PdbMode pdb = PdbMode::kBestEffort;
    const CostOrder* order = nullptr;
    Dim work;  // dimension of lostWork; none: not counted
    bool improve = true;
};

// Who asks for the room: a pending pod anywhere, or a running pod that waits for more room on its own node.
struct Asker {
    PodId pod;
    std::vector<Resources::Amount> amounts;  // what must be free
    bool resize = false;
};

struct Victims {
    Cost cost;
    bool exact = false;                 // no cheaper set exists on this node
    bool other_split = false;           // only other pods of a gang than its order's surplus make enough room
    std::vector<std::uint32_t> chosen;  // positions in `list.units`, from most to least important
    UnitList list;
};

class NodeVictims {
public:
    NodeVictims(Session& session, const VictimRules& rules, const Asker& asker);

    // The set that the definition gives, or one of another split where that is never enough. False: this node is no
    // candidate.
    [[nodiscard]] bool find(NodeId node, Victims& out);
    // Replaces the set by the cheapest one within a budget of steps. Sets `exact` if nothing cheaper can exist.
    void improve(NodeId node, Victims& in_out);
    // The next best set on this node that leaves out one of these; nullopt: they are needed, every one.
    [[nodiscard]] std::optional<Cost> runner_up(NodeId node, const Victims& victims);
    // No set of victims on this node costs less. REQUIRES: find(node, victims) was just true.
    [[nodiscard]] Cost lower_bound(NodeId node, const Victims& victims) const;

    // The last node was called no candidate although not everything was tried there.
    [[nodiscard]] bool uncertain() const { return uncertain_; }
    // Whoever goes there, it costs no less.
    [[nodiscard]] Cost least_cost(NodeId node) const;

    // Whether `find` and `lower_bound` leave the state alone, so that others may read it meanwhile.
    [[nodiscard]] bool read_only() const { return amounts_only_ && !limit_binds_; }
    // Whether pods on other nodes that are in the way (a zone-wide anti-affinity, a spread) may be taken too.
    void look_beyond_the_node(bool yes) { beyond_ = yes; }
    // Whether the pod passes there with what is evicted at this moment.
    [[nodiscard]] bool passes(NodeId node) const;
    // Whether amounts on this node are all that decides there.
    [[nodiscard]] bool counts_on(NodeId node) const;

    [[nodiscard]] Cost cost_of(const UnitList& list, std::span<const std::uint32_t> chosen) const;

private:
    friend class SubsetSearch;
    [[nodiscard]] bool gather(NodeId node, UnitList& list);
    [[nodiscard]] bool walk(NodeId node, Victims& out);
    // Only what costs less than `limit`.
    [[nodiscard]] Victims search_other_splits(NodeId node, UnitList& list, const Cost& limit, std::int64_t steps);
    void try_other_splits(NodeId node, Victims& in_out);
    // No set of the order's split is enough; one of another split may be.
    [[nodiscard]] bool find_other_split(NodeId node, Victims& out);
    // Pods that a gang here could spare are in no unit of the list.
    [[nodiscard]] bool leaves_out(NodeId node, const UnitList& list) const;
    [[nodiscard]] bool by_amounts(NodeId node, Victims& out);
    [[nodiscard]] bool by_dry_run(NodeId node, Victims& out);
    [[nodiscard]] std::vector<PodId> remote_pods(NodeId node, const Answer& answer) const;
    [[nodiscard]] std::vector<PodId> pods_under_limit() const;
    [[nodiscard]] bool beyond_limit_listed(const UnitList& list) const;
    void order_for_return(UnitList& list);
    [[nodiscard]] bool stays_put(const UnitList& list, std::uint32_t unit) const;
    [[nodiscard]] bool interchangeable(const UnitList& list) const;

    Session& session_;
    const VictimRules& rules_;
    const Asker& asker_;
    Candidate candidate_;
    UnitFinder finder_;
    bool amounts_only_ = false;
    bool limit_binds_ = false;
    bool beyond_ = false;
    bool uncertain_ = false;
    PodId barred_;  // for once, this one does not go
    std::vector<std::uint32_t> return_order_;
    std::vector<std::uint32_t> by_importance_;
};

}  // namespace reprieve
