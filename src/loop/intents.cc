#include "loop/intents.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "state/pod_named.h"

namespace reprieve {
namespace {

// How long a driver may take to make devices ready (kube/claim_run.h waits as long).
constexpr Duration kDevicePatience{600'000'000};

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
             .devices = promised_devices(p),
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

void release_claims(Plan& plan, const Cluster& cluster) {
    const ClaimTable& table = cluster.snapshot().device_claims;
    plan.releases.clear();
    if (table.empty()) return;
    for (const Unplaced& unplaced : plan.unplaced) {
        const PodId pod = unplaced.pod.empty() ? PodId() : pod_named(cluster, unplaced.pod);
        if (!pod) continue;
        const std::string& uid = cluster.pod(pod).uid;
        for (DeviceClaimId id : table.of(pod).wants) {
            const ClaimRow& row = table.row(id);
            const ResourceClaim* fact =
                row.given ? cluster.resource_claims().get(row.ns, cluster.words().find_string(row.name)) : nullptr;
            const bool only_its_own = fact != nullptr && fact->consumers.size() == 1 && fact->consumers[0].is_pod &&
                                      !uid.empty() && fact->consumers[0].uid == uid;
            // A claim whose devices are still being made ready is left alone, as long as a driver may take for that.
            const bool waits = fact != nullptr && fact->allocation && !fact->allocation->not_ready.empty() &&
                               !fact->allocation->failed && fact->allocation->since.is_set() &&
                               plan.now < fact->allocation->since + kDevicePatience;
            if (only_its_own && !waits)
                plan.releases.push_back({table.name_of(id, cluster.words()), unplaced.pod, uid});
        }
    }
}

}  // namespace reprieve
