// QueueTrim: stops pods of one queue until what lives there is within a bound.
//
// Pods go in a fixed order: those within their disruption budgets first, then by lower rank, not yet started, lower
// priority, shorter run, name. What goes with a pod, and whether the rules let it go, is the walk's to say (FixedWalk).
// Whoever turns out not to be needed comes back, last first. A bound speaks only of the resources it lists.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "search/fixed_walk.h"

namespace reprieve {

class QueueTrim {
public:
    static constexpr std::uint32_t kNoUnit = 0xFFFFFFFFU;

    // The walk over all queues that are trimmed, and why each of its steps was made.
    struct Round {
        FixedWalk& walk;
        std::vector<std::uint32_t> unit_of;  // by PodId; kNoUnit: the pod may not go
        bool strict_budgets = false;
        struct Reason {
            const char* stage;
            std::string text;
        };
        std::vector<Reason> reasons;  // by number of the step
    };

    // `pods`: those of the queue that run. REQUIRES: the round outlives it; `number` is the queue's own in it.
    QueueTrim(const Snapshot& snapshot, Round& round, std::uint32_t number, QueueId queue, std::span<const PodId> pods);

    struct Stage {
        const char* name;     // as the plan prints it
        const char* measure;  // "was granted", "deserves"
    };
    // Whether anybody had to go.
    bool stop_above(const Resources& bound, const Stage& stage);
    // Every step made so far, by whichever stage, without which the queue is still within the bound.
    void give_back(const Resources& bound);

private:
    struct Member {
        PodId pod;
        Resources holds;
    };

    [[nodiscard]] bool goes_before(PodId a, PodId b) const;
    [[nodiscard]] Resources live_use() const;
    // Null: nothing is exceeded that this pod holds.
    [[nodiscard]] const Resources::Amount* exceeded_by(const Member& member, const Resources& bound) const;
    [[nodiscard]] Resources held_in_queue(std::span<const PodId> pods) const;
    [[nodiscard]] std::string reason(const Resources::Amount& excess, const Resources& bound, const Stage& stage) const;

    const Snapshot& snapshot_;
    Round& round_;
    std::uint32_t number_;
    QueueId queue_;
    std::vector<Member> members_;  // in the order in which they go
    Resources live_;               // use of those that stay, while trimming
};

}  // namespace reprieve
