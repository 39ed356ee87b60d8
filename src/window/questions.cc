#include "window/questions.h"

#include <algorithm>
#include <set>

#include "actions/cycle.h"
#include "audit/audit.h"
#include "explain/alternatives.h"
#include "explain/explain.h"
#include "explain/explanation_json.h"
#include "explain/retrials.h"
#include "explain/subject.h"
#include "manifest/plan_json.h"
#include "window/facts_json.h"
#include "window/receipt.h"

namespace reprieve::window {
namespace {

// How many plans a question may make. In a big cluster each takes its time, so there are fewer.
constexpr std::int64_t kMostPlansAsked = 60;
constexpr std::int64_t kFewestPlans = 6;
constexpr std::int64_t kPodsPlanned = 300'000;
constexpr std::size_t kMostExplained = 6;           // victims of one decision
constexpr std::int64_t kAlternativesUpTo = 60'000;  // pods; beyond it five more plans take too long
constexpr std::size_t kMostReceipts = 20;

std::int64_t plans_allowed(const Snapshot& snapshot) {
    const auto pods = std::max<std::int64_t>(1, std::ssize(snapshot.pods));
    return std::clamp(kPodsPlanned / pods, kFewestPlans, kMostPlansAsked);
}

// One thread: the copy of a process has no other, and takes none.
SchedulerConfig single_threaded(const SchedulerConfig& config) {
    SchedulerConfig out = config;
    out.search_threads = 1;
    return out;
}

Result<OrderedJson> explain_one(Scene& scene, const std::string& name) {
    const SchedulerConfig config = single_threaded(scene.config);
    const auto subject = find_subject(scene.plan, &scene.cluster, name, false);
    if (!subject) return std::unexpected(subject.error());
    Retrials trials(scene.plan, scene.cluster, config, plans_allowed(scene.cluster.snapshot()));
    return OrderedJson::parse(explanation_to_json(explain(scene.plan, &trials, *subject)));
}

OrderedJson names_json(const std::set<std::string>& names) {
    OrderedJson out = OrderedJson::array();
    for (const std::string& name : names)
        out.push_back(name);
    return out;
}

std::set<std::string> minus(const std::set<std::string>& a, const std::set<std::string>& b) {
    std::set<std::string> out;
    std::ranges::set_difference(a, b, std::inserter(out, out.end()));
    return out;
}

struct PlanNames {
    std::set<std::string> placed;
    std::set<std::string> evicted;
    std::set<std::string> unplaced;

    explicit PlanNames(const Plan& plan) {
        for (const Placement& p : plan.placements)
            placed.insert(p.pod);
        for (const Eviction& e : plan.evictions)
            evicted.insert(e.pod);
        for (const Unplaced& u : plan.unplaced)
            unplaced.insert(u.pod.empty() ? u.owner : u.pod);
    }
};

// Only what differs between two plans.
OrderedJson difference_json(const Plan& today, const Plan& then) {
    const PlanNames a(today);
    const PlanNames b(then);
    OrderedJson out = OrderedJson::object();
    out["placed"] = names_json(minus(b.placed, a.placed));
    out["noLongerPlaced"] = names_json(minus(a.placed, b.placed));
    out["evicted"] = names_json(minus(b.evicted, a.evicted));
    out["spared"] = names_json(minus(a.evicted, b.evicted));
    out["waiting"] = names_json(minus(b.unplaced, a.unplaced));
    out["noLongerWaiting"] = names_json(minus(a.unplaced, b.unplaced));
    return out;
}

}  // namespace

Result<std::string> why_document(Scene& scene, const std::string& owner, const std::vector<std::string>& victims) {
    OrderedJson explanations = OrderedJson::object();
    std::vector<std::string> names{owner};
    for (std::size_t i = 0; i < victims.size() && i < kMostExplained; ++i)
        names.push_back(victims[i]);
    for (const std::string& name : names) {
        auto explanation = explain_one(scene, name);
        if (explanation) explanations[name] = std::move(*explanation);
    }
    OrderedJson out = OrderedJson::object();
    out["explanations"] = std::move(explanations);
    out["victimsExplained"] = std::min(victims.size(), kMostExplained);
    if (std::ssize(scene.cluster.snapshot().pods) <= kAlternativesUpTo && !victims.empty()) {
        const SchedulerConfig config = single_threaded(scene.config);
        OrderedJson document =
            OrderedJson::parse(alternatives_to_json(find_alternatives(scene.cluster, config, scene.plan)));
        OrderedJson list = OrderedJson::array();
        for (OrderedJson& alternative : document["alternatives"]) {
            alternative.erase("placements");
            alternative.erase("certificates");
            list.push_back(std::move(alternative));
        }
        out["alternatives"] = std::move(list);
    }
    return out.dump();
}

Result<std::string> explanation_document(Scene& scene, const std::string& name) {
    auto explanation = explain_one(scene, name);
    if (!explanation) return fail(explanation.error().message, ErrorKind::kNotFound);
    return explanation->dump();
}

Result<std::string> what_if_document(Scene& scene, std::string_view text, const TakeManifests& take) {
    const SchedulerConfig config = single_threaded(scene.config);
    Cluster& cluster = scene.cluster;
    const Time now = cluster.snapshot().now_time;
    auto warnings = take(cluster, text, now);
    if (!warnings) return std::unexpected(warnings.error());
    Plan plan = run_cycle(cluster, config);
    plan.warnings.insert(plan.warnings.end(), warnings->begin(), warnings->end());
    sort_plan(plan);
    if (const std::vector<Violation> violations = audit(cluster, plan, config); !violations.empty())
        return fail("the plan was refused by the audit: " + format_violation(violations.front()));
    OrderedJson receipts = OrderedJson::array();
    for (const Decision& decision : decisions_of(plan, 0)) {
        const bool new_to_us = std::ranges::none_of(decisions_of(scene.plan, 0), [&](const Decision& known) {
            return known.owner == decision.owner && known.evictions == decision.evictions &&
                   known.placements == decision.placements;
        });
        if (!new_to_us) continue;
        receipts.push_back(OrderedJson::parse(describe(cluster, plan, decision, {})->receipt));
        if (receipts.size() == kMostReceipts) break;
    }
    OrderedJson out = OrderedJson::object();
    out["apiVersion"] = "reprieve.dev/v1";
    out["kind"] = "WhatIf";
    out["now"] = time_json(now);
    out["plan"] = OrderedJson::parse(plan_to_json_line(plan));
    out["plan"].erase("queues");
    out["today"] = OrderedJson::parse(plan_to_json_line(scene.plan));
    out["today"].erase("queues");
    out["difference"] = difference_json(scene.plan, plan);
    out["receipts"] = std::move(receipts);
    return out.dump();
}

}  // namespace reprieve::window
