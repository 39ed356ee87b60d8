// QueueTrim: stops pods of one queue until what lives there is within a bound.
//
// Pods go in a fixed order: those within their disruption budgets first, then by lower rank, not yet started, lower
// priority, shorter run, name. A gang gives its surplus pod by pod; a pod that it cannot spare takes the gang along.
// Whoever turns out not to be needed comes back, last first. A bound speaks only of the resources it lists.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "actions/desk.h"
#include "search/units.h"

namespace reprieve {

class QueueTrim {
public:
    // `pods`: those of the queue that run. REQUIRES: desk and action outlive it.
    QueueTrim(Desk& desk, const ActionConfig& action, QueueId queue, std::span<const PodId> pods);

    struct Stage {
        const char* name;     // as the plan prints it
        const char* measure;  // "was granted", "deserves"
    };
    // Whether anybody had to go.
    bool stop_above(const Resources& bound, const Stage& stage);
    // Every pod stopped so far, by whichever stage, without which the queue is still within the bound.
    void give_back(const Resources& bound);

private:
    struct Member {
        PodId pod;
        Resources holds;
    };
    struct Stopped {
        UnitKind kind = UnitKind::kPod;
        GangId gang;
        std::vector<PodId> pods;
    };

    [[nodiscard]] Snapshot& snapshot() const { return desk_.snapshot(); }
    [[nodiscard]] bool goes_before(PodId a, PodId b) const;
    [[nodiscard]] Resources live_use() const;
    // Null: nothing is exceeded that this pod holds.
    [[nodiscard]] const Resources::Amount* exceeded_by(const Member& member, const Resources& bound) const;
    // The pods that go with this one, as the only unit of the list; false: it may not go.
    [[nodiscard]] bool find_unit(PodId pod, UnitList& out) const;
    void stop(const UnitList& list, const Stage& stage, const std::string& reason);
    [[nodiscard]] Resources held_in_queue(const std::vector<PodId>& pods) const;
    [[nodiscard]] bool may_return(const Stopped& unit) const;
    [[nodiscard]] std::string reason(const Resources::Amount& excess, const Resources& bound, const Stage& stage) const;

    Desk& desk_;
    const ActionConfig& action_;
    QueueId queue_;
    UnitFinder finder_;
    std::vector<Member> members_;  // in the order in which they go
    Resources live_;               // use of those that stay, while trimming
    std::vector<Stopped> stopped_;
};

}  // namespace reprieve
