#include "kube/event_book.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

using What = EventAdvice::What;

constexpr Time time_at(std::int64_t seconds) { return {1'800'000'000'000'000 + seconds * 1'000'000}; }

TEST(EventBook, TheSameNewsIsSentOnceAndThenCounted) {
    EventBook book;
    const EventAdvice first = book.advise("uid FailedScheduling", "pod", "no room", time_at(0));
    EXPECT_EQ(first.what, What::kCreate);
    for (int second = 1; second < 300; ++second)
        EXPECT_EQ(book.advise("uid FailedScheduling", "pod", "no room", time_at(second)).what, What::kSkip);
    const EventAdvice again = book.advise("uid FailedScheduling", "pod", "no room", time_at(300));
    EXPECT_EQ(again.what, What::kCountUp);
    EXPECT_EQ(again.name, first.name);
    EXPECT_EQ(again.count, 301);
}

TEST(EventBook, OtherNewsWaitsALittle) {
    EventBook book;
    const EventAdvice first = book.advise("uid FailedScheduling", "pod", "1 node full", time_at(0));
    EXPECT_EQ(book.advise("uid FailedScheduling", "pod", "2 nodes full", time_at(1)).what, What::kSkip);
    const EventAdvice later = book.advise("uid FailedScheduling", "pod", "2 nodes full", time_at(20));
    EXPECT_EQ(later.what, What::kCreate);
    EXPECT_NE(later.name, first.name);
}

TEST(EventBook, PodsAndReasonsAreKeptApart) {
    EventBook book;
    EXPECT_EQ(book.advise("a Scheduled", "a", "x", time_at(0)).what, What::kCreate);
    EXPECT_EQ(book.advise("b Scheduled", "b", "x", time_at(0)).what, What::kCreate);
    EXPECT_EQ(book.advise("a Preempted", "a", "x", time_at(0)).what, What::kCreate);
    EXPECT_EQ(book.size(), 3U);
}

TEST(EventBook, WhatTheServerForgotIsCreatedAnew) {
    EventBook book;
    static_cast<void>(book.advise("a Scheduled", "a", "x", time_at(0)));
    book.forget("a Scheduled");
    EXPECT_EQ(book.advise("a Scheduled", "a", "x", time_at(1)).what, What::kCreate);
    EXPECT_EQ(book.advise("a Scheduled", "a", "x", time_at(4000)).what, What::kCreate)
        << "older than the server keeps Events";
}

TEST(EventBook, WhatHappenedOnceIsForgottenAfterAWhile) {
    EventBook book;
    for (int second = 0; second < 10'000; ++second) {
        const std::string pod = std::to_string(second);
        EXPECT_EQ(book.advise(pod + " Scheduled", pod, "x", time_at(second)).what, What::kCreate);
        EXPECT_NE(book.advise("waits FailedScheduling", "waits", "no room", time_at(second)).what,
                  second == 0 ? What::kSkip : What::kCreate);
    }
    EXPECT_LE(book.size(), 1'000U);
}

TEST(EventBook, OfTooManyTheOlderHalfIsForgotten) {
    EventBook book;
    for (int i = 0; i < 130'000; ++i)
        static_cast<void>(book.advise(std::to_string(i), "p", "n", time_at(i / 2'000)));
    EXPECT_LE(book.size(), 64'000U);
    EXPECT_EQ(book.advise("129999", "p", "n", time_at(66)).what, EventAdvice::What::kSkip) << "the newest are known";
}

}  // namespace
}  // namespace reprieve
