// What an annotation says that asks a pod to go: a soft eviction, which leaves the deletion to an operator.
#pragma once

#include <optional>
#include <string>

#include "model/pod.h"

namespace reprieve {

struct SoftEviction {
    static constexpr const char* kAnnotation = "scheduling.koordinator.sh/soft-eviction";
    static constexpr const char* kOurs = "reprieve";

    std::string job;        // "ns/name" of whom it makes room for; empty: nobody in particular
    std::string initiator;  // kOurs: it was us
    Time since;
};

// None: nobody asked the pod to go, or not in words we understand.
[[nodiscard]] std::optional<SoftEviction> soft_eviction_of(const Pod& pod);

}  // namespace reprieve
