#include "sim/world_ends.h"

#include "sim/test_world.h"

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class EndsTest : public SimTest {
protected:
    // "+Pod a", "-Node n1"
    static std::vector<std::string> told(Source& source, Vocabulary& words, Duration wait, bool& alive) {
        std::vector<Change> changes;
        alive = source.poll(changes, wait);
        std::vector<std::string> out;
        for (const Change& change : changes) {
            const std::string sign = change.removed ? "-" : "+";
            if (const auto* fact = std::get_if<Pod>(&change.object)) out.push_back(sign + "Pod " + fact->name);
            if (const auto* fact = std::get_if<Node>(&change.object))
                out.push_back(sign + "Node " + words.str(fact->name));
        }
        return out;
    }
    std::vector<SinkReport> reports() {
        std::vector<SinkReport> out;
        world().collect(out);
        return out;
    }
    Placement placement(const std::string& name, const std::string& node, bool later = false) {
        return {.pod = "default/" + name,
                .node = node,
                .uid = pod(name).uid(),
                .devices = {},
                .after_evictions = later,
                .owner = "",
                .domain = "",
                .action = ""};
    }
    Eviction eviction(const std::string& name, EvictionMode mode = EvictionMode::kDelete) {
        Eviction out;
        out.pod = "default/" + name;
        out.uid = pod(name).uid();
        out.mode = mode;
        return out;
    }
};

TEST_F(EndsTest, the_first_poll_tells_everything_and_the_next_ones_what_changed) {
    start(node_yaml("n1") + pod_yaml("a", "n1") + pod_yaml("b"));
    Vocabulary words;
    WorldSource source(world(), words);
    bool alive = false;
    EXPECT_THAT(told(source, words, kForever, alive), ElementsAre("+Node n1", "+Pod a", "+Pod b"));
    EXPECT_TRUE(alive);
    remove("a");
    EXPECT_THAT(told(source, words, kForever, alive), ElementsAre("+Pod a"));
    EXPECT_THAT(told(source, words, kForever, alive), ElementsAre("-Pod a"));
    EXPECT_EQ(source.now(), kStart + seconds(10));
    EXPECT_THAT(told(source, words, kForever, alive), IsEmpty());
    EXPECT_FALSE(alive);
}

TEST_F(EndsTest, waiting_passes_time_only_as_far_as_asked) {
    start(node_yaml("n1") + pod_yaml("a", "n1"));
    Vocabulary words;
    WorldSource source(world(), words);
    bool alive = false;
    told(source, words, kForever, alive);
    EXPECT_THAT(told(source, words, seconds(5), alive), IsEmpty());
    EXPECT_TRUE(alive);
    EXPECT_EQ(source.now(), kStart + seconds(5));
    remove("a");
    told(source, words, Duration{0}, alive);
    EXPECT_THAT(told(source, words, seconds(5), alive), IsEmpty());
    EXPECT_THAT(told(source, words, seconds(60), alive), ElementsAre("-Pod a"));
    EXPECT_EQ(source.now(), kStart + seconds(15));
}

TEST_F(EndsTest, the_pace_decides_how_far_the_clock_moves) {
    start(node_yaml("n1") + pod_yaml("a", "n1"));
    Vocabulary words;
    WorldSource source(world(), words, [](Time from, Time) { return from + seconds(1); });
    bool alive = false;
    told(source, words, kForever, alive);
    remove("a");
    told(source, words, kForever, alive);
    told(source, words, kForever, alive);
    EXPECT_EQ(source.now(), kStart + seconds(1));
}

TEST_F(EndsTest, a_second_watcher_hears_the_whole_story_in_its_own_words) {
    start(node_yaml("n1") + pod_yaml("a", "n1"));
    Vocabulary words;
    WorldSource source(world(), words);
    bool alive = false;
    told(source, words, kForever, alive);
    remove("a");
    pass(10);
    Vocabulary others;
    others.string("something to shift the ids");
    WorldSource other(world(), others);
    EXPECT_THAT(told(other, others, kForever, alive), ElementsAre("+Node n1"));
}

TEST_F(EndsTest, what_a_queue_was_granted_stands_on_it_and_is_written_once) {
    start("apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\nspec: {weight: 1}\n");
    Plan plan;
    plan.queues = {{.name = "q",
                    .shares = {{"deserved", {{"cpu", 3000}}},
                               {"allocated", {{"cpu", 1000}}},
                               {"used", {{"cpu", 0}}},
                               {"preempting", {{"cpu", 2000}}}}}};
    WorldSink(world()).carry_out(plan);
    const Store::Entry* queue = find("Queue.scheduling.volcano.sh", "q", "");
    ASSERT_NE(queue, nullptr);
    EXPECT_EQ(text_at(queue->body, {"metadata", "annotations", "reprieve.dev/allocated"}), R"({"cpu":"1000m"})");
    const std::size_t written = store().log_size();
    WorldSink(world()).carry_out(plan);
    EXPECT_EQ(store().log_size(), written);
    for (const SinkReport& report : reports())
        EXPECT_TRUE(report.ok) << report.what;
}

