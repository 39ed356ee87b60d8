// Who may be evicted, for whom, and how many.
#include "audit/test_world.h"

namespace reprieve {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// One full node, one victim, one demand of more priority.
struct Attack {
    TestWorld world;

    explicit Attack(const TestPod& victim = {}, const TestPod& demand = {}, ClusterOptions options = {})
        : world(std::move(options)) {
        TestPod low = victim;
        low.node = "n1";
        low.cpu = 3000;
        TestPod high = demand;
        high.cpu = 3000;
        high.priority = 10;
        world.node("n1");
        world.pod("low", low);
        world.pod("high", high);
        world.place("high", "n1", true);
        world.evict("low", "n1", "high");
    }
};

TEST(AuditProtection, CoversWhatComesStraightBackOrBelongsToTheSystem) {
    const auto edited = [](const std::function<void(TestWorld&, Pod&)>& edit) {
        TestWorld world;
        world.node("n1");
        world.pod("low", {.node = "n1", .cpu = 3000, .edit = [&](Pod& pod) { edit(world, pod); }});
        world.pod("high", {.cpu = 3000, .priority = 2'000'000'000});
        world.place("high", "n1", true);
        world.evict("low", "n1", "high");
        return world.found();
    };
    const std::vector<std::string> refused = {"protected default/low"};
    EXPECT_THAT(edited([](TestWorld&, Pod&) {}), IsEmpty());
    EXPECT_EQ(edited([](TestWorld&, Pod& pod) { pod.mirror = true; }), refused);
    EXPECT_EQ(edited([](TestWorld& world, Pod& pod) { pod.owner.kind = world.id("DaemonSet"); }), refused);
    EXPECT_EQ(edited([](TestWorld& world, Pod& pod) { pod.priority_class = world.id("system-node-critical"); }),
              refused);
    EXPECT_EQ(edited([](TestWorld&, Pod& pod) { pod.make_extras().preemptible = false; }), refused);
}

TEST(AuditProtection, CoversKubeSystemUnlessSwitchedOff) {
    TestWorld world;
    world.node("n1");
    world.pod("low", {.node = "n1", .cpu = 3000, .ns = "kube-system"});
    world.pod("high", {.cpu = 3000, .priority = 10});
    world.place("high", "n1", true);
    world.evict("low", "n1", "high").pod = "kube-system/low";
    EXPECT_THAT(world.found(), ElementsAre("protected kube-system/low"));
    world.config.plugins.kube_system_protected = false;
    EXPECT_THAT(world.found(), IsEmpty());
    world.config.plugins.kube_system_protected = true;
    world.config.plugins.disable = {"protected"};
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST(AuditProtection, CoversOtherSchedulersPods) {
    ClusterOptions options;
    options.scheduler_names = {"reprieve"};
    Attack attack({.spec = [](PodSpec& spec) { spec.scheduler = {}; }}, {}, options);
    EXPECT_THAT(attack.world.found(), ElementsAre("protected default/low"));
}

TEST(AuditProtection, CoversPodsThatHaveNotRunLongEnough) {
    for (const std::int64_t minutes : {59, 61}) {
        Attack attack({.edit = [&](Pod& pod) { pod.make_extras().min_runtime = Duration{minutes * 60'000'000}; }});
        EXPECT_EQ(attack.world.found().empty(), minutes == 59);
        attack.world.config.plugins.disable = {"minRuntime"};
        EXPECT_THAT(attack.world.found(), IsEmpty());
    }
}

TEST(AuditProtection, CoversWhatItsClassTolerates) {
    struct Row {
        std::int32_t minimum;
        std::int64_t seconds;
        bool clean;
    };
    for (const Row& row :
         {Row{11, 7200, false}, Row{11, 60, true}, Row{10, 7200, true}, Row{11, -1, false}, Row{11, 0, true}}) {
        TestWorld world;
        PriorityClass cls;
        cls.name = world.id("patient");
        cls.minimum_preemptable_priority = row.minimum;
        cls.toleration_seconds = row.seconds;
        world.add(cls);
        world.node("n1");
        world.pod("low", {.node = "n1", .cpu = 3000, .edit = [&](Pod& pod) { pod.priority_class = cls.name; }});
        world.pod("high", {.cpu = 3000, .priority = 10});
        world.place("high", "n1", true);
        world.evict("low", "n1", "high");
        EXPECT_EQ(world.found().empty(), row.clean) << row.minimum << " " << row.seconds;
    }
}

TEST(AuditProtection, CoversWhatTheDefaultClassTolerates) {
    for (const std::int32_t value : {9, 10}) {
        TestWorld world;
        PriorityClass cls;
        cls.name = world.id("patient");
        cls.value = value;
        cls.global_default = true;
        cls.toleration_seconds = -1;  // against all that are not above the class itself
        world.add(cls);
        world.node("n1");
        world.pod("low", {.node = "n1", .cpu = 3000, .edit = [](Pod& pod) { pod.priority.reset(); }});
        world.pod("high", {.cpu = 3000, .priority = 10});
        world.place("high", "n1", true);
        world.evict("low", "n1", "high");
        EXPECT_EQ(world.found().empty(), value == 9);
    }
}

TEST(AuditProtection, CoversTerminatingAndFinishedPods) {
    Attack terminating({.edit = [](Pod& pod) { pod.deleting = Time{1}; }});
    EXPECT_THAT(terminating.world.found(), ElementsAre("eviction-target default/low"));
    Attack finished({.edit = [](Pod& pod) { pod.phase = PodPhase::kFailed; }});
    EXPECT_THAT(finished.world.found(), Contains("eviction-target default/low"));
}

TEST(AuditPriority, TakesStrictlyLowerOnly) {
    for (const char* action : {"preempt", "gangPreempt", "jobPreempt"}) {
        for (const std::int32_t priority : {9, 10}) {
            Attack attack({.priority = priority});
            attack.world.plan.evictions[0].action = action;
            EXPECT_EQ(attack.world.found().empty(), priority == 9) << action;
        }
    }
    Attack attack({.priority = 10});
    EXPECT_THAT(attack.world.found(), ElementsAre("priority default/low"));
}

TEST(AuditPriority, CountsThePriorityOfTheWholeGang) {
    TestWorld world;
    world.node("n1");
    world.gang("g", 1, [](Gang& gang) { gang.priority = 50; });
    world.pod("low", {.node = "n1", .cpu = 3000, .group = "g"});
    world.pod("high", {.cpu = 3000, .priority = 10});
    world.place("high", "n1", true);
    world.evict("low", "n1", "high").unit = UnitKind::kWhole;
    EXPECT_THAT(world.found(), ElementsAre("priority default/low"));
}

TEST(AuditPriority, CanBeSwitchedOff) {
    Attack attack;
    attack.world.config.plugins.disable = {"priority"};
    EXPECT_THAT(attack.world.found(), ElementsAre("priority default/low"));
}

TEST(AuditOwner, MayNotPreemptIfItsPolicySaysNever) {
    Attack attack({}, {.edit = [](Pod& pod) { pod.preemption_policy = PreemptionPolicy::kNever; }});
    EXPECT_THAT(attack.world.found(), ElementsAre("preemption-policy default/low"));
}

TEST(AuditOwner, MustExistAndGetAPlaceByTheEviction) {
    Attack attack;
    TestWorld& world = attack.world;
    world.plan.evictions[0].owner = "default/ghost";
    EXPECT_THAT(world.found(), ElementsAre("owner default/low"));
    world.plan.evictions[0].owner = "default/high";
    world.plan.placements.clear();
    world.unplaced("high");
    EXPECT_THAT(world.found(), ElementsAre("owner default/low"));
}

TEST(AuditOwner, WaitsForItsEvictions) {
    Attack attack;
    attack.world.plan.placements[0].after_evictions = false;
    EXPECT_THAT(attack.world.found(), ElementsAre("NodeResourcesFit default/high", "owner default/low"));
}

TEST(AuditOwner, PreemptsInItsOwnQueueUnlessToldOtherwise) {
    TestWorld world;
    world.queue("a");
    world.queue("b");
    world.node("n1");
    world.pod("low", {.node = "n1", .cpu = 3000, .queue = "a"});
    world.pod("high", {.cpu = 3000, .priority = 10, .queue = "b"});
    world.place("high", "n1", true);
    world.evict("low", "n1", "high");
    EXPECT_THAT(world.found(), ElementsAre("same-queue default/low"));
    order_action(world.config, ActionKind::kPreempt, [](ActionConfig& action) { action.cross_queue = true; });
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST(AuditReclaim, TakesFromOtherReclaimableQueuesAboveTheirGuarantee) {
    const auto found = [](const std::function<void(TestWorld&, Queue&)>& victim,
                          const std::function<void(TestWorld&, Queue&)>& owner,
                          const char* queue = "a") {
        TestWorld world;
        world.queue("a", [&](Queue& q) { victim(world, q); });
        world.queue("b", [&](Queue& q) { owner(world, q); });
        world.node("n1");
        world.pod("low", {.node = "n1", .cpu = 3000, .priority = 99, .queue = queue});
        world.pod("high", {.cpu = 3000, .queue = "b"});
        world.place("high", "n1", true);
        world.evict("low", "n1", "high", "gangReclaim");
        return world.found();
    };
    const auto plain = [](TestWorld&, Queue&) {};
    const auto deserves = [](std::int64_t cpu) {
        return [cpu](TestWorld& world, Queue& q) { q.deserved = world.amounts({{"cpu", cpu}}); };
    };
    EXPECT_THAT(found(plain, deserves(3000)), IsEmpty());
    EXPECT_THAT(found(plain, deserves(2999)), ElementsAre("reclaim default/high"));
    EXPECT_THAT(found(plain, plain, "b"), ElementsAre("reclaim default/low"));
    EXPECT_THAT(found([](TestWorld&, Queue& q) { q.reclaimable = false; }, plain), ElementsAre("reclaim default/low"));
    EXPECT_THAT(found([](TestWorld& world, Queue& q) { q.guarantee = world.amounts({{"cpu", 1}}); }, plain),
                ElementsAre("reclaim default/low"));
}

TEST(AuditResize, EvictsOnTheNodeOfThePodThatGrows) {
    const auto found = [](bool disabled, std::int64_t free, PreemptionPolicy policy) {
        TestWorld world;
        world.node("n1", {.cpu = 4000 + free, .edit = [&](Node& node) { node.resize_preemption_disabled = disabled; }});
        world.pod("low", {.node = "n1", .cpu = 2000});
        world.pod("grows", {.node = "n1", .cpu = 3000, .priority = 10, .edit = [&](Pod& pod) {
                                pod.make_extras().resize_held = world.amounts({{"cpu", 2000}});
                                pod.preemption_policy = policy;
                            }});
        world.evict("low", "n1", "grows");
        return world.found();
    };
    EXPECT_THAT(found(false, 999, PreemptionPolicy::kLowerPriority), IsEmpty());
    EXPECT_THAT(found(false, 1000, PreemptionPolicy::kLowerPriority), ElementsAre("needless default/low"));
    EXPECT_THAT(found(true, 0, PreemptionPolicy::kLowerPriority), ElementsAre("owner default/grows"));
    EXPECT_THAT(found(false, 0, PreemptionPolicy::kNever), ElementsAre("preemption-policy default/low"));
    EXPECT_THAT(found(false, -2500, PreemptionPolicy::kLowerPriority), ElementsAre("NodeResourcesFit default/grows"));
}

TEST(AuditResize, DoesNotPreemptFromAClosedQueue) {
    TestWorld world;
    world.node("n1");
    world.queue("closed", [](Queue& queue) { queue.open = false; });
    world.pod("low", {.node = "n1", .cpu = 2000, .queue = "closed"});
    world.pod("grows", {.node = "n1", .cpu = 3000, .priority = 10, .queue = "closed", .edit = [&](Pod& pod) {
                            pod.make_extras().resize_held = world.amounts({{"cpu", 2000}});
                        }});
    world.evict("low", "n1", "grows");
    EXPECT_THAT(world.found(), ElementsAre("queue-closed default/grows"));
}

class AuditBudgets : public testing::Test {
protected:
    void SetUp() override {
        world.node("n1");
        for (const char* name : {"low1", "low2"})
            world.pod(name, {.node = "n1", .cpu = 2000, .labels = {{"app", "web"}}});
        world.pod("high", {.cpu = 4000, .priority = 10});
        world.place("high", "n1", true);
        world.evict("low1", "n1", "high");
        world.evict("low2", "n1", "high");
    }
    void allow(std::int64_t disruptions, std::vector<std::string> disrupted = {}) {
        DisruptionBudget budget;
        budget.ns = world.id("default");
        budget.name = world.id("web");
        budget.selector = world.selects("app", "web");
        budget.disruptions_allowed = disruptions;
        budget.disrupted_pods = std::move(disrupted);
        world.cluster.apply(Object(budget));
    }
    TestWorld world;
};

TEST_F(AuditBudgets, AreNotOverspentSilently) {
    allow(2);
    EXPECT_THAT(world.found(), IsEmpty());
    allow(1);
    EXPECT_THAT(world.found(), ElementsAre("pdb default/web"));
    allow(1, {"low1"});
    EXPECT_THAT(world.found(), IsEmpty());
    allow(1);
    world.plan.evictions[1].pdb_violation = true;
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST_F(AuditBudgets, AreNotBrokenIfStrict) {
    allow(1);
    world.plan.evictions[1].pdb_violation = true;
    order_action(world.config, ActionKind::kPreempt, [](ActionConfig& action) { action.pdb = PdbMode::kStrict; });
    EXPECT_THAT(world.found(), ElementsAre("pdb default/low2"));
    world.config.plugins.disable = {"pdb"};
    EXPECT_THAT(world.found(), IsEmpty());
}

// Three members run, two are enough; a fourth pod takes the rest of the node.
class AuditBrokenGangs : public testing::Test {
protected:
    void build(std::int32_t min, DisruptionMode mode, int victims) {
        world.node("n1", {.cpu = 3000});
        world.gang("g", min, [&](Gang& gang) { gang.disruption = mode; });
        for (const char* name : {"m1", "m2", "m3"})
            world.pod(name, {.node = "n1", .group = "g"});
        world.pod("high", {.cpu = 1000 * victims, .priority = 10});
        world.place("high", "n1", true);
        for (int i = 1; i <= victims; ++i)
            world.evict("m" + std::to_string(i), "n1", "high", "gangPreempt").unit = UnitKind::kSafe;
    }
    TestWorld world;
};

TEST_F(AuditBrokenGangs, SurplusMayGo) {
    build(2, DisruptionMode::kSurplusThenWhole, 1);
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST_F(AuditBrokenGangs, TheRestGoesWhole) {
    build(2, DisruptionMode::kSurplusThenWhole, 2);
    EXPECT_THAT(world.found(), ElementsAre("broken-gang default/g"));
    order_action(
        world.config, ActionKind::kGangPreempt, [](ActionConfig& action) { action.disruption = Disruption::kLocal; });
    EXPECT_THAT(world.found(), IsEmpty());
    world.config.actions.reset();
    world.config.plugins.disable = {"gang"};
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST_F(AuditBrokenGangs, WholeIsWhole) {
    build(2, DisruptionMode::kSurplusThenWhole, 3);
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST_F(AuditBrokenGangs, SinglePodsOfAGroupMayGo) {
    build(2, DisruptionMode::kSingle, 2);
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST_F(AuditBrokenGangs, OneUnitGoesWhateverItsMinimum) {
    build(1, DisruptionMode::kAll, 1);
    EXPECT_THAT(world.found(), ElementsAre("broken-gang default/g"));
}

TEST_F(AuditBrokenGangs, WhatWasBrokenBeforeMayGoOneByOne) {
    build(4, DisruptionMode::kSurplusThenWhole, 1);
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST_F(AuditBrokenGangs, RolesCount) {
    world.node("n1", {.cpu = 3000});
    world.gang("g", 2, [&](Gang& gang) { gang.role_minimums = {{world.id("ps"), 1}}; });
    for (const char* name : {"ps", "w1", "w2"}) {
        world.pod(name, {.node = "n1", .group = "g", .edit = [&](Pod& pod) {
                             pod.role = world.id(name == std::string("ps") ? "ps" : "w");
                         }});
    }
    world.pod("high", {.priority = 10});
    world.place("high", "n1", true);
    world.evict("w1", "n1", "high", "gangPreempt").unit = UnitKind::kSafe;
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.evictions[0].pod = "default/ps";
    EXPECT_THAT(world.found(), ElementsAre("broken-gang default/g"));
}

TEST(AuditComposite, GoesAsOneUnit) {
    TestWorld world;
    world.node("n1", {.cpu = 2000});
    CompositeGroup root;
    root.ns = world.id("default");
    root.name = world.id("root");
    root.disruption = DisruptionMode::kAll;
    world.add(root);
    for (const char* gang : {"g", "h"}) {
        world.gang(gang, 1, [&](Gang& made) { made.parent = root.name; });
        world.pod(std::string("in-") + gang, {.node = "n1", .group = gang});
    }
    world.pod("high", {.priority = 10});
    world.place("high", "n1", true);
    world.evict("in-g", "n1", "high", "gangPreempt").unit = UnitKind::kWhole;
    EXPECT_THAT(world.found(), ElementsAre("broken-gang default/g"));
    world.evict("in-h", "n1", "high", "gangPreempt").unit = UnitKind::kWhole;
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST(AuditServing, EvictsReplicasOnlyAndHastensOnlyWhatTerminates) {
    TestWorld world;
    world.node("n1", {.cpu = 100000, .pods = 100});
    const std::map<std::string, std::string> serving = {{"reprieve.dev/serving", "s"}};
    world.pod("normal", {.node = "n1", .labels = serving});
    world.pod("going", {.node = "n1", .labels = serving, .edit = [](Pod& pod) { pod.deleting = Time{1}; }});
    world.pod("plain", {.node = "n1"});
    const auto evict = [&](const char* pod, EvictionMode mode) {
        world.plan.evictions.clear();
        Eviction& item = world.evict(pod, "n1", "s", "servingPreempt");
        item.unit = UnitKind::kReplica;
        item.mode = mode;
        return world.found();
    };
    EXPECT_THAT(evict("normal", EvictionMode::kScaleDown), IsEmpty());
    EXPECT_THAT(evict("going", EvictionMode::kForceDelete), IsEmpty());
    EXPECT_THAT(evict("normal", EvictionMode::kForceDelete), ElementsAre("eviction-target default/normal"));
    EXPECT_THAT(evict("going", EvictionMode::kScaleDown), ElementsAre("eviction-target default/going"));
    EXPECT_THAT(evict("plain", EvictionMode::kScaleDown), ElementsAre("eviction-target default/plain"));
}

TEST(AuditServing, RoomWonByReplicasIsNobodyElses) {
    TestWorld world;
    world.node("n1");
    world.pod("replica", {.node = "n1", .cpu = 4000, .labels = {{"reprieve.dev/serving", "s"}}});
    world.pod("new", {.priority = 10});
    world.place("new", "n1", true);
    Eviction& item = world.evict("replica", "n1", "s", "servingPreempt");
    item.unit = UnitKind::kReplica;
    item.mode = EvictionMode::kScaleDown;
    EXPECT_THAT(world.found(), ElementsAre("NodeResourcesFit default/new"));
}

// A pod nominated by an earlier plan, whose victim still terminates.
TEST(AuditInFlight, IsNotThisPlansDoing) {
    for (const bool preempted : {true, false}) {
        TestWorld world;
        world.node("n1");
        world.gang("g", 2);
        world.pod("full", {.node = "n1", .cpu = 4000, .priority = 99});
        world.pod("going", {.node = "n1", .edit = [&](Pod& pod) {
                                pod.deleting = world.now;
                                pod.disruption_target = preempted;
                            }});
        world.pod("a", {.priority = 10, .group = "g", .edit = [&](Pod& pod) { pod.nominated = world.id("n1"); }});
        world.pod("b", {.priority = 10, .group = "g"});
        world.place("a", "n1", true, "g");
        world.unplaced("b", "g");
        if (preempted) {
            EXPECT_THAT(world.found(), IsEmpty());
        } else {
            EXPECT_THAT(world.found(), ElementsAre("NodeResourcesFit default/a", "gang-minimum default/g"));
        }
    }
}

TEST(AuditInFlight, IsKnownByTheVictimsItPaidFor) {
    for (const char* uid : {"uid-going", "uid-gone"}) {
        TestWorld world;
        world.node("n1");
        world.pod("full", {.node = "n1", .cpu = 4000, .priority = 99});
        world.pod("going", {.node = "n1", .edit = [&](Pod& pod) { pod.deleting = world.now; }});
        world.pod("a", {.priority = 10, .edit = [&](Pod& pod) {
                            pod.nominated = world.id("n1");
                            pod.make_extras().plan = PlanNote{"id", world.id("n1"), {uid}, {}};
                        }});
        world.place("a", "n1", true);
        EXPECT_EQ(world.found().empty(), uid == std::string("uid-going"));
    }
}

}  // namespace
}  // namespace reprieve
