#include "actions/unplaced.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "model/amount_text.h"
#include "plugins/limits.h"

namespace reprieve {
namespace {

// "0 of 5 nodes fit: 3 Insufficient cpu, 2 node(s) were unschedulable".
std::string node_sentence(const Snapshot& s, const Placer::Refusal& refusal) {
    if (s.nodes_by_name.empty()) return "there are no nodes";
    std::vector<std::pair<std::int64_t, std::string>> parts;
    std::int64_t refused = 0;
    for (const auto& [reason, count] : refusal.nodes) {
        parts.emplace_back(-count, reason);
        refused += count;
    }
    std::ranges::sort(parts);
    const auto total = static_cast<std::int64_t>(s.nodes_by_name.size());
    std::string out = fmt::format("{} of {} nodes fit", total - refused, total);
    const char* separator = ": ";
    for (const auto& [count, reason] : parts) {
        out += fmt::format("{}{} {}", separator, -count, reason);
        separator = ", ";
    }
    return out;
}

// What must stay within a limit: the pod's request, or that of the gang's missing members together.
JobAsk asked_together(const Desk& desk, const Demand& demand, PodId pod) {
    const Limits& limits = desk.session.limits;
    if (demand.gang && limits.bind(pod, desk.snapshot().class_of(pod).requests)) {
        const std::vector<PodId> members = desk.members_of(demand).pods;
        if (!members.empty()) return limits.ask_of(members);
    }
    return limits.ask_of(std::span(&pod, 1));
}

// What the actions say of a limit that is told already is not told again.
std::string without_repeating(const std::string& limit, std::string said) {
    constexpr std::string_view kTrigger = "it may not preempt: ";
    for (std::size_t at = limit.empty() ? std::string::npos : said.find(limit); at != std::string::npos;
         at = said.find(limit, at)) {
        const bool trigger = at >= kTrigger.size() && said.substr(at - kTrigger.size(), kTrigger.size()) == kTrigger;
        if (trigger)
            said.replace(at - 2, limit.size() + 2, " beyond that");
        else
            said.replace(at, limit.size(), "the same limit stands");
    }
    return said;
}

// A gang whose minResources exceed its queue's limits or what all nodes offer is not served; empty: they do not.
std::string min_resources_excess(const Snapshot& s, const Demand& demand, const Resources& offered) {
    const Gang* group = demand.gang ? s.gangs[demand.gang].fact : nullptr;
    if (group == nullptr || !group->min_resources || !demand.queue) return "";
    std::vector<Resources::Amount> need(group->min_resources->begin(), group->min_resources->end());
    std::ranges::sort(need, [&](const auto& a, const auto& b) { return s.words->comes_before(a.dim, b.dim); });
    for (QueueId q : s.queue_path[demand.queue]) {
        const Queue* fact = s.queues[q].fact;
        if (fact == nullptr) continue;
        for (const auto& [dim, value] : need) {
            const std::int64_t* limit = fact->limit.find(dim);
            if (limit != nullptr && value > *limit) {
                return fmt::format("minResources ask for {} of {}, more than queue {} may ever use",
                                   amount_text(s.words->text(dim), value),
                                   s.words->text(dim),
                                   s.words->text(s.queues[q].name));
            }
        }
    }
    for (const auto& [dim, value] : need) {
        if (value > offered.get(dim))
            return fmt::format("minResources ask for {} of {}, more than the cluster has",
                               amount_text(s.words->text(dim), value),
                               s.words->text(dim));
    }
    return "";
}

}  // namespace

Unplaced describe_unplaced(Desk& desk, const Demand& demand, PodId pod, const Served& served) {
    const Snapshot& s = desk.snapshot();
    Unplaced out{.pod = s.pod_name(pod), .owner = demand.gang ? s.gang_name(s.pods[pod].gang) : ""};
    if (served.never) {
        out.never = true;
        out.reason = served.why_not;
        return out;
    }
    if (s.pods[pod].has(kGroupMissing) || !demand.missing_partner.empty()) {
        out.reason = served.why_not;
        return out;
    }
    const Placer::Refusal& refusal = desk.placer.refusal(pod);
    out.never = refusal.never && !s.nodes_by_name.empty();
    out.nodes = refusal.nodes;
    const JobAsk asked = asked_together(desk, demand, pod);
    std::string limit = desk.session.limits.describe(s.later, asked);
    if (limit.empty()) limit = desk.session.limits.describe(s.now, asked);
    out.reason = limit.empty() ? node_sentence(s, refusal) : limit;
    if (!served.why_not.empty()) out.reason += "; " + without_repeating(limit, served.why_not);
    if (!served.proof) out.reason += "; not every set of evictions was tried";
    if (s.class_of(pod).has_claims) {
        if (const std::string blocking = describe_blocking_claims(Candidate(s, pod)); !blocking.empty())
            out.reason += "; " + blocking;
    }
    return out;
}

Certificate describe_infeasible(Desk& desk,
                                const Demand& demand,
                                const Served& served,
                                const std::vector<ActionConfig>& actions) {
    const Snapshot& s = desk.snapshot();
    Certificate out{.owner = owner_name(s, demand),
                    .action = to_text(ActionKind::kAllocate),
                    .status = served.proof ? CertificateStatus::kInfeasible : CertificateStatus::kUnknown};
    for (const ActionConfig& action : actions) {
        if (action.kind == ActionKind::kPreempt && !demand.gang) out.action = to_text(action.kind);
    }
    if (served.by) out.action = to_text(*served.by);
    out.binding = describe_unplaced(desk, demand, demand.first(), served).reason;
    return out;
}

std::string missing_group(const Snapshot& s, const Demand& demand) {
    if (!demand.missing_partner.empty())
        return fmt::format("its gang starts only together with gang {}, which does not exist", demand.missing_partner);
    if (!s.pods[demand.first()].has(kGroupMissing)) return "";
    const Pod& fact = s.facts->pod(demand.first());
    return fmt::format("its PodGroup {}/{} does not exist", s.words->text(fact.ns), s.words->text(fact.group));
}

std::optional<Served> refused_at_once(const Snapshot& s, const Demand& demand, const Resources& offered) {
    if (std::string missing = missing_group(s, demand); !missing.empty()) return Served::not_mine(std::move(missing));
    if (const Verdict takes = queue_takes(s, demand.first()); !takes.fits())
        return Served{.why_not = takes.reason, .never = takes.fit == Fit::kNever, .proof = Proof::nobody()};
    std::string excess = min_resources_excess(s, demand, offered);
    if (excess.empty()) return std::nullopt;
    return Served::not_mine(std::move(excess));
}

Resources offered_by_all(const Cluster& cluster) {
    Resources out;
    for (NodeId node : cluster.snapshot().nodes_by_name)
        out.add(cluster.node(node)->allocatable);
    return out;
}

void add_refusal(Served& all, const Served& served) {
    all.never = all.never || served.never;
    if (!served.proof) all.proof.reset();
    if (served.why_not.empty() || all.why_not.find(served.why_not) != std::string::npos) return;
    if (!all.why_not.empty()) all.why_not += "; ";
    if (served.by) {
        all.why_not += fmt::format("{}: ", to_text(*served.by));
        all.by = served.by;
    }
    all.why_not += served.why_not;
}

void report_held(Desk& desk, const Cluster& cluster, const std::vector<std::string>& only) {
    const Snapshot& snapshot = desk.snapshot();
    for (PodId pod : cluster.pending()) {
        if (!snapshot.pods[pod].has(kHeld)) continue;
        const Demand alone = single_demand(snapshot, pod);
        if (!only.empty() && !is_named_by(snapshot, alone, only)) continue;
        if (alone.nominated) desk.plan.nomination_cleared(snapshot.pod_name(pod));
        const GangId gang = snapshot.pods[pod].gang;
        desk.plan.unplaced({.pod = snapshot.pod_name(pod),
                            .owner = gang && snapshot.gangs[gang].min > 0 ? snapshot.gang_name(gang) : "",
                            .never = true,
                            .reason = cluster.hold_of(pod)});
    }
}

void report_deferred(Desk& desk, const Demand& demand) {
    const Snapshot& snapshot = desk.snapshot();
    for (PodId pod : demand.pods) {
        desk.plan.unplaced({.pod = snapshot.pod_name(pod),
                            .owner = demand.gang ? snapshot.gang_name(snapshot.pods[pod].gang) : "",
                            .reason = "the cycle had no time left for it; it is among the first in the next one"});
    }
}

}  // namespace reprieve
