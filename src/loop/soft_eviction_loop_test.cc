// The control loop and pods that are asked to go, not deleted.
#include "loop/loop_test_world.h"

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kNote = "scheduling.koordinator.sh/soft-eviction";

// One node, full of one pod; another that matters more wants all of it. Softly: the one that is in the way is asked.
std::string full_of_one(const std::string& more = "") {
    return node_yaml("n1") + pod_yaml({.name = "low", .priority = 1, .cpu = 4, .node = "n1"}) +
           pod_yaml({.name = "high", .priority = 100, .cpu = 4}) + more;
}

LoopOptions softly(std::optional<Duration> deadline = {}) {
    std::vector<ActionConfig> actions(2);
    actions[0].kind = ActionKind::kAllocate;
    actions[1].kind = ActionKind::kJobPreempt;
    actions[1].mode = EvictMode::kSoft;
    actions[1].delete_when_preempted = false;
    actions[1].soft_eviction_deadline = deadline;
    LoopOptions options;
    options.config.actions = actions;
    return options;
}

class SoftLoopTest : public LoopTest {
protected:
    std::string note_on(const std::string& pod) {
        return text_at(world().store().at(world().store().find_pod("default/" + pod)).body,
                       {"metadata", "annotations", kNote});
    }
};

TEST_F(SoftLoopTest, whoever_is_asked_stays_until_somebody_else_deletes_it) {
    start(full_of_one(R"(---
kind: Timeline
events:
  - {at: 300s, delete: {apiVersion: v1, kind: Pod, metadata: {name: low}}}
)"));
    run(softly());
    EXPECT_THAT(record().evicted, ElementsAre("default/low"));
    EXPECT_EQ(node_of("high"), "n1");
    expect_sound();
}

TEST_F(SoftLoopTest, the_deadline_comes_although_nothing_else_happens) {
    start(full_of_one());
    run(softly(Duration{60'000'000}));
    EXPECT_THAT(record().evicted, ElementsAre("default/low", "default/low"));
    EXPECT_EQ(node_of("low"), "gone");
    EXPECT_EQ(node_of("high"), "n1");
    EXPECT_THAT(record().violations, IsEmpty());
}

TEST_F(SoftLoopTest, nobody_is_asked_any_more_for_a_pod_that_is_gone) {
    start(full_of_one(R"(---
kind: Timeline
events:
  - {at: 5s, delete: {apiVersion: v1, kind: Pod, metadata: {name: high}}}
)"));
    run(softly());
    EXPECT_THAT(record().evicted, ElementsAre("default/low"));
    EXPECT_EQ(note_on("low"), "");
    EXPECT_EQ(node_of("low"), "n1");
    expect_sound();
}

// Whose calls take for ever.
class SlowSink : public Sink {
public:
    void carry_out(const Plan&) override {}
    void collect(std::vector<SinkReport>&) override {}
    [[nodiscard]] bool idle() const override { return true; }
};

TEST_F(SoftLoopTest, whoever_is_being_asked_is_not_planned_with_again) {
    start(full_of_one(R"(---
kind: Timeline
events:
  - {at: 2s, apply: {apiVersion: v1, kind: Pod, metadata: {name: rival, namespace: default}, spec: {schedulerName: reprieve, priority: 50, containers: [{name: c, resources: {requests: {cpu: "4"}}}]}}}
)"));
    SlowSink sink;
    ControlLoop& loop = restart(softly(), &sink);
    while (record().plans.size() < 2)
        ASSERT_FALSE(loop.turn());
    EXPECT_THAT(record().plans[0].evictions, SizeIs(1));
    EXPECT_THAT(record().plans[1].evictions, IsEmpty());
}

}  // namespace
}  // namespace reprieve
