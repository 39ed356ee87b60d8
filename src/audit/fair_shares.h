// FairShares: the runtime of every quota, worked out again from the facts, one resource at a time.
#pragma once

#include <cstdint>
#include <map>

#include "audit/case.h"

namespace reprieve {

class FairShares {
public:
    // REQUIRES: judged outlives it.
    explicit FairShares(const Case& judged) : judged_(judged) {}

    // REQUIRES: it is a quota.
    [[nodiscard]] std::int64_t runtime(QueueId quota, Dim dim);

private:
    const Case& judged_;
    std::map<Dim, std::map<QueueId, std::int64_t>> known_;
};

}  // namespace reprieve
