#include "app/intents.h"

#include <algorithm>
#include <map>
#include <string>

namespace reprieve {
namespace {

struct Victims {
    std::vector<std::string> uids;
    std::int64_t grace_seconds = 0;
};

std::int64_t grace_of(const Cluster& cluster, const std::string& pod) {
    const std::size_t slash = pod.find('/');
    const PodId id =
        cluster.find_pod(cluster.words().find_string(pod.substr(0, slash)), std::string_view(pod).substr(slash + 1));
    return id ? cluster.pod(id).grace_seconds : 0;
}

}  // namespace

void record_intents(Plan& plan, const Cluster& cluster, Duration patience) {
    std::map<std::string, Victims> victims;  // by whom they make room for
    for (const Eviction& e : plan.evictions) {
        Victims& of_owner = victims[e.owner];
        of_owner.uids.push_back(e.uid);
        of_owner.grace_seconds = std::max(of_owner.grace_seconds, grace_of(cluster, e.pod));
    }
    plan.intents.clear();
    for (const Placement& p : plan.placements) {
        const auto found = victims.find(p.owner.empty() ? p.pod : p.owner);
        if (!p.after_evictions || found == victims.end()) continue;
        const Time deadline = plan.now + Duration{found->second.grace_seconds * 1'000'000} + patience;
        plan.intents.push_back(
            {.pod = p.pod, .uid = p.uid, .node = p.node, .victims = found->second.uids, .deadline = deadline});
    }
}

}  // namespace reprieve
