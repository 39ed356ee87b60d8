#include "app/intents.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "state/pod_named.h"

namespace reprieve {
namespace {

// Of one demand.
struct Victims {
    std::map<std::string, std::vector<std::string>> by_node;  // UIDs
    std::int64_t grace_seconds = 0;
};

std::int64_t grace_of(const Cluster& cluster, const std::string& pod) {
    const PodId id = pod_named(cluster, pod);
    return id ? cluster.pod(id).grace_seconds : 0;
}

// In whole seconds: that is what is written down.
Time deadline_of(Time now, std::int64_t grace_seconds, Duration patience) {
    const Time exact = now + Duration::of_seconds(grace_seconds) + patience;
    return {exact.us - exact.us % Duration::of_seconds(1).us};
}

}  // namespace

void record_intents(Plan& plan, const Cluster& cluster, Duration patience) {
    std::map<std::string, Victims> victims;  // by whom they make room for
    for (const Eviction& e : plan.evictions) {
        Victims& of_owner = victims[e.owner];
        of_owner.by_node[e.node].push_back(e.uid);
        of_owner.grace_seconds = std::max(of_owner.grace_seconds, grace_of(cluster, e.pod));
    }
    plan.intents.clear();
    std::map<std::string, std::size_t> first;  // of each demand, in plan.intents
    std::map<std::string, std::set<std::string>> waited_on;
    for (const Placement& p : plan.placements) {
        // A surplus member may have victims of its own, beside those of its gang.
        const std::string& owner = p.owner.empty() || victims.contains(p.pod) ? p.pod : p.owner;
        const auto found = victims.find(owner);
        if (!p.after_evictions || found == victims.end()) continue;
        first.emplace(owner, plan.intents.size());
        waited_on[owner].insert(p.node);
        const auto here = found->second.by_node.find(p.node);
        plan.intents.push_back(
            {.pod = p.pod,
             .uid = p.uid,
             .node = p.node,
             .victims = here == found->second.by_node.end() ? std::vector<std::string>() : here->second,
             .deadline = deadline_of(plan.now, found->second.grace_seconds, patience)});
    }
    for (const auto& [owner, index] : first) {
        std::vector<std::string>& named = plan.intents[index].victims;
        for (const auto& [node, uids] : victims.at(owner).by_node) {
            if (!waited_on[owner].contains(node)) named.insert(named.end(), uids.begin(), uids.end());
        }
    }
    for (Intent& intent : plan.intents)
        std::ranges::sort(intent.victims);
}

}  // namespace reprieve
