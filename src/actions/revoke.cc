#include "actions/revoke.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actions/evict_unit.h"
#include "search/fixed_walk.h"
#include "search/victim_problem.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

// Deepest first, then by name.
std::vector<QueueId> quotas_from_below(const Snapshot& s) {
    std::vector<QueueId> out;
    for (QueueId q : IdRange<QueueId>(s.queues.size())) {
        if (s.queues[q].alive && s.queues[q].fact != nullptr && s.queues[q].fact->is_quota) out.push_back(q);
    }
    std::ranges::sort(out, [&](QueueId a, QueueId b) {
        const std::size_t deep = s.queue_path[a].size();
        const std::size_t other = s.queue_path[b].size();
        return deep != other ? deep > other : s.words->text(s.queues[a].name) < s.words->text(s.queues[b].name);
    });
    return out;
}

}  // namespace

void Revoke::run(std::span<const Demand> waiting) {
    if (desk_.session.limits.runtime() == nullptr) return;
    for (QueueId quota : quotas_from_below(desk_.snapshot())) {
        const std::vector<Dim> dims = excess(quota);
        if (!dims.empty() && is_due(quota) && is_wanted(quota, dims, waiting)) give_back(quota);
    }
}

void Revoke::report(std::vector<QueueReport>& queues) const {
    const Snapshot& s = desk_.snapshot();
    if (desk_.session.limits.runtime() == nullptr) return;
    for (QueueId quota : quotas_from_below(s)) {
        const bool over = !excess(quota).empty();
        if (over == s.queues[quota].fact->over_since.is_set()) continue;
        const auto found = std::ranges::find(queues, s.words->text(s.queues[quota].name), &QueueReport::name);
        if (found != queues.end()) found->over_since = over ? s.now_time : Time();
    }
}

std::vector<Dim> Revoke::excess(QueueId quota) const {
    const Snapshot& s = desk_.snapshot();
    const QuotaRuntime& runtime = *desk_.session.limits.runtime();
    std::vector<Dim> out;
    for (const auto& [dim, limit] : s.queues[quota].fact->limit) {
        if (s.later.queue_used(quota, dim) > runtime.runtime(quota, dim)) out.push_back(dim);
    }
    return out;
}

// A quota that does not say since when is over since now.
bool Revoke::is_due(QueueId quota) const {
    const Snapshot& s = desk_.snapshot();
    const Time since = s.queues[quota].fact->over_since;
    return (since.is_set() ? s.now_time - since : Duration{}) >= action_.delay_evict_time;
}

// Somebody in another quota asks for what this one has too much of, would be admitted, and could run.
bool Revoke::is_wanted(QueueId quota, std::span<const Dim> dims, std::span<const Demand> waiting) const {
    const Snapshot& s = desk_.snapshot();
    const Limits& limits = desk_.session.limits;
    return std::ranges::any_of(waiting, [&](const Demand& demand) {
        if (!demand.queue || demand.queue == quota || s.queues[demand.queue].fact == nullptr ||
            !s.queues[demand.queue].fact->is_quota)
            return false;
        Mandatory members{.pods = demand.pods};
        if (demand.gang) members = desk_.members_of(demand);
        if (members.pods.empty() || members.missing > 0) return false;
        const JobAsk asked = limits.ask_of(members.pods);
        return std::ranges::any_of(dims, [&](Dim dim) { return asked.levels.front().all.get(dim) > 0; }) &&
               limits.admit(s.later, asked) &&
               std::ranges::all_of(members.pods, [&](PodId pod) { return desk_.placer.could_run(pod); });
    });
}

UnitList Revoke::units_of(QueueId quota) const {
    const Snapshot& s = desk_.snapshot();
    std::vector<PodId> pods;
    for (NodeId node : s.nodes_by_name) {
        for (PodId pod : s.node_pods[node]) {
            if (s.pods[pod].queue == quota) pods.push_back(pod);
        }
    }
    // As a non-preemptible job of the quota would: any preemptible pod of its own.
    const QuotaVote rule(s, desk_.session.limits.kinds(), {.queue = quota, .fixed = true});
    UnitList list;
    UnitFinder(desk_.session).among(pods, {.priority = INT32_MAX, .queue = quota, .quota = &rule}, list);
    return list;
}

bool Revoke::hold_excess(QueueId quota, std::span<const PodId> pods) const {
    const std::vector<Dim> over = excess(quota);
    return std::ranges::any_of(pods, [&](PodId pod) {
        return std::ranges::any_of(desk_.snapshot().class_of(pod).requests, [&](const Resources::Amount& held) {
            return held.value > 0 && std::ranges::find(over, held.dim) != over.end();
        });
    });
}

void Revoke::give_back(QueueId quota) {
    const Snapshot& s = desk_.snapshot();
    UnitList list = units_of(quota);
    static_cast<void>(order_for_return(s, list));
    const bool strict = action_.pdb == PdbMode::kStrict;
    // No set that is allowed breaks a budget.
    for (Unit& unit : list.units)
        unit.violations = strict ? 0 : unit.violations;
    const DemandNeed nothing;
    const VictimProblem problem(list,
                                {.snapshot = &s,
                                 .order = &order_,
                                 .work = work_resource(s, desk_.session.config.plugins.lost_work_resource),
                                 .need = &nothing,
                                 .queue_order = {}},
                                {.strict_budgets = strict, .at_most = {}, .vote_order = {}},
                                false);
    const std::vector<std::uint32_t> order = problem.return_order();
    const auto start = desk_.session.tx.checkpoint();
    FixedWalk walk(desk_.session.tx, s, problem);
    for (auto unit = order.rbegin(); unit != order.rend() && !excess(quota).empty(); ++unit) {
        if (walk.has(*unit) || !hold_excess(quota, list.pods_of(list.units[*unit]))) continue;
        if (auto step = walk.step_with(*unit)) walk.take(std::move(*step));
    }
    walk.give_back([&](std::span<const PodId> pods) { return !hold_excess(quota, pods); });
    std::vector<std::uint32_t> gone;
    std::ranges::copy_if(order, std::back_inserter(gone), [&](std::uint32_t unit) { return walk.has(unit); });
    desk_.session.tx.rollback(start);
    if (gone.empty()) return;
    certificates_.push_back({.owner = s.words->str(s.queues[quota].name),
                             .action = to_text(action_.kind),
                             .status = CertificateStatus::kHeuristic,
                             .cost = order_.print(problem.cost(gone))});
    const std::string reason = fmt::format("queue {} is above its runtime and gives back what others wait for",
                                           s.words->text(s.queues[quota].name));
    for (std::uint32_t unit : gone)
        evict_unit(desk_, action_, list.units[unit], list.pods_of(list.units[unit]), {.reason = reason});
    desk_.session.commit(start);
}

void Revoke::certify() const {
    for (const Certificate& certificate : certificates_)
        desk_.plan.certificate(certificate);
}

}  // namespace reprieve
