#include "serving_lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>

namespace reprieve::property {

using serving::DeploymentIndex;
using serving::NodeIndex;
using serving::Outcome;
using serving::Replica;
using serving::ReplicaIndex;
using serving::Stage;
using serving::World;

std::int64_t ServingLab::draw(std::int64_t least, std::int64_t most) {
    // The distributions of the library differ from one to the next.
    const auto span = static_cast<std::uint64_t>(most - least) + 1;
    return least + static_cast<std::int64_t>(random_() % span);
}

void ServingLab::add_node(const std::string& name, const std::string& plane, std::int64_t devices) {
    nodes_.push_back({name, plane, devices});
}

std::size_t ServingLab::add_deployment(serving::Deployment deployment) {
    deployments_.push_back(std::move(deployment));
    return deployments_.size() - 1;
}

std::int64_t ServingLab::free_on(std::size_t node) const {
    std::int64_t free = nodes_[node].devices;
    for (const Pod& pod : pods_) {
        if (pod.node == static_cast<int>(node)) free -= deployments_[pod.deployment].need[0];
    }
    return free;
}

std::vector<std::size_t> ServingLab::fitting(std::size_t deployment, const std::string& plane) const {
    std::vector<std::size_t> out;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
        if (nodes_[n].plane == plane && free_on(n) >= deployments_[deployment].need[0]) out.push_back(n);
    }
    return out;
}

std::size_t ServingLab::any_of(const std::vector<std::size_t>& nodes) {
    return nodes[static_cast<std::size_t>(draw(0, std::ssize(nodes) - 1))];
}

ServingLab::Pod ServingLab::make_pod(std::size_t deployment, std::size_t branch, std::int64_t created) {
    // Names start with the deployment's, without its namespace.
    return {.name = fmt::format("{}-{}", deployments_[deployment].name.substr(3), names_++),
            .deployment = deployment,
            .branch = branch,
            .created = created,
            .ready_since = created,
            .uid = draw(0, 1'000'000),
            .claimed_by = {}};
}

bool ServingLab::add_replica(std::size_t deployment, const std::string& plane) {
    const std::vector<std::size_t> nodes = fitting(deployment, plane);
    if (nodes.empty()) return false;
    auto& branches = deployments_[deployment].branches;
    const auto branch = std::ranges::find(branches, plane, &serving::Branch::plane);
    ++branch->commit;
    Pod pod = make_pod(deployment, static_cast<std::size_t>(branch - branches.begin()), clock_ - draw(1, 900));
    pod.node = static_cast<int>(any_of(nodes));
    pods_.push_back(std::move(pod));
    return true;
}

World ServingLab::look() const {
    World world;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
        std::int64_t leaving = 0;
        for (const Pod& pod : pods_) {
            if (pod.node == static_cast<int>(n) && pod.stage != Stage::kActive)
                leaving += deployments_[pod.deployment].need[0];
        }
        world.nodes.push_back({.name = nodes_[n].name,
                               .plane = nodes_[n].plane,
                               .usable = true,
                               .free = {free_on(n)},
                               .later = {free_on(n) + leaving},
                               .device = 0});
    }
    world.deployments = deployments_;
    for (const Pod& pod : pods_) {
        world.replicas.push_back({.name = pod.name,
                                  .ns = "ns",
                                  .deployment = DeploymentIndex(pod.deployment),
                                  .branch = pod.branch,
                                  .node = pod.node < 0 ? NodeIndex() : NodeIndex(static_cast<std::size_t>(pod.node)),
                                  .stage = pod.stage,
                                  .holds = deployments_[pod.deployment].need,
                                  .created = Time{pod.created},
                                  .ready = pod.node >= 0,
                                  .deletion_cost = pod.cost,
                                  .claimed_by = pod.claimed_by,
                                  .can_be_forced = pod.stage == Stage::kTerminating});
    }
    return world;
}

World carried_out(World world, const Outcome& outcome) {
    for (Replica& replica : world.replicas)
        replica.claimed_by.clear();
    std::vector<bool> matched(world.replicas.size());
    for (const serving::Match& match : outcome.matches) {
        for (const ReplicaIndex victim : match.victims) {
            Replica& replica = world.replicas[victim.index()];
            matched[victim.index()] = true;
            replica.claimed_by = world.at(match.preemptor).name;
            if (outcome.categories[victim.index()] == serving::Category::kNormal)
                replica.deletion_cost = serving::kHintCost;
            if (replica.stage == Stage::kTerminating) replica.stage = Stage::kForceDeleted;
            replica.can_be_forced = false;
        }
    }
    for (std::size_t i = 0; i < matched.size(); ++i) {
        if (!matched[i] && world.replicas[i].deletion_cost == serving::kHintCost) world.replicas[i].deletion_cost = 0;
    }
    for (std::size_t d = 0; d < world.deployments.size(); ++d) {
        for (std::size_t b = 0; b < world.deployments[d].branches.size(); ++b)
            world.deployments[d].branches[b].commit = outcome.decisions[d].commits[b];
    }
    return world;
}

