// NodeVictims: who must go so that one pod fits on one node.
//
// First the seed's walk gives a set: remove every unit that may be taken; the pod must then pass all filters and its
// queue's limits; add the units back, those that break a budget first, each from most to least important; whoever
// cannot come back is a victim. Where evictions can do harm (plugins/monotone.h) units are removed one by one in victim
// order until the pod passes, and then added back. Where only amounts decide, the same is done by arithmetic, without
// touching the state.
//
// Then the search over sets (set_search.h) looks for a cheaper set among all units whose going can help on this node,
// those elsewhere included, and proves the result if it ends before its budget. Where the walk finds nothing and that
// is no proof, the same search decides whether there is a set at all.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plugins/cost.h"
#include "search/in_the_way.h"
#include "search/placement_stands.h"
#include "search/proof.h"
#include "search/set_search.h"
#include "search/units.h"
#include "search/victim_problem.h"

namespace reprieve {

struct VictimRules {
    Attack attack;
    PdbMode pdb = PdbMode::kBestEffort;
    const CostOrder* order = nullptr;
    WorkResource work;                 // of lostWork; none: not counted
    const DemandNeed* need = nullptr;  // what cost is measured by; it outlives the search
    bool improve = true;
};

// Who asks for the room: a pending pod anywhere, or a running pod that waits for more room on its own node.
struct Asker {
    PodId pod;
    std::vector<Resources::Amount> amounts;  // what must be free
    bool resize = false;
    // Only the rules that look at the node alone are asked (Filters::check_local): what the node must give at least,
    // wherever other pods are. Depends on nothing but the node.
    bool alone = false;
};

struct Victims {
    Cost cost;
    std::optional<Proof> proof;         // no cheaper set exists on this node
    bool searched = false;              // found by the search over sets: the walk finds nothing here
    std::vector<std::uint32_t> chosen;  // positions in `list.units`, from most to least important
    UnitList list;
};

// For which shortages an answer holds. What the walk by amounts finds on a node depends on what is missing there, and
// on that only by comparisons with sums of what pods free: it is the same from one such sum up to the next. So pods of
// different shapes share it.
class ShortageRange {
public:
    static constexpr std::size_t kMost = 4;  // dimensions that are short; beyond that nothing is shared

    // Of one dimension that is short: what may be missing.
    struct Span {
        Dim dim;
        std::int64_t least = 1;
        std::int64_t most = INT64_MAX;
    };

    void start_anew() { count_ = 0; }
    // Any amount of this dimension is missing.
    void add(Dim dim) {
        if (count_ < kMost) spans_[count_] = {.dim = dim};
        ++count_;
    }
    // The answer holds only where at most this amount is missing, or more than that.
    void keep_up_to(std::size_t which, std::int64_t amount) {
        if (which < kMost) spans_[which].most = std::min(spans_[which].most, amount);
    }
    void keep_above(std::size_t which, std::int64_t amount) {
        if (which < kMost) spans_[which].least = std::max(spans_[which].least, amount + 1);
    }
    // False: there were too many dimensions to keep.
    [[nodiscard]] bool is_whole() const { return count_ <= kMost; }
    // REQUIRES: is_whole.
    [[nodiscard]] std::span<const Span> spans() const { return std::span(spans_).first(count_); }

private:
    std::array<Span, kMost> spans_;
    std::size_t count_ = 0;
};

class NodeVictims {
public:
    // REQUIRES: nothing is tried out at this moment. `budget` is shared by all searches of one demand.
    NodeVictims(Session& session, const VictimRules& rules, const Asker& asker, WorkBudget& budget);

