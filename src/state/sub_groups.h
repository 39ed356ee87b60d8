// Sub-groups of a gang: which policy a pod falls under, and which sub-group of it the pod is in.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "state/snapshot.h"

namespace reprieve {

// The sub-group of a pod: the policy's place in the gang's list and the pod's values of its label keys.
struct SubGroupKey {
    std::int32_t policy = -1;  // -1: in no sub-group
    std::vector<StringId> values;
    explicit operator bool() const { return policy >= 0; }
    friend bool operator==(const SubGroupKey&, const SubGroupKey&) = default;
};

[[nodiscard]] SubGroupKey sub_group_of(const Snapshot& snapshot, PodId pod);

// Order of sub-groups of one policy: by the numeric value of their labels where they are numbers, else by text.
[[nodiscard]] bool sub_group_before(const Snapshot& snapshot, const SubGroupKey& a, const SubGroupKey& b);

}  // namespace reprieve
