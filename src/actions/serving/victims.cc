#include "actions/serving/victims.h"

#include <algorithm>

namespace reprieve::serving {

Claims::Claims(const World& world, std::span<const Category> categories)
    : world_(world),
      categories_(categories),
      taken_(world.replicas.size()),
      lost_(world.deployments.size()) {
    for (const Deployment& deployment : world.deployments)
        counts_.emplace_back(deployment.branches.size());
    for (const Replica& replica : world.replicas) {
        if (is_active(replica)) ++counts_[replica.deployment.index()][replica.branch].active;
    }
}

bool Claims::may_take(ReplicaIndex index) const {
    const Replica& replica = world_.at(index);
    if (taken(index)) return false;
    if (!is_active(replica)) return true;
    const Count& of = count(replica.deployment, replica.branch);
    if (of.active_taken >= of.active - 1) return false;
    const std::int64_t covered = std::min(world_.branch_of(replica).commit, of.active);
    return category(index) != Category::kNormal || of.normal_taken < covered - 1;
}

void Claims::note(ReplicaIndex index, int sign) {
    const Replica& replica = world_.at(index);
    taken_[index.index()] = sign > 0;
    if (!is_active(replica)) return;
    lost_[replica.deployment.index()] += sign;
    Count& of = counts_[replica.deployment.index()][replica.branch];
    of.active_taken += sign;
    if (category(index) == Category::kNormal) of.normal_taken += sign;
}

void Claims::take(ReplicaIndex replica) { note(replica, +1); }

void Claims::give_back(ReplicaIndex replica) { note(replica, -1); }

VictimSearch::VictimSearch(const World& world, DeploymentIndex preemptor, const Rooms& rooms, Claims& claims)
    : world_(world),
      preemptor_(preemptor),
      rooms_(rooms),
      claims_(claims),
      on_node_(world.nodes.size()),
      offers_(world.nodes.size()),
      known_(world.nodes.size()) {
    for (std::size_t i = 0; i < world.replicas.size(); ++i) {
        const NodeIndex node = world.replicas[i].node;
        if (node && eligible(ReplicaIndex(i))) on_node_[node.index()].emplace_back(i);
    }
    for (auto& there : on_node_)
        std::ranges::sort(there, [&](ReplicaIndex a, ReplicaIndex b) { return better_victim(a, b); });
}

bool VictimSearch::eligible(ReplicaIndex index) const {
    const Replica& replica = world_.at(index);
    const Deployment& mine = world_.at(preemptor_);
    // Its room is about to be free whoever it belonged to.
    if (replica.stage == Stage::kForceDeleted) return true;
    if (replica.deployment == preemptor_ || world_.at(replica.deployment).priority >= mine.priority) return false;
    if (claims_.category(index) != Category::kNormal) return true;
    const Branch& branch = world_.branch_of(replica);
    return !branch.rollout && !branch.unclear && replica.taken_from <= mine.priority;
}

Rank VictimSearch::rank(ReplicaIndex index) const {
    const Replica& replica = world_.at(index);
    const std::int32_t priority = world_.at(replica.deployment).priority;
    // Waiting for it has not helped: anybody else first.
    if (replica.overdue) return {.category = Category::kNormal, .claim = Claim::kAnothers, .priority = priority};
    Claim claim = Claim::kNobodys;
    if (!replica.claimed_by.empty())
        claim = replica.claimed_by == world_.at(preemptor_).name ? Claim::kOurs : Claim::kAnothers;
    return {.category = claims_.category(index), .claim = claim, .priority = priority};
}

bool VictimSearch::better_victim(ReplicaIndex a, ReplicaIndex b) const {
    const Rank first = rank(a);
    const Rank second = rank(b);
    return first != second ? first < second : fresher(world_.at(a), world_.at(b));
}

bool VictimSearch::suffices(NodeIndex node, std::span<const ReplicaIndex> victims) const {
    const Amounts& need = world_.at(preemptor_).need;
    Amounts freed(need.size());
    Amounts staying(need.size());
    for (ReplicaIndex victim : victims) {
        add(freed, world_.at(victim).holds);
        if (is_active(world_.at(victim))) add(staying, world_.at(victim).holds);
    }
    return rooms_.suffices(node, need, freed, staying);
}

void VictimSearch::drop_needless(NodeIndex node, std::vector<ReplicaIndex>& victims) const {
    for (std::size_t i = victims.size(); i-- > 0;) {
        std::vector<ReplicaIndex> others = victims;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        if (suffices(node, others)) victims = std::move(others);
    }
}

std::optional<Offer> VictimSearch::ask(NodeIndex node) {
    const Deployment& mine = world_.at(preemptor_);
    const auto branch = std::ranges::find(mine.branches, world_.at(node).plane, &Branch::plane);
    if (branch == mine.branches.end() || !branch->allowed || !world_.at(node).usable) return std::nullopt;
    std::vector<ReplicaIndex> victims;
    bool enough = suffices(node, victims);
    for (ReplicaIndex replica : on_node_[node.index()]) {
        if (enough) break;
        if (!claims_.may_take(replica)) continue;
        claims_.take(replica);
        victims.push_back(replica);
        enough = suffices(node, victims);
    }
    for (ReplicaIndex replica : victims)
        claims_.give_back(replica);
    if (!enough) return std::nullopt;
    drop_needless(node, victims);
    Offer offer{.node = node, .score = branch->score, .victims = std::move(victims), .ranks = {}};
    for (ReplicaIndex replica : offer.victims)
        offer.ranks.push_back(rank(replica));
    std::ranges::sort(offer.ranks, std::greater<>());
    return offer;
}

bool VictimSearch::better(const Offer& a, const Offer& b) const {
    if (a.ranks != b.ranks) return a.ranks < b.ranks;
    if (a.score != b.score) return a.score < b.score;
    for (std::size_t i = 0; i < a.victims.size(); ++i) {
        const Replica& x = world_.at(a.victims[i]);
        const Replica& y = world_.at(b.victims[i]);
        if (fresher(x, y) || fresher(y, x)) return fresher(x, y);
    }
    return world_.at(a.node).name < world_.at(b.node).name;
}

const Offer* VictimSearch::best(const std::string& plane) {
    const Offer* found = nullptr;
    for (std::size_t i = 0; i < world_.nodes.size(); ++i) {
        if (!plane.empty() && world_.nodes[i].plane != plane) continue;
        if (!known_[i]) offers_[i] = ask(NodeIndex(i));
        known_[i] = true;
        if (offers_[i] && (found == nullptr || better(*offers_[i], *found))) found = &*offers_[i];
    }
    return found;
}

void VictimSearch::forget(const Offer& offer) {
    known_[offer.node.index()] = false;
    // Elsewhere their deployments may have come down to their last replica.
    for (ReplicaIndex victim : offer.victims) {
        const DeploymentIndex owner = world_.at(victim).deployment;
        for (std::size_t i = 0; i < on_node_.size(); ++i) {
            if (std::ranges::any_of(on_node_[i], [&](ReplicaIndex r) { return world_.at(r).deployment == owner; }))
                known_[i] = false;
        }
    }
}

}  // namespace reprieve::serving
