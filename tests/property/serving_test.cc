// What holds of every cycle of serving, whatever the fleet: on made-up worlds, natural and unnatural ones.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "serving_lab.h"

namespace reprieve::property {
namespace {

using serving::Category;
using serving::DeploymentIndex;
using serving::Outcome;
using serving::Replica;
using serving::ReplicaIndex;
using serving::Stage;
using serving::World;

// A property of the world that follows from `seed`. RapidCheck draws a hundred times; each draw is worth thirty worlds.
#define SERVING_PROP(Name)                                      \
    void check_##Name(std::uint64_t seed);                      \
    RC_GTEST_PROP(Serving, Name, (std::uint64_t draw)) {        \
        for (std::uint64_t world = 0; world < kWorlds; ++world) \
            check_##Name(draw* kWorlds + world);                \
    }                                                           \
    void check_##Name(std::uint64_t seed)
constexpr std::uint64_t kWorlds = 30;

// Pods are bound where room was kept for them; elsewhere they might take what another one waits for.
constexpr LabManners kClosed{.binds_tightly = true};

// A fleet at rest that several deployments want more of.
ServingLab wanting_lab(std::uint64_t seed) {
    ServingLab lab(seed, {});
    fill_fleet(lab, {.planes_most = 3, .replica_sizes = {1, 2, 4}});
    for (std::size_t d = 0; d < lab.deployment_count(); ++d) {
        if (lab.chance(25)) lab.set_desired(d, lab.deployment(d).desired + lab.draw(1, 2));
    }
    return lab;
}

// The same in the middle of it: some cycles have gone by.
ServingLab busy_lab(std::uint64_t seed) {
    ServingLab lab = wanting_lab(seed);
    for (std::int64_t left = lab.draw(0, 8); left > 0; --left) {
        lab.cycle();
        lab.pass_time();
    }
    return lab;
}

// And with things in it that no history explains.
World scrambled_world(std::uint64_t seed) {
    ServingLab lab = busy_lab(seed);
    World world = lab.look();
    for (Replica& replica : world.replicas) {
        if (!replica.node) continue;
        if (lab.chance(10)) replica.stage = lab.chance(50) ? Stage::kTerminating : Stage::kForceDeleted;
        replica.can_be_forced = replica.stage == Stage::kTerminating;
        if (lab.chance(10)) replica.deletion_cost = lab.draw(-1000, 5);
        if (lab.chance(30)) replica.created = Time{1};
        if (lab.chance(5)) replica.taken_from = serving::kNeverTaken;
        if (lab.chance(10)) {
            const auto by = static_cast<std::size_t>(lab.draw(0, std::ssize(world.deployments) - 1));
            replica.claimed_by = world.deployments[by].name;
        }
    }
    for (serving::Node& node : world.nodes) {
        if (lab.chance(10)) node.usable = false;
        node.later = node.free;
        for (const Replica& replica : world.replicas) {
            if (replica.node && replica.stage != Stage::kActive && world.at(replica.node).name == node.name)
                serving::add(node.later, replica.holds);
        }
    }
    for (serving::Deployment& deployment : world.deployments) {
        for (serving::Branch& branch : deployment.branches) {
            if (lab.chance(15)) branch.commit = std::max<std::int64_t>(0, branch.commit + lab.draw(-1, 1));
            if (lab.chance(10)) branch.allowed = false;
            if (lab.chance(10)) branch.rollout = true;
        }
    }
    return world;
}

std::string name_of(const World& world, ReplicaIndex replica) { return world.at(replica).name; }

// The outcome in names: what a plan would print.
struct Printed {
    std::vector<std::tuple<std::string, std::string, std::vector<std::string>, std::int64_t>> matches;
    std::map<std::string, std::pair<std::vector<std::int64_t>, std::int64_t>> decisions;
    friend bool operator==(const Printed&, const Printed&) = default;
};

Printed print(const World& world, const Outcome& outcome) {
    Printed out;
    for (const serving::Match& match : outcome.matches) {
        std::vector<std::string> victims;
        for (const ReplicaIndex victim : match.victims)
            victims.push_back(name_of(world, victim));
        out.matches.emplace_back(world.at(match.preemptor).name, world.at(match.node).name, victims, match.uses_free);
    }
    for (std::size_t d = 0; d < world.deployments.size(); ++d)
        out.decisions[world.deployments[d].name] = {outcome.decisions[d].commits, outcome.decisions[d].unmet};
    return out;
}

std::set<std::string> victims_of(const World& world, const Outcome& outcome) {
    std::set<std::string> out;
    for (const serving::Match& match : outcome.matches) {
        for (const ReplicaIndex victim : match.victims)
            out.insert(name_of(world, victim));
    }
    return out;
}

bool does_nothing(const World& world, const Outcome& outcome) {
    for (std::size_t d = 0; d < world.deployments.size(); ++d) {
        for (std::size_t b = 0; b < world.deployments[d].branches.size(); ++b) {
            if (outcome.decisions[d].commits[b] != world.deployments[d].branches[b].commit) return false;
        }
    }
    return std::ranges::none_of(outcome.matches, [&](const serving::Match& match) {
        return std::ranges::any_of(match.victims, [&](ReplicaIndex v) { return world.at(v).can_be_forced; });
    });
}

SERVING_PROP(TheOrderOfTheFactsDoesNotMatter) {
    const World world = scrambled_world(seed);
    World shuffled = world;
    std::mt19937_64 random(seed);
    std::ranges::shuffle(shuffled.replicas, random);
    RC_ASSERT(print(world, serving::run_pass(world)) == print(shuffled, serving::run_pass(shuffled)));
}

SERVING_PROP(ASecondCycleWithNothingChangedDoesNothing) {
    const World world = wanting_lab(seed).look();
    const Outcome first = serving::run_pass(world);
    const World after = carried_out(world, first);
    const Outcome second = serving::run_pass(after);
    RC_ASSERT(does_nothing(after, second));
    RC_ASSERT(victims_of(after, second) == victims_of(world, first));
}

std::int64_t active_in(const World& world, std::size_t deployment, std::size_t branch) {
    return std::ranges::count_if(world.replicas, [&](const Replica& replica) {
        return serving::is_active(replica) && replica.deployment == DeploymentIndex(deployment) &&
               replica.branch == branch;
    });
}

// Whether a plan takes something back, and so gives the next one something to decide: a replica was let off or went
// from one claimant to another; promised replicas are not promised any more; surplus is committed again.
bool takes_back(const World& world, const Outcome& outcome) {
    std::map<std::string, std::string> claims;
    for (const serving::Match& match : outcome.matches) {
        for (const ReplicaIndex victim : match.victims)
            claims[name_of(world, victim)] = world.at(match.preemptor).name;
    }
    for (const Replica& replica : world.replicas) {
        if (!replica.claimed_by.empty() && claims[replica.name] != replica.claimed_by) return true;
    }
    for (std::size_t d = 0; d < world.deployments.size(); ++d) {
        for (std::size_t b = 0; b < world.deployments[d].branches.size(); ++b) {
            const std::int64_t from = world.deployments[d].branches[b].commit;
            const std::int64_t to = outcome.decisions[d].commits[b];
            const std::int64_t active = active_in(world, d, b);
            if ((to < from && active < from) || (to > from && active > from)) return true;
        }
    }
    return false;
}

SERVING_PROP(InTheMiddleOfItASecondCycleDoesNothingUnlessTheFirstTookSomethingBack) {
    const World world = busy_lab(seed).look();
    const Outcome first = serving::run_pass(world);
    const World after = carried_out(world, first);
    const Outcome second = serving::run_pass(after);
    RC_ASSERT(swaps(after, second) == 0);
    if (takes_back(world, first)) return;
    RC_ASSERT(does_nothing(after, second));
    RC_ASSERT(victims_of(after, second) == victims_of(world, first));
}

SERVING_PROP(CyclesWithNothingChangedComeToAnEnd) {
    World world = scrambled_world(seed);
    Outcome outcome = serving::run_pass(world);
    for (int i = 0; i < 6 && !does_nothing(world, outcome); ++i) {
        world = carried_out(world, outcome);
        outcome = serving::run_pass(world);
    }
    RC_ASSERT(does_nothing(world, outcome));
}

// Moves a matched replica on by one step of its life; false: it is gone.
bool move_on(World& world, ReplicaIndex index) {
    Replica& replica = world.replicas[index.index()];
    if (replica.stage == Stage::kForceDeleted) {
        serving::add(world.nodes[replica.node.index()].free, replica.holds);
        world.replicas.erase(world.replicas.begin() + static_cast<std::ptrdiff_t>(index.index()));
        return false;
    }
    if (replica.stage == Stage::kActive) serving::add(world.nodes[replica.node.index()].later, replica.holds);
    replica.stage = replica.stage == Stage::kActive ? Stage::kTerminating : Stage::kForceDeleted;
    replica.can_be_forced = replica.stage == Stage::kTerminating;
    return true;
}

// Nobody but one wants more than it has.
void content(World& world, std::size_t but) {
    for (std::size_t d = 0; d < world.deployments.size(); ++d) {
        if (d == but) continue;
        world.deployments[d].desired = 0;
        for (const serving::Branch& branch : world.deployments[d].branches)
            world.deployments[d].desired += branch.commit;
    }
}

SERVING_PROP(AVictimThatMovesOnKeepsNodeAndVictims) {
    ServingLab lab(seed, {});
    fill_fleet(lab, {});
    const std::size_t newcomer = lab.deployment_count() - 1;
    lab.set_desired(newcomer, 1);
    World world = lab.look();
    Outcome before = serving::run_pass(world);
    if (before.matches.size() != 1U) return;
    const std::string node = world.at(before.matches.front().node).name;
    for (int step = 0; step < 40 && !before.matches.empty(); ++step) {
        world = carried_out(world, before);
        content(world, newcomer);
        const std::vector<ReplicaIndex>& victims = before.matches.front().victims;
        const std::set<std::string> names = victims_of(world, before);
        move_on(world, victims[static_cast<std::size_t>(lab.draw(0, std::ssize(victims) - 1))]);
        const Outcome next = serving::run_pass(world);
        for (const serving::Match& match : next.matches)
            RC_ASSERT(world.at(match.node).name == node);
        RC_ASSERT(std::ranges::includes(names, victims_of(world, next)));
        before = next;
    }
    RC_ASSERT(before.matches.empty());
}

SERVING_PROP(EveryReplicaIsScaledDownAndForcedOutOnceAtMost) {
    ServingLab lab(seed, kClosed);
    fill_fleet(lab, {});
    std::map<std::string, int> scaled;
    std::map<std::string, int> forced;
    for (int i = 0; i < 60; ++i) {
        const World world = lab.look();
        const Outcome outcome = lab.cycle();
        if (takes_back(world, outcome)) scaled.clear();  // who was let off may be needed again
        for (const serving::Match& match : outcome.matches) {
            for (const ReplicaIndex victim : match.victims) {
                if (outcome.categories[victim.index()] == Category::kNormal) ++scaled[name_of(world, victim)];
                if (world.at(victim).can_be_forced) ++forced[name_of(world, victim)];
            }
        }
        lab.pass_time();
    }
    for (const auto& [name, times] : scaled)
        RC_ASSERT(times == 1);
    for (const auto& [name, times] : forced)
        RC_ASSERT(times == 1);
}

SERVING_PROP(NobodyGrowsAndGivesWayAtOnce) {
    const World world = scrambled_world(seed);
    const Outcome outcome = serving::run_pass(world);
    std::set<std::size_t> losers;
    for (const serving::Match& match : outcome.matches) {
        for (const ReplicaIndex victim : match.victims) {
            if (world.at(victim).stage == Stage::kActive) losers.insert(world.at(victim).deployment.index());
        }
    }
    for (const std::size_t d : losers) {
        RC_ASSERT(outcome.decisions[d].preemptee);
        for (std::size_t b = 0; b < world.deployments[d].branches.size(); ++b)
            RC_ASSERT(outcome.decisions[d].commits[b] <= world.deployments[d].branches[b].commit);
    }
}

SERVING_PROP(VictimsAreLessImportantUnlessTheyAreAsGoodAsGone) {
    const World world = scrambled_world(seed);
    const Outcome outcome = serving::run_pass(world);
    std::set<std::string> seen;
    for (const serving::Match& match : outcome.matches) {
        RC_ASSERT(world.at(match.node).usable);
        for (const ReplicaIndex victim : match.victims) {
            const Replica& replica = world.at(victim);
            RC_ASSERT(seen.insert(replica.name).second);
            RC_ASSERT(replica.node == match.node);
            if (replica.stage == Stage::kForceDeleted) continue;
            RC_ASSERT(world.at(replica.deployment).priority < world.at(match.preemptor).priority);
            if (outcome.categories[victim.index()] != Category::kNormal) continue;
            RC_ASSERT(!world.branch_of(replica).rollout);
            RC_ASSERT(replica.taken_from == serving::kAlwaysTaken);
        }
    }
}

SERVING_PROP(NoDeploymentLosesItsLastReplicaInAPlane) {
    const World world = scrambled_world(seed);
    const Outcome outcome = serving::run_pass(world);
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> active;
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> taken;
    for (const Replica& replica : world.replicas) {
        if (serving::is_active(replica)) ++active[{replica.deployment.index(), replica.branch}];
    }
    for (const serving::Match& match : outcome.matches) {
        for (const ReplicaIndex victim : match.victims) {
            const Replica& replica = world.at(victim);
            if (serving::is_active(replica)) ++taken[{replica.deployment.index(), replica.branch}];
        }
    }
    for (const auto& [branch, count] : taken)
        RC_ASSERT(count < active[branch]);
    for (std::size_t d = 0; d < world.deployments.size(); ++d) {
        for (std::size_t b = 0; b < world.deployments[d].branches.size(); ++b) {
            const std::int64_t before = world.deployments[d].branches[b].commit;
            if (outcome.decisions[d].commits[b] < before) RC_ASSERT(outcome.decisions[d].commits[b] >= 1);
        }
    }
}

SERVING_PROP(NobodyGrowsBeyondTheRoomThereIs) {
    const World world = scrambled_world(seed);
    const Outcome outcome = serving::run_pass(world);
    for (std::size_t n = 0; n < world.nodes.size(); ++n) {
        // What is spoken for is free now, and still there when all has come and gone.
        RC_ASSERT(outcome.held_now[n][0] >= 0);
        RC_ASSERT(outcome.held_now[n][0] <= world.nodes[n].free[0]);
    }
    std::map<std::string, std::int64_t> asked;
    std::map<std::string, std::int64_t> free;
    for (const serving::Node& node : world.nodes)
        free[node.plane] += node.usable ? node.free[0] : 0;
    for (std::size_t d = 0; d < world.deployments.size(); ++d) {
        for (std::size_t b = 0; b < world.deployments[d].branches.size(); ++b) {
            const serving::Branch& branch = world.deployments[d].branches[b];
            const std::int64_t grown =
                outcome.decisions[d].commits[b] - std::max(branch.commit, active_in(world, d, b));
            asked[branch.plane] += std::max<std::int64_t>(0, grown) * world.deployments[d].need[0];
        }
    }
    for (const auto& [plane, amount] : asked)
        RC_ASSERT(amount <= free[plane]);
}

SERVING_PROP(WhoCanBeServedIsServedAndThenNothingMoves) {
    ServingLab lab(seed, kClosed);
    fill_fleet(lab, {});
    const std::size_t newcomer = lab.deployment_count() - 1;
    if (serving::run_pass(lab.look()).decisions[newcomer].unmet > 0) return;
    for (int i = 0; i < 100; ++i) {
        lab.cycle();
        lab.pass_time();
    }
    RC_ASSERT(lab.running(newcomer) == lab.deployment(newcomer).desired);
    RC_ASSERT(lab.now() - lab.tally().last_action > 40);
}

}  // namespace
}  // namespace reprieve::property
