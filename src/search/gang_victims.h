// GangVictims: who must go so that a gang fits together in one domain.
//
// The seed's five phases (bundles, sort, one vote, sort again, select and dry-run), then give back what is not needed.
// With `improve` a second way of choosing (node by node, the cheapest next slot) and an exact search within a budget
// may find a cheaper set; a lower bound says how good the result is. Where members are counted, the exact search is the
// cover (cover_search.h); where they are placed one by one, it is the search over sets (set_search.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/cost.h"
#include "plugins/victim_vote.h"
#include "search/bundles.h"
#include "search/domain_fit.h"
#include "search/open_split.h"
#include "search/set_search.h"
#include "search/victim_problem.h"

namespace reprieve {

struct GangRules {
    Attack attack;
    PdbMode pdb = PdbMode::kBestEffort;
    const CostOrder* order = nullptr;
    WorkResource work;
    bool improve = true;
    bool allow_whole = true;
    BundleRules bundles;
    VictimVote* vote = nullptr;  // null: whoever is a candidate may be taken
    bool vote_alone = false;     // candidates need not be legal all together, only those that are taken
    const std::vector<PodId>* breakers = nullptr;  // of budgets, where that is settled already
    const UnitList* settled = nullptr;             // for this list
    std::string_view means;  // what could free a node, for a refusal: "evicting pods of lower priority"
};

struct GangChoice {
    TopologySeat seat;
    UnitList list;
    std::vector<std::uint32_t> chosen;
    Cost cost;
    Cost bound;
    bool exact = false;
    std::optional<Cost> runner_up;  // the next best set that was looked at
};

class CoverSearch;

class GangVictims {
public:
    // The domain of `seat`, emptied of all that may be taken: can it hold the members at all?
    GangVictims(
        Session& session, Placer& placer, const GangRules& rules, std::span<const PodId> members, TopologySeat seat);

    [[nodiscard]] bool feasible() const { return feasible_; }
    // Why not: what the domain can free, and what it would need.
    [[nodiscard]] const std::string& binding() const { return binding_; }
    // The domain does not hold the members, whoever leaves.
    [[nodiscard]] bool too_small() const { return too_small_; }
    // Where it is not feasible: no set of victims in this domain lets the members in.
    [[nodiscard]] const std::optional<Proof>& proven_none() const { return none_; }
    // No set of victims in this domain costs less, whichever pods of a gang are called its surplus; or, after a search
    // with a limit, none costs less than the limit.
    [[nodiscard]] Cost bound() const;
    [[nodiscard]] const TopologySeat& seat() const { return seat_; }
    [[nodiscard]] std::size_t node_count() const {
        if (seat_.stands_for > 0) return seat_.stands_for;
        return seat_.domain.nodes.empty() ? session_.snapshot.nodes_by_name.size() : seat_.domain.nodes.size();
    }

    ~GangVictims();

