// WorkBudget: how much one search may look at.
//
// Work is counted, never timed, so that the same input gives the same answer on every machine. One unit is about one
// microsecond: a set of units looked at, a pod evicted or restored in a dry run, a member placed. One object follows a
// demand from the first bound to the last dry run; a search that finds it exhausted stops, and claims no proof.
#pragma once

#include <algorithm>
#include <cstdint>

namespace reprieve {

class WorkBudget {
public:
    explicit WorkBudget(std::int64_t most) : left_(most) {}

    // `search.budget` is for every 16 nodes that a demand may use, up to 16 times.
    [[nodiscard]] static WorkBudget for_nodes(std::int64_t budget, std::size_t nodes) {
        constexpr std::size_t kNodesPerBudget = 16;
        constexpr std::size_t kMostBudgets = 16;
        return WorkBudget(budget *
                          static_cast<std::int64_t>(std::clamp<std::size_t>(nodes / kNodesPerBudget, 1, kMostBudgets)));
    }

    void spend(std::int64_t work) { left_ -= work; }
    [[nodiscard]] bool exhausted() const { return left_ <= 0; }
    [[nodiscard]] std::int64_t left() const { return left_; }

private:
    std::int64_t left_;
};

}  // namespace reprieve
