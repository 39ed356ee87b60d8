// What each stand-in does in situations that the tests of the scheduler it stands for describe.
#include "simulate/policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "simulate/fit.h"
#include "simulate/read_trace.h"
#include "simulate/simulation.h"

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Names of the jobs whose pods were evicted, a name for each pod, sorted.
std::multiset<std::string> evicted(const std::string& policy,
                                   const std::string& nodes_csv,
                                   const std::string& jobs_csv) {
    const auto nodes = read_nodes_csv("nodes.csv", nodes_csv);
    const auto trace = read_jobs_csv("jobs.csv", jobs_csv);
    EXPECT_TRUE(nodes.has_value() && trace.has_value());
    SimulationOptions options;
    options.until = Duration::of_seconds(1000);
    const auto outcome = simulate(*nodes, *trace, why_never(*nodes, *trace), *built_in_policy(policy), options);
    EXPECT_TRUE(outcome.has_value() && outcome->conserved);
    std::multiset<std::string> names;
    for (const EvictionOutcome& e : outcome->evictions)
        names.insert(trace->jobs[e.job].name);
    return names;
}

const std::string kHead = "job,submit,duration,pods,gpus,priority,queue\n";

TEST(StandIns, KubeTakesTheNodeWhoseHighestVictimIsLowest) {
    EXPECT_THAT(
        evicted(
            "kube", "name,gpus\na,2\nb,2\n", kHead + "mid,0,9999,1,2,50,\nlow,1,9999,1,2,10,\nhigh,2,9999,1,2,100,\n"),
        ElementsAre("low"));
}

TEST(StandIns, KubeAddsBackWhomItNeedNotTake) {
    // One of three pods of a node is enough: the least important goes.
    EXPECT_THAT(evicted("kube",
                        "name,gpus\na,3\n",
                        kHead + "p30,0,9999,1,1,30,\np10,1,9999,1,1,10,\np20,2,9999,1,1,20,\nhigh,3,9999,1,1,100,\n"),
                ElementsAre("p10"));
}

TEST(StandIns, KubeTakesNobodyOfEqualPriority) {
    EXPECT_THAT(evicted("kube", "name,gpus\na,1\n", kHead + "one,0,9999,1,1,5,\ntwo,1,9999,1,1,5,\n"), IsEmpty());
}

TEST(StandIns, VolcanoTakesAGangWholeAndByPriorityInsideAQueueOnly) {
    const std::string nodes = "name,gpus\na,2\n";
    EXPECT_THAT(evicted("volcano", nodes, kHead + "gang,0,9999,2,1,0,q\nhigh,1,9999,1,1,9,q\n"),
                ElementsAre("gang", "gang"));
    // Another queue inside its share keeps what it has: each deserves one of the two.
    EXPECT_THAT(evicted("volcano", nodes, kHead + "mine,0,9999,1,1,0,q\nyours,0,9999,1,1,0,r\nhigh,1,9999,1,1,9,q\n"),
                ElementsAre("mine"));
}

TEST(StandIns, VolcanoReclaimsWhatAnotherQueueHoldsAboveItsShare) {
    EXPECT_THAT(
        evicted(
            "volcano", "name,gpus\na,2\n", kHead + "one,0,9999,1,1,0,q\ntwo,0,9999,1,1,0,q\nother,1,9999,1,1,0,r\n"),
        testing::SizeIs(1));
}

TEST(StandIns, KoordinatorMakesRoomForAllOfAJobOrEvictsNobody) {
    const std::string nodes = "name,gpus\na,1\nb,1\n";
    EXPECT_THAT(evicted("koordinator", nodes, kHead + "low1,0,9999,1,1,0,\nlow2,0,9999,1,1,0,\njob,1,9999,2,1,9,\n"),
                ElementsAre("low1", "low2"));
    EXPECT_THAT(evicted("koordinator", nodes, kHead + "low,0,9999,1,1,0,\ntop,0,9999,1,1,99,\njob,1,9999,2,1,9,\n"),
                IsEmpty());
}

TEST(StandIns, NoneAndFifoEvictNobody) {
    for (const char* policy : {"none", "fifo-backfill"})
        EXPECT_THAT(evicted(policy, "name,gpus\na,1\n", kHead + "low,0,9999,1,1,0,\nhigh,1,9999,1,1,9,\n"), IsEmpty());
}

TEST(Policies, NamesThatAreNotBuiltInAreNone) {
    EXPECT_FALSE(built_in_policy("best").has_value());
    for (const std::string& name : built_in_policies())
        EXPECT_TRUE(built_in_policy(name).has_value()) << name;
}

}  // namespace
}  // namespace reprieve
