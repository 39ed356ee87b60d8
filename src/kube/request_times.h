// RequestTimes: how long the API server took to answer, by method and status. Counted on the client's thread, read from
// any.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/time.h"

namespace reprieve {

// Requests of one method that ended with one status (0: without an answer).
struct RequestTime {
    static constexpr std::size_t kBuckets = 16;
    static constexpr std::int64_t kFirstBound =
        1000;  // microseconds; each bound is twice the one before, the last none
    std::array<std::uint64_t, kBuckets> buckets{};
    std::int64_t sum_us = 0;
    friend bool operator==(const RequestTime&, const RequestTime&) = default;
};

using RequestTable = std::map<std::pair<std::string, int>, RequestTime>;

class RequestTimes {
public:
    void note(const char* method, int status, Duration took) {
        const std::lock_guard lock(mutex_);
        RequestTime& time = table_[{method, status}];
        std::size_t bucket = 0;
        for (std::int64_t bound = RequestTime::kFirstBound; bucket + 1 < RequestTime::kBuckets && took.us > bound;
             bound *= 2)
            ++bucket;
        ++time.buckets[bucket];
        time.sum_us += took.us;
    }
    [[nodiscard]] RequestTable table() const {
        const std::lock_guard lock(mutex_);
        return table_;
    }

private:
    mutable std::mutex mutex_;
    RequestTable table_;
};

}  // namespace reprieve
