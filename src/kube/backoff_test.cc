#include "kube/backoff.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

constexpr BackoffLimits kLimits{{100}, {1'000}};

TEST(Backoff, DoublesUpToTheLimitWithARandomPart) {
    Jitter jitter(7);
    Backoff backoff(kLimits);
    for (const std::int64_t most : {100, 200, 400, 800, 1'000, 1'000}) {
        const Duration wait = backoff.next(jitter);
        EXPECT_GE(wait.us, most / 2);
        EXPECT_LE(wait.us, most);
    }
    backoff.reset();
    EXPECT_LE(backoff.next(jitter).us, 100);
}

TEST(Backoff, NeverEarlierThanTheServerAsks) {
    Jitter jitter(7);
    Backoff backoff(kLimits);
    for (int i = 0; i < 20; ++i) {
        const Duration wait = backoff.next(jitter, {5'000});
        EXPECT_GE(wait.us, 5'000);
        EXPECT_LE(wait.us, 6'250);
    }
}

TEST(Backoff, SameSeedSameWaits) {
    Jitter first(42);
    Jitter second(42);
    Backoff a;
    Backoff b;
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(a.next(first), b.next(second));
}

}  // namespace
}  // namespace reprieve
