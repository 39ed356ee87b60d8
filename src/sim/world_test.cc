#include "sim/world.h"

#include "sim/test_world.h"

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using WorldTest = SimTest;

constexpr const char* kStory = R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {reprieve.dev/sim-run: 20s}}
    spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}
---
kind: Timeline
events:
  - {at: 30s, apply: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 5}}}
  - {at: 60s, delete: {apiVersion: v1, kind: Node, metadata: {name: n2}}}
)";

// Everything there is, after pods were bound in turn for two minutes.
std::string history(std::uint64_t seed) {
    World world({.start = kStart, .seed = seed, .latency = {}});
    EXPECT_TRUE(world.load_text("world.yaml", node_yaml("n1") + node_yaml("n2") + kStory).has_value());
    world.begin();
    std::string out;
    for (int second = 0; second < 120; ++second) {
        world.advance(world.now() + seconds(1));
        for (SlotId slot : world.store().of_kind("Pod")) {
            const Store::Entry& entry = world.store().at(slot);
            if (entry.pod().node) continue;
            static_cast<void>(
                world.api().bind({"default/" + entry.key.name, entry.uid()}, second % 2 == 0 ? "n1" : "n2", {}));
        }
        world.settle();
    }
    for (const auto& [key, slot] : world.store().slots())
        out += world.store().at(slot).body.dump() + "\n";
    return out;
}

TEST_F(WorldTest, the_same_input_and_seed_give_the_same_history) {
    EXPECT_EQ(history(1), history(1));
    EXPECT_NE(history(1), history(2));
}

TEST_F(WorldTest, the_timeline_creates_changes_and_deletes) {
    start(node_yaml("n1") + R"(---
kind: Timeline
events:
  - at: 10s
    apply:
      - {apiVersion: v1, kind: Pod, metadata: {name: late}, spec: {containers: [{name: main}]}}
      - {apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: a}}}
  - {at: 20s, delete: {apiVersion: v1, kind: Pod, metadata: {name: late}}}
)");
    EXPECT_EQ(world().next_event(), kStart + seconds(10));
    pass(10);
    EXPECT_THAT(pods(), ElementsAre("late"));
    EXPECT_EQ(pod("late").pod().created, kStart + seconds(10));
    const Store::Entry* node = find("Node", "n1", "");
    EXPECT_EQ(text_at(node->body, {"metadata", "labels", "zone"}), "a");
    EXPECT_NE(find_path(node->body, {"status", "allocatable"}), nullptr);  // what is not mentioned stays
    pass(10);
    EXPECT_THAT(pods(), IsEmpty());
    EXPECT_THAT(world().complaints(), IsEmpty());
}

TEST_F(WorldTest, what_the_timeline_cannot_do_is_said) {
    start("kind: Timeline\nevents: [{at: 5s, delete: {apiVersion: v1, kind: Node, metadata: {name: nowhere}}}]\n");
    pass(5);
    EXPECT_THAT(world().complaints(),
                ElementsAre(testing::EndsWith("Timeline: events[0].delete at 5s: Node \"nowhere\" not found")));
}

class LoadTest : public testing::Test {
protected:
    static std::string fault(const std::string& yaml) {
        World world({.start = kStart, .seed = 1, .latency = {}});
        const auto loaded = world.load_text("w.yaml", yaml);
        return loaded ? "" : loaded.error().message;
    }
};

TEST_F(LoadTest, faults_name_file_line_object_and_field) {
    EXPECT_EQ(fault("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: m, resources: "
                    "{requests: {cpu: much}}}]}\n")
                  .substr(0, 24),
              "w.yaml:4: Pod default/a:");
    EXPECT_EQ(fault(pod_yaml("a", "", "annotations: {reprieve.dev/sim-run: soon}")).substr(0, 71),
              "w.yaml:2: Pod a: metadata.annotations[reprieve.dev/sim-run]: \"soon\" is ");
    EXPECT_EQ(fault("kind: Timeline\nevents: [{at: 1s}]\n"),
              "w.yaml:1: Timeline: events[0]: has neither apply nor delete");
    EXPECT_EQ(fault("kind: Timeline\nevents: [{at: 1s, apply: {kind: Pod, apiVersion: v1}}]\n"),
              "w.yaml:1: Timeline: events[0]: apply.metadata.name: is missing");
    EXPECT_EQ(fault("kind: Timeline\nevents: [{at: 1s, remove: {}}]\n"),
              "w.yaml:1: Timeline: events[0]: remove: is not one of: at, apply, delete");
    EXPECT_EQ(fault(pod_yaml("a") + pod_yaml("a", "n1")),
              "w.yaml:11: Pod a: metadata.name: given twice, with different contents");
    EXPECT_EQ(fault(pod_yaml("a") + pod_yaml("a")), "");
}

TEST_F(LoadTest, a_template_that_makes_no_pod_is_refused) {
    EXPECT_NE(fault("apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a}\nspec: {template: {metadata: "
                    "{annotations: {reprieve.dev/min-runtime: soon}}, spec: {}}}\n"),
              "");
}

TEST_F(LoadTest, items_of_a_typed_list_are_what_the_list_says) {
    World world({.start = kStart, .seed = 1, .latency = {}});
    ASSERT_TRUE(
        world
            .load_text(
                "l.json",
                R"({"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"},"spec":{"containers":[]}}]})")
            .has_value());
    EXPECT_TRUE(world.store().find({"Pod", "default", "a"}).valid());
}

}  // namespace
}  // namespace reprieve
