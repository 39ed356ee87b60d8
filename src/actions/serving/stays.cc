#include "actions/serving/stays.h"

#include <algorithm>

namespace reprieve::serving {

StayRules::StayRules(const World& world, std::span<const Category> categories, const std::set<ReplicaIndex>& taken)
    : world_(world),
      categories_(categories) {
    for (std::size_t i = 0; i < world.replicas.size(); ++i) {
        const Replica& replica = world.replicas[i];
        if (!is_active(replica)) continue;
        Left& left = left_[{replica.deployment, replica.branch}];
        const bool stays = !taken.contains(ReplicaIndex(i));
        left.active += stays ? 1 : 0;
        left.committed += stays && categories[i] == Category::kNormal ? 1 : 0;
    }
}

Stays StayRules::why(DeploymentIndex preemptor, ReplicaIndex index) const {
    const Replica& replica = world_.at(index);
    const std::int32_t priority = world_.at(preemptor).priority;
    if (replica.stage == Stage::kForceDeleted) return Stays::kCouldGo;
    if (world_.at(replica.deployment).priority >= priority) return Stays::kPriority;
    if (!is_active(replica)) return Stays::kCouldGo;
    // What no commit covers goes in any case: protection and rollouts speak for the others alone.
    const bool committed = categories_[index.index()] == Category::kNormal;
    if (committed && replica.taken_from > priority) return Stays::kProtected;
    if (committed && world_.branch_of(replica).rollout) return Stays::kRollout;
    if (committed && world_.branch_of(replica).unclear) return Stays::kUnclear;
    const Left& left = left_.at({replica.deployment, replica.branch});
    return left.active <= 1 || (committed && left.committed <= 1) ? Stays::kLastReplica : Stays::kCouldGo;
}

}  // namespace reprieve::serving
