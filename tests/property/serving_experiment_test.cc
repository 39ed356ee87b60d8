// Why serving is as it is: the same fleets under five rules, of which ours disturbs least and always comes to rest; and
// a large fleet over many cycles.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "serving_lab.h"

namespace reprieve::property {
namespace {

constexpr int kExperimentWorlds = 150;
constexpr int kExperimentCycles = 200;
constexpr std::int64_t kQuiet = 50;  // cycles without an action at the end

struct Result {
    int runs = 0;
    int restless = 0;
    std::int64_t scaled_down = 0;
    std::int64_t killed = 0;
    std::int64_t given_back = 0;
    std::int64_t node_changes = 0;
};

std::int64_t quiet_for(const ServingLab& lab) { return lab.now() - lab.tally().last_action; }

Result play(const LabManners& manners, const FleetShape& shape) {
    Result out;
    for (int world = 1; world <= kExperimentWorlds; ++world) {
        ServingLab lab(static_cast<std::uint64_t>(world), manners);
        fill_fleet(lab, shape);
        const std::size_t newcomer = lab.deployment_count() - 1;
        for (int i = 0; i < kExperimentCycles && quiet_for(lab) < kQuiet; ++i) {
            lab.cycle();
            lab.pass_time();
        }
        out.runs += lab.running(newcomer) == lab.deployment(newcomer).desired ? 1 : 0;
        out.restless += quiet_for(lab) < kQuiet ? 1 : 0;
        out.scaled_down += lab.tally().scaled_down;
        out.killed += lab.tally().killed;
        out.given_back += lab.tally().given_back;
        out.node_changes += lab.tally().node_changes;
    }
    return out;
}

constexpr LabManners kOurs{};
constexpr LabManners kNoHints{.writes_hints = false};
constexpr LabManners kHintsIgnored{.obeys_hints = false};
constexpr LabManners kTwoPhases{.one_pass = false};
constexpr LabManners kLiteral{.writes_hints = false, .one_pass = false};

int feasible_worlds(const FleetShape& shape) {
    int out = 0;
    for (int world = 1; world <= kExperimentWorlds; ++world) {
        ServingLab lab(static_cast<std::uint64_t>(world), kOurs);
        fill_fleet(lab, shape);
        out += serving::run_pass(lab.look()).decisions.back().unmet == 0 ? 1 : 0;
    }
    return out;
}

TEST(ServingExperiment, HintsOnePassAndHoldingRoomSettleAlwaysAndDisturbLeast) {
    const FleetShape mixed;
    const Result ours = play(kOurs, mixed);
    EXPECT_EQ(ours.runs, feasible_worlds(mixed));
    EXPECT_EQ(ours.restless, 0);
    const Result literal = play(kLiteral, mixed);
    int others_restless = 0;
    for (const Result& other : {play(kNoHints, mixed), play(kHintsIgnored, mixed), play(kTwoPhases, mixed), literal}) {
        EXPECT_LE(other.runs, ours.runs);
        EXPECT_GT(other.scaled_down, ours.scaled_down);
        EXPECT_GT(other.killed, ours.killed);
        EXPECT_GT(other.given_back, 2 * ours.given_back);
        EXPECT_GT(other.node_changes, ours.node_changes);
        others_restless += other.restless;
    }
    EXPECT_GT(others_restless, 0);
    EXPECT_GT(literal.scaled_down, 2 * ours.scaled_down);
}

TEST(ServingExperiment, WithReplicasOfOneDeviceEveryRuleSettlesAtOnce) {
    const FleetShape ones{.planes_most = 2, .replica_sizes = {1}};
    const Result ours = play(kOurs, ones);
    EXPECT_EQ(ours.runs, kExperimentWorlds);
    EXPECT_EQ(ours.given_back, 0);
    EXPECT_EQ(ours.node_changes, 0);
    for (const LabManners& manners : {kNoHints, kHintsIgnored, kTwoPhases, kLiteral}) {
        const Result other = play(manners, ones);
        EXPECT_EQ(other.runs, kExperimentWorlds);
        EXPECT_EQ(other.restless, 0);
        EXPECT_EQ(other.killed, ours.killed);
    }
}

// Twenty deployments of all sizes in three planes.
ServingLab large_fleet(std::uint64_t seed) {
    ServingLab lab(seed, kOurs);
    const std::vector<std::string> planes{"east", "north", "west"};
    for (int n = 0; n < 24; ++n)
        lab.add_node(fmt::format("n{:02}", n), planes[static_cast<std::size_t>(n) % 3], n % 2 == 0 ? 8 : 4);
    for (int d = 0; d < 20; ++d) {
        serving::Deployment deployment{.name = fmt::format("ns/d{:02}", d),
                                       .priority = static_cast<std::int32_t>(lab.draw(1, 9)),
                                       .need = {std::int64_t{1} << lab.draw(0, 3)},
                                       .fit_by = {0},
                                       .branches = {}};
        for (const std::string& plane : planes)
            deployment.branches.push_back({.plane = plane, .score = lab.draw(0, 5)});
        lab.set_desired(lab.add_deployment(std::move(deployment)), lab.draw(1, 6));
    }
    return lab;
}

TEST(ServingExperiment, ALargeFleetServesWhomItCanAndComesToRest) {
    std::int64_t scaled_down = 0;
    std::int64_t swapped = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE(seed);
        ServingLab lab = large_fleet(seed);
        for (int cycle = 0; cycle < kExperimentCycles; ++cycle) {
            const bool wishes_change = cycle == 40 || cycle == 80;
            for (std::size_t d = 0; wishes_change && d < lab.deployment_count(); ++d) {
                if (lab.chance(30)) lab.set_desired(d, lab.deployment(d).desired + lab.draw(0, 3));
            }
            lab.cycle();
            lab.pass_time();
        }
        EXPECT_GE(quiet_for(lab), kQuiet);
        const serving::Outcome last = serving::run_pass(lab.look());
        EXPECT_TRUE(last.matches.empty()) << "somebody could still be served";
        for (std::size_t d = 0; d < lab.deployment_count(); ++d)
            EXPECT_EQ(lab.running(d), lab.deployment(d).desired - last.decisions[d].unmet) << lab.deployment(d).name;
        scaled_down += lab.tally().scaled_down;
        swapped += lab.tally().swapped;
    }
    EXPECT_GT(scaled_down, 100);
    EXPECT_EQ(swapped, 0) << "scaled down, and up again for another, without anything having happened";
}

}  // namespace
}  // namespace reprieve::property
