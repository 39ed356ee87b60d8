#include "explain/explain.h"

#include <gmock/gmock.h>

#include "explain/explanation_json.h"
#include "explain/test_cluster.h"

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two can go for the new one, and the younger goes.
std::string two_candidates() {
    return test_node("n1", 2) +
           test_pod({.name = "old", .node = "n1", .priority = 10, .started = "2026-01-01T08:00:00Z"}) +
           test_pod({.name = "young", .node = "n1", .priority = 10, .started = "2026-01-01T11:00:00Z"}) +
           test_pod({.name = "new", .node = "", .priority = 100});
}

TEST(Explain, TheVictim) {
    TestCluster world(two_candidates());
    const Explanation e = world.explain_all("young");
    EXPECT_EQ(e.outcome, Outcome::kEvicted);
    const EvictionStory& story = e.evictions.at(0);
    EXPECT_EQ(story.owner, "default/new");
    EXPECT_EQ(story.owner_priority, 100);
    EXPECT_EQ(story.action, "preempt");
    EXPECT_THAT(story.nodes, ElementsAre("n1"));
    EXPECT_EQ(story.standing->ran_seconds, 3600);
    ASSERT_EQ(story.order.size(), 2U);
    EXPECT_TRUE(story.order[0].subject);
    EXPECT_TRUE(story.order[0].evicted);
    EXPECT_FALSE(story.order[1].evicted);
}

TEST(Explain, WhatWouldHaveSparedIt) {
    TestCluster world(two_candidates() + test_node("n2", 1));
    const Explanation e = world.explain_all("young");
    // n2 has room for the new one: nobody goes.
    EXPECT_EQ(e.outcome, Outcome::kUntouched);

    TestCluster full(two_candidates());
    const Explanation victim = full.explain_all("young");
    const Margin& margin = *victim.evictions.at(0).margin;
    EXPECT_TRUE(margin.complete);
    EXPECT_THAT(margin.without->evicted, ElementsAre("default/old"));
    EXPECT_EQ(margin.without->worse_in, "latestStart");
    ASSERT_NE(find_remedy(victim, Lever::kPriority), nullptr);
    EXPECT_EQ(find_remedy(victim, Lever::kPriority)->to, 11);
    ASSERT_NE(find_remedy(victim, Lever::kMinRuntime), nullptr);
    EXPECT_EQ(find_remedy(victim, Lever::kMinRuntime)->to, 3601);
    EXPECT_EQ(find_remedy(victim, Lever::kCheckpointAge), nullptr);  // nobody counts lost work
    EXPECT_EQ(find_remedy(victim, Lever::kNode), nullptr);           // there is no other node
}

TEST(Explain, AnotherNodeWithRoom) {
    const std::string selector = ", nodeSelector: {kubernetes.io/hostname: n1}";
    TestCluster world(
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {kubernetes.io/hostname: n1}}\nstatus: "
        "{allocatable: {cpu: \"1\", pods: \"9\"}}\n" +
        test_node("n2", 1) + test_pod({.name = "here", .node = "n1", .priority = 1}) +
        test_pod({.name = "new", .node = "", .priority = 5, .spec = selector}));
    const Explanation e = world.explain_all("here");
    ASSERT_NE(find_remedy(e, Lever::kNode), nullptr);
    EXPECT_EQ(find_remedy(e, Lever::kNode)->nodes, std::vector<std::string>{"n2"});
    EXPECT_EQ(find_remedy(e, Lever::kPriority)->to, 5);  // not below is enough
    EXPECT_FALSE(e.evictions[0].margin->without->placed);
}

