#include "actions/serving/pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reprieve::serving {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A world in one dimension: devices.
class PassTest : public testing::Test {
protected:
    void node(const std::string& name, std::int64_t devices, const std::string& plane = "w") {
        world_.nodes.push_back({.name = name, .plane = plane, .free = {devices}, .later = {devices}, .device = 0});
    }
    Deployment& deployment(const std::string& name,
                           std::int32_t priority,
                           std::int64_t desired,
                           std::int64_t commit,
                           std::int64_t devices = 1) {
        world_.deployments.push_back({.name = name,
                                      .priority = priority,
                                      .desired = desired,
                                      .need = {devices},
                                      .fit_by = {0},
                                      .branches = {{.plane = "w", .commit = commit}}});
        return world_.deployments.back();
    }
    // Of the deployment added last.
    Replica& replica(const std::string& name,
                     const std::string& on,
                     std::int64_t created,
                     Stage stage = Stage::kActive) {
        const DeploymentIndex owner(world_.deployments.size() - 1);
        Replica& made = world_.replicas.emplace_back();
        made.name = name;
        made.deployment = owner;
        made.holds = world_.at(owner).need;
        made.created = Time{created};
        made.stage = stage;
        for (std::size_t n = 0; n < world_.nodes.size(); ++n) {
            if (world_.nodes[n].name != on) continue;
            made.node = NodeIndex(n);
            subtract(world_.nodes[n].free, made.holds);
            if (stage == Stage::kActive) subtract(world_.nodes[n].later, made.holds);
        }
        return made;
    }

    // "preemptor node: victim victim" of each match.
    std::vector<std::string> matches() {
        outcome_ = run_pass(world_);
        std::vector<std::string> out;
        for (const Match& match : outcome_.matches) {
            std::string text = world_.at(match.preemptor).name + " " + world_.at(match.node).name + ":";
            for (const ReplicaIndex victim : match.victims)
                text += " " + world_.at(victim).name;
            out.push_back(std::move(text));
        }
        return out;
    }
    std::int64_t commit(std::size_t deployment) { return outcome_.decisions[deployment].commits[0]; }
    std::int64_t unmet(std::size_t deployment) { return outcome_.decisions[deployment].unmet; }

    World world_;
    Outcome outcome_;
};

TEST_F(PassTest, SurplusIsWhoTheReplicaSetWouldDelete) {
    node("n", 9);
    deployment("d", 1, 1, 1);
    replica("ready-old", "n", 1);
    replica("ready-new", "n", 9);
    replica("unready", "n", 5).ready = false;
    replica("cheap", "n", 2).deletion_cost = -5;
    replica("unbound", "", 8);
    replica("leaving", "n", 9, Stage::kTerminating);
    EXPECT_THAT(categorize(world_),
                ElementsAre(Category::kNormal,
                            Category::kSurplus,
                            Category::kSurplus,
                            Category::kSurplus,
                            Category::kNormal,
                            Category::kTerminating));
}

TEST_F(PassTest, OnlyVictimsThatAreNeededGo) {
    node("n", 4);
    deployment("big", 1, 2, 2, 2);
    replica("big-1", "n", 2);
    replica("big-2", "n", 1);
    deployment("tiny", 1, 0, 0, 1);
    deployment("want", 9, 1, 0, 2);
    EXPECT_THAT(matches(), ElementsAre("want n: big-1"));
    EXPECT_EQ(commit(0), 1);
    EXPECT_EQ(unmet(0), 0);
}

TEST_F(PassTest, SmallVictimsAreLetOffWhenALargeOneIsEnough) {
    node("n", 4);
    deployment("large", 2, 2, 2, 3);
    replica("large-1", "n", 1);
    node("m", 3);
    replica("large-2", "m", 1);
    deployment("small", 1, 2, 2, 1);
    replica("small-1", "n", 1);
    node("k", 1);
    replica("small-2", "k", 2);
    deployment("want", 9, 1, 0, 3);
    // On n the small one comes first and is not needed once the large one goes; on m the large one is enough, too.
    EXPECT_THAT(matches(), ElementsAre("want m: large-2"));
}

TEST_F(PassTest, AClaimOfTheLastCycleIsKept) {
    node("a", 1);
    node("b", 1);
    node("c", 1);
    deployment("v", 1, 3, 3);
    replica("v-1", "a", 9);
    replica("v-2", "b", 5).claimed_by = "want";
    replica("v-3", "c", 7).claimed_by = "other";
    deployment("want", 9, 1, 0);
    EXPECT_THAT(matches(), ElementsAre("want b: v-2"));
}