// Somebody further on its way out is a reason to let others off; anything else is not.
std::int64_t swaps(const World& world, const Outcome& outcome) {
    std::map<std::string, serving::Category> newly;  // by preemptor: the best of its victims that it had not claimed
    std::vector<bool> matched(world.replicas.size());
    for (const serving::Match& match : outcome.matches) {
        const std::string& by = world.at(match.preemptor).name;
        for (const ReplicaIndex victim : match.victims) {
            matched[victim.index()] = true;
            if (world.at(victim).claimed_by == by) continue;
            const serving::Category category = outcome.categories[victim.index()];
            const auto [at, fresh] = newly.try_emplace(by, category);
            if (!fresh) at->second = std::min(at->second, category);
        }
    }
    std::int64_t out = 0;
    for (std::size_t i = 0; i < world.replicas.size(); ++i) {
        const auto instead = newly.find(world.replicas[i].claimed_by);
        if (matched[i] || instead == newly.end() || !serving::is_active(world.replicas[i])) continue;
        if (instead->second >= outcome.categories[i]) ++out;
    }
    return out;
}

// The literal reading of the first design: everybody is given free room before anybody waits for somebody to leave.
Outcome ServingLab::decide(const World& world) const {
    if (manners_.one_pass) return serving::run_pass(world);
    serving::Pass pass(world);
    for (const DeploymentIndex d : serving::Pass::order(world)) {
        pass.reserve(d);
        pass.readopt(d);
        pass.scale_up(d);
    }
    for (const DeploymentIndex d : serving::Pass::order(world)) {
        if (!pass.is_preemptee(d)) pass.match(d);
    }
    return pass.outcome();
}

Outcome ServingLab::cycle() {
    const World seen = look();
    Outcome outcome = decide(seen);
    const World after = carried_out(seen, outcome);
    tally_.swapped += swaps(after, decide(after));
    carry_out(seen, outcome);
    note_nodes(seen, outcome);
    return outcome;
}

void ServingLab::carry_out(const World& seen, const Outcome& outcome) {
    bool acts = false;
    for (Pod& pod : pods_)
        pod.claimed_by.clear();
    std::vector<bool> matched(pods_.size());
    for (const serving::Match& match : outcome.matches) {
        for (const ReplicaIndex victim : match.victims) {
            Pod& pod = pods_[victim.index()];
            pod.claimed_by = seen.at(match.preemptor).name;
            matched[victim.index()] = true;
            const serving::Category category = outcome.categories[victim.index()];
            if (category == serving::Category::kNormal && manners_.writes_hints) pod.cost = serving::kHintCost;
            if (category != serving::Category::kTerminating) continue;
            pod.stage = Stage::kForceDeleted;
            acts = true;
        }
    }
    for (std::size_t i = 0; i < pods_.size(); ++i) {
        if (!matched[i]) pods_[i].cost = 0;
    }
    for (std::size_t d = 0; d < deployments_.size(); ++d) {
        for (std::size_t b = 0; b < deployments_[d].branches.size(); ++b) {
            std::int64_t& commit = deployments_[d].branches[b].commit;
            const std::int64_t change = outcome.decisions[d].commits[b] - commit;
            commit += change;
            acts = acts || change != 0;
            std::int64_t& owed = taken_[{d, b}];
            if (change < 0) {
                tally_.scaled_down -= change;
                owed -= change;
            } else {
                const std::int64_t back = std::min(owed, change);
                tally_.given_back += back;
                owed -= back;
            }
        }
    }
    if (acts) tally_.last_action = clock_;
}

void ServingLab::note_nodes(const World& seen, const Outcome& outcome) {
    std::map<std::size_t, std::vector<std::string>> nodes;
    for (const serving::Match& match : outcome.matches)
        nodes[match.preemptor.index()].push_back(seen.at(match.node).name);
    for (auto& [deployment, now] : nodes) {
        std::ranges::sort(now);
        const auto before = match_nodes_.find(deployment);
        if (before == match_nodes_.end()) continue;
        for (const std::string& node : now) {
            const bool was_there = std::ranges::count(before->second, node) > 0;
            if (!was_there && now.size() <= before->second.size()) ++tally_.node_changes;
        }
    }
    match_nodes_ = std::move(nodes);
}

std::vector<ServingLab::Pod*> ServingLab::live_pods(std::size_t deployment, std::size_t branch) {
    std::vector<Pod*> out;
    for (Pod& pod : pods_) {
        if (pod.deployment == deployment && pod.branch == branch && pod.stage == Stage::kActive) out.push_back(&pod);
    }
    return out;
}

std::int64_t ServingLab::mates_on_node(const Pod& pod) const {
    return std::ranges::count_if(pods_, [&](const Pod& other) {
        return other.deployment == pod.deployment && other.branch == pod.branch && other.node == pod.node &&
               other.stage == Stage::kActive;
    });
}

