// FixedWalk: units of a VictimProblem that go by a fixed order, not by the least cost.
//
// Whoever walks says who is next and when it is enough; the walk says what goes with it, and whether the problem allows
// it. In the end units come back, last taken first, as long as whoever walks does not miss what they gave. So nobody
// stays gone who could have stayed alone; but the set need not be the cheapest, and nothing is proven about it.
//
// A step is what goes at once. In a list whose splits are settled that is the unit, and with a gang that goes whole its
// surplus. In an open list (open_split.h) the order of the walk settles them: a pod that its gang can spare at its turn
// goes alone, and one that it cannot spare takes the whole gang along. Such a step comes back as it went. Assume that
// part of it came back: more pods would be gone than the gang can spare, because the first of them was one too many.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "search/victim_problem.h"
#include "state/transaction.h"

namespace reprieve {

class FixedWalk {
public:
    struct Step {
        UnitKind kind = UnitKind::kPod;
        std::vector<std::uint32_t> units;  // a gang that goes whole stands behind its surplus
        std::uint32_t walker = 0;          // for whom it was taken
        std::uint32_t number = 0;          // of all that were ever taken
    };

    // REQUIRES: the problem has no vote; nobody of it is evicted yet.
    FixedWalk(Transaction& tx, const Snapshot& snapshot, const VictimProblem& problem);

    [[nodiscard]] bool has(std::uint32_t unit) const { return gone_[unit]; }
    // What would go if this unit did; nullopt: the rules forbid it. REQUIRES: it is not gone.
    [[nodiscard]] std::optional<Step> step_with(std::uint32_t unit) const;
    // Somebody of the step breaks a disruption budget at this moment.
    [[nodiscard]] bool breaks_budget(const Step& step) const;
    // Takes it; its number.
    std::uint32_t take(Step step, std::uint32_t walker = 0);
    // Brings back what `is_spared` says yes to, of what this walker took, last taken first. It is asked while the units
    // are back, with their pods.
    void give_back(const std::function<bool(std::span<const PodId>)>& is_spared, std::uint32_t walker = 0);

    // What is gone, in the order in which it was taken.
    [[nodiscard]] std::span<const Step> steps() const { return steps_; }
    [[nodiscard]] std::vector<PodId> pods_of(std::span<const std::uint32_t> units) const;
    // The step as one unit: its gang, its priority, how many pods. What it breaks of budgets is not told.
    [[nodiscard]] Unit as_unit(const Step& step) const;

private:
    [[nodiscard]] bool is_allowed(std::span<const std::uint32_t> units) const;
    [[nodiscard]] bool is_spareable(const Unit& unit) const;
    void add_along(std::uint32_t whole, Step& step) const;
    void move(std::span<const std::uint32_t> units, bool out);
    [[nodiscard]] bool bring_back(std::span<const std::uint32_t> units,
                                  const std::function<bool(std::span<const PodId>)>& is_spared);

    Transaction& tx_;
    const Snapshot& snapshot_;
    const VictimProblem& problem_;
    const UnitList& list_;
    std::vector<bool> gone_;           // by unit
    std::vector<std::int64_t> spent_;  // by linear rule of the problem
    std::vector<std::vector<std::uint32_t>> along_of_;
    std::vector<Step> steps_;
    std::uint32_t taken_ = 0;
};

}  // namespace reprieve
