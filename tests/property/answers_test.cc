// Answers are true: whoever asks about any pod or gang of a random world hears numbers that are the plan's or the
// facts'.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "actions/cycle.h"
#include "explain/explain.h"
#include "laboratory.h"
#include "state/pod_named.h"
#include "text/explanation_text.h"
#include "text/plan_table.h"
#include "text/table.h"

namespace reprieve::property {
namespace {

// No number that a person would say has so many digits: offsets and sentinels do.
bool has_internal_number(const std::string& text) {
    constexpr int kLongest = 9;
    int digits = 0;
    for (const char c : text) {
        digits = std::isdigit(static_cast<unsigned char>(c)) != 0 ? digits + 1 : 0;
        if (digits > kLongest) return true;
    }
    return false;
}

std::int64_t term_of(const CostVector& cost, const std::string& term, std::int64_t otherwise) {
    const auto at = std::ranges::find(cost, term, &CostVector::value_type::first);
    return at == cost.end() ? otherwise : at->second;
}

// Surplus is what a gang can spare; what is left of a gang that was short before is called so.
void check_spared_minimum(const Cluster& cluster, const EvictionStory& story) {
    if (story.unit != UnitKind::kSafe || story.group.empty()) return;
    const Snapshot& s = cluster.snapshot();
    const PodId pod = pod_named(cluster, story.pods.front());
    const GangRow& gang = s.gangs[s.pods[pod].gang];
    const auto ran = std::ranges::count_if(gang.pods, [&](PodId p) { return s.pods[p].state == PodState::kRunning; });
    RC_ASSERT(story.broken == (ran < gang.min));
}

void check_evictions(const Cluster& cluster, const Plan& plan, const EvictionStory& story) {
    const Snapshot& s = cluster.snapshot();
    for (const std::string& pod : story.pods) {
        const auto entry = std::ranges::find(plan.evictions, pod, &Eviction::pod);
        RC_ASSERT(entry != plan.evictions.end());
        RC_ASSERT(entry->owner == story.owner);
        RC_ASSERT(std::ranges::find(story.nodes, entry->node) != story.nodes.end());
    }
    if (story.standing && story.owner_priority && (story.action == "preempt" || story.action == "gangPreempt"))
        RC_ASSERT(story.standing->priority < *story.owner_priority);
    check_spared_minimum(cluster, story);
    if (!story.certificate || story.owner.empty()) return;
    std::int64_t pods = 0;
    std::int64_t highest = INT64_MIN;
    for (const Eviction& e : plan.evictions) {
        if (e.owner != story.owner || e.action != story.certificate->action) continue;
        ++pods;
        highest = std::max<std::int64_t>(highest, s.pods[pod_named(cluster, e.pod)].unit_priority);
    }
    RC_ASSERT(term_of(story.certificate->cost, "pods", pods) == pods);
    RC_ASSERT(term_of(story.certificate->cost, "maxPriority", highest) == highest);
}

void check_answer(const Cluster& cluster, const Plan& plan, const Explanation& e) {
    for (const EvictionStory& story : e.evictions)
        check_evictions(cluster, plan, story);
    if (e.placement) {
        for (const Placement& p : e.placement->placements)
            RC_ASSERT(std::ranges::find(plan.placements, p) != plan.placements.end());
    }
    for (const UnplacedStory& story : e.unplaced) {
        RC_ASSERT(std::ranges::any_of(plan.unplaced, [&](const Unplaced& u) { return u.reason == story.reason; }));
    }
    if (!e.gang) {
        const bool evicted = std::ranges::find(plan.evictions, e.name, &Eviction::pod) != plan.evictions.end();
        RC_ASSERT(evicted == (e.outcome == Outcome::kEvicted));
    }
    const std::string text = explanation_to_text(e, {});
    RC_LOG() << text;
    RC_ASSERT(!has_internal_number(text));
}

RC_GTEST_PROP(Answers, EveryNumberIsThePlansOrTheFacts, ()) {
    const std::vector<Json> world = random_world({.nodes = 4, .running = 10, .pending = 4});
    const Json config = random_config();
    RC_LOG() << as_text(world) << config.dump() << "\n";
    const SchedulerConfig settings = read_config(config);
    const auto laboratory = build(world);
    Cluster& cluster = laboratory->cluster();
    const Plan plan = run_cycle(cluster, settings);
    RC_ASSERT(!has_internal_number(plan_to_table(plan, {})));
    const Snapshot& s = cluster.snapshot();
    std::set<std::pair<std::string, bool>> names;
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        if (s.pods[pod].state != PodState::kAbsent) names.emplace(s.pod_name(pod), false);
    }
    for (GangId gang : IdRange<GangId>(s.gangs.size())) {
        if (s.gangs[gang].alive) names.emplace(s.gang_name(gang), true);
    }
    for (const auto& [name, gang] : names) {
        const auto subject = find_subject(plan, &cluster, name, gang);
        RC_ASSERT(subject.has_value());
        Retrials trials(plan, cluster, settings, 3);
        check_answer(cluster, plan, explain(plan, &trials, *subject));
    }
}

}  // namespace
}  // namespace reprieve::property
