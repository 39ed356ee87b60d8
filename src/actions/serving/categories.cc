#include "actions/serving/categories.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace reprieve::serving {

const char* to_text(Category category) {
    switch (category) {
        case Category::kForceDelete:
            return "ForceDelete";
        case Category::kTerminating:
            return "Terminating";
        case Category::kSurplus:
            return "Surplus";
        case Category::kNormal:
            return "Normal";
    }
    return "";
}

bool fresher(const Replica& a, const Replica& b) {
    return std::tie(a.created, a.name, a.ns) > std::tie(b.created, b.name, b.ns);
}

namespace {

// As a ReplicaSet chooses when it has too many.
bool goes_before(const Replica& a, const Replica& b) {
    if (a.ready != b.ready) return b.ready;
    if (a.deletion_cost != b.deletion_cost) return a.deletion_cost < b.deletion_cost;
    return fresher(a, b);
}

}  // namespace

std::vector<Category> categorize(const World& world) {
    std::vector<Category> out(world.replicas.size(), Category::kNormal);
    std::map<std::pair<DeploymentIndex, std::size_t>, std::vector<std::size_t>> active;
    for (std::size_t i = 0; i < world.replicas.size(); ++i) {
        const Replica& replica = world.replicas[i];
        if (replica.stage == Stage::kForceDeleted) out[i] = Category::kForceDelete;
        if (replica.stage == Stage::kTerminating) out[i] = Category::kTerminating;
        if (is_active(replica)) active[{replica.deployment, replica.branch}].push_back(i);
    }
    for (auto& [key, replicas] : active) {
        const auto commit = world.at(key.first).branches[key.second].commit;
        const auto beyond = static_cast<std::int64_t>(replicas.size()) - commit;
        if (beyond <= 0) continue;
        std::ranges::sort(
            replicas, [&](std::size_t a, std::size_t b) { return goes_before(world.replicas[a], world.replicas[b]); });
        for (std::int64_t i = 0; i < beyond; ++i)
            out[replicas[static_cast<std::size_t>(i)]] = Category::kSurplus;
    }
    return out;
}

}  // namespace reprieve::serving
