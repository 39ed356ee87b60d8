#include "kube/inbox.h"

namespace reprieve {

bool Inbox::full() {
    const std::lock_guard lock(mutex_);
    if (bytes_ < limit_) return false;
    refused_ = true;
    return true;
}

void Inbox::put(Parcel parcel) {
    {
        const std::lock_guard lock(mutex_);
        bytes_ += parcel.bytes.size();
        parcels_.push_back(std::move(parcel));
    }
    arrived_.notify_one();
}

void Inbox::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    arrived_.notify_all();
}

bool Inbox::closed() {
    const std::lock_guard lock(mutex_);
    return closed_;
}

bool Inbox::take(Parcel& out, Duration wait) {
    bool has_room = false;
    {
        std::unique_lock lock(mutex_);
        const auto ready = [this] { return closed_ || !parcels_.empty(); };
        if (wait.us > 0) arrived_.wait_for(lock, std::chrono::microseconds(wait.us), ready);
        if (closed_ || parcels_.empty()) return false;
        out = std::move(parcels_.front());
        parcels_.pop_front();
        bytes_ -= out.bytes.size();
        // Not at the first free byte: reading on and off for every parcel costs more than it brings.
        if (refused_ && bytes_ <= limit_ / 2) {
            refused_ = false;
            has_room = true;
        }
    }
    if (has_room && on_room_) on_room_();
    return true;
}

}  // namespace reprieve
