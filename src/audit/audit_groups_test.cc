// Queues, gangs and hard topology.
#include "audit/test_world.h"

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(AuditQueues, LimitsHoldOnTheWholePath) {
    for (const char* limited : {"child", "parent"}) {
        TestWorld world;
        world.node("n1", {.cpu = 10000});
        const auto limit = [&](Queue& queue) { queue.limit = world.amounts({{"cpu", 2000}}); };
        world.queue("parent", [&](Queue& queue) {
            if (limited == std::string("parent")) limit(queue);
        });
        world.queue("child", [&](Queue& queue) {
            queue.parent = world.id("parent");
            if (limited == std::string("child")) limit(queue);
        });
        world.pod("runs", {.node = "n1", .queue = "child"});
        world.pod("fits", {.queue = "child"});
        world.pod("over", {.queue = "child"});
        world.place("fits", "n1");
        world.unplaced("over");
        EXPECT_THAT(world.found(), IsEmpty()) << limited;
        world.plan.unplaced.clear();
        world.place("over", "n1");
        EXPECT_THAT(world.found(), ElementsAre("queue-limit default/fits", "queue-limit default/over")) << limited;
    }
}

TEST(AuditQueues, TerminatingPodsCountNow) {
    TestWorld world;
    world.node("n1", {.cpu = 10000});
    world.queue("q", [&](Queue& queue) { queue.limit = world.amounts({{"cpu", 1000}}); });
    world.pod("going", {.node = "n1", .queue = "q", .edit = [&](Pod& pod) { pod.deleting = world.now; }});
    world.pod("new", {.queue = "q"});
    world.place("new", "n1", true);
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[0].after_evictions = false;
    EXPECT_THAT(world.found(), ElementsAre("queue-limit default/new"));
}

TEST(AuditQueues, ClosedInnerAndMissingQueuesTakeNoPods) {
    TestWorld world;
    world.node("n1", {.cpu = 10000});
    world.queue("closed", [](Queue& queue) { queue.open = false; });
    world.queue("inner");
    world.queue("leaf", [&](Queue& queue) { queue.parent = world.id("inner"); });
    for (const char* queue : {"closed", "inner", "leaf", "missing"}) {
        world.pod(queue, {.queue = queue});
        world.place(queue, "n1");
    }
    EXPECT_THAT(
        world.found(),
        ElementsAre("queue-closed default/closed", "queue-closed default/inner", "queue-missing default/missing"));
}

// A gang of four, min three, one role minimum; two members run.
class AuditGangs : public testing::Test {
protected:
    void build(const std::function<void(Gang&)>& edit = {}, std::int32_t min = 3) {
        world.node("n1", {.cpu = 100000, .pods = 100});
        world.node("n2", {.cpu = 100000, .pods = 100});
        world.gang("g", min, edit);
    }
    void member(const std::string& name,
                const std::string& node = "",
                const std::string& role = "",
                const std::string& part = "") {
        std::map<std::string, std::string> labels;
        if (!part.empty()) labels["part"] = part;
        const auto edit = [&](Pod& pod) {
            if (!role.empty()) pod.role = world.id(role);
        };
        world.pod(name, {.node = node, .group = "g", .labels = labels, .edit = edit});
    }
    TestWorld world;
};

