#include "loop/control_loop.h"

#include "loop/loop_test_world.h"

namespace reprieve {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

Duration seconds(std::int64_t count) { return {count * 1'000'000}; }

// One node of four cores, full of two replicas; a pod that matters more wants half of it.
std::string full_node() {
    return node_yaml("n1") + pod_yaml({.name = "low-a", .priority = 1, .cpu = 2, .node = "n1", .owner = "low"}) +
           pod_yaml({.name = "low-b", .priority = 2, .cpu = 2, .node = "n1", .owner = "low"}) +
           pod_yaml({.name = "high", .priority = 100, .cpu = 2});
}

TEST_F(LoopTest, what_fits_is_bound_and_the_loop_comes_to_rest) {
    start(node_yaml("n1") + pod_yaml({.name = "a"}) + pod_yaml({.name = "b"}) +
          pod_yaml({.name = "other", .scheduler = "default-scheduler"}));
    EXPECT_EQ(run(), LoopEnd::kWorldEnded);
    EXPECT_EQ(node_of("a"), "n1");
    EXPECT_EQ(node_of("b"), "n1");
    EXPECT_EQ(node_of("other"), "");
    expect_sound();
}

TEST_F(LoopTest, a_preemptor_waits_for_its_victim_and_is_bound) {
    start(full_node());
    run();
    EXPECT_THAT(record().evicted, ElementsAre("default/low-a"));
    EXPECT_EQ(node_of("high"), "n1");
    EXPECT_EQ(node_of("low-a"), "gone");
    EXPECT_EQ(node_of("low-b"), "n1");
    expect_sound();
    // What came back for the victim waits, and hurts nobody.
    EXPECT_THAT(record().plans.back().unplaced, SizeIs(1));
}

// Does nothing, and remembers what it was told.
class ListeningSink : public Sink {
public:
    void carry_out(const Plan& plan) override { plans.push_back(plan); }
    void collect(std::vector<SinkReport>&) override {}
    [[nodiscard]] bool idle() const override { return true; }
    std::vector<Plan> plans;
};

TEST_F(LoopTest, a_pod_that_has_to_wait_is_told_so_although_nothing_is_done) {
    start(node_yaml("n1") + pod_yaml({.name = "large", .cpu = 9}));
    ListeningSink sink;
    restart({}, &sink).run();
    ASSERT_THAT(sink.plans, SizeIs(1));
    ASSERT_THAT(sink.plans[0].unplaced, SizeIs(1));
    EXPECT_EQ(sink.plans[0].unplaced[0].pod, "default/large");
    restart({.dry_run = true}, &sink).run();
    EXPECT_THAT(sink.plans, SizeIs(1)) << "a dry run tells nobody";
}

// The first step of the first plan fails.
class StumblingSink : public ListeningSink {
public:
    void collect(std::vector<SinkReport>& out) override {
        if (plans.size() == 1 && !stumbled_)
            out.push_back({.step = SinkStep::kScale, .pod = "default/web", .ok = false});
        stumbled_ = stumbled_ || plans.size() == 1;
    }

private:
    bool stumbled_ = false;
};

TEST_F(LoopTest, a_scale_that_fails_is_planned_again_soon) {
    start(node_yaml("n1") + pod_yaml({.name = "large", .cpu = 9}));
    StumblingSink sink;
    ControlLoop& loop = restart({}, &sink);
    while (sink.plans.size() < 2)
        ASSERT_FALSE(loop.turn().has_value());
    EXPECT_EQ(sink.plans[1].now, sink.plans[0].now + seconds(1));
}

// Nothing that it is told to do works.
class ClumsySink : public ListeningSink {
public:
    void collect(std::vector<SinkReport>& out) override {
        if (std::exchange(reported_, plans.size()) < plans.size())
            out.push_back({.step = SinkStep::kScale, .pod = "default/web", .ok = false});
    }

private:
    std::size_t reported_ = 0;
};

TEST_F(LoopTest, a_scale_that_never_works_does_not_keep_a_world_alive) {
    start(node_yaml("n1") + pod_yaml({.name = "large", .cpu = 9}));
    ClumsySink sink;
    EXPECT_EQ(restart({}, &sink).run(), LoopEnd::kWorldEnded);
    EXPECT_GT(sink.plans.size(), 3U);
}

TEST_F(LoopTest, whoever_does_not_lead_waits_in_peace) {
    start(node_yaml("n1") + pod_yaml({.name = "large", .cpu = 9}));
    StumblingSink sink;
    LoopOptions options;
    bool leads = true;
    options.leads = [&] { return leads; };
    ControlLoop& loop = restart(options, &sink);
    while (sink.plans.empty())
        ASSERT_FALSE(loop.turn().has_value());
    leads = false;
    // With the failure due for another try, and nobody to try it, a wait is still a wait: the world ends in it.
    int turns = 0;
    while (!loop.turn().has_value())
        ASSERT_LT(++turns, 10);
}

TEST_F(LoopTest, while_the_victim_leaves_nothing_else_is_planned) {
    start(full_node());
    ControlLoop& loop = restart();
    while (world().now() < kLoopStart + seconds(10))
        ASSERT_FALSE(loop.turn().has_value());
    for (std::size_t i = 1; i + 1 < record().plans.size(); ++i) {
        EXPECT_THAT(record().plans[i].evictions, IsEmpty());
        ASSERT_THAT(record().plans[i].placements, SizeIs(1));
        EXPECT_EQ(record().plans[i].placements[0].pod, "default/high");
    }
    EXPECT_GE(record().plans.size(), 3U);
}

TEST_F(LoopTest, fifty_more_cycles_of_a_world_at_rest_do_nothing) {
    start(node_yaml("n1") + node_yaml("n2") + full_node().substr(node_yaml("n1").size()) + gang_yaml("g", 3, 50) +
          pod_yaml({.name = "g-0", .group = "g"}) + pod_yaml({.name = "g-1", .group = "g"}) +
          pod_yaml({.name = "g-2", .group = "g"}));
    ControlLoop& loop = restart();
    loop.run();
    expect_sound();
    const std::size_t evictions = record().evicted.size();
    for (int i = 0; i < 50; ++i) {
        const Json tick = {{"apiVersion", "scheduling.k8s.io/v1"},
                           {"kind", "PriorityClass"},
                           {"metadata", {{"name", "nobodys"}}},
                           {"value", i}};
        ASSERT_TRUE(world().api().apply(tick).has_value());
        const std::int64_t before = record().cycles;
        loop.run();
        ASSERT_EQ(record().cycles, before + 1);
        EXPECT_EQ(record().acts, 0);
    }
    EXPECT_EQ(record().evicted.size(), evictions);
    expect_sound();
}

TEST_F(LoopTest, heartbeats_start_no_cycle) {
    start(node_yaml("n1") + pod_yaml({.name = "a"}));
    ControlLoop& loop = restart();
    loop.run();
    const std::int64_t before = record().cycles;
    for (int i = 0; i < 5; ++i) {
        const Json beat = {{"apiVersion", "v1"},
                           {"kind", "Node"},
                           {"metadata", {{"name", "n1"}, {"annotations", {{"beat", std::to_string(i)}}}}}};
        ASSERT_TRUE(world().api().apply(beat).has_value());
        loop.run();
    }
    EXPECT_EQ(record().cycles, before);
}

TEST_F(LoopTest, a_bind_that_fails_is_undone_and_tried_elsewhere) {
    start(node_yaml("n1", 2) + node_yaml("n2", 2) + pod_yaml({.name = "a", .cpu = 2}));
    // Between plan and binding, somebody else takes the node that was chosen.
    bool taken = false;
    record().before_carrying_out = [&](const CycleReport& report) {
        if (taken || report.plan.placements.empty()) return;
        taken = true;
        const std::string thief =
            pod_yaml({.name = "thief", .cpu = 2, .node = report.plan.placements[0].node, .scheduler = "other"});
        World scratch({.start = kLoopStart, .seed = 9, .latency = {}});
        ASSERT_TRUE(scratch.load_text("thief.yaml", thief).has_value());
        ASSERT_TRUE(
            world().api().apply(scratch.store().at(scratch.store().find_pod("default/thief")).body).has_value());
    };
    run();
    ASSERT_THAT(record().failures, SizeIs(1));
    EXPECT_EQ(record().failures[0].step, SinkStep::kBind);
    EXPECT_THAT(node_of("a"), AnyOf("n1", "n2"));
    EXPECT_NE(node_of("a"), node_of("thief"));
    expect_sound();
}

TEST_F(LoopTest, a_dry_run_plans_and_does_nothing) {
    start(full_node());
    LoopOptions options;
    options.dry_run = true;
    run(options);
    EXPECT_THAT(record().plans.at(0).evictions, SizeIs(1));
    EXPECT_EQ(node_of("high"), "");
    EXPECT_EQ(node_of("low-a"), "n1");
    EXPECT_THAT(record().evictions, IsEmpty());
}

TEST_F(LoopTest, it_stops_after_so_many_cycles_or_when_told) {
    start(full_node());
    LoopOptions options;
    options.cycles = 1;
    EXPECT_EQ(run(options), LoopEnd::kCyclesDone);
    EXPECT_EQ(record().cycles, 1);
    options.cycles = 0;
    int turns = 0;
    options.stopped = [&] { return ++turns > 2; };
    EXPECT_EQ(run(options), LoopEnd::kStopped);
}

// With time between a request and its effect, several cycles see a world that has not followed yet.
TEST_F(LoopTest, what_is_under_way_is_assumed) {
    std::string world_text = full_node() + node_yaml("n2", 1);
    for (int i = 0; i < 4; ++i)
        world_text += pod_yaml({.name = "small-" + std::to_string(i), .priority = 50});
    world_text += "---\nkind: Timeline\nevents:\n";
    for (int i = 1; i <= 20; ++i) {
        world_text += "  - {at: " + std::to_string(i * 100) +
                      "ms, apply: {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: tick-" +
                      std::to_string(i) + "}, value: 7}}\n";
    }
    start(world_text, {.start = kLoopStart, .seed = 1, .latency = {1'500'000}});
    run();
    EXPECT_GE(record().cycles, 20);
    EXPECT_THAT(record().failures, IsEmpty());
    EXPECT_EQ(node_of("high"), "n1");
    expect_sound();
}

TEST_F(LoopTest, a_new_loop_in_mid_flight_goes_on_where_the_old_one_stopped) {
    start(full_node() + node_yaml("n2") + pod_yaml({.name = "mid-a", .priority = 10, .cpu = 2, .node = "n2"}) +
          pod_yaml({.name = "mid-b", .priority = 10, .cpu = 2, .node = "n2"}));
    ControlLoop& first = restart();
    while (record().evicted.empty())
        ASSERT_FALSE(first.turn().has_value());
    world().advance(world().now() + seconds(3));
    EXPECT_EQ(nominated("high"), "n1");
    run();
    EXPECT_THAT(record().evicted, ElementsAre("default/low-a"));
    EXPECT_EQ(node_of("high"), "n1");
    expect_sound();
}

// Carries out so many requests and then dies with the rest in its hands.
class MortalSink : public Sink {
public:
    MortalSink(World& world, std::size_t requests) : world_(world), left_(requests) {}
    void carry_out(const Plan& plan) override {
        for (Deed& deed : deeds_of(plan)) {
            if (left_ == 0) dead = true;
            if (dead) break;
            --left_;
            world_.request(std::move(deed));
        }
        world_.settle();
    }
    void collect(std::vector<SinkReport>& out) override { world_.collect(out); }
    [[nodiscard]] bool idle() const override { return true; }
    bool dead = false;

private:
    World& world_;
    std::size_t left_;
};

// Dies after each possible number of requests; each time another loop comes and goes on.
class CrashTest : public LoopTest {
protected:
    // How many requests a life without a crash takes.
    std::size_t die_everywhere(const std::string& yaml, const std::function<void()>& check) {
        for (std::size_t requests = 0;; ++requests) {
            SCOPED_TRACE(requests);
            start(yaml);
            MortalSink sink(world(), requests);
            ControlLoop& first = restart({}, &sink);
            while (!sink.dead && !first.turn().has_value()) {
            }
            const bool survived = !sink.dead;
            // What the dead one decided but did not do was not done.
            record().evictions.clear();
            record().evicted.clear();
            run();
            check();
            if (survived || HasFailure()) return requests;
        }
    }
    std::set<std::string> marked_pods() {
        std::set<std::string> out;
        for (const auto& [key, slot] : world().store().slots()) {
            if (key.kind == "Pod" && world().store().at(slot).pod().disruption_target) out.insert(key.name);
        }
        return out;
    }
};

TEST_F(CrashTest, of_one_preemptor) {
    const std::string other_choice = node_yaml("n2") +
                                     pod_yaml({.name = "mid-a", .priority = 10, .cpu = 2, .node = "n2"}) +
                                     pod_yaml({.name = "mid-b", .priority = 10, .cpu = 2, .node = "n2"});
    const std::size_t requests = die_everywhere(full_node() + other_choice, [&] {
        EXPECT_EQ(node_of("high"), "n1");
        EXPECT_THAT(marked_pods(), ElementsAre("low-a"));
        expect_sound();
    });
    EXPECT_GE(requests, 5U);  // record, mark, evict, nominate, bind
}

TEST_F(CrashTest, of_a_preemptor_with_several_victims) {
    std::string yaml = node_yaml("n1") + node_yaml("n2") + pod_yaml({.name = "high", .priority = 100, .cpu = 3});
    for (int i = 0; i < 4; ++i)
        yaml += pod_yaml({.name = "low-" + std::to_string(i), .priority = 1, .node = "n1"}) +
                pod_yaml({.name = "mid-" + std::to_string(i), .priority = 10, .node = "n2"});
    die_everywhere(yaml, [&] {
        EXPECT_EQ(node_of("high"), "n1");
        EXPECT_THAT(marked_pods(), SizeIs(3));
        expect_sound();
    });
}

TEST_F(CrashTest, of_a_gang) {
    std::string yaml = node_yaml("n1", 2) + node_yaml("n2", 2) + gang_yaml("g", 2, 100);
    for (int i = 0; i < 2; ++i) {
        const std::string n = std::to_string(i);
        yaml += pod_yaml({.name = "g-" + n, .cpu = 2, .group = "g"});
        yaml += pod_yaml({.name = "low-" + n, .priority = 1, .cpu = 2, .node = i == 0 ? "n1" : "n2", .owner = "low"});
    }
    die_everywhere(yaml, [&] {
        EXPECT_THAT((std::vector{node_of("g-0"), node_of("g-1")}), UnorderedElementsAre("n1", "n2"));
        EXPECT_THAT(marked_pods(), UnorderedElementsAre("low-0", "low-1"));
        expect_sound();
    });
}

TEST_F(LoopTest, victims_that_end_at_different_times_keep_their_room_for_whoever_waits) {
    start(node_yaml("n1") + pod_yaml({.name = "fast", .priority = 1, .cpu = 2, .node = "n1", .grace = 2}) +
          pod_yaml({.name = "slow", .priority = 1, .cpu = 2, .node = "n1", .grace = 30}) +
          pod_yaml({.name = "high", .priority = 100, .cpu = 4}) + R"(---
kind: Timeline
events:
  - {at: 5s, apply: {apiVersion: v1, kind: Pod, metadata: {name: late}, spec: {schedulerName: reprieve, priority: 5, containers: [{name: main, resources: {requests: {cpu: "1"}}}]}}}
)");
    run();
    EXPECT_EQ(node_of("high"), "n1");
    EXPECT_EQ(node_of("late"), "");
    EXPECT_THAT(record().evicted, SizeIs(2));
    expect_sound();
}

TEST_F(LoopTest, a_cycle_serves_one_demand_however_short_its_time_is) {
    start(node_yaml("n1") + pod_yaml({.name = "a"}) + pod_yaml({.name = "b"}) + pod_yaml({.name = "c"}));
    LoopOptions options;
    options.cycle_budget = {1};
    options.cycles = 3;
    run(options);
    for (const Plan& plan : record().plans)
        EXPECT_EQ(plan.placements.size(), 1U);
    for (const char* name : {"a", "b", "c"})
        EXPECT_EQ(node_of(name), "n1");
}

TEST_F(LoopTest, nothing_is_planned_while_facts_do_not_come_in) {
    start(node_yaml("n1") + pod_yaml({.name = "a"}));
    bool current = false;
    LoopOptions options;
    options.is_current = [&] { return current; };
    options.longest_wait = {1'000};
    ControlLoop& loop = restart(options);
    for (int i = 0; i < 5; ++i)
        static_cast<void>(loop.turn());
    EXPECT_EQ(record().cycles, 0);
    current = true;
    static_cast<void>(loop.turn());
    EXPECT_EQ(record().cycles, 1);
}

TEST_F(LoopTest, a_stuck_victim_is_given_up_after_the_deadline) {
    start(
        node_yaml("n1", 2) + node_yaml("n2", 2) +
        pod_yaml(
            {.name = "stuck", .priority = 1, .cpu = 2, .node = "n1", .annotations = "reprieve.dev/sim-terminate: 1h"}) +
        pod_yaml({.name = "good", .priority = 2, .cpu = 2, .node = "n2"}) +
        pod_yaml({.name = "high", .priority = 100, .cpu = 2}));
    ControlLoop& loop = restart();
    while (node_of("high").empty() && world().now() < kLoopStart + seconds(1800))
        ASSERT_FALSE(loop.turn().has_value());
    EXPECT_EQ(node_of("high"), "n2");
    EXPECT_THAT(record().evicted, ElementsAre("default/stuck", "default/good"));
    // Grace and patience of the first, grace of the second; not the hour.
    EXPECT_EQ(world().now(), kLoopStart + seconds(10 + 60 + 10));
    run();
    expect_sound();
}

TEST_F(LoopTest, room_that_other_victims_left_stays_paid_for_when_one_is_stuck) {
    start(node_yaml("n1") +
          pod_yaml({.name = "stuck", .priority = 1, .node = "n1", .annotations = "reprieve.dev/sim-terminate: 1h"}) +
          pod_yaml({.name = "gone-a", .priority = 1, .node = "n1"}) +
          pod_yaml({.name = "gone-b", .priority = 1, .node = "n1"}) +
          pod_yaml({.name = "spare", .priority = 2, .node = "n1"}) +
          pod_yaml({.name = "high", .priority = 100, .cpu = 3}));
    ControlLoop& loop = restart();
    while (node_of("high").empty() && world().now() < kLoopStart + seconds(1800))
        ASSERT_FALSE(loop.turn().has_value());
    EXPECT_EQ(node_of("high"), "n1");
    EXPECT_THAT(record().evicted,
                UnorderedElementsAre("default/stuck", "default/gone-a", "default/gone-b", "default/spare"));
    run();
    expect_sound();
}

TEST_F(LoopTest, a_minimum_run_time_that_ends_wakes_the_loop) {
    start(
        node_yaml("n1") +
        pod_yaml(
            {.name = "young", .priority = 1, .cpu = 4, .node = "n1", .annotations = "reprieve.dev/min-runtime: 1h5m"}) +
        pod_yaml({.name = "high", .priority = 100, .cpu = 4}));
    run();
    EXPECT_EQ(node_of("high"), "n1");
    EXPECT_EQ(record().cycles > 0 ? record().evicted.size() : 0U, 1U);
    expect_sound();
}

TEST_F(LoopTest, a_node_that_is_lost_releases_its_nomination) {
    start(full_node() + node_yaml("n2", 1) + R"(---
kind: Timeline
events:
  - {at: 4s, delete: {apiVersion: v1, kind: Node, metadata: {name: n1}}}
  - {at: 6s, apply: {apiVersion: v1, kind: Node, metadata: {name: n3}, status: {allocatable: {cpu: "4", pods: "20"}}}}
)");
    run();
    EXPECT_EQ(node_of("high"), "n3");
    expect_sound();
}

TEST_F(LoopTest, an_eviction_that_a_budget_refuses_is_not_asked_for_again_and_again) {
    SchedulerConfig config;
    std::vector<ActionConfig> actions(2);
    actions[0].kind = ActionKind::kAllocate;
    actions[1].kind = ActionKind::kPreempt;
    actions[1].mode = EvictMode::kEvict;
    config.actions = actions;
    std::string yaml = node_yaml("n1", 2) + pod_yaml({.name = "high", .priority = 100, .cpu = 2}) +
                       pod_yaml({.name = "low", .priority = 1, .cpu = 2, .node = "n1"});
    start(yaml +
          "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: all}\nspec: {minAvailable: 1, "
          "selector: {matchExpressions: [{key: none, operator: DoesNotExist}]}}\n");
    LoopOptions options;
    options.config = config;
    ControlLoop& loop = restart(options);
    while (world().now() < kLoopStart + seconds(120)) {
        if (loop.turn()) break;
    }
    EXPECT_GE(record().failures.size(), 1U);
    EXPECT_LE(record().failures.size(), 8U);  // after 0, 1, 3, 7, ... seconds
    EXPECT_EQ(node_of("low"), "n1");
    EXPECT_EQ(node_of("high"), "");
}

// The pods of a gang, and its group a second after them.
std::string late_group(const std::string& group) {
    const auto member = [](const std::string& name) {
        return "  - {at: 1s, apply: {apiVersion: v1, kind: Pod, metadata: {name: " + name +
               ", namespace: default, annotations: {scheduling.k8s.io/group-name: g}}, spec: {schedulerName: reprieve, "
               "containers: [{name: c, resources: {requests: {cpu: '2'}}}]}}}\n";
    };
    return "---\nkind: Timeline\nevents:\n" + member("m-0") + member("m-1") + group;
}

TEST_F(LoopTest, a_member_does_not_start_before_its_group_is_heard_of) {
    start(node_yaml("n1", 2) +
          late_group("  - {at: 2s, apply: {apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: "
                     "g, namespace: default}, spec: {minMember: 2}}}\n"));
    run();
    EXPECT_EQ(node_of("m-0"), "");
    EXPECT_EQ(node_of("m-1"), "");
    EXPECT_THAT(record().plans.back().unplaced, SizeIs(2));
}

TEST_F(LoopTest, nobody_starts_alone_whose_group_never_comes) {
    start(node_yaml("n1", 2) + late_group(""));
    run();
    EXPECT_EQ(node_of("m-0"), "");
    EXPECT_EQ(node_of("m-1"), "");
    EXPECT_EQ(record().plans.back().unplaced.front().reason, "its PodGroup default/g does not exist");
}

}  // namespace
}  // namespace reprieve
