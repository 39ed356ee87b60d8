// Soft evictions: victims that were asked to go by an annotation and are left to an operator.
//
// Until they are gone they count as leaving. Where a deadline is configured, those that are still there after it are
// deleted, as long as whom they were to make room for still waits.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "actions/desk.h"

namespace reprieve {

struct SoftEviction {
    std::string job;  // "ns/name" of whom it makes room for
    std::string initiator;
    Time since;
};

// None: nobody asked the pod to go, or not in words we understand.
[[nodiscard]] std::optional<SoftEviction> soft_eviction_of(const Pod& pod);

// Adds to the plan the deletion of those whose time is over. `waiting`: everybody who waits for a place.
void delete_overdue(Desk& desk, const ActionConfig& action, std::span<const Demand> waiting);

}  // namespace reprieve
