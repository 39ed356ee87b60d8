#include <fmt/format.h>

#include <algorithm>

#include "explain/proof_scope.h"
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
    if (out.fitting == 0) out.limit = session.limits.describe(s.now, session.limits.ask_of(std::span(&pod, 1)));
}

bool is_kept(const Cluster& cluster, const Placement& placement) {
    const PodId pod = pod_named(cluster, placement.pod);
    return pod && cluster.words().text(cluster.pod(pod).nominated) == placement.node;
}

// Alternatives that stand before the one that was taken. By the rule of the search each of them was not to be had on
// that node, given what else the plan gives and keeps, or only at a higher price. Another node may have had it: which
// node is best is another question, and the claim's other requests count for it, too.
void note_alternatives(const Cluster& cluster, const Placement& placement, std::vector<std::string>& out) {
    const PodId pod = pod_named(cluster, placement.pod);
    if (!pod) return;
    const ClaimTable& table = cluster.snapshot().device_claims;
    const Vocabulary& words = cluster.words();
    for (DeviceClaimId id : table.of(pod).wants) {
        const std::string name = table.name_of(id, words);
        const auto placed = std::ranges::find(placement.claims, name, &PlacedClaim::claim);
        if (placed == placement.claims.end()) continue;
        for (const DeviceRequest& request : table.row(id).spec->requests) {
            std::string before;
            for (const DeviceWish& wish : request.wishes) {
                const std::string label = fmt::format("{}/{}", words.text(request.name), words.text(wish.name));
                const bool taken =
                    request.first_available &&
                    std::ranges::find(placed->results, label, &ClaimedDevice::request) != placed->results.end();
                if (taken && !before.empty())
                    out.push_back(
                        fmt::format("Claim {} takes {} for request {}: {} could not be had on {} together with the "
                                    "rest of the plan, or only at a higher cost.",
                                    name,
                                    words.text(wish.name),
                                    words.text(request.name),
                                    before,
                                    placement.node));
                if (taken) break;
                before += fmt::format("{}{}", before.empty() ? "" : ", ", words.text(wish.name));
            }
        }
    }
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
    std::ranges::copy_if(
        plan.evictions, std::back_inserter(out.expense), [&](const Eviction& e) { return e.owner == owner; });
    // Who grows where it runs is given room and no place.
    const bool grows = !subject.gang && !out.expense.empty();
    if (out.placements.empty() && !grows) return std::nullopt;
    if (const Certificate* c = certificate_for(plan, owner)) out.certificate = *c;
    if (trials != nullptr) out.proof_scope = proof_scope(*trials, owner);
    if (trials != nullptr && !out.placements.empty()) {
        if (const PodId pod = pod_named(trials->cluster(), out.placements.front().pod)) count_nodes(*trials, pod, out);
        out.kept =
            std::ranges::all_of(out.placements, [&](const Placement& p) { return is_kept(trials->cluster(), p); });
        for (const Placement& placement : out.placements)
            note_alternatives(trials->cluster(), placement, out.alternatives);
    }
    return out;
}

}  // namespace reprieve
