// Inbox: raw bytes on their way from the network thread to the thread that decodes them.
//
// Bounded: who fills it asks `full` first and stops reading from the network; who empties it tells when there is room
// again. Whole list pages and whole lines of watches; nothing is cut in two.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>

#include "base/time.h"

namespace reprieve {

struct Parcel {
    enum class Content : unsigned char {
        kPage,    // a page of a list
        kEvents,  // lines of a watch
        kAbsent,  // the kind is not served (any more)
        kNudge    // nothing; whoever waits shall look around
    };
    Content content = Content::kNudge;
    std::size_t kind = 0;  // of the list of kinds
    bool first = false;    // page: of this list
    bool last = false;
    Duration missed;           // page: for so long changes may have been missed, since a watch could not go on
    Duration late;             // events: for so long none could come, since the watch before broke off
    std::string list_version;  // page: of the whole list
    std::string version;       // "scheduling.k8s.io/v1beta1", where `kind` has several
    std::string bytes;
};

class Inbox {
public:
    explicit Inbox(std::size_t limit_bytes) : limit_(limit_bytes) {}

    // Called on the reader's thread when there is room again after `full` said no.
    void on_room(std::function<void()> call) { on_room_ = std::move(call); }

    [[nodiscard]] bool full();
    void put(Parcel parcel);
    // No more waiting, now and later.
    void close();

    // Waits up to `wait` for the first parcel; false: there is none.
    [[nodiscard]] bool take(Parcel& out, Duration wait);
    [[nodiscard]] bool closed();

private:
    std::function<void()> on_room_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<Parcel> parcels_;
    std::size_t limit_;
    std::size_t bytes_ = 0;
    bool refused_ = false;
    bool closed_ = false;
};

}  // namespace reprieve