// With lost work counted, whoever has more to lose is spared: the older the checkpoint, the safer.
TEST(Explain, AnOlderCheckpointSpares) {
    const std::string config = "plugins: {args: {lostWork: {resource: cpu}}}";
    const auto at = [](const char* time) { return std::string("reprieve.dev/last-checkpoint: \"") + time + "\""; };
    TestCluster world(test_node("n1", 2) +
                          test_pod({.name = "a",
                                    .node = "n1",
                                    .priority = 10,
                                    .started = "2026-01-01T08:00:00Z",
                                    .annotations = at("2026-01-01T11:50:00Z")}) +
                          test_pod({.name = "b",
                                    .node = "n1",
                                    .priority = 10,
                                    .started = "2026-01-01T08:00:00Z",
                                    .annotations = at("2026-01-01T11:30:00Z")}) +
                          test_pod({.name = "new", .node = "", .priority = 100}),
                      config);
    const Explanation e = world.explain_all("a");
    ASSERT_EQ(e.outcome, Outcome::kEvicted);
    EXPECT_EQ(e.evictions[0].standing->lost_work, 600);
    const Remedy* remedy = find_remedy(e, Lever::kCheckpointAge);
    ASSERT_NE(remedy, nullptr);
    EXPECT_EQ(remedy->from, 600);
    // At 1800 seconds both lose the same, and the name decides between them.
    EXPECT_GE(remedy->to, 1800);
    EXPECT_LE(remedy->to, 1801);
}

TEST(Explain, TheSparedAndWhy) {
    TestCluster world(
        test_node("n1", 3) + test_pod({.name = "gone", .node = "n1", .priority = 1}) +
        test_pod({.name = "dear", .node = "n1", .priority = 50}) +
        test_pod(
            {.name = "marked", .node = "n1", .priority = 1, .annotations = "reprieve.dev/preemptible: \"false\""}) +
        test_pod({.name = "new", .node = "", .priority = 100}));
    const Explanation dear = world.explain_all("dear");
    EXPECT_EQ(dear.outcome, Outcome::kSpared);
    ASSERT_EQ(dear.spared.size(), 1U);
    EXPECT_EQ(dear.spared[0].rule, "");
    EXPECT_TRUE(dear.spared[0].next);
    EXPECT_THAT(dear.spared[0].instead, ElementsAre("default/gone"));
    const Explanation marked = world.explain_all("marked");
    EXPECT_EQ(marked.spared.at(0).rule, "protected");
    EXPECT_THAT(marked.spared[0].why, HasSubstr("reprieve.dev/preemptible"));
    const Explanation owner = world.explain_all("new");
    EXPECT_EQ(owner.outcome, Outcome::kNominated);
    EXPECT_EQ(owner.placement->expense.size(), 1U);
    EXPECT_EQ(owner.placement->fitting, 0);
}

TEST(Explain, TheUnplacedAndThePriorityItWouldTake) {
    TestCluster world(test_node("n1", 1) + test_pod({.name = "there", .node = "n1", .priority = 7}) +
                      test_pod({.name = "new", .node = "", .priority = 7}) +
                      test_pod({.name = "huge", .node = "", .cpu = 9, .priority = 7}));
    const Explanation e = world.explain_all("new");
    EXPECT_EQ(e.outcome, Outcome::kUnplaced);
    ASSERT_EQ(e.unplaced.at(0).remedies.size(), 1U);
    EXPECT_EQ(e.unplaced[0].remedies[0].to, 8);
    EXPECT_THAT(e.unplaced[0].remedies[0].then.evicted, ElementsAre("default/there"));
    EXPECT_TRUE(world.explain_all("huge").unplaced.at(0).remedies.empty());
}

TEST(Explain, AGangAsAWhole) {
    const std::string group =
        "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g, namespace: default}\n"
        "spec: {minMember: 2, priorityClassName: low}\n"
        "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: low}\nvalue: 3\n";
    const std::string member = "scheduling.k8s.io/group-name: g";
    TestCluster world(test_node("n1", 2) + group +
                      test_pod({.name = "g-0", .node = "n1", .priority = 3, .annotations = member}) +
                      test_pod({.name = "g-1", .node = "n1", .priority = 3, .annotations = member}) +
                      test_pod({.name = "new", .node = "", .priority = 100}));
    const Explanation gang = world.explain_all("g");
    EXPECT_TRUE(gang.gang);
    EXPECT_EQ(gang.outcome, Outcome::kEvicted);
    EXPECT_EQ(gang.evictions.at(0).unit, UnitKind::kWhole);
    EXPECT_EQ(gang.evictions[0].pods.size(), 2U);
    ASSERT_NE(find_remedy(gang, Lever::kPriority), nullptr);
    EXPECT_EQ(find_remedy(gang, Lever::kPriority)->of, "default/g");
    EXPECT_EQ(find_remedy(gang, Lever::kPriority)->to, 100);
    // The gang has the say about the priority of its pods.
    EXPECT_EQ(find_remedy(world.explain_all("g-0"), Lever::kPriority)->of, "default/g");
}

