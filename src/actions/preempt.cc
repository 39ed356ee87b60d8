#include "actions/preempt.h"

#include <fmt/format.h>

#include <algorithm>

#include "actions/evict_unit.h"
#include "plugins/network_topology.h"
#include "search/shared_claims.h"

namespace reprieve {
Preempt::Preempt(Desk& desk, const ActionConfig& action)
    : desk_(desk),
      action_(action),
      search_(desk.session, desk.placer, action),
      obstacles_(desk) {
    const auto& off = desk.session.config.plugins.disable;
    by_priority_ = std::ranges::find(off, "priority") == off.end();
}

Served Preempt::serve(const Demand& demand) {
    const Snapshot& s = desk_.snapshot();
    PodId pod = demand.first();
    std::string gang_owner;
    if (demand.gang) {
        const Mandatory members = desk_.members_of(demand);
        // A gang is gangPreempt's business.
        if (members.missing > 0 || s.gangs[demand.gang].min != 1 || members.pods.size() != 1) return Served::not_mine();
        pod = members.pods.front();
        gang_owner = owner_name(s, demand);
    }
    // So is one pod that may not run just anywhere.
    if (!network_search_space(s, home_of(s, demand)).anywhere()) return Served::not_mine();
    if (!by_priority_) return Served::not_mine("preemption by priority is switched off");
    const auto choice = search_.find(pod);
    if (!choice) {
        std::string why =
            action_.pdb == PdbMode::kStrict
                ? "no node can be freed by evicting pods of lower priority within their disruption budgets"
                : "no node can be freed by evicting pods of lower priority";
        const Attack attack{.priority = demand.priority,
                            .queue = demand.queue,
                            .cross_queue = action_.cross_queue,
                            .need = s.class_of(pod).requests};
        why += obstacles_.say(std::span(&pod, 1), attack, {.pdb = action_.pdb});
        return {.why_not = std::move(why), .proof = search_.proven_none()};
    }
    const std::string owner = gang_owner.empty() ? s.pod_name(pod) : gang_owner;
    const auto start = desk_.session.tx.checkpoint();
    carry_out(*choice, owner, demand.priority);
    desk_.placer.put(
        pod, choice->node, View::kLater, desk_.plan.note({.action = ActionKind::kPreempt, .owner = gang_owner}));
    desk_.session.commit(start);
    certify(*choice, owner);
    return {.done = true};
}

void Preempt::serve_resize(PodId pod) {
    const Snapshot& s = desk_.snapshot();
    const PodRow& row = s.pods[pod];
    if (row.has(kNeverPreempts) || !by_priority_ || s.facts->node(row.node)->resize_preemption_disabled) return;
    const auto choice = search_.find_for_resize(pod);
    if (!choice) return;
    const std::string owner = s.pod_name(pod);
    const auto start = desk_.session.tx.checkpoint();
    carry_out(*choice, owner, row.priority);
    desk_.session.tx.grow(pod, desk_.plan.note({.action = ActionKind::kPreempt}));
    desk_.session.commit(start);
    certify(*choice, owner);
}

void Preempt::carry_out(const PreemptChoice& choice, const std::string& owner, std::int32_t priority) {
    const Snapshot& s = desk_.snapshot();
    for (std::uint32_t at : choice.victims.chosen) {
        const Unit& unit = choice.victims.list.units[at];
        evict_unit(
            desk_,
            action_,
            unit,
            choice.victims.list.pods_of(unit),
            {.owner = owner,
             .reason = fmt::format("priority {} makes room for {} (priority {}) on {}",
                                   unit.priority,
                                   owner,
                                   priority,
                                   s.node_name(choice.node)),
             .detail = fmt::format("; cheapest of {} node{}", choice.candidates, choice.candidates == 1 ? "" : "s")});
    }
}

void Preempt::certify(const PreemptChoice& choice, const std::string& owner) {
    Certificate c{.owner = owner, .action = to_text(ActionKind::kPreempt)};
    c.status = !action_.improve ? CertificateStatus::kHeuristic
                                : (choice.proof ? CertificateStatus::kOptimal : CertificateStatus::kGap);
    c.cost = search_.order().print(choice.victims.cost);
    if (choice.proof)
        c.bound = c.cost;
    else if (choice.bound)
        c.bound = search_.order().print(*choice.bound);
    if (choice.runner_up) c.runner_up = search_.order().print(*choice.runner_up);
    desk_.plan.certificate(
        std::move(c),
        {.owner = owner, .order = search_.order(), .work = search_.work(), .need = search_.need(), .queue_order = {}});
}

}  // namespace reprieve
