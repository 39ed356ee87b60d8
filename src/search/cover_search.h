// CoverSearch: the cheapest set of units of one domain for members that are alike, by branch and bound.
//
// Each step relaxes what is undecided: term by term, the largest values that are still needed (priority, broken gangs,
// queues), then the sum of the rest by a dynamic program over the nodes. What the relaxation picks is made whole and
// tried for real; where it paid only for part of a unit, that unit is decided either way. Units that are alike in
// shape, cost and nodes are decided together. Work is counted, not timed: the same input gives the same answer.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "search/cost_scale.h"
#include "search/gang_victims.h"
#include "search/give_rules.h"
#include "search/slot_cover.h"

namespace reprieve {

class CoverSearch {
public:
    // REQUIRES: nobody is taken, and the owner counts members instead of placing them.
    CoverSearch(GangVictims& owner, std::span<const std::uint32_t> forced);

    // False: the numbers are too large or too many for it.
    [[nodiscard]] bool usable() const { return usable_; }
    // No set of units costs less. REQUIRES: usable().
    [[nodiscard]] std::optional<Cost> bound();
    // Improves `best` and returns what no set costs less than; that is best's cost if the search ended by itself.
    [[nodiscard]] Cost run(std::optional<GangChoice>& best, std::int64_t budget);
    // The last run ended by itself.
    [[nodiscard]] bool finished() const { return !open_bound_; }
    // In about as many microseconds: what the cover did, and pods taken and given back.
    [[nodiscard]] std::int64_t work() const { return cover_->work() + tried_; }

private:
    using States = std::vector<UnitState>;
    struct Relaxed {
        Cost bound;
        SlotCover::Choice choice;
    };

    // What the terms before one that does not add up weigh at least, if none of those before that is dearer than
    // settled.
    struct Floor {
        std::size_t term = 0;
        Wide weight = 0;
        bool free = false;  // whoever is left adds nothing to it
    };
    // What the units weigh in the terms before one.
    struct Before {
        std::vector<Wide> weights;
        SlotCover::Shares shares;
    };
    struct Settled {
        States states;  // with those put aside who cost more
        Cost bound;     // of the terms settled so far
        std::vector<Floor> floors;
    };

    // Open splits: what a gang offers pod by pod, though it cannot spare all of it.
    struct Spares {
        std::vector<std::uint32_t> units;  // SAFE ones of one gang
        std::int32_t whole = -1;
        std::size_t most = 0;  // of them that may go alone
        bool counted = true;   // any set of no more than that may go: no sub-groups say otherwise
        Wide price = 0;        // what each of them costs more, and each that may go alone gives back (cover_prices.cc)
        Wide most_price = 0;
        // The gang that goes whole has no pods here but these: then its price may be higher (cover_flow.cc).
        bool linked = false;
        Wide highest = 0;  // that the price may be then
    };

    void build_cover();
    void add_devices(CountedClaims& claims,
                     std::size_t first_dim,
                     std::span<const std::int32_t> place_of,
                     std::vector<SlotCover::Place>& places);
    void build_rules();
    void build_scale();
    void build_classes();
    [[nodiscard]] std::optional<Relaxed> relax(const States& decided);
    // Terms that do not add up, one after another (cover_settle.cc).
    void settle_largest(Settled& settled);
    [[nodiscard]] Floor settle_before(std::size_t term, Settled& settled);
    // Keeps out whoever is not needed for the smallest value of the floor's term; writes that value.
    void keep_lowest(const Floor& floor, Settled& settled);
    void drop_queues(const Floor& floor, Settled& settled);
    [[nodiscard]] bool still_serves(const States& states, const Floor& floor);
    // Of any set, where what is left weighs this much.
    [[nodiscard]] Wide least_weight(const Settled& settled, Wide weight) const;
    [[nodiscard]] Wide weight_of_gone(const States& states, const std::vector<Wide>& weights) const;

    [[nodiscard]] std::int64_t lowest_value(std::size_t term, const States& states) const;