TEST_F(EndsTest, a_plan_is_carried_out_in_the_order_that_survives_a_crash) {
    start(node_yaml("n1") + pod_yaml("victim", "n1") + pod_yaml("waits") + pod_yaml("fits") + pod_yaml("dropped"));
    Plan plan;
    plan.id = "sha256:1";
    plan.placements = {placement("waits", "n1", true), placement("fits", "n1")};
    plan.evictions = {eviction("victim")};
    plan.nominations_cleared = {"default/dropped"};
    plan.intents = {{.pod = "default/waits",
                     .uid = pod("waits").uid(),
                     .node = "n1",
                     .victims = {pod("victim").uid()},
                     .deadline = kStart + seconds(70)}};
    WorldSink(world()).carry_out(plan);

    std::vector<SinkStep> steps;
    for (const SinkReport& report : reports()) {
        EXPECT_TRUE(report.ok) << report.what;
        steps.push_back(report.step);
    }
    EXPECT_THAT(steps,
                ElementsAre(SinkStep::kRecord,
                            SinkStep::kMark,
                            SinkStep::kEvict,
                            SinkStep::kClearNomination,
                            SinkStep::kNominate,
                            SinkStep::kBind));
    EXPECT_TRUE(pod("victim").pod().terminating());
    EXPECT_TRUE(pod("victim").pod().disruption_target);
    const auto& note = pod("waits").pod().more().plan;
    ASSERT_TRUE(note.has_value());
    EXPECT_EQ(note->id, "sha256:1");
    EXPECT_THAT(note->victim_uids, ElementsAre(pod("victim").uid()));
    EXPECT_EQ(note->deadline, kStart + seconds(70));
    EXPECT_EQ(store().words().text(pod("waits").pod().nominated), "n1");
    EXPECT_EQ(store().words().text(pod("fits").pod().node), "n1");

    // All of it once more changes nothing.
    const std::size_t log = store().log_size();
    WorldSink(world()).carry_out(plan);
    for (const SinkReport& report : reports())
        EXPECT_TRUE(report.ok) << report.what;
    EXPECT_EQ(store().log_size(), log);
}

TEST_F(EndsTest, binding_ends_what_was_promised) {
    start(node_yaml("n1") + pod_yaml("a"));
    ASSERT_TRUE(world().api().nominate({"default/a", ""}, "n1").has_value());
    ASSERT_TRUE(world()
                    .api()
                    .annotate({"default/a", ""}, {{"reprieve.dev/plan", R"({"id":"x","node":"n1","victims":[]})"}}, {})
                    .has_value());
    bind("a", "n1");
    EXPECT_FALSE(pod("a").pod().nominated.valid());
    EXPECT_FALSE(pod("a").pod().more().plan.has_value());
}

TEST_F(EndsTest, a_pod_nominated_anew_without_evictions_keeps_no_old_record) {
    start(node_yaml("n1") + node_yaml("n2") + pod_yaml("a"));
    ASSERT_TRUE(world().api().nominate({"default/a", ""}, "n1").has_value());
    ASSERT_TRUE(world()
                    .api()
                    .annotate({"default/a", ""}, {{"reprieve.dev/plan", R"({"id":"x","node":"n1","victims":[]})"}}, {})
                    .has_value());
    Plan plan;
    plan.placements = {placement("a", "n2", true)};
    plan.nominations_cleared = {"default/a"};
    WorldSink(world()).carry_out(plan);
    EXPECT_EQ(store().words().text(pod("a").pod().nominated), "n2");
    EXPECT_FALSE(pod("a").pod().more().plan.has_value());
}

TEST_F(EndsTest, a_plan_about_an_earlier_pod_of_the_same_name_touches_nobody) {
    start(node_yaml("n1") + pod_yaml("a", "n1"));
    Plan plan;
    plan.evictions = {eviction("a")};
    plan.evictions[0].uid = "another";
    WorldSink(world()).carry_out(plan);
    EXPECT_FALSE(pod("a").pod().terminating());
    EXPECT_FALSE(pod("a").pod().disruption_target);
}

TEST_F(EndsTest, with_latency_things_are_under_way_for_a_while) {
    start(node_yaml("n1") + pod_yaml("a"), {.start = kStart, .seed = 1, .latency = seconds(1)});
    Plan plan;
    plan.placements = {placement("a", "n1")};
    WorldSink sink(world());
    sink.carry_out(plan);
    EXPECT_FALSE(sink.idle());
    EXPECT_THAT(reports(), IsEmpty());
    EXPECT_FALSE(pod("a").pod().node.valid());
    pass(1);
    EXPECT_TRUE(sink.idle());
    EXPECT_THAT(reports(), SizeIs(1));
    EXPECT_TRUE(pod("a").pod().node.valid());
}

TEST_F(EndsTest, modes_of_eviction) {
    start(node_yaml("n1") + pod_yaml("soft", "n1") + pod_yaml("scaled", "n1") +
          pod_yaml("forced", "n1", "annotations: {reprieve.dev/sim-terminate: 1h}"));
    remove("forced");
    Plan plan;
    plan.evictions = {eviction("soft", EvictionMode::kSoft),
                      eviction("scaled", EvictionMode::kScaleDown),
                      eviction("forced", EvictionMode::kForceDelete)};
    plan.force_deletes = {"default/forced"};
    WorldSink(world()).carry_out(plan);
    EXPECT_FALSE(pod("soft").pod().terminating());
    EXPECT_NE(pod("soft").pod().more().soft_eviction, "");
    EXPECT_FALSE(pod("scaled").pod().terminating());
    pass(1);
    EXPECT_EQ(find("Pod", "forced"), nullptr);
}

}  // namespace
}  // namespace reprieve
