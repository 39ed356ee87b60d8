// How a preemptionPolicy is written, wherever an object has one.
#pragma once

#include <string_view>
#include <utility>

#include "model/pod.h"

namespace reprieve {

inline constexpr std::pair<std::string_view, PreemptionPolicy> kPreemptionPolicies[] = {
    {"PreemptLowerPriority", PreemptionPolicy::kLowerPriority}, {"Never", PreemptionPolicy::kNever}};

}  // namespace reprieve
