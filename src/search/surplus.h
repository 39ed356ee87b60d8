// Surplus: which members of a gang may go one by one without leaving it short, of all, of a role or of a sub-group.
//
// A member that runs is no surplus because others have succeeded: the gang counts on what it has left.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "state/snapshot.h"
#include "state/sub_groups.h"

namespace reprieve {

// Whether the gang's pods go one by one, even those that it cannot spare.
[[nodiscard]] inline bool goes_pod_by_pod(const GangRow& gang) {
    return gang.fact != nullptr && gang.fact->disruption == DisruptionMode::kSingle;
}

class Surplus {
public:
    // `evicted`: its pods that are out at this moment and count nevertheless.
    Surplus(const Snapshot& snapshot, GangId gang, std::span<const PodId> evicted = {});

    // Takes the pod out of the surplus if it is in it. A gang that is short already gives everything.
    [[nodiscard]] bool take(PodId pod);

private:
    struct SubGroup {
        SubGroupKey key;
        std::int32_t live = 0;
        std::int32_t done = 0;   // have succeeded
        std::int32_t needs = 0;  // of the live ones, to be complete
        [[nodiscard]] bool is_ready() const { return live >= needs; }
    };

    [[nodiscard]] bool counts(PodId pod) const;
    [[nodiscard]] bool has_succeeded(PodId pod) const;
    void count_roles(const GangRow& gang);
    void count_sub_groups(const GangRow& gang);
    [[nodiscard]] bool take_from_sub_group(PodId pod);

    const Snapshot& snapshot_;
    std::span<const PodId> evicted_;
    const std::vector<SubGroupPolicy>* policies_ = nullptr;
    std::vector<SubGroup> subs_;
    std::int32_t global_ = 0;
    bool broken_ = false;
    std::vector<std::pair<StringId, std::int32_t>> roles_;
};

// Whether the gang keeps its minimums (of all, of roles, of sub-groups) when exactly these of its pods go. `evicted`
// are its pods that are out at this moment and would be back otherwise.
[[nodiscard]] bool can_spare(const Snapshot& snapshot,
                             GangId gang,
                             std::span<const PodId> gone,
                             std::span<const PodId> evicted);

}  // namespace reprieve