// Two members of `g` on n1, and n2 with room for both; `here` keeps the newcomer to n1.
std::string a_gang_and_room_elsewhere() {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {here: \"yes\"}}\nstatus: "
           "{allocatable: {cpu: \"3\", pods: \"9\"}}\n" +
           test_node("n2", 2) +
           "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g, namespace: default}\n"
           "spec: {minMember: 2}\n";
}

// Two surplus pods of a gang share a claim, and its device is needed.
TEST(Explain, WhoSharesAClaimGoesWithIt) {
    TestCluster world(
        R"(
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8, pods: 110}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1}
spec: {driver: d, pool: {name: n1, generation: 1, resourceSliceCount: 1}, nodeName: n1, devices: [{name: gpu-0}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
status:
  allocation: {devices: {results: [{request: r, driver: d, pool: n1, device: gpu-0}]}}
  reservedFor: [{resource: pods, name: run-1}, {resource: pods, name: run-2}]
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: run}, spec: {minMember: 1}}
---
apiVersion: v1
kind: Pod
metadata: {name: run-0, annotations: {scheduling.k8s.io/group-name: run}}
spec: {nodeName: n1, priority: 1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: run-1, annotations: {scheduling.k8s.io/group-name: run}}
spec: {nodeName: n1, priority: 1, resourceClaims: [{name: c, resourceClaimName: shared}], containers: [{name: c, resources: {requests: {cpu: 1}}}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: run-2, annotations: {scheduling.k8s.io/group-name: run}}
spec: {nodeName: n1, priority: 1, resourceClaims: [{name: c, resourceClaimName: shared}], containers: [{name: c, resources: {requests: {cpu: 1}}}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: want}
spec: {priority: 9, resourceClaims: [{name: c, resourceClaimTemplateName: one}], containers: [{name: c, resources: {requests: {cpu: 1}}}]}
)",
        R"({"actions": [{"name": "allocate"}, {"name": "preempt", "args": {"cost": ["gangsBroken", "pods"]}}]})");
    const Explanation e = world.explain_all("run-1");
    const EvictionStory& story = e.evictions.at(0);
    EXPECT_EQ(story.unit, UnitKind::kWhole);
    EXPECT_EQ(story.shared, std::vector<std::string>{"default/shared with default/run-2"});
    EXPECT_EQ(story.frees, std::vector<std::string>{"gpu-0 of claim default/shared"});
    EXPECT_FALSE(story.takes_gang());
    EXPECT_EQ(story.certificate.value().cost, (CostVector{{"gangsBroken", 1}, {"pods", 2}}));
}

TEST(Explain, AGangSomewhereElse) {
    const std::string member = "scheduling.k8s.io/group-name: g";
    TestCluster world(
        a_gang_and_room_elsewhere() + test_pod({.name = "g-0", .node = "n1", .priority = 3, .annotations = member}) +
        test_pod({.name = "g-1", .node = "n1", .priority = 3, .annotations = member}) +
        test_pod({.name = "new", .node = "", .cpu = 3, .priority = 100, .spec = ", nodeSelector: {here: \"yes\"}"}));
    const Explanation gang = world.explain_all("g");
    ASSERT_EQ(gang.outcome, Outcome::kEvicted);
    ASSERT_NE(find_remedy(gang, Lever::kNode), nullptr);
    EXPECT_THAT(find_remedy(gang, Lever::kNode)->nodes, ElementsAre("n2"));
    EXPECT_THAT(find_remedy(gang, Lever::kNode)->then.evicted, ElementsAre());
}

