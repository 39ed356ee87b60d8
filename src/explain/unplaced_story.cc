#include <algorithm>

#include "explain/levers.h"
#include "explain/margin.h"
#include "explain/stories.h"

namespace reprieve {
namespace {

bool concerns(const Unplaced& item, const Subject& subject) {
    if (item.pod.empty()) return item.owner == subject.name;
    return std::ranges::find(subject.pods, item.pod) != subject.pods.end();
}

bool same_reason(const UnplacedStory& story, const Unplaced& item) {
    return story.reason == item.reason && story.never == item.never && story.nodes == item.nodes;
}

// A member of a gang is placed with its gang or not at all: it is the gang that would have to be different.
Subject whose_demand(const Cluster& cluster, const Subject& subject, const std::string& owner) {
    if (owner.empty() || owner == subject.name) return subject;
    Subject out{.name = owner, .gang = true, .pods = {}};
    const Snapshot& s = cluster.snapshot();
    if (const GangId gang = gang_named(cluster, owner)) {
        for (PodId pod : s.gangs[gang].pods)
            out.pods.push_back(s.pod_name(pod));
    }
    return out;
}

}  // namespace

std::vector<UnplacedStory> unplaced_stories(const Plan& plan, Retrials* trials, const Subject& subject) {
    std::vector<UnplacedStory> out;
    std::string owner;
    for (const Unplaced& item : plan.unplaced) {
        if (!concerns(item, subject)) continue;
        owner = item.owner.empty() ? item.pod : item.owner;
        auto story = std::ranges::find_if(out, [&](const UnplacedStory& s) { return same_reason(s, item); });
        if (story == out.end()) {
            story = out.insert(out.end(), UnplacedStory{.never = item.never, .reason = item.reason});
            story->nodes = item.nodes;
            for (const Certificate& c : plan.certificates)
                if (c.owner == owner && is_refusal(c.status)) story->certificates.push_back(c);
        }
        if (!item.pod.empty()) story->pods.push_back(item.pod);
        story->replicas += item.replicas;
    }
    // No priority moves what no eviction can help.
    const bool hopeless = std::ranges::all_of(out, &UnplacedStory::never);
    if (trials == nullptr || hopeless) return out;
    const std::int64_t before = trials->count();
    if (auto remedy = placing_priority(*trials, whose_demand(trials->cluster(), subject, owner)))
        out.front().remedies.push_back(std::move(*remedy));
    out.front().plans = trials->count() - before;
    return out;
}

}  // namespace reprieve