    // Whether enough can go, by the rules.
    [[nodiscard]] bool serves(const States& states);
    void descend(States states, const Cost& inherited);
    // One of those that were taken last stays, others make up for it; as long as that is cheaper (cover_exchange.cc).
    void exchange();
    void exchange_one(std::uint32_t unit);
    // The units of this list that are made of the pods of another one's choice.
    [[nodiscard]] std::vector<std::uint32_t> same_here(const GangChoice& other) const;
    // Part of the best set is decided anew, another part each time, for that much work.
    void decide_anew(std::int64_t budget);
    void leave_open(const Cost& bound);
    enum class Attempt {
        kMade,
        kMadeWithOthers,  // more than was picked had to go
        kForbidden,       // a gang cannot spare so much, or a quota does not let it go
        kUnseen,          // by a rule that the arithmetic does not know
    };
    [[nodiscard]] Attempt attempt(const States& states, const SlotCover::Choice& choice);
    [[nodiscard]] Attempt take_and_try(const States& states, const SlotCover::Choice& choice);
    [[nodiscard]] std::vector<std::uint32_t> picked(const States& states, const SlotCover::Choice& choice) const;
    [[nodiscard]] bool take_overdrawn_whole(const States& states, std::vector<std::uint32_t>& units) const;
    [[nodiscard]] bool add_by_rules(const States& states, std::vector<std::uint32_t>& units) const;
    void give_back(std::vector<std::uint32_t>& units) const;
    [[nodiscard]] bool spares_hold(const std::vector<std::uint32_t>& units) const;
    [[nodiscard]] bool spares_hold(const std::vector<bool>& gone) const;
    using Question = GiveRules::Question;
    // Whom to decide next; nullopt: everybody is.
    [[nodiscard]] std::optional<Question> next_question(const States& states, const SlotCover::Choice& choice) const;
    void build_spares();
    // Open splits: prices for going, so that a gang does not give more than it can spare for nothing (cover_prices.cc).
    void set_prices();
    void adjust_prices(const SlotCover::Choice& choice, const States& states, std::int64_t rate);
    [[nodiscard]] std::vector<Wide> priced_weights() const;
    [[nodiscard]] Wide refund(const States& states) const;
    // Better shares and prices, for no more than that work (cover_flow.cc).
    void share_by_flow(const States& states, std::int64_t most_work);
    [[nodiscard]] bool step_prices(const SlotCover::Flow& flow, const States& states, Wide distance);
    [[nodiscard]] std::vector<SlotCover::Bonus> bonuses(const States& states) const;
    [[nodiscard]] Wide bonus_of(const Spares& spares, const States& states) const;
    [[nodiscard]] Wide unpaid(const States& states) const;
    // The same for one step of the search, with other prices: a better bound, and what to try and to ask.
    struct Known {
        Wide cost = 0;                           // what the rest weighs at least
        const std::function<void(Wide)>& write;  // the bound of that
    };
    void relax_by_flow(const States& states, const States& decided, Relaxed& relaxed, const Known& known);
    // Without those who add to this term, who break a gang, no choice serves, whatever else it costs; what is so at
    // first stays so.
    [[nodiscard]] bool must_break(std::size_t term);
    [[nodiscard]] bool overdraws_always(const States& states);
    [[nodiscard]] bool may_go_whole(const Spares& spares, const States& states) const;
    // Open splits: keeps whoever its gang cannot spare any more; false if it has lost too many.
    [[nodiscard]] bool keep_unspared(States& states) const;
    void let_go(States& states, std::uint32_t unit) const;
    void let_stay(States& states, std::uint32_t unit) const;

    GangVictims& owner_;
    bool usable_ = false;
    bool by_amounts_ = false;               // no other rule decides who may go and what is enough
    std::vector<std::uint32_t> entangled_;  // units that free claimed devices only together with others
    GiveRules rules_;
    bool rules_known_ = true;
    bool possible_ = true;  // by the rules
    std::optional<SlotCover> cover_;
    std::optional<CostScale> scale_;
    std::vector<Wide> weights_;
    SlotCover::Shares shares_;  // of the weights with their prices
    SlotCover::Shares whole_shares_;
    States root_;
    std::vector<std::uint32_t> class_of_;                  // units alike in all that counts
    std::vector<std::vector<std::uint32_t>> along_of_;     // units that go with this one
    std::vector<Spares> spares_;                           // of gangs that cannot spare all of theirs
    std::vector<Spares> near_;                             // the same with the prices of the last step
    std::array<std::optional<Before>, kMaxTerms> before_;  // by term, once it was asked for
    std::optional<bool> must_break_;
    std::vector<std::uint32_t> made_;  // the best set that was made here
    bool is_new_ = false;              // and was not exchanged yet
    bool by_flow_ = false;             // shares by flow are better
    std::vector<Wide> links_;          // by unit: what a bonus pays of it
    std::optional<GangChoice>* best_ = nullptr;
    std::int64_t most_work_ = 0;
    std::int64_t tried_ = 0;          // pods that were taken for real, to see
    std::optional<Cost> open_bound_;  // of what was left undone
};

}  // namespace reprieve
