#include "referee/marks.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

constexpr const char* kUid = "0d6f1ac8-3b0c-4a55-9f0e-0123456789ab";

std::string pod_with(const std::string& type, const std::string& reason, const std::string& message) {
    return R"({"metadata":{"namespace":"ns","name":"v"},"status":{"conditions":[{"type":")" + type +
           R"(","status":"True","reason":")" + reason + R"(","message":")" + message + R"("}]}})";
}

std::string event_about(const std::string& kind,
                        const std::string& reason,
                        const std::string& note,
                        const std::string& more = {}) {
    return R"({"reason":")" + reason + R"(","note":")" + note + R"(","reportingController":"s","regarding":{"kind":")" +
           kind + R"(","namespace":"ns","name":"v"})" + more + "}";
}

TEST(Marks, OfKubeSchedulerInTheWordsOfEveryVersion) {
    const auto named = mark_of_event(event_about("Pod", "Preempted", "Preempted by team/a on node n1"));
    ASSERT_TRUE(named.has_value());
    EXPECT_EQ(named->victim, "ns/v");
    EXPECT_EQ(named->by_name, "team/a");
    const auto nobody = mark_of_event(event_about("Pod", "Preempted", "Preempted by a pod on node n1"));
    ASSERT_TRUE(nobody.has_value());
    EXPECT_TRUE(nobody->by_name.empty() && nobody->by_uid.empty());
    for (const std::string before :
         {"Preempted by pod ", "Preempted by podgroup ", "Preempted by compositepodgroup "}) {
        const auto uid = mark_of_event(event_about("Pod", "Preempted", before + kUid + " on node cluster"));
        ASSERT_TRUE(uid.has_value()) << before;
        EXPECT_EQ(uid->by_uid, kUid) << before;
        EXPECT_TRUE(uid->by_name.empty()) << before;
    }
    const auto related = mark_of_event(event_about("Pod",
                                                   "Preempted",
                                                   std::string("Preempted by podgroup ") + kUid + " on node cluster",
                                                   R"(,"related":{"kind":"PodGroup","namespace":"team","name":"g"})"));
    EXPECT_EQ(related->by_name, "team/g");
    const auto condition = mark_of_pod(pod_with("DisruptionTarget",
                                                "PreemptionByScheduler",
                                                "default-scheduler: preempting to accommodate a higher priority pod"));
    ASSERT_TRUE(condition.has_value());
    EXPECT_EQ(condition->scheduler, "default-scheduler");
    EXPECT_FALSE(condition->no_preemption);
}

TEST(Marks, OfReprieveItself) {
    const auto own =
        mark_of_event(event_about("Pod", "Preempted", "Preempted for team/gang on node n1 by gangPreempt"));
    ASSERT_TRUE(own.has_value());
    EXPECT_EQ(own->victim, "ns/v");
    EXPECT_EQ(own->by_name, "team/gang");
    // Its Events may never come, if it is killed.
    const auto mark = mark_of_pod(pod_with("DisruptionTarget",
                                           "PreemptionByScheduler",
                                           "reprieve: preempted for team/a (preempt): priority 0 makes room"));
    ASSERT_TRUE(mark.has_value());
    EXPECT_EQ(mark->by_name, "team/a");
}

TEST(Marks, OfTheOtherSchedulers) {
    const auto koordinator =
        mark_of_pod(pod_with("DisruptionTarget",
                             "PreemptionByScheduler",
                             "koord-scheduler: preempting to accommodate higher priority pods, preemptor: "
                             "team/gang, triggerPod: team/gang-0"));
    ASSERT_TRUE(koordinator.has_value());
    EXPECT_EQ(koordinator->by_name, "team/gang");
    EXPECT_EQ(koordinator->scheduler, "koord-scheduler");
    const auto volcano = mark_of_event(event_about("Pod", "Evict", "Pod is evicted, because of preempt"));
    ASSERT_TRUE(volcano.has_value());
    EXPECT_TRUE(volcano->by_name.empty());
    const auto kai = mark_of_event(event_about(
        "PodGroup",
        "Evict",
        "Pod ns/x was preempted by higher priority workload team/w",
        R"(,"metadata":{"annotations":{"evictor-pod-group-name":"w","evictor-pod-group-namespace":"team"}})"));
    ASSERT_TRUE(kai.has_value());
    EXPECT_EQ(kai->victim, "ns/x");
    EXPECT_EQ(kai->by_name, "team/w");
    const auto kueue = mark_of_workload(
        std::string(
            R"({"metadata":{"namespace":"ns","name":"w"},"status":{"conditions":[{"type":"Preempted","status":"True",)") +
        R"("message":"Preempted to accommodate a workload (UID: )" + kUid +
        R"(, JobUID: x) due to prioritization"}]}})");
    ASSERT_TRUE(kueue.has_value());
    EXPECT_EQ(kueue->workload, "ns/w");
    EXPECT_EQ(kueue->by_uid, kUid);
}

TEST(Marks, WhatIsNoPreemption) {
    const auto drained = mark_of_pod(pod_with("DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting"));
    ASSERT_TRUE(drained.has_value());
    EXPECT_TRUE(drained->no_preemption);
    EXPECT_FALSE(
        mark_of_event(event_about("Pod", "Preempted", "Preempted in order to admit critical pod")).has_value());
    EXPECT_FALSE(mark_of_event(event_about("Pod", "LowNodeUtilization", "pod eviction from n1 node")).has_value());
    EXPECT_FALSE(mark_of_pod(R"({"metadata":{"name":"v"}})").has_value());
}

// Anybody may write an event: what is no name or UID is not taken for one, and nothing breaks.
TEST(Marks, HostileTexts) {
    for (const std::string note : {"Preempted by ",
                                   "Preempted by pod",
                                   "Preempted by a/b/c on node",
                                   "Preempted by <script>/",
                                   "Preempted by /"}) {
        const auto mark = mark_of_event(event_about("Pod", "Preempted", note));
        ASSERT_TRUE(mark.has_value()) << note;
        EXPECT_TRUE(mark->by_name.empty()) << note;
        EXPECT_TRUE(mark->by_uid.empty()) << note;
    }
    for (const std::string json : {"",
                                   "[]",
                                   "{",
                                   "null",
                                   R"({"reason":7})",
                                   R"({"regarding":[],"reason":"Preempted"})",
                                   R"({"status":{"conditions":[7,null,{"type":7}]}})"}) {
        EXPECT_FALSE(mark_of_event(json).has_value()) << json;
        EXPECT_FALSE(mark_of_pod(json).has_value()) << json;
        EXPECT_FALSE(mark_of_workload(json).has_value()) << json;
    }
}

}  // namespace
}  // namespace reprieve