TEST_F(AuditGangs, StartWithTheirMinimum) {
    build();
    member("a", "n1");
    for (const char* name : {"b", "c"})
        member(name);
    world.place("b", "n1", false, "g");
    world.place("c", "n1", false, "g");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements.pop_back();
    world.unplaced("c", "g");
    EXPECT_THAT(world.found(), ElementsAre("gang-minimum default/g"));
    world.config.plugins.disable = {"gang"};
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST_F(AuditGangs, StartWithTheMinimumOfEachRole) {
    build([&](Gang& gang) { gang.role_minimums = {{world.id("ps"), 1}}; }, 2);
    member("ps", "", "ps");
    for (const char* name : {"w1", "w2"})
        member(name, "", "worker");
    world.place("ps", "n1", false, "g");
    world.place("w1", "n1", false, "g");
    world.unplaced("w2", "g");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[0].pod = "default/w2";
    world.plan.unplaced[0].pod = "default/ps";
    EXPECT_THAT(world.found(), ElementsAre("gang-minimum default/g"));
}

TEST_F(AuditGangs, RolesAreNotEnforcedBeyondTheMinimum) {
    build([&](Gang& gang) { gang.role_minimums = {{world.id("ps"), 2}}; }, 1);
    member("w", "", "worker");
    world.place("w", "n1", false, "g");
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST_F(AuditGangs, StartTogetherWithTheirPeers) {
    world.node("n1");
    world.gang("g", 1, [&](Gang& gang) { gang.peers = {world.id("default/h")}; });
    world.gang("h", 1);
    member("a");
    world.pod("b", {.group = "h"});
    world.place("a", "n1", false, "g");
    world.place("b", "n1", false, "h");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements.pop_back();
    world.unplaced("b", "h");
    EXPECT_THAT(world.found(), ElementsAre("gang-minimum default/g"));
}

TEST_F(AuditGangs, StartAtOneTime) {
    build({}, 2);
    world.pod("going", {.node = "n2", .edit = [&](Pod& pod) { pod.deleting = world.now; }});
    member("a");
    member("b");
    world.place("a", "n1", true, "g");
    world.place("b", "n1", true, "g");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[0].after_evictions = false;
    EXPECT_THAT(world.found(), ElementsAre("gang-when default/g"));
}

TEST_F(AuditGangs, SubGroupsStartWithTheirSize) {
    build(
        [&](Gang& gang) {
            SubGroupPolicy policy;
            policy.name = world.id("slices");
            policy.match_label_keys = {world.id("part")};
            policy.size = 2;
            policy.min_sub_groups = 1;
            gang.sub_groups = {policy};
        },
        2);
    for (const char* name : {"a", "b"})
        member(name, "", "", "0");
    for (const char* name : {"c", "d"})
        member(name, "", "", "1");
    world.place("a", "n1", false, "g");
    world.place("b", "n1", false, "g");
    world.unplaced("c", "g");
    world.unplaced("d", "g");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[1].pod = "default/c";
    world.plan.unplaced[0].pod = "default/b";
    EXPECT_THAT(world.found(), ElementsAre("gang-minimum default/g", "sub-group default/a", "sub-group default/c"));
}

TEST_F(AuditGangs, MinResourcesMustBeWithinReach) {
    for (const std::int64_t cpu : {200'000, 200'001}) {
        TestWorld small;
        small.node("n1", {.cpu = 200'000});
        small.gang("g", 1, [&](Gang& gang) { gang.min_resources = small.amounts({{"cpu", cpu}}); });
        small.pod("a", {.group = "g"});
        small.place("a", "n1", false, "g");
        EXPECT_EQ(small.found().empty(), cpu == 200'000);
    }
}

TEST_F(AuditGangs, MinResourcesMustBeWithinTheQueue) {
    build(
        [&](Gang& gang) {
            gang.min_resources = world.amounts({{"cpu", 5000}});
            gang.queue = world.id("q");
        },
        1);
    world.queue("q", [&](Queue& queue) { queue.limit = world.amounts({{"cpu", 4000}}); });
    member("a");
    world.place("a", "n1", false, "g");
    EXPECT_THAT(world.found(), ElementsAre("min-resources default/g"));
}

// Three racks in two rows: r1 and r2 in row1, r3 in row2.
class AuditTopology : public testing::Test {
protected:
    void SetUp() override {
        for (const char* rack : {"r1", "r2", "r3"})
            world.node(std::string("n-") + rack, {.labels = {{"rack", rack}}});
        world.node("n-r1b", {.labels = {{"rack", "r1"}}});
        hyper_node("r1", 1, true, {"n-r1", "n-r1b"});
        hyper_node("r2", 1, true, {"n-r2"});
        hyper_node("r3", 1, true, {"n-r3"});
        hyper_node("row1", 2, false, {"r1", "r2"});
        hyper_node("row2", 2, false, {"r3"});
    }
    void hyper_node(const std::string& name,
                    std::int32_t tier,
                    bool of_nodes,
                    const std::vector<std::string>& members) {
        HyperNode made;
        made.name = world.id(name);
        made.tier = tier;
        made.tier_name = world.id("tier-" + std::to_string(tier));
        for (const std::string& member : members)
            made.members.push_back({of_nodes, HyperNodeMember::Match::kExact, member, {}});
        world.add(made);
    }
    void gang_of_two(const TopologyRule& rule) {
        world.gang("g", 2, [&](Gang& gang) { gang.topology = rule; });
        world.pod("a", {.group = "g"});
        world.pod("b", {.group = "g"});
        world.place("a", "n-r1", false, "g");
        world.place("b", "n-r1", false, "g");
    }
    bool clean_with(const char* other) {
        world.plan.placements[1].node = other;
        const auto found = world.found();
        if (!found.empty()) {
            EXPECT_THAT(found, ElementsAre("topology default/g"));
        }
        return found.empty();
    }
    TestWorld world;
};

TEST_F(AuditTopology, StaysBelowTheHighestTier) {
    TopologyRule rule;
    rule.highest_tier = 1;
    gang_of_two(rule);
    EXPECT_TRUE(clean_with("n-r1b"));
    EXPECT_FALSE(clean_with("n-r2"));
    world.config.plugins.disable = {"networkTopology"};
    EXPECT_TRUE(clean_with("n-r2"));
}

TEST_F(AuditTopology, TheClusterIsTheWidestDomain) {
    TopologyRule rule;
    rule.highest_tier = 2;
    gang_of_two(rule);
    EXPECT_TRUE(clean_with("n-r2"));
    EXPECT_FALSE(clean_with("n-r3"));
    TestWorld open;
    open.node("n1");
    open.node("n2");
    TopologyRule one;
    one.highest_tier = 1;
    open.gang("g", 2, [&](Gang& gang) { gang.topology = one; });
    open.pod("a", {.group = "g"});
    open.pod("b", {.group = "g"});
    open.place("a", "n1", false, "g");
    open.place("b", "n2", false, "g");
    EXPECT_THAT(open.found(), IsEmpty());
}

TEST_F(AuditTopology, TiersHaveNames) {
    TopologyRule rule;
    rule.highest_tier_name = world.id("tier-1");
    gang_of_two(rule);
    EXPECT_TRUE(clean_with("n-r1b"));
    EXPECT_FALSE(clean_with("n-r2"));
}

TEST_F(AuditTopology, ATierThatDoesNotExistHoldsNobody) {
    TopologyRule rule;
    rule.highest_tier_name = world.id("galaxy");
    gang_of_two(rule);
    EXPECT_FALSE(clean_with("n-r1"));
}

TEST_F(AuditTopology, SharesOneValueOfALabel) {
    TopologyRule rule;
    rule.label_key = world.id("rack");
    gang_of_two(rule);
    EXPECT_TRUE(clean_with("n-r1b"));
    EXPECT_FALSE(clean_with("n-r2"));
}

TEST_F(AuditTopology, RunningMembersPinTheDomain) {
    TopologyRule rule;
    rule.highest_tier = 1;
    world.gang("g", 1, [&](Gang& gang) { gang.topology = rule; });
    world.pod("runs", {.node = "n-r3", .group = "g"});
    world.pod("new", {.group = "g"});
    world.place("new", "n-r3", false, "g");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[0].node = "n-r1";
    EXPECT_THAT(world.found(), ElementsAre("topology default/g"));
}

TEST_F(AuditTopology, SoftRulesForbidNothing) {
    TopologyRule rule;
    rule.hard = false;
    rule.highest_tier = 1;
    gang_of_two(rule);
    EXPECT_TRUE(clean_with("n-r3"));
}

TEST_F(AuditTopology, SubGroupsHaveRulesOfTheirOwn) {
    world.gang("g", 2, [&](Gang& gang) {
        SubGroupPolicy policy;
        policy.name = world.id("slices");
        policy.match_label_keys = {world.id("part")};
        policy.topology.emplace().highest_tier = 1;
        gang.sub_groups = {policy};
    });
    world.pod("a", {.group = "g", .labels = {{"part", "0"}}});
    world.pod("b", {.group = "g", .labels = {{"part", "0"}}});
    world.pod("c", {.group = "g", .labels = {{"part", "1"}}});
    world.place("a", "n-r1", false, "g");
    world.place("b", "n-r1b", false, "g");
    world.place("c", "n-r3", false, "g");
    EXPECT_THAT(world.found(), IsEmpty());
    EXPECT_FALSE(clean_with("n-r3"));
}

TEST_F(AuditTopology, CompositesKeepTheirGangsTogether) {
    CompositeGroup root;
    root.ns = world.id("default");
    root.name = world.id("root");
    root.topology.emplace().label_key = world.id("rack");
    world.add(root);
    for (const char* gang : {"g", "h"}) {
        world.gang(gang, 1, [&](Gang& made) { made.parent = root.name; });
        world.pod(std::string("in-") + gang, {.group = gang});
        world.place(std::string("in-") + gang, "n-r1", false, gang);
    }
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[1].node = "n-r2";
    EXPECT_THAT(world.found(), ElementsAre("topology default/root"));
}

TEST(AuditLabelLevels, HaveTiersFromInnerToOuter) {
    for (const std::int32_t tier : {1, 2, 3}) {
        ClusterOptions options;
        options.topology_levels = {"row", "rack"};
        TestWorld world(options);
        world.config.topology_levels = options.topology_levels;
        world.node("n1", {.labels = {{"row", "1"}, {"rack", "1"}}});
        world.node("n2", {.labels = {{"row", "1"}, {"rack", "2"}}});
        world.node("n3", {.labels = {{"row", "2"}, {"rack", "3"}}});
        world.gang("g", 2, [&](Gang& gang) { gang.topology.emplace().highest_tier = tier; });
        world.pod("a", {.group = "g"});
        world.pod("b", {.group = "g"});
        world.place("a", "n1", false, "g");
        world.place("b", "n2", false, "g");
        EXPECT_EQ(world.found().empty(), tier >= 2) << tier;
        world.plan.placements[1].node = "n3";
        EXPECT_EQ(world.found().empty(), tier >= 3) << tier;
    }
}

}  // namespace
}  // namespace reprieve
