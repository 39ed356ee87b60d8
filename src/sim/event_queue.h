// EventQueue: what will happen in the embedded cluster, in the order of time; what happens at the same time happens in
// the order in which it was arranged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/id.h"
#include "base/time.h"

namespace reprieve {

using SlotId = Id<struct SlotTag>;

enum class EventKind : std::uint8_t { kPodStarts, kPodFinishes, kPodGone, kTimeline, kDeed };

struct Event {
    EventKind kind = EventKind::kPodStarts;
    SlotId slot;             // of the pod
    std::uint64_t mark = 0;  // of a pod: what was arranged last counts; else which entry of the timeline, which deed
};

class EventQueue {
public:
    void push(Time at, Event event) { events_.emplace(std::pair(at, next_++), event); }
    [[nodiscard]] std::optional<Time> next() const {
        return events_.empty() ? std::nullopt : std::optional(events_.begin()->first.first);
    }
    // The first event at or before `until`, with its time.
    [[nodiscard]] std::optional<std::pair<Time, Event>> pop(Time until) {
        if (events_.empty() || events_.begin()->first.first > until) return std::nullopt;
        const auto first = events_.begin();
        const std::pair<Time, Event> out(first->first.first, first->second);
        events_.erase(first);
        return out;
    }

private:
    std::map<std::pair<Time, std::uint64_t>, Event> events_;
    std::uint64_t next_ = 0;
};

}  // namespace reprieve