// All members' checkpoints count: the gang is spared once it has more to lose than the single pod.
TEST(Explain, AGangsCheckpoints) {
    const auto noted = [](const char* time) {
        return std::string("scheduling.k8s.io/group-name: g, reprieve.dev/last-checkpoint: \"") + time + "\"";
    };
    TestCluster world(
        a_gang_and_room_elsewhere() +
            test_pod({.name = "g-0",
                      .node = "n2",
                      .priority = 10,
                      .started = "2026-01-01T08:00:00Z",
                      .annotations = noted("2026-01-01T11:50:00Z")}) +
            test_pod({.name = "g-1",
                      .node = "n2",
                      .priority = 10,
                      .started = "2026-01-01T08:00:00Z",
                      .annotations = noted("2026-01-01T11:55:00Z")}) +
            test_pod({.name = "alone", .node = "n1", .cpu = 3, .priority = 10, .started = "2026-01-01T11:40:00Z"}) +
            test_pod({.name = "new", .node = "", .cpu = 2, .priority = 100}),
        "plugins: {args: {lostWork: {resource: cpu}}}\nactions: [{name: allocate}, {name: preempt, args: {cost: "
        "[lostWork]}}]");
    const Explanation gang = world.explain_all("g");
    ASSERT_EQ(gang.outcome, Outcome::kEvicted);
    const Remedy* remedy = find_remedy(gang, Lever::kCheckpointAge);
    ASSERT_NE(remedy, nullptr);
    EXPECT_EQ(remedy->of, "default/g");
    EXPECT_EQ(remedy->from, 600);
    // Three cores for 20 minutes are two cores for 30.
    EXPECT_GE(remedy->to, 1800);
    EXPECT_LE(remedy->to, 1801);
}

TEST(Explain, OddOnes) {
    TestCluster world(
        test_node("n1", 8) + test_pod({.name = "runs", .node = "n1"}) +
        test_pod({.name = "gated", .node = "", .spec = ", schedulingGates: [{name: g}]"}) +
        test_pod({.name = "leaves", .node = "n1", .metadata = ", deletionTimestamp: \"2026-01-01T12:00:30Z\""}) +
        test_pod({.name = "twice", .node = "n1", .ns = "a"}) + test_pod({.name = "twice", .node = "n1", .ns = "b"}) +
        "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: empty, namespace: default}\n"
        "spec: {minMember: 2}\n");
    EXPECT_EQ(world.explain_all("runs").outcome, Outcome::kUntouched);
    EXPECT_EQ(world.explain_all("gated").outcome, Outcome::kGated);
    EXPECT_EQ(world.explain_all("leaves").outcome, Outcome::kLeaving);
    EXPECT_EQ(world.explain_all("empty").outcome, Outcome::kNoMembers);
    EXPECT_EQ(world.explain_all("b/twice").name, "b/twice");
    EXPECT_EQ(world.error("twice"), "twice is a name in several namespaces; which one: a/twice, b/twice?");
    EXPECT_EQ(world.error("gatde"), "gatde: there is no such pod or gang; did you mean default/gated?");
    EXPECT_EQ(world.error("gat"), "gat: there is no such pod or gang; did you mean default/gated?");
    EXPECT_EQ(world.error("ate"), "ate: there is no such pod or gang; did you mean default/gated?");
    EXPECT_EQ(world.error("runs", true), "runs: there is no such gang");
}

TEST(Explain, StopsWhenItsPlansAreUsedUp) {
    TestCluster world(two_candidates());
    const Explanation e = world.explain_with(2, "young");
    const Margin& margin = *e.evictions.at(0).margin;
    EXPECT_FALSE(margin.complete);
    EXPECT_EQ(margin.plans, 2);
    EXPECT_TRUE(margin.without.has_value());
}

TEST(Explain, FromThePlanAlone) {
    TestCluster world(two_candidates());
    const auto subject = find_subject(world.plan, nullptr, "young", false);
    ASSERT_TRUE(subject);
    const Explanation e = explain(world.plan, nullptr, *subject);
    EXPECT_EQ(e.outcome, Outcome::kEvicted);
    EXPECT_FALSE(e.evictions.at(0).margin);
    EXPECT_FALSE(find_subject(world.plan, nullptr, "old", false));
}

TEST(Explain, TheSameQuestionGivesTheSameBytes) {
    TestCluster world(two_candidates());
    const std::string first = explanation_to_json(world.explain_all("young"));
    EXPECT_EQ(first, explanation_to_json(world.explain_all("young")));
    EXPECT_THAT(first, HasSubstr("\"kind\": \"Explanation\""));
    EXPECT_THAT(first, HasSubstr("\"sparedIf\""));
}

}  // namespace
}  // namespace reprieve
