// PodTopologySpread (DoNotSchedule): no domain may hold more than maxSkew pods above the emptiest one.
//
// Terminating pods never count, so the state after the evictions is the one to ask. Counts change with every step of a
// plan, and the plan does not say in which order it was made. In doubt, a pod of the plan that matches without having
// the same constraint came later, and a pod that another owner's demand evicts elsewhere was still there
// (SpreadLedger).
#include <fmt/format.h>

#include "audit/rules.h"

namespace reprieve {
void judge_spread(const Scene& scene, const PlacedPod& placed, Certainty certainty, Findings& out) {
    const Case& judged = scene.judged();
    if (scene.view() != Moment::kLater || !judged.filters_by("PodTopologySpread")) return;
    const Labels& labels = judged.cluster.node(placed.node)->labels;
    const std::vector<SpreadConstraint>& rules = judged.spec(placed.pod).spread;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const SpreadConstraint& rule = rules[i];
        if (!rule.hard) continue;
        const StringId domain = labels.get(rule.topology_key);
        if (!domain) {
            out.push_back(
                {"PodTopologySpread", fmt::format("the node has no label {}", judged.words.text(rule.topology_key))});
            continue;
        }
        if (rule.selector.empty()) continue;  // upstream counts nobody then
        const SpreadLedger& book = scene.neighbours().spread(scene, placed.pod, i);
        const std::int64_t skew = book.skew(domain, placed.owner(), certainty == Certainty::kOfFault);
        if (skew <= rule.max_skew) continue;
        out.push_back({"PodTopologySpread",
                       fmt::format("{} {} would have {} pods more than the emptiest, {} are allowed",
                                   judged.words.text(rule.topology_key),
                                   judged.words.text(domain),
                                   skew,
                                   rule.max_skew)});
    }
}

}  // namespace reprieve
