#include "simulate/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate/fit.h"
#include "simulate/numbers.h"
#include "simulate/placement.h"
#include "simulate/read_trace.h"
#include "simulate/sample_series.h"

namespace reprieve {
namespace {

constexpr Wide kGpuSecond = Wide{1000} * 1'000'000;

struct Play {
    std::vector<TraceNode> nodes;
    JobTrace trace;
    std::vector<std::string> never;

    Play(const std::string& nodes_csv, const std::string& jobs_csv) {
        auto read_nodes = read_nodes_csv("nodes.csv", nodes_csv);
        auto read_jobs = read_jobs_csv("jobs.csv", jobs_csv);
        EXPECT_TRUE(read_nodes.has_value()) << read_nodes.error().message;
        EXPECT_TRUE(read_jobs.has_value()) << read_jobs.error().message;
        nodes = std::move(*read_nodes);
        trace = std::move(*read_jobs);
        never = why_never(nodes, trace);
    }

    [[nodiscard]] RunOutcome run(const std::string& policy, SimulationOptions options = {}) const {
        auto outcome = simulate(nodes, trace, never, *built_in_policy(policy), options);
        EXPECT_TRUE(outcome.has_value()) << outcome.error().message;
        EXPECT_TRUE(outcome->conserved) << outcome->broken;
        EXPECT_EQ(outcome->dropped_plans, 0);
        return std::move(*outcome);
    }
    [[nodiscard]] const JobOutcome& job(const RunOutcome& outcome, const std::string& name) const {
        for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
            if (trace.jobs[i].name == name) return outcome.jobs[i];
        }
        ADD_FAILURE() << name;
        return outcome.jobs.front();
    }
};

Duration at(std::int64_t seconds) { return Duration::of_seconds(seconds); }

TEST(Simulation, AnEvictedPodLosesWhatItDidSinceItsCheckpointAndPaysForTheRestart) {
    const Play play("name,gpus\nn,4\n",
                    "job,submit,duration,gpus,priority,checkpoint,restart\n"
                    "low,0,1000,4,0,100,10\n"
                    "high,250,300,4,1000,,\n");
    const RunOutcome outcome = play.run("reprieve");
    EXPECT_EQ(play.job(outcome, "high").start, at(250));
    EXPECT_EQ(play.job(outcome, "high").finish, at(550));
    // 250 s worked, 200 kept; from 550 on: 10 s restart and the remaining 800.
    EXPECT_EQ(play.job(outcome, "low").finish, at(550 + 10 + 800));
    EXPECT_TRUE(outcome.lost == 4 * (50 + 10) * kGpuSecond);
    EXPECT_TRUE(outcome.used == 4 * (1000 + 300) * kGpuSecond);
    EXPECT_TRUE(outcome.capacity == 4 * 1360 * kGpuSecond);
    EXPECT_EQ(outcome.evictions.size(), 1U);
    EXPECT_EQ(outcome.pods_lost, 1);
    EXPECT_EQ(outcome.decisions, 1);
    EXPECT_EQ(outcome.optimal, 1);
}

TEST(Simulation, WithoutCheckpointsAllWorkIsLost) {
    const Play play("name,gpus\nn,1\n", "job,submit,duration,gpus,priority\nlow,0,100,1,0\nhigh,40,10,1,5\n");
    const RunOutcome outcome = play.run("reprieve");
    EXPECT_EQ(play.job(outcome, "low").finish, at(50 + 100));
    EXPECT_TRUE(outcome.lost == 40 * kGpuSecond);
}

TEST(Simulation, NobodyIsEvictedWhereThePolicyKnowsNoPreemption) {
    const Play play("name,gpus\nn,1\n",
                    "job,submit,duration,gpus,priority\nlow,0,100,1,0\nhigh,40,10,1,5\nmid,30,10,1,2\n");
    const RunOutcome none = play.run("none");
    EXPECT_TRUE(none.evictions.empty());
    EXPECT_EQ(play.job(none, "high").start, at(100));
    EXPECT_EQ(play.job(none, "mid").start, at(110));
    // Who came first goes first, whatever its priority.
    const RunOutcome fifo = play.run("fifo-backfill");
    EXPECT_EQ(play.job(fifo, "mid").start, at(100));
    EXPECT_EQ(play.job(fifo, "high").start, at(110));
}

TEST(Simulation, AGangWorksOnlyTogether) {
    const Play play("name,gpus\na,1\nb,1\n",
                    "job,submit,duration,pods,gpus,priority\nsingle,0,50,1,1,0\ngang,10,100,2,1,0\n");
    const RunOutcome outcome = play.run("reprieve");
    EXPECT_EQ(play.job(outcome, "gang").start, at(50));
    EXPECT_EQ(play.job(outcome, "gang").finish, at(150));
}

TEST(Simulation, WhoIsLeftOfAGangStartsAgainWithIt) {
    // kube knows no gangs: it takes one pod, and the other of the two can do nothing alone.
    const Play play("name,gpus\na,1\nb,1\n",
                    "job,submit,duration,pods,gpus,priority\ngang,0,100,2,1,0\nhigh,40,10,1,1,9\n");
    const RunOutcome outcome = play.run("kube");
    EXPECT_EQ(outcome.evictions.size(), 1U);
    EXPECT_EQ(outcome.pods_lost, 2);
    EXPECT_TRUE(outcome.lost == 80 * kGpuSecond);
    EXPECT_EQ(play.job(outcome, "gang").finish, at(150));
}

TEST(Simulation, TheRestOfAGangRunsWhenItsFirstMembersHaveFinished) {
    const Play play("name,count,gpus\nn,2,4\n", "job,submit,duration,pods,gpus,min\nc,0,50,3,4,2\n");
    EXPECT_EQ(play.job(play.run("reprieve"), "c").finish, at(100));
}

TEST(Simulation, NodesFailAndReturn) {
    const Play play("name,gpus,fails\nn,1,30+20\n", "job,submit,duration,gpus,checkpoint\nj,0,100,1,25\n");
    const RunOutcome outcome = play.run("reprieve");
    EXPECT_TRUE(outcome.evictions.empty());
    EXPECT_EQ(outcome.pods_lost, 1);
    EXPECT_EQ(play.job(outcome, "j").finish, at(50 + 75));
    EXPECT_TRUE(outcome.lost == 5 * kGpuSecond);
}

TEST(Simulation, GraceIsTimeInWhichTheVictimStillHoldsItsRoom) {
    const Play play("name,gpus\nn,1\n", "job,submit,duration,gpus,priority\nlow,0,100,1,0\nhigh,40,10,1,5\n");
    SimulationOptions options;
    options.grace = at(30);
    const RunOutcome outcome = play.run("reprieve", options);
    EXPECT_EQ(play.job(outcome, "high").start, at(70));
    EXPECT_TRUE(outcome.lost == 70 * kGpuSecond);
}

TEST(Simulation, JobsThatCanNeverRunAreCountedApart) {
    const Play play("name,gpus,labels\na,4,rack=r1\nb,4,rack=r2\n",
                    "job,submit,duration,pods,gpus,topology\nbig,0,10,1,8,\nwide,0,10,3,4,\nracked,0,10,2,4,rack\nfits,"
                    "0,10,2,4,\n");
    EXPECT_EQ(play.never[0], "no node is large enough for one of its pods");
    EXPECT_EQ(play.never[1], "the whole cluster holds 2 of its 3 pods");
    EXPECT_EQ(play.never[2], "no rack holds more than 1 of its 2 pods");
    EXPECT_EQ(play.never[3], "");
    const RunOutcome outcome = play.run("reprieve");
    EXPECT_TRUE(play.job(outcome, "big").never_fits);
    EXPECT_EQ(play.job(outcome, "fits").finish, at(10));
}

TEST(Simulation, TheEndThatWasAskedForIsTheEnd) {
    const Play play("name,gpus\nn,1\n", "job,submit,duration,gpus\na,0,100,1\nb,0,100,1\n");
    SimulationOptions options;
    options.until = at(60);
    const RunOutcome outcome = play.run("reprieve", options);
    EXPECT_EQ(outcome.end, at(60));
    EXPECT_TRUE(outcome.used == 60 * kGpuSecond);
    EXPECT_EQ(play.job(outcome, "a").finish, kNotYet);
}

TEST(Simulation, TimeInWhichNothingHappensCostsNothing) {
    const Play play("name,gpus\nn,2\n",
                    "job,submit,duration,gpus\na,0,99999999999,1\nb,60,99999999999,1\nlate,61,10,2\n");
    const RunOutcome outcome = play.run("reprieve");
    EXPECT_EQ(play.job(outcome, "late").start, at(60 + 99'999'999'999));
    EXPECT_LE(outcome.cycles, 10);
    EXPECT_LE(outcome.samples.size(), 62 + SampleSeries::kMostAfter + 1);
    EXPECT_EQ(outcome.samples[60].at, at(60)) << "while jobs arrive, every step is there";
    EXPECT_EQ(outcome.samples.back().at, outcome.end);
}

// A workload with everything in it, from a seed.
Play drawn(std::uint64_t seed, std::uint64_t pause = 60) {
    std::uint64_t x = seed;
    const auto draw = [&](std::uint64_t below) {
        x = splitmix64(x);
        return x % below;
    };
    std::string jobs = "job,submit,duration,pods,gpus,cpu,memory,priority,queue,checkpoint,restart\n";
    std::uint64_t t = 0;
    for (int i = 0; i < 150; ++i) {
        t += draw(pause);
        const std::uint64_t pods = draw(8) == 0 ? 2 + draw(3) : 1;
        jobs += "j" + std::to_string(i) + "," + std::to_string(t) + "," + std::to_string(20 + draw(600)) + "," +
                std::to_string(pods) + "," + std::to_string(draw(5)) + "," + std::to_string(1 + draw(8)) + "," +
                std::to_string(1 + draw(20)) + "Gi," + std::to_string(draw(3) * 500) + "," +
                (draw(2) == 0 ? "red" : "blue") + "," + std::to_string(draw(2) * 60) + "," +
                std::to_string(draw(2) * 20) + "\n";
    }
    return {"name,count,cpu,memory,gpus,fails\nn,5,32,128Gi,4,\nm,2,64,64Gi,8,900+300\n", jobs};
}

std::string text_of(const Play& play, const Deciding& d) {
    return std::to_string(d.at.seconds()) + (d.evicts ? " evict " : " bind ") + play.trace.jobs[d.job].name + "-" +
           std::to_string(d.pod) + " " + play.nodes[d.node].name;
}

TEST(Simulation, TheQuickWayTakesTheDecisionsOfTheLoop) {
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
        for (const char* policy : {"reprieve", "none", "kube"}) {
            const Play play = drawn(seed);
            SimulationOptions slow;
            slow.express = false;
            const RunOutcome quick = play.run(policy);
            const RunOutcome by_loop = play.run(policy, slow);
            EXPECT_LT(quick.cycles, by_loop.cycles);
            for (std::size_t i = 0; i < quick.history.size() && i < by_loop.history.size(); ++i)
                ASSERT_EQ(text_of(play, quick.history[i]), text_of(play, by_loop.history[i])) << policy << " " << seed;
            ASSERT_EQ(quick.history.size(), by_loop.history.size());
            EXPECT_TRUE(quick.lost == by_loop.lost);
        }
    }
}

// Arrivals of several queues at one moment are served the quick way only where their order makes no difference.
TEST(Simulation, TheQuickWayKnowsWhenQueuesMustTakeTurns) {
    std::int64_t spared = 0;
    for (const std::uint64_t seed : {21U, 22U, 23U}) {
        const Play play = drawn(seed, 3);
        SimulationOptions slow;
        slow.express = false;
        const RunOutcome quick = play.run("reprieve");
        const RunOutcome by_loop = play.run("reprieve", slow);
        spared += by_loop.cycles - quick.cycles;
        ASSERT_EQ(quick.history.size(), by_loop.history.size());
        for (std::size_t i = 0; i < quick.history.size(); ++i)
            ASSERT_EQ(text_of(play, quick.history[i]), text_of(play, by_loop.history[i])) << seed;
    }
    EXPECT_GT(spared, 0);
}

TEST(Simulation, TheSameInputGivesTheSameHistory) {
    const Play play = drawn(7);
    EXPECT_TRUE(play.run("reprieve").history == play.run("reprieve").history);
}

TEST(Simulation, EveryPolicyKeepsItsBooks) {
    for (const std::uint64_t seed : {11U, 12U}) {
        const Play play = drawn(seed);
        for (const char* policy : {"reprieve", "none", "kube", "volcano", "koordinator", "fifo-backfill"}) {
            for (const std::int64_t grace : {0, 30}) {
                SimulationOptions options;
                options.grace = at(grace);
                const RunOutcome outcome = play.run(policy, options);
                EXPECT_EQ(outcome.jobs.size(), play.trace.jobs.size());
            }
        }
    }
}

TEST(Placement, FractionsTakeTheTightestDeviceAndTiesTheFirstNode) {
    const Play play("name,cpu,gpus\nb,100,2\na,100,2\n",
                    "job,submit,duration,cpu,gpus\np1,0,1,10,0.5\np2,1,1,10,0.4\np3,2,1,10,1\np4,3,1,10,2\n");
    const RunOutcome outcome = place_all(play.nodes, play.trace, PlaceScore::kBestFit, 1);
    ASSERT_EQ(outcome.history.size(), 4U);
    EXPECT_EQ(play.nodes[outcome.history[0].node].name, "a");
    EXPECT_EQ(play.nodes[outcome.history[1].node].name, "a");
    EXPECT_EQ(play.nodes[outcome.history[2].node].name, "a");  // the idle device beside the shared one
    EXPECT_EQ(play.nodes[outcome.history[3].node].name, "b");
    EXPECT_TRUE(outcome.conserved);
}

TEST(Placement, WhatFindsNoRoomIsLost) {
    const Play play("name,gpus\na,1\n", "job,submit,duration,gpus\np1,0,1,0.6\np2,1,1,0.6\np3,2,1,0.4\n");
    for (const PlaceScore score : {PlaceScore::kRandom,
                                   PlaceScore::kDotProd,
                                   PlaceScore::kGpuClustering,
                                   PlaceScore::kGpuPacking,
                                   PlaceScore::kBestFit,
                                   PlaceScore::kFgd}) {
        const RunOutcome outcome = place_all(play.nodes, play.trace, score, 1);
        EXPECT_EQ(outcome.history.size(), 2U);
        EXPECT_EQ(outcome.samples.back().held_milli, 1000);
    }
}

}  // namespace
}  // namespace reprieve
