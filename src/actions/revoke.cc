#include "actions/revoke.h"

#include <fmt/format.h>

#include <algorithm>

#include "actions/eviction_mode.h"
#include "actions/gang_part.h"
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

// The units of one quota, tentatively taken and given back.
class Giving {
public:
    Giving(Transaction& tx, const VictimProblem& problem)
        : tx_(tx),
          problem_(problem),
          list_(problem.list()),
          taken_(problem.size()) {}

    [[nodiscard]] bool has(std::uint32_t unit) const { return taken_[unit]; }
    // A gang that goes takes its surplus along. Nobody goes if a rule forbids the set.
    void take_if_allowed(std::uint32_t unit) {
        std::vector<std::uint32_t> all;
        for (std::uint32_t u = 0; u < taken_.size(); ++u) {
            if (taken_[u] || u == unit || list_.units[u].whole == static_cast<std::int32_t>(unit)) all.push_back(u);
        }
        if (problem_.forbids_for_good(all)) return;
        for (std::uint32_t u : all) {
            if (!taken_[u]) move(u, true);
        }
    }
    void take_again(std::uint32_t unit) { move(unit, true); }
    void give(std::uint32_t unit) { move(unit, false); }
    // Its gang goes, so it goes, too.
    [[nodiscard]] bool is_bound(std::uint32_t unit) const {
        const std::int32_t whole = list_.units[unit].whole;
        return whole >= 0 && taken_[static_cast<std::size_t>(whole)];
    }

private:
    void move(std::uint32_t unit, bool out) {
        for (PodId pod : list_.pods_of(list_.units[unit])) {
            if (out)
                tx_.evict(pod);
            else
                tx_.restore(pod);
        }
        taken_[unit] = out;
    }

    Transaction& tx_;
    const VictimProblem& problem_;
    const UnitList& list_;
    std::vector<bool> taken_;
};

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

bool Revoke::holds_excess(QueueId quota, const UnitList& list, const Unit& unit) const {
    const std::vector<Dim> over = excess(quota);
    return std::ranges::any_of(list.pods_of(unit), [&](PodId pod) {
        return std::ranges::any_of(desk_.snapshot().class_of(pod).requests, [&](const Resources::Amount& held) {
            return held.value > 0 && std::ranges::find(over, held.dim) != over.end();
        });
    });
}

void Revoke::give_back(QueueId quota) {
    const Snapshot& s = desk_.snapshot();
    UnitList list = units_of(quota);
    std::vector<std::uint32_t> order = order_for_return(s, list);
    const bool strict = action_.pdb == PdbMode::kStrict;
    // No set that is allowed breaks a budget.
    for (Unit& unit : list.units)
        unit.violations = strict ? 0 : unit.violations;
    const std::string& work = desk_.session.config.plugins.lost_work_resource;
    const VictimProblem problem(list,
                                {.snapshot = &s,
                                 .order = &order_,
                                 .work = work.empty() ? Dim() : s.words->find_dimension(work),
                                 .need = {},
                                 .queue_order = {}},
                                {.strict_budgets = strict, .vote_order = {}},
                                false);
    if (strict) order.assign(problem.by_importance().begin(), problem.by_importance().end());
    const auto start = desk_.session.tx.checkpoint();
    Giving giving(desk_.session.tx, problem);
    for (auto unit = order.rbegin(); unit != order.rend() && !excess(quota).empty(); ++unit) {
        if (holds_excess(quota, list, list.units[*unit])) giving.take_if_allowed(*unit);
    }
    for (std::uint32_t unit : order) {
        if (!giving.has(unit) || giving.is_bound(unit)) continue;
        giving.give(unit);
        if (holds_excess(quota, list, list.units[unit])) giving.take_again(unit);
    }
    std::vector<std::uint32_t> gone;
    std::ranges::copy_if(order, std::back_inserter(gone), [&](std::uint32_t unit) { return giving.has(unit); });
    desk_.session.tx.rollback(start);
    if (gone.empty()) return;
    certificates_.push_back({.owner = s.words->str(s.queues[quota].name),
                             .action = to_text(action_.kind),
                             .status = CertificateStatus::kHeuristic,
                             .cost = order_.print(problem.cost(gone))});
    for (std::uint32_t unit : gone)
        evict(quota, list, list.units[unit]);
    desk_.session.commit(start);
}

void Revoke::evict(QueueId quota, const UnitList& list, const Unit& unit) {
    const Snapshot& s = desk_.snapshot();
    const std::uint32_t note =
        desk_.plan.note({.action = action_.kind,
                         .owner = "",
                         .unit = unit.kind,
                         .group = unit.gang ? s.gang_name(unit.gang) : "",
                         .mode = eviction_mode(action_),
                         .violations = unit.violations,
                         .priority = unit.priority,
                         .reason = fmt::format("queue {} is above its runtime and gives back what others wait for",
                                               s.words->text(s.queues[quota].name)),
                         .part = part_of_gang(desk_.snapshot(), unit)});
    for (PodId pod : list.pods_of(unit))
        desk_.session.tx.evict(pod, note);
}

void Revoke::certify() const {
    for (const Certificate& certificate : certificates_)
        desk_.plan.certificate(certificate);
}

}  // namespace reprieve
