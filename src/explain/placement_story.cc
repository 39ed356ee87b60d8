#include <algorithm>

#include "explain/stories.h"
#include "search/placement.h"

namespace reprieve {
namespace {

// How the nodes answered before the plan did anything.
void count_nodes(Retrials& trials, PodId pod, PlacementStory& out) {
    Session session(trials.cluster(), trials.config());
    Placer placer(session);
    const Snapshot& s = trials.snapshot();
    out.nodes = static_cast<std::int64_t>(s.nodes_by_name.size());
    out.fitting = std::ranges::count_if(s.nodes_by_name, [&](NodeId n) { return placer.fits(pod, n, View::kNow); });
    out.others = placer.refusal(pod).nodes;
}

}  // namespace

std::optional<PlacementStory> placement_story(const Plan& plan, Retrials* trials, const Subject& subject) {
    PlacementStory out;
    std::string owner = subject.name;
    for (const Placement& p : plan.placements) {
        if (std::ranges::find(subject.pods, p.pod) == subject.pods.end()) continue;
        if (!p.owner.empty()) owner = p.owner;
        out.placements.push_back(p);
    }
    if (out.placements.empty()) return std::nullopt;
    std::ranges::copy_if(
        plan.evictions, std::back_inserter(out.expense), [&](const Eviction& e) { return e.owner == owner; });
    if (const Certificate* c = certificate_for(plan, owner)) out.certificate = *c;
    if (trials != nullptr) {
        if (const PodId pod = pod_named(trials->cluster(), out.placements.front().pod)) count_nodes(*trials, pod, out);
    }
    return out;
}

}  // namespace reprieve