// As ReplicaSets have it: without a node, not ready, cheaper, doubled up, ready for a shorter time (by powers of two),
// newer (likewise), then the UID.
bool ServingLab::deleted_before(const Pod& a, const Pod& b) const {
    const auto bucket = [&](std::int64_t since) { return std::bit_width(static_cast<std::uint64_t>(clock_ - since)); };
    const auto key = [&](const Pod& pod) {
        return std::tuple(pod.node >= 0,
                          manners_.obeys_hints ? pod.cost : 0,
                          pod.node >= 0 ? -mates_on_node(pod) : 0,
                          bucket(pod.ready_since),
                          bucket(pod.created),
                          pod.uid);
    };
    return key(a) < key(b);
}

void ServingLab::remove(Pod& pod) {
    if (pod.node < 0) {
        pod.stage = Stage::kForceDeleted;  // gone at once: there is no kubelet to ask
        pod.node = -2;
        return;
    }
    ++tally_.killed;
    pod.stage = Stage::kTerminating;
}

void ServingLab::follow_commit(std::size_t deployment, std::size_t branch) {
    std::vector<Pod*> pods = live_pods(deployment, branch);
    const std::int64_t want = deployments_[deployment].branches[branch].commit;
    const auto have = static_cast<std::int64_t>(pods.size());
    if (have > want) {
        std::ranges::sort(pods, [&](const Pod* a, const Pod* b) { return deleted_before(*a, *b); });
        pods.resize(static_cast<std::size_t>(have - want));
        for (Pod* pod : pods)
            remove(*pod);
    }
    for (std::int64_t i = have; i < want; ++i)
        pods_.push_back(make_pod(deployment, branch, clock_));
}

void ServingLab::let_go() {
    std::erase_if(pods_, [&](const Pod& pod) {
        if (pod.stage == Stage::kForceDeleted) return pod.node < 0 || soon();
        return pod.stage == Stage::kTerminating && manners_.waits && chance(20);
    });
}

void ServingLab::bind_pods() {
    for (Pod& pod : pods_) {
        if (pod.node >= 0 || pod.stage != Stage::kActive || !soon()) continue;
        const auto nodes = fitting(pod.deployment, deployments_[pod.deployment].branches[pod.branch].plane);
        if (nodes.empty()) continue;
        const auto tightest = std::ranges::min_element(nodes, {}, [&](std::size_t n) { return free_on(n); });
        pod.node = static_cast<int>(manners_.binds_tightly ? *tightest : any_of(nodes));
        pod.ready_since = clock_;
    }
}

void ServingLab::pass_time() {
    ++clock_;
    let_go();
    for (std::size_t d = 0; d < deployments_.size(); ++d) {
        for (std::size_t b = 0; b < deployments_[d].branches.size(); ++b) {
            if (soon()) follow_commit(d, b);
        }
    }
    let_go();
    bind_pods();
}

std::int64_t ServingLab::running(std::size_t deployment) const {
    return std::ranges::count_if(pods_, [&](const Pod& pod) {
        return pod.deployment == deployment && pod.node >= 0 && pod.stage == Stage::kActive;
    });
}

void fill_fleet(ServingLab& lab, const FleetShape& shape) {
    const std::int64_t planes = lab.draw(1, shape.planes_most);
    const auto plane_name = [](std::int64_t i) { return fmt::format("w{}", i); };
    const std::int64_t nodes = lab.draw(3, 6);
    for (std::int64_t n = 0; n < nodes; ++n)
        lab.add_node(fmt::format("n{}", n), plane_name(n % planes), lab.chance(50) ? 4 : 8);
    const auto make = [&](const std::string& name, std::int32_t priority) {
        const auto sizes = std::ssize(shape.replica_sizes);
        const std::int64_t size = shape.replica_sizes[static_cast<std::size_t>(lab.draw(0, sizes - 1))];
        serving::Deployment d{
            .name = "ns/" + name, .priority = priority, .need = {size}, .fit_by = {0}, .branches = {}};
        for (std::int64_t p = 0; p < planes; ++p)
            d.branches.push_back({.plane = plane_name(p), .score = lab.draw(0, 3)});
        return lab.add_deployment(std::move(d));
    };
    const std::int64_t deployments = lab.draw(4, 8);
    for (std::int64_t i = 0; i < deployments; ++i)
        make(fmt::format("d{}", i), static_cast<std::int32_t>(lab.draw(1, 8)));
    // Until nobody fits any more.
    for (int misses = 0; misses < 40;) {
        const auto d = static_cast<std::size_t>(lab.draw(0, deployments - 1));
        misses = lab.add_replica(d, plane_name(lab.draw(0, planes - 1))) ? 0 : misses + 1;
    }
    for (std::size_t d = 0; d < lab.deployment_count(); ++d) {
        std::int64_t committed = 0;
        for (const serving::Branch& branch : lab.deployment(d).branches)
            committed += branch.commit;
        lab.set_desired(d, committed);
    }
    const std::size_t newcomer = make("newcomer", 9);
    lab.set_desired(newcomer, lab.draw(1, 2));
}

}  // namespace reprieve::property
