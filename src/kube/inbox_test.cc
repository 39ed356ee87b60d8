#include "kube/inbox.h"

#include <gtest/gtest.h>

#include <thread>

namespace reprieve {
namespace {

Parcel bytes(std::size_t count) { return {.content = Parcel::Content::kEvents, .bytes = std::string(count, 'x')}; }

TEST(Inbox, FullAtTheLimitAndRoomAgainAtHalfOfIt) {
    int room = 0;
    Inbox inbox(100);
    inbox.on_room([&] { ++room; });
    inbox.put(bytes(60));
    EXPECT_FALSE(inbox.full());
    inbox.put(bytes(60));
    EXPECT_TRUE(inbox.full());
    Parcel out;
    ASSERT_TRUE(inbox.take(out, {}));
    EXPECT_EQ(room, 0) << "60 of 100 are still there";
    ASSERT_TRUE(inbox.take(out, {}));
    EXPECT_EQ(room, 1);
    EXPECT_FALSE(inbox.take(out, {}));
}

TEST(Inbox, NobodyIsToldOfRoomWhoWasNotRefused) {
    int room = 0;
    Inbox inbox(100);
    inbox.on_room([&] { ++room; });
    inbox.put(bytes(200));
    Parcel out;
    ASSERT_TRUE(inbox.take(out, {}));
    EXPECT_EQ(room, 0);
}

TEST(Inbox, ParcelsKeepTheirOrderAcrossThreads) {
    Inbox inbox(1U << 20U);
    std::thread writer([&] {
        for (std::size_t i = 0; i < 1000; ++i)
            inbox.put({.content = Parcel::Content::kEvents, .kind = i});
    });
    for (std::size_t i = 0; i < 1000; ++i) {
        Parcel out;
        ASSERT_TRUE(inbox.take(out, {60'000'000}));
        EXPECT_EQ(out.kind, i);
    }
    writer.join();
}

TEST(Inbox, ClosingEndsTheWait) {
    Inbox inbox(100);
    std::thread closer([&] { inbox.close(); });
    Parcel out;
    EXPECT_FALSE(inbox.take(out, {60'000'000}));
    EXPECT_TRUE(inbox.closed());
    closer.join();
}

}  // namespace
}  // namespace reprieve