    // A set of victims; false: none was found (see `proven_none`).
    [[nodiscard]] bool find(NodeId node, Victims& out);
    // Replaces the set by the cheapest one, within the budget.
    void improve(NodeId node, Victims& in_out);
    // The next best set on this node that leaves out one of these; nullopt: they are needed, every one.
    [[nodiscard]] std::optional<Cost> runner_up(NodeId node, const Victims& victims);
    // No set of victims on this node costs less. REQUIRES: find(node, victims) was just true. `range`: is narrowed to
    // the shortages for which the bound is the same.
    [[nodiscard]] Cost lower_bound(NodeId node, const Victims& victims, ShortageRange* range = nullptr) const;
    // Nothing but what is missing tells two such pods of one priority and queue apart.
    [[nodiscard]] bool shares_looks() const { return by_shortage_; }
    // What is missing on the node lies within. REQUIRES: shares_looks.
    [[nodiscard]] bool is_missing_within(const ShortageRange& range, NodeId node) const;
    // The shortages for which the last `find` says the same to any pod of this priority and queue; nullopt: it may
    // depend on more.
    [[nodiscard]] const std::optional<ShortageRange>& holds_for() const { return holds_for_; }

    // The last `find` that was false proved that no set of victims lets the pod in there.
    [[nodiscard]] const std::optional<Proof>& proven_none() const { return none_; }
    // Whoever goes there, it costs no less.
    [[nodiscard]] Cost least_cost(NodeId node) const;

    // Somebody goes, wherever it is.
    [[nodiscard]] Cost least_anywhere() const;
    [[nodiscard]] bool alone() const { return asker_.alone; }

    // The same from amounts alone, without a look at the state of other nodes: at least as many pods of the node go as
    // the largest need to cover what is short, and none of the victims of the highest priority started after the
    // youngest pod that may go.
    [[nodiscard]] Cost quick_bound(NodeId node) const;

    // Writes down which of these victims go with a claim that they share and the pod needs.
    void name_claims(NodeId node, Victims& victims);

    // Whether `find` and `lower_bound` leave the state alone, so that others may read it meanwhile.
    [[nodiscard]] bool read_only() const { return amounts_only_ && limit_is_arithmetic() && !minds_others(); }
    // Whether the pod passes there with what is evicted at this moment.
    [[nodiscard]] bool passes(NodeId node) const;
    // The monotone part of the same.
    [[nodiscard]] bool may_pass(NodeId node) const;
    // Who is in the pod's way elsewhere, and whether it may be taken.
    [[nodiscard]] const InTheWay& in_the_way() const { return way_; }
    [[nodiscard]] bool may_take(PodId pod) const { return finder_.takeable(pod, rules_.attack); }
    // Evicting more can only help the pod.
    [[nodiscard]] bool monotone() const { return monotone_; }

private:
    // What is missing: of a dimension on the node, or of what a queue must give back.
    struct Shortage {
        Dim dim;
        std::int32_t rule = -1;  // of `limit_rules_`; -1: on the node
        std::int64_t missing = 0;
    };
    class Amounts;
    class DryRun;

    [[nodiscard]] bool limit_is_arithmetic() const { return !limit_binds_ || limit_rules_.has_value(); }
    [[nodiscard]] bool minds_others() const { return !session_.keep_in_mind.empty(); }
    // Pods of other nodes can be in the way.
    [[nodiscard]] bool looks_elsewhere() const { return !way_.empty() || !minded_.empty(); }
    // Whether amounts on this node, and what queues must give back, are all that decides.
    [[nodiscard]] bool counts_on(NodeId node) const;
    static constexpr std::size_t kMostShortages = 16;
    struct Shortages {
        std::array<Shortage, kMostShortages> items;
        std::size_t count = 0;
        void add(const Shortage& what) { items[count++] = what; }
        [[nodiscard]] auto begin() const { return items.begin(); }
        [[nodiscard]] auto end() const { return items.begin() + static_cast<std::ptrdiff_t>(count); }
        [[nodiscard]] std::size_t size() const { return count; }
        [[nodiscard]] const Shortage& operator[](std::size_t i) const { return items[i]; }
    };
    [[nodiscard]] Shortages shortages(NodeId node) const;
    [[nodiscard]] std::int64_t freed(const UnitList& list, const Unit& unit, NodeId node, const Shortage& what) const;

