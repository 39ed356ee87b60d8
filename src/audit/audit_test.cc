// The filters, one by one: each test shows a plan that is clean and one that differs in what the rule forbids.
#include "audit/audit.h"

#include "audit/test_world.h"

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A full node; the pod that waits is worth more than the one that runs.
void preemption(TestWorld& world) {
    world.node("n1");
    world.pod("low", {.node = "n1", .cpu = 3000});
    world.pod("high", {.cpu = 3000, .priority = 10});
    world.place("high", "n1", true);
    world.evict("low", "n1", "high");
}

TEST(Audit, FindsNothingWrongWithACleanPlan) {
    TestWorld world;
    preemption(world);
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST(Audit, FindsTheSameInTheSameOrderEveryTime) {
    TestWorld world;
    preemption(world);
    world.plan.placements.clear();
    const std::vector<Violation> first = world.judge();
    EXPECT_EQ(first.size(), 2U);
    EXPECT_TRUE(std::ranges::is_sorted(first));
    EXPECT_EQ(world.judge(), first);
    EXPECT_EQ(format_violation(first[0]), "default/high: form: waits and is neither placed nor unplaced");
}

TEST(AuditCapacity, CountsWhatStaysOnTheNode) {
    TestWorld world;
    preemption(world);
    world.pod("going", {.node = "n1", .cpu = 1, .edit = [&](Pod& pod) { pod.deleting = world.now; }});
    world.plan.evictions.clear();
    EXPECT_THAT(world.found(), ElementsAre("NodeResourcesFit default/high"));
}

TEST(AuditCapacity, CountsVictimsAndTerminatingPodsNow) {
    TestWorld world;
    world.node("n1");
    world.pod("going", {.node = "n1", .cpu = 3000, .edit = [&](Pod& pod) { pod.deleting = world.now; }});
    world.pod("high", {.cpu = 3000});
    world.place("high", "n1", true);
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[0].after_evictions = false;
    EXPECT_THAT(world.found(), ElementsAre("NodeResourcesFit default/high"));
}

TEST(AuditCapacity, CountsPlacementsOfOnePlanTogether) {
    TestWorld world;
    world.node("n1");
    world.node("n2");
    world.pod("a", {.cpu = 3000});
    world.pod("b", {.cpu = 3000});
    world.place("a", "n1");
    world.place("b", "n2");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[1].node = "n1";
    EXPECT_THAT(world.found(), ElementsAre("NodeResourcesFit default/a", "NodeResourcesFit default/b"));
}

TEST(AuditCapacity, CountsPods) {
    TestWorld world;
    world.node("n1", {.pods = 1});
    world.pod("there", {.node = "n1", .cpu = 0});
    world.pod("new", {.cpu = 0});
    world.place("new", "n1");
    EXPECT_THAT(world.found(), ElementsAre("NodeResourcesFit default/new"));
}

TEST(AuditCapacity, LeavesNodesAloneThatThePlanDoesNotTouch) {
    TestWorld world;
    world.node("n1", {.cpu = 1});
    world.node("n2");
    world.pod("too-big", {.node = "n1"});
    world.pod("new");
    world.place("new", "n2");
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST(AuditFilters, ObeysOnlyAndDisable) {
    TestWorld world;
    world.node("n1", {.cpu = 1});
    world.pod("new");
    world.place("new", "n1");
    EXPECT_THAT(world.found(), ElementsAre("NodeResourcesFit default/new"));
    world.config.plugins.only = {"NodeName"};
    EXPECT_THAT(world.found(), IsEmpty());
    world.config.plugins.only = {"NodeName", "NodeResourcesFit"};
    EXPECT_THAT(world.found(), ElementsAre("NodeResourcesFit default/new"));
    world.config.plugins.disable = {"NodeResourcesFit"};
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST(AuditPorts, FindsAPortThatIsTaken) {
    TestWorld world;
    world.node("n1");
    world.node("n2");
    const auto port = [&](const char* ip) {
        return [&world, ip](PodSpec& spec) {
            spec.ports = {{*ip == '\0' ? StringId() : world.id(ip), Protocol::kTcp, 80}};
        };
    };
    world.pod("there", {.node = "n1", .spec = port("10.0.0.1")});
    world.pod("other-address", {.spec = port("10.0.0.2")});
    world.pod("any-address", {.spec = port("")});
    world.place("other-address", "n1");
    world.place("any-address", "n2");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[0].node = "n1";
    EXPECT_THAT(world.found(), ElementsAre("NodePorts default/any-address", "NodePorts default/other-address"));
}

TEST(AuditNodes, FindsTheWrongNodeName) {
    TestWorld world;
    world.node("n1");
    world.node("n2");
    world.pod("new", {.spec = [&](PodSpec& spec) { spec.host = world.id("n2"); }});
    world.place("new", "n2");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[0].node = "n1";
    EXPECT_THAT(world.found(), ElementsAre("NodeName default/new"));
}

TEST(AuditNodes, FindsACordonedNode) {
    TestWorld world;
    world.node("n1", {.edit = [](Node& node) { node.unschedulable = true; }});
    world.pod("new");
    world.pod(
        "tolerant", {.spec = [&](PodSpec& spec) {
            spec.tolerations = {{world.id("node.kubernetes.io/unschedulable"), true, {}, TaintEffect::kNoSchedule}};
        }});
    world.place("new", "n1");
    world.place("tolerant", "n1");
    EXPECT_THAT(world.found(), ElementsAre("NodeUnschedulable default/new"));
}

TEST(AuditNodes, FindsATaint) {
    TestWorld world;
    world.node("n1", {.edit = [&](Node& node) {
                   node.taints = {{world.id("gpu"), world.id("yes"), TaintEffect::kNoSchedule},
                                  {world.id("soft"), {}, TaintEffect::kPreferNoSchedule}};
               }});
    const auto tolerates = [&](const char* value) {
        return [&world, value](PodSpec& spec) {
            spec.tolerations = {{world.id("gpu"), false, world.id(value), TaintEffect::kAny}};
        };
    };
    world.pod("right", {.spec = tolerates("yes")});
    world.pod("wrong", {.spec = tolerates("no")});
    world.place("right", "n1");
    world.place("wrong", "n1");
    EXPECT_THAT(world.found(), ElementsAre("TaintToleration default/wrong"));
}

TEST(AuditNodes, FindsANodeThatIsNotSelected) {
    TestWorld world;
    world.node("n1", {.labels = {{"disk", "ssd"}}});
    world.node("n2");
    world.pod("selects", {.spec = [&](PodSpec& spec) { spec.node_selector = {world.is("disk", "ssd")}; }});
    world.pod("requires", {.spec = [&](PodSpec& spec) {
                  spec.node_affinity_required = true;
                  spec.node_terms = {{{world.is("disk", "ssd")}, {}}};
              }});
    world.place("requires", "n1");
    world.place("selects", "n1");
    EXPECT_THAT(world.found(), IsEmpty());
    for (Placement& item : world.plan.placements)
        item.node = "n2";
    EXPECT_THAT(world.found(), ElementsAre("NodeAffinity default/requires", "NodeAffinity default/selects"));
}

// Four devices of 8Gi in two groups; pods ask for whole ones or for a share of one.
class AuditDevices : public testing::Test {
protected:
    void SetUp() override {
        world.node("n1", {.edit = [](Node& node) {
                       node.devices = {{0, 8 * kGi, 0, 0}, {1, 8 * kGi, 0, 0}, {2, 8 * kGi, 0, 1}, {3, 8 * kGi, 0, 1}};
                   }});
        world.pod("holds", {.node = "n1", .cpu = 1, .spec = whole(1), .edit = [](Pod& pod) {
                                pod.make_extras().held_devices = {{0, 0, 0}};
                            }});
    }
    static std::function<void(PodSpec&)> whole(int count, bool same_group = false) {
        return [=](PodSpec& spec) {
            spec.devices.whole = count;
            spec.devices.same_group = same_group;
        };
    }
    static std::function<void(PodSpec&)> share(std::int64_t memory) {
        return [=](PodSpec& spec) {
            spec.devices.shares = 1;
            spec.devices.share_memory = memory;
        };
    }
    TestWorld world;
};

TEST_F(AuditDevices, MustBeAsManyAsAskedForFreeAndThere) {
    world.pod("new", {.spec = whole(2)});
    Placement& placed = world.place("new", "n1");
    placed.devices = {"1", "2"};
    EXPECT_THAT(world.found(), IsEmpty());
    for (const std::vector<std::string>& wrong :
         {std::vector<std::string>{}, {"1"}, {"1", "1"}, {"0", "1"}, {"1", "7"}}) {
        world.plan.placements[0].devices = wrong;
        EXPECT_THAT(world.found(), ElementsAre("Devices default/new")) << testing::PrintToString(wrong);
    }
    world.config.plugins.disable = {"Devices"};
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST_F(AuditDevices, MustBeInOneGroupIfAsked) {
    world.pod("new", {.spec = whole(2, true)});
    world.place("new", "n1").devices = {"2", "3"};
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[0].devices = {"1", "2"};
    EXPECT_THAT(world.found(), ElementsAre("Devices default/new"));
}

TEST_F(AuditDevices, SharesOfOneDeviceAddUp) {
    world.pod("a", {.spec = share(5 * kGi)});
    world.pod("b", {.spec = share(4 * kGi)});
    world.place("a", "n1").devices = {"1:5Gi"};
    world.place("b", "n1").devices = {"2:4Gi"};
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[1].devices = {"1:4Gi"};
    EXPECT_THAT(world.found(), ElementsAre("Devices default/a", "Devices default/b"));
    world.plan.placements[1].devices = {"0:4Gi"};
    EXPECT_THAT(world.found(), ElementsAre("Devices default/b"));
}

TEST_F(AuditDevices, APercentageIsAPartOfTheMemoryOrOfTheDevice) {
    world.node("n2", {.edit = [](Node& node) { node.devices = {{0, 0, 0, 0}}; }});
    const auto percent = [](std::int32_t value) {
        return [value](PodSpec& spec) {
            spec.devices.shares = 1;
            spec.devices.share_memory_milli = value * 10;
        };
    };
    world.pod("a", {.spec = percent(60)});
    world.pod("b", {.spec = percent(40)});
    world.pod("c", {.spec = percent(41)});
    for (const auto& [node, device] : {std::pair("n1", "1"), std::pair("n2", "0")}) {
        world.plan = {};
        world.place("a", node).devices = {device};
        world.place("b", node).devices = {device};
        world.unplaced("c");
        EXPECT_THAT(world.found(), IsEmpty()) << node;
        world.plan.placements[1].pod = "default/c";
        world.plan.unplaced[0].pod = "default/b";
        EXPECT_THAT(world.found(), ElementsAre("Devices default/a", "Devices default/c")) << node;
    }
}

// A share of HAMi beside a pod that says it holds 6 GiB and nine tenths of the compute, on a device of two sharers.
std::vector<std::string> found_beside(std::int64_t memory, std::int64_t milli, bool registered, int members) {
    TestWorld world;
    world.node("n1", {.edit = [&](Node& node) {
                   node.devices = {{.index = 0, .memory = 8 * kGi, .sharers = 2, .id = world.id("GPU-a")}};
                   if (registered) node.dialects.add(DeviceDialect::kHami);
               }});
    const auto asks = [](std::int64_t bytes, std::int64_t compute) {
        return [=](PodSpec& spec) {
            spec.devices.shares = 1;
            spec.devices.share_memory = bytes;
            spec.devices.share_milli = compute;
            spec.devices.dialect = DeviceDialect::kHami;
        };
    };
    world.pod("runs", {.node = "n1", .cpu = 1, .spec = asks(kGi, 500), .edit = [&](Pod& pod) {
                           NamedHold held;
                           held.name = world.id("GPU-a");
                           held.memory = 6 * kGi;
                           held.milli = 900;
                           pod.make_extras().named_devices = {held};
                       }});
    for (int i = 0; i < members; ++i) {
        world.pod("new" + std::to_string(i), {.spec = asks(memory, milli)});
        world.place("new" + std::to_string(i), "n1").devices = {"0"};
    }
    return world.found();
}

TEST(AuditDialects, AShareNeedsRegistrationRoomAndAPlaceAmongTheSharers) {
    EXPECT_THAT(found_beside(2 * kGi, 100, true, 1), IsEmpty());
    EXPECT_THAT(found_beside(2 * kGi, 101, true, 1), ElementsAre("Devices default/new0"));
    EXPECT_THAT(found_beside(3 * kGi, 100, true, 1), ElementsAre("Devices default/new0"));
    EXPECT_THAT(found_beside(2 * kGi, 100, false, 1), ElementsAre("Devices default/new0"));
    EXPECT_THAT(found_beside(kGi, 10, true, 2), ElementsAre("Devices default/new0", "Devices default/new1"));
    EXPECT_THAT(found_beside(kGi, 0, true, 1), IsEmpty()) << "compute is left";
}

TEST_F(AuditDevices, BytesOfADeviceOfUnknownMemoryAreNotThere) {
    world.node("n2", {.edit = [](Node& node) { node.devices = {{0, 0, 0, 0}}; }});
    world.pod("new", {.spec = share(1)});
    world.place("new", "n2").devices = {"0"};
    EXPECT_THAT(world.found(), ElementsAre("Devices default/new"));
}

// Two zones; a web pod runs in zone a.
class AuditAffinity : public testing::Test {
protected:
    void SetUp() override {
        world.node("n1", {.labels = {{"zone", "a"}}});
        world.node("n2", {.labels = {{"zone", "b"}}});
        world.node("n3", {.labels = {{"zone", "a"}}});
        world.node("nowhere");
    }
    std::function<void(PodSpec&)> wants(const char* key, const char* value) {
        return [=, this](PodSpec& spec) { spec.affinity = {world.near("zone", key, value)}; };
    }
    std::function<void(PodSpec&)> avoids(const char* key, const char* value) {
        return [=, this](PodSpec& spec) { spec.anti_affinity = {world.near("zone", key, value)}; };
    }
    TestWorld world;
};

TEST_F(AuditAffinity, RequiredNeedsAMateInTheDomain) {
    world.pod("web", {.node = "n1", .labels = {{"app", "web"}}});
    world.pod("new", {.spec = wants("app", "web")});
    world.place("new", "n3");
    EXPECT_THAT(world.found(), IsEmpty());
    for (const char* node : {"n2", "nowhere"}) {
        world.plan.placements[0].node = node;
        EXPECT_THAT(world.found(), ElementsAre("InterPodAffinity default/new")) << node;
    }
}

TEST_F(AuditAffinity, AVictimIsNoMate) {
    world.pod("web", {.node = "n1", .cpu = 4000, .labels = {{"app", "web"}}});
    world.pod("new", {.cpu = 4000, .priority = 1, .spec = wants("app", "web")});
    world.place("new", "n1", true);
    world.evict("web", "n1", "new");
    EXPECT_THAT(world.found(), ElementsAre("InterPodAffinity default/new"));
}

TEST_F(AuditAffinity, TheFirstOfItsKindMayStartAnywhereAndTheOthersFollow) {
    for (const char* name : {"a", "b"})
        world.pod(name, {.labels = {{"app", "db"}}, .spec = wants("app", "db")});
    world.place("a", "n1");
    world.place("b", "n3");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[1].node = "n2";
    EXPECT_THAT(world.found(), ElementsAre("InterPodAffinity default/a", "InterPodAffinity default/b"));
}

TEST_F(AuditAffinity, NobodyStandsOnEachOthersFeetAlone) {
    world.pod("db", {.node = "n2", .labels = {{"app", "db"}}});
    for (const char* name : {"a", "b"})
        world.pod(name, {.labels = {{"app", "db"}}, .spec = wants("app", "db")});
    world.place("a", "n1");
    world.place("b", "n3");
    // A match runs in zone b: neither of them may be the first in zone a.
    EXPECT_THAT(world.found(), ElementsAre("InterPodAffinity default/a", "InterPodAffinity default/b"));
    world.pod("other", {.labels = {{"app", "db"}}});
    world.place("other", "n1");
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST_F(AuditAffinity, CompanyMayComeInALongRow) {
    world.pod("web", {.node = "n1", .labels = {{"app", "web"}}});
    world.pod("elsewhere", {.node = "n2", .labels = {{"app", "cache"}, {"tier", "db"}}});
    world.pod("cache", {.labels = {{"app", "cache"}}, .spec = wants("app", "web")});
    world.pod("db", {.labels = {{"tier", "db"}}, .spec = wants("app", "cache")});
    world.pod("job", {.spec = wants("tier", "db")});
    world.place("cache", "n3");
    world.place("db", "n3");
    world.place("job", "n1");
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST_F(AuditAffinity, AntiAffinityHoldsInBothDirections) {
    world.pod("web", {.node = "n1", .labels = {{"app", "web"}}, .spec = avoids("app", "db")});
    world.pod("db", {.labels = {{"app", "db"}}});
    world.pod("shy", {.spec = avoids("app", "web")});
    world.place("db", "n2");
    world.place("shy", "n2");
    EXPECT_THAT(world.found(), IsEmpty());
    for (Placement& item : world.plan.placements)
        item.node = "n3";
    EXPECT_THAT(world.found(), ElementsAre("InterPodAffinity default/db", "InterPodAffinity default/shy"));
}

TEST_F(AuditAffinity, AntiAffinityHoldsAmongPlacements) {
    for (const char* name : {"a", "b"})
        world.pod(name, {.labels = {{"app", "x"}}, .spec = avoids("app", "x")});
    world.place("a", "n1");
    world.place("b", "n2");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[1].node = "n3";
    EXPECT_THAT(world.found(), ElementsAre("InterPodAffinity default/a", "InterPodAffinity default/b"));
}

TEST_F(AuditAffinity, SpeaksOfNamespacesByTheirLabels) {
    world.add(Namespace{world.id("other"), world.labels({{"team", "red"}})});
    world.pod("web", {.node = "n1", .labels = {{"app", "web"}}, .ns = "other"});
    const auto avoids_in = [&](const char* team) {
        return [&world = world, team](PodSpec& spec) {
            spec.anti_affinity = {world.near("zone", "app", "web")};
            spec.anti_affinity[0].namespaces.clear();
            spec.anti_affinity[0].namespace_selector = world.selects("team", team);
        };
    };
    world.pod("blue", {.spec = avoids_in("blue")});
    world.pod("red", {.spec = avoids_in("red")});
    world.place("blue", "n1");
    world.place("red", "n1");
    EXPECT_THAT(world.found(), ElementsAre("InterPodAffinity default/red"));
}

TEST_F(AuditAffinity, SpreadKeepsTheSkew) {
    const auto spread = [&](PodSpec& spec) {
        spec.spread = {{.topology_key = world.id("zone"), .selector = world.selects("app", "x")}};
    };
    world.pod("there", {.node = "n1", .labels = {{"app", "x"}}});
    world.pod("a", {.labels = {{"app", "x"}}, .spec = spread});
    world.pod("b", {.labels = {{"app", "x"}}, .spec = spread});
    world.place("a", "n2");
    world.place("b", "n3");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[0].node = "n3";
    EXPECT_THAT(world.found(), ElementsAre("PodTopologySpread default/a", "PodTopologySpread default/b"));
    world.plan.placements[0].node = "nowhere";
    EXPECT_THAT(world.found(), ElementsAre("PodTopologySpread default/a", "PodTopologySpread default/b"));
    world.config.plugins.disable = {"PodTopologySpread"};
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST_F(AuditAffinity, SpreadForgivesWhatAnotherOwnersEvictionChanged) {
    const auto spread = [&](PodSpec& spec) {
        spec.spread = {{.topology_key = world.id("zone"), .selector = world.selects("app", "x")}};
    };
    world.pod("in-a", {.node = "n1", .labels = {{"app", "x"}}});
    world.pod("in-b", {.node = "n2", .cpu = 4000, .priority = -1, .labels = {{"app", "x"}}});
    world.pod("new", {.labels = {{"app", "x"}}, .spec = spread});
    world.pod("other", {.cpu = 4000, .priority = 5});
    world.place("new", "n1");
    world.place("other", "n2", true);
    world.evict("in-b", "n2", "other");
    EXPECT_THAT(world.found(), IsEmpty());
    // Its own evictions come before it, and it cannot say that it did not know.
    world.plan.placements[0].owner = "default/other";
    EXPECT_THAT(world.found(), testing::Contains("PodTopologySpread default/new"));
}

TEST_F(AuditAffinity, SpreadNeedsEnoughDomains) {
    const auto spread = [&](PodSpec& spec) {
        spec.spread = {{.topology_key = world.id("zone"), .selector = world.selects("app", "x"), .min_domains = 3}};
    };
    for (const char* node : {"n1", "n2"})
        world.pod(std::string("on-") + node, {.node = node, .labels = {{"app", "x"}}});
    world.pod("new", {.labels = {{"app", "x"}}, .spec = spread});
    world.place("new", "n1");
    EXPECT_THAT(world.found(), ElementsAre("PodTopologySpread default/new"));
    world.node("n9", {.labels = {{"zone", "c"}}});
    world.plan.placements[0].node = "n9";
    EXPECT_THAT(world.found(), IsEmpty());
}

}  // namespace
}  // namespace reprieve