    // REQUIRES: feasible(). Nullopt: the rules leave too little after all. The search is for what costs less than the
    // limit, if there is one; `budget` is its work, in about as many microseconds.
    [[nodiscard]] std::optional<GangChoice> find(std::int64_t budget, const Cost* limit);
    // Once more, for what costs less than the limit alone. REQUIRES: find().
    [[nodiscard]] std::optional<GangChoice> find_cheaper(std::int64_t budget, const Cost* limit);
    // One vote over all candidates kept units out that may go by themselves, or held the split of a gang's surplus:
    // what is proven speaks of the rest alone. A search with `vote_alone` speaks of all.
    [[nodiscard]] bool narrowed_by_vote() const { return narrowed_by_vote_; }
    // `find` found nothing, and that is proven.
    [[nodiscard]] bool ruled_out() const { return ruled_out_; }
    // The work that the last of them took.
    [[nodiscard]] std::int64_t spent() const { return spent_; }
    // What the seed's own walk would cost here, without a search. REQUIRES: feasible().
    [[nodiscard]] std::optional<Cost> plain_cost();

private:
    friend class CoverSearch;
    class Question;
    [[nodiscard]] bool is_too_small();
    [[nodiscard]] std::vector<PodId> pods_in_reach(std::span<const NodeId> nodes);
    void search_sets(std::optional<GangChoice>& best, std::int64_t budget);
    [[nodiscard]] std::string where() const;
    void assess();
    // While everybody is taken: it may make a difference which pods of a gang are its surplus. It does not where no
    // solution spares any of its pods in the domain.
    [[nodiscard]] bool splits_matter();
    // Every pod in the domain that a contested gang could lose is in a unit.
    [[nodiscard]] bool all_listed() const;
    [[nodiscard]] std::map<GangId, std::size_t> contest_sizes() const;
    [[nodiscard]] bool fits_with(PodId pod);
    [[nodiscard]] std::vector<bool> forced_mask() const;
    // Open splits: a gang that loses more than it can spare in every solution goes whole in every solution.
    void force_overdrawn();
    void open_splits();
    [[nodiscard]] bool counts_units() const;
    void search_other_splits(std::optional<GangChoice>& best, std::int64_t budget);
    void take_over_violations();
    [[nodiscard]] Cost least_cost() const;
    [[nodiscard]] bool suffice(std::span<const std::uint32_t> units);
    void search_exactly(std::optional<GangChoice>& best, std::int64_t budget);
    void settle_proof(std::optional<GangChoice>& best);
    template <class Search>
    void search_below(const Cost* limit, std::optional<GangChoice>& best, Search search);
    void describe_binding();
    [[nodiscard]] bool vote(std::span<const std::uint32_t> units);
    void apply_vote();
    void take(std::uint32_t unit);
    void give(std::uint32_t unit);
    void take_with_links(std::uint32_t unit, std::vector<std::uint32_t>& fresh);
    [[nodiscard]] bool take_if_allowed(std::uint32_t unit);
    [[nodiscard]] bool select_by_bundles();
    [[nodiscard]] bool select_by_slots();
    [[nodiscard]] bool next_slot(std::span<const std::uint32_t> units, std::vector<std::uint32_t>& out);
    void give_back();
    void settle_alike(GangChoice& best);
    void settle_ties(GangChoice& best);
    void find_runner_up(std::optional<GangChoice>& best);
    [[nodiscard]] bool stays_put(std::uint32_t unit) const;
    void reset();
    void keep_best(std::optional<GangChoice>& best);
    // Of a set that is not cheaper than the best: it may be the next best.
    static void note_runner_up(std::span<const std::uint32_t> units, const Cost& cost, GangChoice& best);
    [[nodiscard]] std::vector<std::uint32_t> taken_units() const;
    [[nodiscard]] Cost cost_of(std::span<const std::uint32_t> units);
    [[nodiscard]] bool claims_devices() const;
    // Claims that units share (shared_claims.h).
    void hold(DeviceClaimId claim, bool held);
    [[nodiscard]] std::vector<const SharedClaims::Claim*> needed(std::span<const std::uint32_t> units,
                                                                 const SharedClaims& shared);
    void name_claims(GangChoice& choice);

    Session& session_;
    Placer& placer_;
    const GangRules& rules_;
    TopologySeat seat_;
    DomainFit fit_;
    // On a node of the domain. A member of a gang may be bound to a node that is gone.
    [[nodiscard]] bool is_inside(PodId pod) const {
        const NodeId node = session_.snapshot.pods[pod].node;
        return node && in_domain_[node.index()];
    }
    std::vector<bool> in_domain_;
    DemandNeed need_;
    UnitList list_;
    std::vector<Bundle> bundles_;
    std::vector<std::uint32_t> order_;       // units in the order of their bundles
    std::vector<std::uint32_t> importance_;  // from most to least important, budget breakers first
    std::vector<std::uint32_t> forced_;      // known to be in every solution
    std::vector<bool> taken_;
    std::vector<std::uint32_t> rank_;                   // of each unit: its place in `importance_`
    std::vector<std::uint32_t> place_in_order_;         // and in `order_`
    std::vector<std::vector<std::uint32_t>> along_of_;  // units that go with this one
    std::optional<std::uint32_t> barred_;               // for once, this one does not go
    Transaction::Checkpoint start_ = 0;
    bool feasible_ = false;
    bool monotone_ = true;
    bool all_in_reach_ = true;  // everybody whose going can help is in the list
    std::optional<Proof> none_;
    std::vector<bool> over_budget_;         // strict: for the walks, by unit
    std::optional<VictimProblem> problem_;  // of the list, once that is final
    std::string binding_;
    bool too_small_ = false;
    Cost bound_;
    std::unique_ptr<CoverSearch> cover_;  // where members are counted, for `improve`
    bool finished_ = false;               // the exact search left nothing open
    bool ruled_out_ = false;
    std::optional<Cost> learned_;  // by searching: no set costs less
    std::int64_t spent_ = 0;
    std::vector<PodId> breakers_;  // of budgets
    bool over_limit_ = false;
    bool contested_ = false;
    bool narrowed_by_vote_ = false;
    // The same domain with open splits, where that makes a difference.
    GangRules open_rules_;
    std::unique_ptr<GangVictims> open_;
};

}  // namespace reprieve
