// From facts to verdicts: which pods were evicted, for whom, and what came of it.
#include "referee/referee.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "referee/test_cluster.h"

namespace reprieve {
namespace {

constexpr Time kNine{std::int64_t{1'772'442'000} * 1'000'000};  // 2026-03-02T09:00:00Z
constexpr const char* kMessage = "default-scheduler: preempting to accommodate a higher priority pod";

class Watching : public testing::Test {
protected:
    Watching() : referee_(RefereeOptions{}) {
        see(0, "Node n1", judged_node("n1", 4));
        see(0, "Node n2", judged_node("n2", 4));
    }
    void see(std::int64_t second, const std::string& key, const std::string& json) {
        const auto done = referee_.see(kNine + Duration::of_seconds(second), key, json);
        ASSERT_TRUE(done.has_value()) << done.error().message;
    }
    void pod(std::int64_t second, const JudgedPod& one) { see(second, "Pod ns/" + one.name, judged_pod(one)); }
    void gone(std::int64_t second, const std::string& name) { see(second, "Pod ns/" + name, ""); }
    void look(std::int64_t second) { referee_.look(kNine + Duration::of_seconds(second)); }
    std::vector<JudgedDecision>& verdicts() { return referee_.report().verdicts; }
    // high evicts `victim` at 10 s and is promised n1.
    void evicts(JudgedPod victim) {
        pod(10, {.name = "high", .priority = 100, .cpu = 2, .nominated = "n1"});
        victim.mark = kMessage;
        pod(10, victim);
        victim.leaving = true;
        pod(10, victim);
        gone(12, victim.name);
    }

    Referee referee_;
};

TEST_F(Watching, AFairEvictionIsFoundByTheNomination) {
    const JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1"};
    pod(1, victim);
    pod(1, {.name = "full", .priority = 200, .cpu = 4, .node = "n2"});
    pod(2, {.name = "high", .priority = 100, .cpu = 2});
    evicts(victim);
    pod(13, {.name = "high", .priority = 100, .cpu = 2, .node = "n1"});
    look(14);
    EXPECT_TRUE(verdicts().empty()) << "more victims may come";
    look(30);
    ASSERT_EQ(verdicts().size(), 1U);
    EXPECT_EQ(verdicts().front().owner, "ns/high");
    EXPECT_EQ(verdicts().front().confidence, "inferred");
    EXPECT_EQ(verdicts().front().scheduler, "default-scheduler");
    EXPECT_STREQ(to_text(verdicts().front().ruling.verdict), "fair") << verdicts().front().ruling.evidence;
    look(3600);
    EXPECT_STREQ(to_text(verdicts().front().ruling.verdict), "fair") << "it started";
    EXPECT_TRUE(referee_.report().all_fair());
}

TEST_F(Watching, TheUidInTheEventNamesTheBeneficiary) {
    const JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1"};
    pod(1, victim);
    pod(2, {.name = "high", .priority = 100, .cpu = 2});
    evicts(victim);
    see(13,
        "Event.events.k8s.io ns/e",
        R"({"reason":"Preempted","note":"Preempted by ns/high on node n1","regarding":{"kind":"Pod","namespace":"ns","name":"a"}})");
    look(30);
    ASSERT_EQ(verdicts().size(), 1U);
    EXPECT_EQ(verdicts().front().confidence, "named");
    EXPECT_STREQ(to_text(verdicts().front().ruling.verdict), "needless") << "n2 is empty";
    EXPECT_FALSE(referee_.report().all_fair());
}

TEST_F(Watching, AMarkWithoutADeletionIsNoEviction) {
    JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1"};
    pod(1, victim);
    pod(2, {.name = "high", .priority = 100, .cpu = 2, .nominated = "n1"});
    victim.mark = kMessage;
    pod(10, victim);
    look(400);
    EXPECT_TRUE(verdicts().empty());
}

TEST_F(Watching, DeletionsByPeopleAreNobodysDecision) {
    JudgedPod one{.name = "a", .priority = 1, .cpu = 4, .node = "n1"};
    pod(1, one);
    one.leaving = true;
    pod(5, one);
    gone(6, "a");
    look(400);
    EXPECT_TRUE(verdicts().empty());
}

TEST_F(Watching, WastedIfTheBeneficiaryNeverStarts) {
    const JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1"};
    pod(1, victim);
    pod(1, {.name = "full", .priority = 200, .cpu = 4, .node = "n2"});
    pod(2, {.name = "high", .priority = 100, .cpu = 2});
    evicts(victim);
    look(300);
    EXPECT_STREQ(to_text(verdicts().front().ruling.verdict), "fair");
    look(700);
    EXPECT_STREQ(to_text(verdicts().front().ruling.verdict), "wasted") << verdicts().front().ruling.evidence;
}

TEST_F(Watching, WhatDependsOnTheMomentIsUnclear) {
    const JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1"};
    pod(1, victim);
    pod(1, {.name = "full", .priority = 200, .cpu = 4, .node = "n2"});
    pod(2, {.name = "high", .priority = 100, .cpu = 2});
    gone(9, "full");  // half a second before, there was no room yet
    const auto done = referee_.see(kNine + Duration{9'500'000}, "Node n2", judged_node("n2", 4));
    ASSERT_TRUE(done.has_value());
    evicts(victim);
    look(60);
    ASSERT_EQ(verdicts().size(), 1U);
    EXPECT_STREQ(to_text(verdicts().front().ruling.verdict), "unclear") << verdicts().front().ruling.evidence;
}

// A node comes at this second; the room on it would have been enough for what is decided at ten.
class WatchingNodes : public Watching {
protected:
    std::string verdict_if_it_came(std::int64_t second) {
        const JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1"};
        pod(1, victim);
        pod(1, {.name = "full", .priority = 200, .cpu = 4, .node = "n2"});
        pod(2, {.name = "high", .priority = 100, .cpu = 2});
        see(second, "Node n3", judged_node("n3", 4));
        evicts(victim);
        look(60);
        return verdicts().size() == 1 ? to_text(verdicts().front().ruling.verdict) : "not one verdict";
    }
};

// Nodes come by another watch than pods.
TEST_F(WatchingNodes, ANodeThatCameSecondsBeforeMayNotHaveBeenSeen) { EXPECT_EQ(verdict_if_it_came(6), "unclear"); }

TEST_F(WatchingNodes, ANodeThatCameLongBeforeWasSeen) { EXPECT_EQ(verdict_if_it_came(4), "needless"); }

// The two ends of the interval agree; a state between them does not.
TEST_F(Watching, AVerdictHoldsInEveryStateOrNotAtAll) {
    const JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1"};
    pod(1, victim);
    pod(2, {.name = "high", .priority = 100, .cpu = 2});
    const JudgedPod guest{.name = "guest", .priority = 200, .cpu = 4, .node = "n2"};
    const auto at = [](std::int64_t ms) { return kNine + Duration{ms * 1000}; };
    ASSERT_TRUE(referee_.see(at(9'400), "Pod ns/guest", judged_pod(guest)));
    ASSERT_TRUE(referee_.see(at(9'600), "Pod ns/guest", ""));
    evicts(victim);
    look(60);
    ASSERT_EQ(verdicts().size(), 1U);
    EXPECT_STREQ(to_text(verdicts().front().ruling.verdict), "unclear") << verdicts().front().ruling.evidence;
    EXPECT_TRUE(verdicts().front().ruling.evidence.starts_with("it depends on what had been seen: needless"))
        << verdicts().front().ruling.evidence;
}

// Reprieve dates the Events of a plan by the plan: what it says it did before and together with a decision counts as
// done.
class WatchingPlans : public Watching {
protected:
    // `at`: microseconds after ten seconds past nine.
    void event(int at, const std::string& reason, const std::string& pod, const std::string& note) {
        const std::string name = "Event.events.k8s.io ns/" + pod + reason;
        see(events_come_,
            name,
            R"({"reason":")" + reason + R"(","note":")" + note + R"(","eventTime":"2026-03-02T09:00:10.00000)" +
                std::to_string(at) +
                R"(Z","reportingController":"s","reportingInstance":"s-1","regarding":{"kind":"Pod",)" +
                R"("namespace":"ns","name":")" + pod + R"(","uid":"u-)" + pod + "\"}}");
    }
    void preempted(int at, const std::string& pod, const std::string& owner) {
        event(at, "Preempted", pod, "Preempted for ns/" + owner + " on node n1 by preempt");
    }
    void scheduled(int at, const std::string& pod, const std::string& node) {
        event(at, "Scheduled", pod, "Successfully assigned ns/" + pod + " to " + node);
    }
    void evict(JudgedPod victim) {
        victim.mark = kMessage;
        pod(10, victim);
        victim.leaving = true;
        pod(10, victim);
        gone(12, victim.name);
    }
    std::string verdict_for(const std::string& owner) {
        look(60);
        for (const JudgedDecision& one : verdicts()) {
            if (one.owner == owner) return to_text(one.ruling.verdict);
        }
        return "none";
    }

    int events_come_ = 14;
    std::string intent_;  // of high: UID of a victim

    // One CPU is free on n1: who gets it costs one pod, who does not costs two.
    void tell_of_two() {
        pod(1, {.name = "full", .priority = 200, .cpu = 4, .node = "n2"});
        for (const char* name : {"a", "b", "c"})
            pod(1, {.name = name, .priority = 1, .cpu = 1, .node = "n1"});
        for (const char* name : {"first", "second"})
            pod(2, {.name = name, .priority = 100, .cpu = 2});
        for (const char* name : {"second", "first"})
            pod(10, {.name = name, .priority = 100, .cpu = 2, .nominated = "n1"});
        for (const char* name : {"b", "c", "a"})
            evict({.name = name, .priority = 1, .cpu = 1, .node = "n1"});
        for (const char* name : {"first", "second"})
            pod(13, {.name = name, .priority = 100, .cpu = 2, .node = "n1"});
    }
    // Room for two on n2, which guest gets; high takes the place of a.
    void tell_of_a_guest() {
        pod(1, {.name = "full", .priority = 200, .cpu = 2, .node = "n2"});
        pod(1, {.name = "a", .priority = 1, .cpu = 4, .node = "n1"});
        pod(2, {.name = "high", .priority = 100, .cpu = 2});
        pod(2, {.name = "guest", .priority = 100, .cpu = 2});
        pod(10, {.name = "high", .priority = 100, .cpu = 2, .nominated = "n1", .evicts = intent_, .seen = 1});
        evict({.name = "a", .priority = 1, .cpu = 4, .node = "n1"});
        pod(13, {.name = "guest", .priority = 100, .cpu = 2, .node = "n2"});
        pod(13, {.name = "high", .priority = 100, .cpu = 2, .node = "n1"});
        preempted(5, "a", "high");
    }
};

TEST_F(WatchingPlans, WhoWasDecidedForTogetherIsJudgedBesideTheOther) {
    tell_of_two();
    preempted(5, "a", "first");
    preempted(5, "b", "second");
    preempted(5, "c", "second");
    EXPECT_EQ(verdict_for("ns/first"), "fair");
    EXPECT_EQ(verdict_for("ns/second"), "fair") << verdicts().back().ruling.evidence;
}

TEST_F(WatchingPlans, WhatWasDecidedBeforeCountsThoughItShowsLater) {
    tell_of_two();
    preempted(4, "a", "first");
    preempted(5, "b", "second");
    preempted(5, "c", "second");
    EXPECT_EQ(verdict_for("ns/second"), "fair") << verdicts().back().ruling.evidence;
}

TEST_F(WatchingPlans, WhatWasDecidedLaterIsNoExcuse) {
    tell_of_two();
    preempted(6, "a", "first");
    preempted(5, "b", "second");
    preempted(5, "c", "second");
    EXPECT_EQ(verdict_for("ns/second"), "too many");
}

TEST_F(WatchingPlans, ABindingOfTheSameMomentTakesItsRoom) {
    tell_of_a_guest();
    scheduled(5, "guest", "n2");
    EXPECT_EQ(verdict_for("ns/high"), "fair") << verdicts().back().ruling.evidence;
}

TEST_F(WatchingPlans, WhoWritesIntentsIsJudgedWhenItsEventsHaveCome) {
    intent_ = "u-a";
    events_come_ = 31;
    tell_of_a_guest();
    look(33);
    EXPECT_TRUE(verdicts().empty());
    scheduled(5, "guest", "n2");
    EXPECT_EQ(verdict_for("ns/high"), "fair") << verdicts().back().ruling.evidence;
}

TEST_F(WatchingPlans, ABindingThatWasDecidedLaterIsNoExcuse) {
    tell_of_a_guest();
    scheduled(6, "guest", "n2");
    EXPECT_EQ(verdict_for("ns/high"), "needless");
}

TEST_F(WatchingPlans, ABindingThatWasDecidedSoonAfterMayHaveBeenPromised) {
    intent_ = "u-a";
    tell_of_a_guest();
    scheduled(6, "guest", "n2");
    look(110);
    EXPECT_EQ(verdict_for("ns/high"), "unclear") << verdicts().back().ruling.evidence;
}

TEST_F(WatchingPlans, AnEventThatTheObjectsContradictCountsForNothing) {
    tell_of_a_guest();
    scheduled(5, "guest", "n1");
    scheduled(5, "nobody", "n2");
    EXPECT_EQ(verdict_for("ns/high"), "needless");
}

// Half a second before the decision there was no room yet on n2; whether the scheduler knew, it says itself.
class WatchingIntents : public WatchingPlans {
protected:
    std::string verdict_if_seen(int version, int seen_before = 0) {
        pod(1, {.name = "a", .priority = 1, .cpu = 4, .node = "n1", .version = 11});
        pod(1, {.name = "full", .priority = 200, .cpu = 4, .node = "n2", .version = 12});
        pod(2, {.name = "high", .priority = 100, .cpu = 2, .version = 13});
        if (seen_before > 0) {
            pod(3,
                {.name = "high",
                 .priority = 100,
                 .cpu = 2,
                 .version = 14,
                 .evicts = "u-a",
                 .seen = seen_before,
                 .plan = "given up"});
        }
        const Time before = kNine + Duration{9'500'000};
        EXPECT_TRUE(referee_.see(before, "Pod ns/full", "").has_value());  // 15
        EXPECT_TRUE(referee_.see(before, "Pod ns/other", judged_pod({.name = "other", .version = 17})).has_value());
        pod(10,
            {.name = "high",
             .priority = 100,
             .cpu = 2,
             .nominated = "n1",
             .version = 20,
             .evicts = "u-a",
             .seen = version});
        JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1", .mark = kMessage, .version = 21};
        pod(10, victim);
        victim.leaving = true;
        pod(10, victim);
        gone(12, "a");
        if (tells_) preempted(5, "a", "high");
        look(60);
        EXPECT_EQ(verdicts().empty(), !tells_ && version > 0) << "Events may still come";
        look(110);
        return verdicts().size() == 1 ? to_text(verdicts().front().ruling.verdict) : "none";
    }

    bool tells_ = true;
};

TEST_F(WatchingIntents, WhoHadNotSeenTheRoomIsFair) { EXPECT_EQ(verdict_if_seen(13), "fair"); }

TEST_F(WatchingIntents, WhoHadSeenItIsNot) { EXPECT_EQ(verdict_if_seen(15), "needless"); }

TEST_F(WatchingIntents, WhoHadSeenWhatCameLaterHadSeenItToo) { EXPECT_EQ(verdict_if_seen(17), "needless"); }

TEST_F(WatchingIntents, WhoDoesNotSayLeavesItUnclear) { EXPECT_EQ(verdict_if_seen(0), "unclear"); }

TEST_F(WatchingIntents, AnIntentThatWasGivenUpIsNotTheSignOfTheNext) { EXPECT_EQ(verdict_if_seen(15, 13), "needless"); }

TEST_F(WatchingIntents, WhoseEventsNeverComeIsNotAccused) {
    tells_ = false;
    EXPECT_EQ(verdict_if_seen(15), "unclear");
    EXPECT_THAT(verdicts().front().ruling.evidence, testing::EndsWith("but its Events did not come in time"));
}

TEST_F(WatchingIntents, WhoSaysThatItSawNothingForLongIsNotBelieved) { EXPECT_EQ(verdict_if_seen(11), "unclear"); }

// Guest came and went before the decision was judged; its room was taken when it was made.
TEST_F(WatchingPlans, ABindingOfTheSameMomentCountsAlsoWhenThePodIsGoneAgain) {
    intent_ = "u-a";
    tell_of_a_guest();
    scheduled(5, "guest", "n2");
    gone(15, "guest");
    EXPECT_EQ(verdict_for("ns/high"), "fair") << verdicts().back().ruling.evidence;
}

TEST_F(WatchingPlans, TheEventOfAPodThatWasBoundAtThatTimeIsWaitedFor) {
    intent_ = "u-a";
    tell_of_a_guest();
    look(59);
    EXPECT_TRUE(verdicts().empty());
    events_come_ = 60;
    scheduled(5, "guest", "n2");
    scheduled(5, "high", "n1");
    EXPECT_EQ(verdict_for("ns/high"), "fair") << verdicts().back().ruling.evidence;
}

TEST_F(WatchingPlans, AnIntentForSomebodyElseThatWasGivenUpIsNoSign) {
    pod(1, {.name = "full", .priority = 200, .cpu = 4, .node = "n2"});
    pod(1, {.name = "a", .priority = 1, .cpu = 4, .node = "n1"});
    pod(2, {.name = "other", .priority = 100, .cpu = 2});
    pod(3, {.name = "other", .priority = 100, .cpu = 2, .nominated = "n1", .evicts = "u-a", .seen = 1});
    gone(4, "other");
    pod(5, {.name = "high", .priority = 100, .cpu = 2});
    pod(10, {.name = "high", .priority = 100, .cpu = 2, .nominated = "n1", .evicts = "u-a", .seen = 1});
    evict({.name = "a", .priority = 1, .cpu = 4, .node = "n1"});
    pod(13, {.name = "high", .priority = 100, .cpu = 2, .node = "n1"});
    preempted(5, "a", "high");
    scheduled(7, "high", "n1");
    EXPECT_EQ(verdict_for("ns/high"), "fair") << verdicts().back().ruling.evidence;
}

// The call that is the first sign took three seconds; meanwhile room came that the decision could not know of.
TEST_F(WatchingPlans, WhatCameBetweenTheDecisionAndItsFirstSignWasNotSeen) {
    pod(1, {.name = "a", .priority = 1, .cpu = 4, .node = "n1", .version = 11});
    pod(1, {.name = "full", .priority = 200, .cpu = 4, .node = "n2", .version = 12});
    pod(2, {.name = "high", .priority = 100, .cpu = 2, .version = 13});
    gone(11, "full");
    pod(11, {.name = "other", .priority = 1, .version = 17});
    pod(13, {.name = "high", .priority = 100, .cpu = 2, .nominated = "n1", .version = 20, .evicts = "u-a", .seen = 13});
    JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1", .mark = kMessage, .version = 21};
    pod(13, victim);
    victim.leaving = true;
    pod(14, victim);
    gone(15, "a");
    preempted(5, "a", "high");
    EXPECT_EQ(verdict_for("ns/high"), "fair") << verdicts().back().ruling.evidence;
}

// A scheduler knows what it bound before its watch tells it.
TEST_F(Watching, AVictimThatWasBoundAfterWhatTheWatchHadToldIsThere) {
    pod(1, {.name = "full", .priority = 200, .cpu = 4, .node = "n2", .version = 12});
    pod(2, {.name = "a", .priority = 1, .cpu = 4, .version = 13});
    pod(2, {.name = "high", .priority = 100, .cpu = 2, .version = 14});
    const Time before = kNine + Duration{9'800'000};
    JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1", .version = 15};
    EXPECT_TRUE(referee_.see(before, "Pod ns/a", judged_pod(victim)).has_value());
    pod(10, {.name = "high", .priority = 100, .cpu = 2, .nominated = "n1", .version = 16, .evicts = "u-a", .seen = 14});
    victim.mark = kMessage;
    pod(10, victim);
    victim.leaving = true;
    pod(10, victim);
    gone(12, "a");
    look(110);
    ASSERT_EQ(verdicts().size(), 1U);
    EXPECT_STREQ(to_text(verdicts().front().ruling.verdict), "fair") << verdicts().front().ruling.evidence;
}

// The decision is three seconds older than its first sign; the room came half a second before the decision.
TEST_F(WatchingPlans, WhatMayNotHaveBeenSeenIsCountedFromTheDecision) {
    pod(1, {.name = "a", .priority = 1, .cpu = 4, .node = "n1"});
    pod(1, {.name = "full", .priority = 200, .cpu = 4, .node = "n2"});
    pod(2, {.name = "high", .priority = 100, .cpu = 2});
    EXPECT_TRUE(referee_.see(kNine + Duration{9'500'000}, "Pod ns/full", "").has_value());
    pod(13, {.name = "high", .priority = 100, .cpu = 2, .nominated = "n1"});
    JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1", .mark = kMessage};
    pod(13, victim);
    victim.leaving = true;
    pod(13, victim);
    gone(14, "a");
    preempted(5, "a", "high");
    EXPECT_EQ(verdict_for("ns/high"), "unclear") << verdicts().back().ruling.evidence;
}

TEST_F(WatchingPlans, NothingIsSaidAgainstWhatIsOpenAtTheEnd) {
    tell_of_a_guest();
    referee_.finish(kNine + Duration::of_seconds(15));
    ASSERT_EQ(verdicts().size(), 1U);
    EXPECT_STREQ(to_text(verdicts().front().ruling.verdict), "unclear") << verdicts().front().ruling.evidence;
}

TEST_F(Watching, NothingIsSaidOfATimeInWhichChangesWereMissed) {
    const JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1"};
    pod(1, victim);
    pod(2, {.name = "high", .priority = 100, .cpu = 2});
    referee_.note_gap({.from = kNine + Duration::of_seconds(5), .to = kNine + Duration::of_seconds(10), .why = "410"});
    evicts(victim);
    look(60);
    ASSERT_EQ(verdicts().size(), 1U);
    EXPECT_STREQ(to_text(verdicts().front().ruling.verdict), "unclear");
    EXPECT_NE(verdicts().front().ruling.evidence.find("were missed or came late: 410"), std::string::npos);
    EXPECT_EQ(referee_.report().gaps.size(), 1U);
}

TEST_F(Watching, NothingIsSaidWhereOnlyTheLastSignCameInSuchATime) {
    JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1"};
    pod(1, victim);
    pod(2, {.name = "high", .priority = 100, .cpu = 2});
    pod(10, {.name = "high", .priority = 100, .cpu = 2, .nominated = "n1"});
    victim.mark = kMessage;
    pod(10, victim);
    referee_.note_gap({.from = kNine + Duration::of_seconds(12), .to = kNine + Duration::of_seconds(14), .why = "cut"});
    victim.leaving = true;
    pod(14, victim);
    gone(15, "a");
    look(60);
    ASSERT_EQ(verdicts().size(), 1U);
    EXPECT_STREQ(to_text(verdicts().front().ruling.verdict), "unclear");
}

TEST_F(Watching, WithoutATraceOfTheBeneficiaryItIsUnknown) {
    JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1"};
    pod(1, victim);
    victim.mark = kMessage;
    victim.leaving = true;
    pod(10, victim);
    gone(11, "a");
    look(60);
    ASSERT_EQ(verdicts().size(), 1U);
    EXPECT_EQ(verdicts().front().confidence, "unknown");
    EXPECT_STREQ(to_text(verdicts().front().ruling.verdict), "unclear");
}

TEST_F(Watching, TheJsonHasTheFieldsOfTheContract) {
    const JudgedPod victim{.name = "a", .priority = 1, .cpu = 4, .node = "n1"};
    pod(1, victim);
    pod(2, {.name = "high", .priority = 100, .cpu = 2});
    evicts(victim);
    look(60);
    const auto json = nlohmann::json::parse(referee_to_json(referee_.report()));
    ASSERT_EQ(json.at("verdicts").size(), 1U);
    for (const char* key :
         {"at", "scheduler", "for", "victims", "verdict", "confidence", "evidence", "couldHaveStayed", "cheaper"})
        EXPECT_TRUE(json.at("verdicts")[0].contains(key)) << key;
    for (const char* key : {"evictions", "podsLost", "leastPods", "gpuHoursLost", "leastGpuHours", "byVerdict"})
        EXPECT_TRUE(json.at("totals").contains(key)) << key;
    for (const char* key : {"scheduler", "queue", "priority", "day"})
        EXPECT_EQ(json.at("by").at(key).size(), 1U) << key;
    EXPECT_EQ(json.at("worst").size(), 1U);
}

}  // namespace
}  // namespace reprieve