    void list_local(NodeId node, UnitList& list);
    // Everybody whose going can help; false: there are too many to list.
    [[nodiscard]] bool list_all(NodeId node, bool open, UnitList& list);
    // Budgets: see node_budgets.cc.
    void mark_violations(NodeId node, UnitList& list);
    [[nodiscard]] bool is_here(NodeId node, const UnitList& list, const Unit& unit) const;
    void charge_after_own(NodeId node, UnitList& list, std::span<const std::uint32_t> elsewhere);
    // Charges units of other nodes as if each of them went alone; whether that makes any of them cheaper.
    [[nodiscard]] bool forgive_elsewhere(NodeId node, UnitList& list);
    // Takes over what was found with those charges if it is cheaper in truth; the proof, if its charges are the truth.
    [[nodiscard]] std::optional<Proof> adopt_lenient(NodeId node,
                                                     const UnitList& lenient,
                                                     bool open,
                                                     const SetAnswer& answer,
                                                     const std::optional<Cost>& best,
                                                     std::optional<Victims>& found);
    void order_for_return(UnitList& list);
    void spare_worthier_members(const UnitList& list);

    [[nodiscard]] bool walk(NodeId node, Victims& out);
    [[nodiscard]] bool walk_once(NodeId node, Victims& out);
    [[nodiscard]] bool within_budgets(const Victims& victims) const;
    [[nodiscard]] bool walk_by_amounts(NodeId node, Victims& out);
    [[nodiscard]] bool walk_by_dry_run(NodeId node, Victims& out);
    [[nodiscard]] bool remove_all_then_add_back(NodeId node, Victims& out);
    [[nodiscard]] bool remove_until_it_passes(NodeId node, Victims& out);
    void add_back(NodeId node, Victims& out);
    [[nodiscard]] bool stays_put(const UnitList& list, std::uint32_t unit) const;
    void bar_over_budget(const UnitList& list);

    // The cheapest set below the limit, whatever pods of a gang are called its surplus.
    struct Searched {
        std::optional<Victims> found;
        std::optional<Proof> proof;
    };
    [[nodiscard]] Searched search(NodeId node, const Cost* limit, WorkBudget& budget);
    [[nodiscard]] SetAnswer search_list(
        NodeId node, const UnitList& list, bool open, const Cost* limit, WorkBudget& budget);
    // Pods that a gang here could spare are in no unit of the list.
    [[nodiscard]] bool leaves_out(NodeId node, const UnitList& list) const;
    [[nodiscard]] bool interchangeable(const UnitList& list) const;
    [[nodiscard]] bool is_shared(const UnitList& list) const;
    [[nodiscard]] bool others_hold() const;
    void find_relief();
    [[nodiscard]] Pricing pricing() const;
    [[nodiscard]] bool claims_devices() const;
    [[nodiscard]] Cost cost_of(NodeId node, const UnitList& list, std::span<const std::uint32_t> chosen);
    [[nodiscard]] std::vector<const SharedClaims::Claim*> needed(NodeId node,
                                                                 const UnitList& list,
                                                                 std::span<const std::uint32_t> chosen,
                                                                 const SharedClaims& shared);

    Session& session_;
    const VictimRules& rules_;
    const Asker& asker_;
    WorkBudget& budget_;
    Candidate candidate_;
    UnitFinder finder_;
    bool amounts_only_ = false;
    bool monotone_ = true;
    bool limit_binds_ = false;
    std::optional<std::vector<GiveRule>> limit_rules_;  // what must be given for the limit, where rules can say it
    InTheWay way_;
    std::vector<PodId> minded_;  // pods in the way of placements that are kept in mind
    std::vector<PodId> relief_;  // pods under the same limit that are worth taking
    bool relief_complete_ = true;
    std::optional<SecondPass> second_;  // of a pending pod
    std::optional<Proof> none_;
    bool by_shortage_ = false;
    std::optional<ShortageRange> holds_for_;
    ShortageRange walked_;           // of the last walk by amounts
    PodId barred_;                   // for once, this one does not go
    std::vector<bool> over_budget_;  // strict: for the walk, by unit
    bool whatever_budgets_ = false;  // strict: the walk goes on past spent budgets, and its result is held against them
    bool complete_ = true;           // the list of the last walk had everybody
    std::vector<std::uint32_t> return_order_;
    std::vector<std::uint32_t> by_importance_;
    std::vector<PodId> pods_;
    std::vector<PodId> breakers_;  // of budgets, in the list that was marked last
    bool few_amounts_ = false;
};

}  // namespace reprieve
