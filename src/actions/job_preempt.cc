#include "actions/job_preempt.h"

#include <fmt/format.h>

#include <algorithm>

#include "actions/nominations.h"
#include "plugins/network_topology.h"

namespace reprieve {

Served JobPreempt::serve(const Demand& demand) {
    Mandatory members{.pods = demand.pods};
    if (demand.gang) {
        members = desk_.members_of(demand);
        if (members.missing > 0) return Served::lacks_members(action_.improve);
        if (members.pods.empty()) return Served::surplus();
    }
    const auto start = desk_.session.tx.checkpoint();
    const Mandatory rest = keep_places(demand, members);
    if (rest.pods.size() < members.pods.size()) {
        if (const Served served = search(demand, rest); served.done) return served;
        desk_.session.rollback(start);
    }
    return search(demand, members);
}

// Members that hold a place from an earlier plan stay there while they fit. Returns the others.
Mandatory JobPreempt::keep_places(const Demand& demand, const Mandatory& members) {
    const Snapshot& s = desk_.snapshot();
    Mandatory rest{.pods = {}, .surplus = members.surplus};
    if (!demand.gang || !network_search_space(s, demand.gang).anywhere()) return members;
    const std::uint32_t note = desk_.plan.note({.action = action_.kind, .owner = owner_name(s, demand)});
    const auto start = desk_.session.tx.checkpoint();
    for (PodId pod : members.pods) {
        const NodeId node = nominated_node(s, pod);
        if (node && desk_.placer.fits(pod, node, View::kLater))
            desk_.placer.put(pod, node, View::kLater, note);
        else
            rest.pods.push_back(pod);
    }
    if (rest.pods.empty()) {
        desk_.session.rollback(start);
        return members;
    }
    desk_.session.commit(start);
    return rest;
}

Served JobPreempt::search(const Demand& demand, const Mandatory& members) {
    const Snapshot& s = desk_.snapshot();
    const Limits& limits = desk_.session.limits;
    const std::vector<Resources::Amount> need = sum_requests(s, members.pods);
    const bool fixed = std::ranges::all_of(members.pods, [&](PodId pod) { return limits.is_fixed(pod); });
    QuotaVote vote(
        s, limits.kinds(), {.queue = demand.queue, .priority = demand.priority, .fixed = fixed, .asked = need});
    GangRules rules = evict_.common_rules(demand, need);
    rules.attack.quota = &vote;
    rules.vote = &vote;
    rules.vote_alone = true;
    if (is_in_quota(s, demand.queue)) rules.means = "evicting those whom its quotas let it take";
    vote.bar_hopeless(candidates(rules.attack));
    Served served = evict_.evict_for(demand, members, rules, [&](const Unit& unit, QueueId queue) -> std::string {
        const std::string_view name = queue ? s.words->text(s.queues[queue].name) : "";
        if (!vote.is_own(queue) && is_in_quota(s, queue))
            return fmt::format("queue {} holds more than its minimum and returns it to", name);
        if (unit.priority < demand.priority) return fmt::format("priority {} makes room for", unit.priority);
        return fmt::format("preemptible in queue {}, it makes room for the non-preemptible", name);
    });
    if (const std::string why = vote.why_none_give(); !served.done && !why.empty()) served.why_not += "; " + why;
    return served;
}

std::vector<PodId> JobPreempt::candidates(const Attack& attack) const {
    const Snapshot& s = desk_.snapshot();
    const UnitFinder finder(desk_.session);
    std::vector<PodId> out;
    for (NodeId node : s.nodes_by_name) {
        std::ranges::copy_if(
            s.node_pods[node], std::back_inserter(out), [&](PodId pod) { return finder.takeable(pod, attack); });
    }
    return out;
}

}  // namespace reprieve
