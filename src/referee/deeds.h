// ToldDeed: what a scheduler says in an Event that it has done, and the moment in which it decided so.
//
// Events of one author with the very same eventTime, to the microsecond, are of one decision: Reprieve dates them by
// the plan. Like all events they are evidence, not an interface; what they say counts only where the objects agree.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace reprieve {

// Who decided, and when.
struct DecisionTime {
    std::string by;  // the reporting controller and instance
    Time at;
    friend auto operator<=>(const DecisionTime&, const DecisionTime&) = default;
};

struct ToldDeed {
    DecisionTime decided;
    std::string pod;  // "ns/name"
    std::string uid;
    std::string node;   // to which it was bound; empty: it was evicted
    std::string owner;  // of an eviction: for whom, "ns/name"
};

// Nothing: the event says neither that a pod was bound nor that it was evicted, or not when.
[[nodiscard]] std::optional<ToldDeed> deed_of_event(std::string_view event_json);

}  // namespace reprieve
