// Storms: pods that are bound a moment ago are victims already, answers are late and news later, some by more than a
// victim's grace and the patience after it. The judge is the embedded API server, which refuses a binding where the
// node has no room, as a kubelet would: such a refusal means that a pod was sent into room whose holder was still
// there.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "loop/delayed_world.h"
#include "loop/loop_test_world.h"

namespace reprieve {
namespace {

constexpr std::int64_t kMilli = 1000;

std::vector<std::string> overcommitted(const LoopRecord& record) {
    std::vector<std::string> out;
    for (const SinkReport& report : record.failures) {
        if (report.step == SinkStep::kBind && report.what.find("OutOf") != std::string::npos)
            out.push_back(report.pod + ": " + report.what);
    }
    return out;
}

std::string arrival(int at_millis, const TestPodText& pod) {
    return "  - at: " + std::to_string(at_millis) +
           "ms\n    apply: {apiVersion: v1, kind: Pod, metadata: {name: " + pod.name +
           "}, spec: {schedulerName: reprieve, priority: " + std::to_string(pod.priority) +
           ", terminationGracePeriodSeconds: " + std::to_string(pod.grace) +
           ", containers: [{name: main, resources: {requests: {cpu: '" + std::to_string(pod.cpu) + "'}}}]}}\n";
}

class StormTest : public LoopTest {};

TEST_F(StormTest, a_victim_whose_own_binding_is_under_way_holds_its_room) {
    start(node_yaml("n1") + pod_yaml({.name = "low-a", .priority = 1, .cpu = 2}) +
              pod_yaml({.name = "low-b", .priority = 2, .cpu = 2}) + "---\nkind: Timeline\nevents:\n" +
              arrival(50, {.name = "high", .priority = 100, .cpu = 2}),
          {.start = kLoopStart, .seed = 1, .latency = {1000 * kMilli}});
    run();
    EXPECT_THAT(overcommitted(record()), testing::IsEmpty());
    EXPECT_THAT(record().evicted, testing::ElementsAre("default/low-a"));
    EXPECT_EQ(node_of("high"), "n1");
    expect_sound();
}

TEST_F(StormTest, a_binding_that_nobody_has_answered_for_long_still_holds_its_room) {
    start(node_yaml("n1") + pod_yaml({.name = "first", .cpu = 4}) + "---\nkind: Timeline\nevents:\n" +
              arrival(200'000, {.name = "second", .cpu = 4}),
          {.start = kLoopStart, .seed = 1, .latency = {300'000 * kMilli}});
    run();
    EXPECT_THAT(overcommitted(record()), testing::IsEmpty());
    EXPECT_EQ(node_of("first"), "n1");
    EXPECT_EQ(node_of("second"), "");
}

// The intent is on record when the time that its plan gave the victim is nearly over, and the victim's own deletion is
// still to come.
TEST_F(StormTest, a_victim_whose_eviction_waits_in_a_long_queue_is_not_replaced_by_another) {
    for (const int seconds : {40, 100, 300}) {
        start(node_yaml("n1") + node_yaml("n2") + pod_yaml({.name = "low", .priority = 1, .cpu = 4, .node = "n1"}) +
                  pod_yaml({.name = "mid", .priority = 50, .cpu = 4, .node = "n2"}) +
                  pod_yaml({.name = "high", .priority = 100, .cpu = 4}),
              {.start = kLoopStart, .seed = 1, .latency = {seconds * 1000 * kMilli}});
        run();
        EXPECT_THAT(record().evicted, testing::ElementsAre("default/low")) << seconds;
        EXPECT_EQ(node_of("high"), "n1");
        expect_sound();
    }
}

TEST_F(StormTest, room_that_another_scheduler_has_promised_is_not_taken) {
    TestPodText theirs{.name = "theirs", .priority = 50, .cpu = 3, .scheduler = "default-scheduler"};
    start(node_yaml("n1") + pod_yaml(theirs) + "status: {nominatedNodeName: n1}\n" +
          pod_yaml({.name = "ours", .priority = 1, .cpu = 2}));
    run();
    EXPECT_EQ(node_of("ours"), "");
    EXPECT_THAT(record().evicted, testing::IsEmpty());
}

RC_GTEST_PROP(Storm, nobody_is_bound_into_room_whose_holder_is_still_there, ()) {
    std::string yaml;
    const int nodes = *rc::gen::inRange(1, 4);
    for (int n = 0; n < nodes; ++n)
        yaml += node_yaml("n" + std::to_string(n));
    yaml += "---\nkind: Timeline\nevents:\n";
    const int pods = *rc::gen::inRange(2, 16);
    for (int i = 0; i < pods; ++i) {
        yaml += arrival(*rc::gen::inRange(0, 4000),
                        {.name = "p" + std::to_string(i),
                         .priority = *rc::gen::inRange(0, 6),
                         .cpu = *rc::gen::inRange(1, 4),
                         .grace = *rc::gen::element(1, 3)});
    }
    const WorldOptions options{.start = kLoopStart,
                               .seed = *rc::gen::inRange<std::uint64_t>(1, 1000),
                               .latency = {*rc::gen::element<std::int64_t>(0, 50, 700, 90'000) * kMilli},
                               .jitter = {*rc::gen::element<std::int64_t>(0, 200, 2500, 150'000) * kMilli}};
    const Delays delays{.seed = *rc::gen::inRange<std::uint32_t>(1, 1000),
                        .news = {*rc::gen::element<std::int64_t>(0, 100, 3000, 50'000) * kMilli},
                        .answers = {*rc::gen::element<std::int64_t>(0, 100, 3000, 200'000) * kMilli}};
    RC_LOG() << yaml << "latency " << options.latency.us << " jitter " << options.jitter.us << " seed " << options.seed
             << " news " << delays.news.us << " answers " << delays.answers.us << " seed " << delays.seed << "\n";
    World world(options);
    RC_ASSERT(world.load_text("world.yaml", yaml).has_value());
    world.begin();
    LoopRecord record;
    Cluster cluster({.scheduler_names = {"reprieve"}, .topology_levels = {}});
    DelayedSink sink(world, delays);
    DelayedSource source(world, cluster.words(), delays, sink);
    LoopOptions loop_options;
    loop_options.cycles = 1000;
    ControlLoop loop(cluster, source, sink, record, loop_options);
    RC_ASSERT(loop.run() == LoopEnd::kWorldEnded);
    for (const std::string& one : overcommitted(record))
        RC_LOG() << one << "\n";
    RC_ASSERT(overcommitted(record).empty());
    RC_ASSERT(record.violations.empty());
    for (const auto& [uid, times] : record.evictions)
        RC_ASSERT(times == 1);
}

}  // namespace
}  // namespace reprieve
