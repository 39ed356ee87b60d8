#include "kube/election.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

using Step = Election::Step;

constexpr Duration at(double seconds) { return {static_cast<std::int64_t>(seconds * 1e6)}; }
constexpr Time kWall{1'800'000'000'000'000};

ElectionOptions named(const char* identity) {
    ElectionOptions options;
    options.identity = identity;
    return options;
}

// The Lease object as the server keeps it: every write changes its version, and needs the last one.
struct Server {
    std::optional<LeaseRecord> lease;
    int version = 0;

    bool store(const Election::Todo& todo) {
        const bool allowed = todo.step == Step::kCreate ? !lease : lease && lease->version == todo.record.version;
        if (!allowed) return false;
        lease = todo.record;
        lease->version = std::to_string(++version);
        return true;
    }
};

// One round of a replica: reads and writes until it would wait.
void round(Election& election, Server& server, Duration now, Time wall = kWall) {
    for (int i = 0; i < 4; ++i) {
        const Election::Todo todo = election.next(now, wall);
        if (todo.step == Step::kWait) return;
        if (todo.step == Step::kRead) {
            election.read(server.lease, now);
            continue;
        }
        if (server.store(todo))
            election.written(*server.lease, now, now);
        else
            election.refused();
        return;
    }
}

TEST(Election, TheFirstCreatesTheLeaseAndKeepsIt) {
    Server server;
    Election a(named("a"));
    round(a, server, at(0));
    EXPECT_TRUE(a.leads(at(9.9)));
    EXPECT_FALSE(a.leads(at(10))) << "without a renewal it stops by itself, before others may start";
    round(a, server, at(2));
    EXPECT_TRUE(a.leads(at(11.9)));
    EXPECT_EQ(server.lease->transitions, 0);
}

TEST(Election, AnotherTakesOverOnlyWhenTheLeaseHasNotChangedForItsDuration) {
    Server server;
    Election a(named("a"));
    Election b(named("b"));
    round(a, server, at(0));
    round(b, server, at(1));
    for (double now = 3; now < 16; now += 2) {
        round(b, server, at(now));
        EXPECT_FALSE(b.leads(at(now)));
    }
    round(b, server, at(16.1));
    EXPECT_TRUE(b.leads(at(16.1)));
    EXPECT_FALSE(a.leads(at(16.1)));
    EXPECT_EQ(server.lease->transitions, 1);
}

TEST(Election, ClocksOfOthersDoNotMatter) {
    Server server;
    Election a(named("a"));
    Election b(named("b"));
    // By a's clock it is years ago; by the time in the Lease it would long be over.
    for (double now = 0; now < 60; now += 2) {
        round(a, server, at(now), {1});
        round(b, server, at(now + 1));
        EXPECT_TRUE(a.leads(at(now + 1)));
        EXPECT_FALSE(b.leads(at(now + 1)));
    }
}

TEST(Election, WhoWasAwayTooLongDoesNotLeadWhenItComesBack) {
    Server server;
    Election a(named("a"));
    Election b(named("b"));
    round(a, server, at(0));
    round(b, server, at(1));
    round(b, server, at(16.5));
    ASSERT_TRUE(b.leads(at(17)));
    EXPECT_FALSE(a.leads(at(17)));
    round(a, server, at(17));  // its write names an old version
    EXPECT_FALSE(a.leads(at(17)));
    round(a, server, at(19));
    EXPECT_FALSE(a.leads(at(19)));
    EXPECT_EQ(server.lease->holder, "b");
}

TEST(Election, LeadershipCountsFromWhenTheRenewalWasSent) {
    Server server;
    Election a(named("a"));
    a.read(std::nullopt, at(0));
    const Election::Todo todo = a.next(at(0), kWall);
    ASSERT_EQ(todo.step, Step::kCreate);
    ASSERT_TRUE(server.store(todo));
    a.written(*server.lease, at(0), at(8));  // the answer took 8 s
    EXPECT_TRUE(a.leads(at(9)));
    EXPECT_FALSE(a.leads(at(10)));
}

TEST(Election, ResigningLetsOthersInAtOnce) {
    Server server;
    Election a(named("a"));
    Election b(named("b"));
    round(a, server, at(0));
    round(b, server, at(1));
    const auto resignation = a.resignation(kWall);
    ASSERT_TRUE(resignation.has_value());
    ASSERT_TRUE(server.store({Step::kWrite, *resignation}));
    EXPECT_FALSE(a.leads(at(1)));
    round(b, server, at(2));
    EXPECT_TRUE(b.leads(at(2)));
}

TEST(Election, ALeaseLastsNoShorterThanItsHolderActs) {
    ElectionOptions options = named("a");
    options.duration = {1'900'000};
    options.deadline = {1'260'000};
    Election a(options);
    Server server;
    round(a, server, at(0));
    ASSERT_TRUE(a.leads(at(1.25)));
    EXPECT_EQ(server.lease->duration_seconds, 2);
}

TEST(Election, LeaseAsJson) {
    const ElectionOptions options = named("a");
    const LeaseRecord record{.holder = "a",
                             .duration_seconds = 15,
                             .acquire_time = "2026-01-01T00:00:00.000000Z",
                             .renew_time = "2026-01-01T00:00:01.000000Z",
                             .transitions = 3,
                             .version = "8"};
    EXPECT_EQ(read_lease(lease_body(options, record)), record);
    EXPECT_FALSE(read_lease(R"({"kind":"Status"})").has_value());
    EXPECT_EQ(
        read_lease(R"({"kind":"Lease","metadata":{"resourceVersion":"1"},"spec":{"holderIdentity":null}})")->holder,
        "");
}

}  // namespace
}  // namespace reprieve