TEST_F(PassTest, APreempteeIsGivenNothing) {
    node("a", 1);
    node("b", 1);
    node("c", 2);
    deployment("v", 1, 4, 2);
    replica("v-1", "a", 9);
    replica("v-2", "b", 5);
    deployment("want", 9, 2, 0, 2);
    world_.deployments.back().need = {2};
    deployment("x", 5, 1, 0);
    // Two devices are free: the first replica takes them, the second finds nobody; x takes the newest of v.
    EXPECT_THAT(matches(), ElementsAre("x a: v-1"));
    EXPECT_EQ(commit(0), 1);
    EXPECT_EQ(unmet(0), 2);
    EXPECT_EQ(unmet(1), 1);
}

TEST_F(PassTest, AForcedOutReplicaMakesRoomEvenForItsOwn) {
    node("n", 1);
    deployment("v", 5, 1, 0);
    replica("v-1", "n", 1, Stage::kForceDeleted);
    EXPECT_THAT(matches(), ElementsAre("v n: v-1"));
}

TEST_F(PassTest, NobodyIsAWorseVictimThanOneThatIsOverdue) {
    node("a", 1);
    node("b", 1);
    node("c", 1);
    deployment("v", 1, 2, 2);
    replica("v-stuck", "a", 9, Stage::kTerminating).overdue = true;
    replica("v-1", "b", 5);
    replica("v-2", "c", 1);
    deployment("want", 9, 2, 0);
    EXPECT_THAT(matches(), ElementsAre("want b: v-1", "want a: v-stuck"));
}

TEST_F(PassTest, AClaimThatIsOverdueIsWorthNothing) {
    node("a", 1);
    node("b", 1);
    deployment("v", 1, 2, 1);
    replica("v-1", "a", 9).claimed_by = "want";
    replica("v-2", "b", 5);
    deployment("w", 5, 2, 2);
    node("c", 1);
    node("d", 1);
    replica("w-1", "c", 5);
    replica("w-2", "d", 4);
    deployment("want", 9, 1, 0);
    EXPECT_THAT(matches(), ElementsAre("want a: v-1"));
    world_.replicas[0].overdue = true;
    EXPECT_THAT(matches(), ElementsAre("want c: w-1"));
    // Nobody waits for it any more, so it is committed again.
    EXPECT_EQ(commit(0), 2);
}

TEST_F(PassTest, RoomPromisedToOthersIsNotCountedOn) {
    node("n", 1);
    deployment("v", 1, 1, 1);
    replica("v-0", "n", 1, Stage::kTerminating);
    world_.nodes[0].later = {0};  // somebody else waits for it already
    deployment("want", 9, 1, 0);
    EXPECT_THAT(matches(), IsEmpty());
    EXPECT_EQ(unmet(1), 1);
}

TEST_F(PassTest, AnOvercommittedNodePaysItsDebtFirst) {
    node("n", 1);
    deployment("v", 1, 3, 3);
    replica("v-1", "n", 3);
    replica("v-2", "n", 2);
    replica("v-3", "n", 1);
    world_.nodes[0].later = world_.nodes[0].free;
    deployment("want", 9, 1, 0);
    EXPECT_THAT(matches(), IsEmpty());  // all three would have to go, and one stays
    world_.nodes[0].free = world_.nodes[0].later = {-1};
    EXPECT_THAT(matches(), ElementsAre("want n: v-1 v-2"));
    EXPECT_EQ(outcome_.matches.front().uses_free, 0);
}

TEST_F(PassTest, WhatALaterVictimLeavesOverSparesEarlierOnes) {
    node("x", 6);
    node("y", 6);
    deployment("big", 5, 2, 2, 4);
    replica("big-x", "x", 160);
    replica("big-y", "y", 304);
    deployment("small", 2, 2, 2);
    replica("small-x", "x", 383);
    replica("small-y", "y", 317);
    deployment("other", 5, 2, 2);
    replica("other-x", "x", 287);
    replica("other-y", "y", 509);
    // At first the two small ones of x go, then big-y, because nobody loses its last replica: it leaves enough for
    // both.
    deployment("want", 9, 2, 0, 2);
    EXPECT_THAT(matches(), ElementsAre("want y: big-y", "want y:"));
    EXPECT_EQ(commit(1), 2);
    EXPECT_EQ(commit(2), 2);
}

TEST_F(PassTest, WhoIsNotAskedKeepsWhatItHasAndTakesNothing) {
    node("n", 2);
    deployment("quiet", 9, 3, 1).asked = false;
    deployment("want", 1, 2, 0);
    EXPECT_THAT(matches(), IsEmpty());
    EXPECT_EQ(commit(0), 1);
    EXPECT_EQ(commit(1), 1);  // one device is kept for the replica that quiet was promised
}

}  // namespace
}  // namespace reprieve::serving
