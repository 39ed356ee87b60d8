#include "audit/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "audit/rules.h"
#include "audit/serving_case.h"

namespace reprieve {

void Report::add(std::string rule, std::string object, std::string what) {
    violations_.push_back({std::move(rule), std::move(object), std::move(what)});
}

void Report::add(const std::string& object, const Findings& findings, const std::string& when) {
    for (const Finding& finding : findings)
        add(finding.rule, object, when + finding.what);
}

std::vector<Violation> Report::take() {
    std::ranges::sort(violations_);
    const auto repeated = std::ranges::unique(violations_);
    violations_.erase(repeated.begin(), repeated.end());
    return std::move(violations_);
}

namespace {

void judge_placements(const Case& judged, const Scene& now, const Scene& later, Report& report) {
    for (const PlacedPod& item : judged.placed) {
        Findings facts;
        judge_node_facts(judged, item, facts);
        judge_volume_facts(judged, item, facts);
        report.add(item.entry->pod, facts, "");
        if (item.in_flight) continue;
        Findings then;
        judge_fit(later, item, Certainty::kOfFault, then);
        report.add(item.entry->pod, then, "after the evictions: ");
        if (item.entry->after_evictions) continue;
        Findings at_once;
        judge_fit(now, item, Certainty::kOfFault, at_once);
        report.add(item.entry->pod, at_once, "now: ");
    }
}

// A running pod for whose growth the plan evicts.
void judge_resizes(const Case& judged, const Scene& later, Report& report) {
    std::set<PodId> growing;
    for (const EvictedPod& item : judged.evicted) {
        const PodId pod = judged.owner(item.entry->owner).pod;
        if (pod && judged.resizes(pod)) growing.insert(pod);
    }
    for (const PodId pod : growing) {
        Findings findings;
        judge_resize(later, pod, Certainty::kOfFault, findings);
        report.add(judged.name(pod), findings, "after the evictions: ");
    }
}

}  // namespace

std::vector<Violation> audit(const Cluster& cluster, const Plan& plan, const SchedulerConfig& config) {
    const Case judged(cluster, plan, config);
    const Scene now(judged, Moment::kNow);
    Scene later(judged, Moment::kLater);
    Report report;
    judge_form(judged, report);
    judge_certificates(judged, report);
    judge_claims(later, report);
    judge_placements(judged, now, later, report);
    judge_company(now, report);
    judge_company(later, report);
    judge_bindings(judged, report);
    judge_resizes(judged, later, report);
    judge_queues(judged, report);
    judge_gangs(later, report);
    judge_topology(later, report);
    judge_evictions(judged, report);
    judge_budgets(judged, report);
    judge_freed_claims(later, report);
    judge_broken_gangs(later, report);
    judge_reclaims(later, report);
    judge_quota_evictions(later, report);
    judge_balance(judged, report);
    judge_serving(now, report);
    judge_need(std::move(later), report);
    return report.take();
}

std::string format_violation(const Violation& violation) {
    return fmt::format("{}: {}: {}", violation.object, violation.rule, violation.what);
}

}  // namespace reprieve
