#include "kube/group_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "kube/fake_api.h"
#include "manifest/decode.h"

namespace reprieve {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Time kCountedAt{1'767'268'800'000'000};

class GroupStatusTest : public ::testing::Test {
protected:
    void see(const std::string& api_version,
             const std::string& spec,
             const std::string& status,
             const std::string& name = "g") {
        ++version_;
        const std::string json = R"({"apiVersion":")" + api_version + R"(","kind":"PodGroup","metadata":{"name":")" +
                                 name + R"(","namespace":"ns","resourceVersion":")" + std::to_string(version_) +
                                 R"("},"spec":{)" + spec + R"(},"status":{)" + status + "}}";
        Decoder decoder(words_);
        auto decoded = decoder.decode(json);
        ASSERT_TRUE(decoded && *decoded);
        addresses_.see(**decoded, words_, api_version, json);
    }
    void see_volcano(const std::string& status, const std::string& name = "g") {
        see("scheduling.volcano.sh/v1beta1", R"("minMember":2)", status, name);
    }
    void see_core(const std::string& status) {
        see("scheduling.k8s.io/v1beta1", R"("schedulingPolicy":{"gang":{"minCount":2}})", status);
    }
    void take(const Plan& plan) {
        on_thread([&] { groups_.take(plan); });
    }
    void count(const GangCount& count) {
        on_thread([&] { groups_.count("ns/g", count, kCountedAt); });
    }
    void let_in(const std::vector<std::string>& gangs) {
        on_thread([&] { groups_.let_in(gangs); });
    }
    // The body of the newest status patch; empty: there was none.
    std::string told() const {
        const auto asked = api_.asked();
        return asked.empty() ? std::string() : asked.back().body;
    }
    std::size_t writes() const { return api_.asked().size(); }

    static Plan waits(std::size_t victims) {
        Plan plan{.now = kCountedAt};
        plan.placements.push_back({.pod = "ns/a", .node = "n1", .after_evictions = true, .owner = "ns/g"});
        for (std::size_t i = 0; i < victims; ++i)
            plan.evictions.push_back({.pod = "ns/v" + std::to_string(i), .node = "n1", .owner = "ns/g"});
        return plan;
    }

    void see_member(const std::string& name) {
        Decoder decoder(words_);
        const auto decoded = decoder.decode(pod_json(name,
                                                     "1",
                                                     R"("schedulerName":"reprieve","nodeName":"n1")",
                                                     R"("phase":"Running")",
                                                     R"("annotations":{"scheduling.k8s.io/group-name":"g"})"));
        ASSERT_TRUE(decoded && *decoded);
        census_.see(std::get<Pod>(**decoded), words_);
    }
    void start(std::function<void()> work) {
        client_.run(this, [this, work = std::move(work)] {
            work();
            started_ = true;
        });
    }
    void settle() {
        while (!started_ || !outbox_.settled())
            std::this_thread::yield();
        started_ = false;
    }
    void on_thread(std::function<void()> work) {
        start(std::move(work));
        settle();
    }

    FakeApi::Reply answer(const FakeApi::Asked& asked) {
        if (refuses_) return {.status = 403};
        return {.stays_open = holds_first_ && asked.body.find(R"("running":1)") != std::string::npos};
    }

    std::atomic<bool> started_ = false;
    std::atomic<bool> refuses_ = false;
    std::atomic<bool> holds_first_ = false;
    int version_ = 0;
    Vocabulary words_;
    AddressBook addresses_;
    GangCensus census_{{"reprieve"}};
    FakeApi api_{[this](const FakeApi::Asked& asked) { return answer(asked); }};
    HttpClient client_{api_.access(), api_.client_options()};
    KnownPods pods_;
    Outbox outbox_{client_, pods_, [] { return true; }};
    GroupStatus groups_{outbox_, addresses_, &census_, Duration{1'000}};
};

TEST_F(GroupStatusTest, AGangIsToldOnceThatItWaitsForVictims) {
    see_volcano(R"("phase":"Pending")");
    take(waits(3));
    EXPECT_THAT(told(), AllOf(HasSubstr(R"("phase":"Inqueue")"), HasSubstr("waits for 3 preempted pods to leave")));
    take(waits(0));
    EXPECT_EQ(writes(), 1U) << "those that leave are still the same";
}

TEST_F(GroupStatusTest, ACoreGangThatWaitsIsNotScheduled) {
    see_core("");
    take(waits(0));
    EXPECT_THAT(told(), AllOf(HasSubstr("PodGroupInitiallyScheduled"), HasSubstr(R"("status":"False")")));
}

TEST_F(GroupStatusTest, MembersThatHaveAPlaceMakeTheGangScheduledWhoeverBoundThem) {
    see_core("");
    count({.members = 2, .placed = 1});
    EXPECT_EQ(writes(), 0U);
    count({.members = 2, .placed = 2});
    EXPECT_THAT(told(), AllOf(HasSubstr("PodGroupInitiallyScheduled"), HasSubstr(R"("status":"True")")));
    count({.members = 2, .placed = 2, .running = 2});
    EXPECT_EQ(writes(), 1U);
}

TEST_F(GroupStatusTest, AVolcanoGroupSaysHowManyRun) {
    see_volcano(R"("phase":"Running")");
    count({.members = 2, .placed = 2, .running = 1});
    EXPECT_EQ(told(), R"({"status":{"running":1,"succeeded":0,"failed":0}})");
    see_volcano(R"("phase":"Running","running":1)");
    count({.members = 2, .placed = 2, .running = 1});
    EXPECT_EQ(writes(), 1U);
}

TEST_F(GroupStatusTest, AVolcanoGroupThatLostMembersHasToBePlacedAgain) {
    see_volcano(R"("phase":"Running","running":2)");
    count({.members = 1, .placed = 1, .running = 1});
    EXPECT_THAT(told(), HasSubstr(R"("phase":"Unknown")"));
    see_volcano(R"("phase":"Unknown","running":1)");
    count({});
    EXPECT_THAT(told(), HasSubstr(R"("phase":"Inqueue")"));
    see_volcano(R"("phase":"Inqueue")");
    count({.members = 2, .placed = 2});
    EXPECT_THAT(told(), HasSubstr(R"("phase":"Running")"));
}

TEST_F(GroupStatusTest, AVolcanoGroupIsCompletedWhenAllItsMembersAreDone) {
    see_volcano(R"("phase":"Running","running":2)");
    count({.members = 2, .placed = 2, .running = 1, .succeeded = 1});
    EXPECT_THAT(told(), Not(HasSubstr("phase")));
    count({.members = 2, .placed = 2, .succeeded = 2});
    EXPECT_THAT(told(), HasSubstr(R"("phase":"Completed")"));
}

TEST_F(GroupStatusTest, AGroupIsLetInOnceForEveryTimeItWaitsOutside) {
    see_volcano(R"("phase":"Pending")");
    let_in({"ns/g"});
    EXPECT_EQ(told(), R"({"metadata":{"resourceVersion":"1"},"status":{"phase":"Inqueue"}})");
    let_in({"ns/g"});
    EXPECT_EQ(writes(), 1U) << "the server has not told of it yet";
    let_in({});
    let_in({"ns/g"});
    EXPECT_EQ(writes(), 2U) << "it was inside, and was sent out again";
}

TEST_F(GroupStatusTest, AGroupIsLetInAgainWhenItsControllerWroteOverThat) {
    see_volcano("");
    let_in({"ns/g"});
    see_volcano(R"("phase":"Pending")");
    let_in({"ns/g"});
    EXPECT_EQ(told(), R"({"metadata":{"resourceVersion":"2"},"status":{"phase":"Inqueue"}})");
}

TEST_F(GroupStatusTest, WhatIsToldLaterArrivesLater) {
    see_volcano(R"("phase":"Running")");
    see_volcano(R"("phase":"Running")", "other");
    holds_first_ = true;
    start([&] {
        groups_.count("ns/g", {.members = 2, .placed = 2, .running = 1}, kCountedAt);
        groups_.count("ns/g", {.members = 2, .placed = 2, .running = 2}, kCountedAt);
        groups_.count("ns/other", {.members = 2, .placed = 2, .running = 2}, kCountedAt);
    });
    ASSERT_TRUE(api_.wait([](const auto& asked) { return asked.size() == 2; }));
    for (const FakeApi::Asked& asked : api_.asked())
        EXPECT_EQ(asked.path.find("/other/") == std::string::npos, asked.body.find(":1") != std::string::npos);
    api_.end_streams();
    settle();
    EXPECT_EQ(writes(), 3U);
    EXPECT_THAT(told(), HasSubstr(R"("running":2)"));
}

TEST_F(GroupStatusTest, WhatCouldNotBeToldIsCountedAgain) {
    see_volcano(R"("phase":"Running")");
    see_member("a");
    see_member("b");
    const auto counted = census_.take_changes();
    refuses_ = true;
    count(counted.at("ns/g"));
    EXPECT_EQ(writes(), 1U);
    auto again = census_.take_changes();
    for (; again.empty(); again = census_.take_changes())
        std::this_thread::yield();
    EXPECT_EQ(again, counted);
    refuses_ = false;
    count(again.at("ns/g"));
    EXPECT_THAT(told(), HasSubstr(R"("running":2)"));
    EXPECT_EQ(writes(), 2U);
}

TEST_F(GroupStatusTest, OtherDialectsAreLeftToTheirControllers) {
    see("scheduling.x-k8s.io/v1alpha1", R"("minMember":2)", "");
    take(waits(1));
    count({.members = 2, .placed = 2, .running = 2});
    EXPECT_EQ(writes(), 0U);
}

}  // namespace
}  // namespace reprieve
