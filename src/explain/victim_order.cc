#include "explain/victim_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "explain/levers.h"
#include "explain/margin.h"
#include "plugins/protection.h"
#include "plugins/share_vote.h"
#include "search/bundles.h"
#include "search/domain_fit.h"
#include "search/units.h"

namespace reprieve {
namespace {

bool is_ordered(const std::string& action) {
    return action == to_text(ActionKind::kPreempt) || action == to_text(ActionKind::kGangPreempt) ||
           action == to_text(ActionKind::kGangReclaim);
}

const ActionConfig* find_action(const std::vector<ActionConfig>& actions, const std::string& name) {
    const auto found = std::ranges::find_if(actions, [&](const ActionConfig& a) { return to_text(a.kind) == name; });
    return found == actions.end() ? nullptr : &*found;
}

QueueId queue_of(const Cluster& cluster, const std::string& owner) {
    const Snapshot& s = cluster.snapshot();
    if (const PodId pod = pod_named(cluster, owner)) return s.pods[pod].queue;
    const GangId gang = gang_named(cluster, owner);
    return gang && !s.gangs[gang].pods.empty() ? s.pods[s.gangs[gang].pods.front()].queue : QueueId();
}

// How the owner attacks with this action; nullopt: nobody of that name is known, or the action is another kind.
std::optional<Attack> attack_of(const Retrials& trials, const std::string& owner, const std::string& action) {
    const auto actions = actions_of(trials.config());
    const ActionConfig* config = find_action(actions, action);
    const auto priority = attack_priority(trials.cluster(), owner);
    if (config == nullptr || !priority || !is_ordered(action)) return std::nullopt;
    return Attack{.priority = *priority,
                  .queue = queue_of(trials.cluster(), owner),
                  .cross_queue = config->cross_queue,
                  .need = {},
                  .useful = nullptr,
                  .reclaim = config->kind == ActionKind::kGangReclaim,
                  .local_only = config->disruption == Disruption::kLocal};
}

std::string queue_name(const Snapshot& s, QueueId queue) { return queue ? s.words->str(s.queues[queue].name) : "none"; }

Exemption protection_of(const Retrials& trials, PodId pod, std::int32_t attacker) {
    const Snapshot& s = trials.snapshot();
    const Protection protection = Protections(trials.config()).of(s, pod, attacker);
    if (protection == Protection::kNone) return {};
    std::string why = why_protected(s, pod, protection);
    if (protection == Protection::kMinRuntime) {
        const PodRow& row = s.pods[pod];
        why += fmt::format(": {} of {}",
                           format_duration({(s.now_time - s.started(pod)).seconds() * 1'000'000}),
                           format_duration(row.min_runtime));
    }
    const std::string& marker = s.facts->pod(pod).more().preemptible_marker;
    if (protection == Protection::kMarked && !marker.empty() && why != marker) why += fmt::format(" ({})", marker);
    return {rule_name(protection), why};
}

// By the rule of the action, the pod's own protections aside.
Exemption by_action(const Snapshot& s, const PodRow& row, const Attack& attack) {
    const bool same_queue = row.queue == attack.queue;
    if (attack.reclaim) {
        if (same_queue) return {"queue", fmt::format("it is in the same queue, {}", queue_name(s, row.queue))};
        const Queue* fact = row.queue ? s.queues[row.queue].fact : nullptr;
        if (fact != nullptr && !fact->reclaimable)
            return {"queue", fmt::format("its queue, {}, is not reclaimable", queue_name(s, row.queue))};
        return {};
    }
    if (row.unit_priority >= attack.priority)
        return {"priority", fmt::format("its priority {} is not below {}", row.unit_priority, attack.priority)};
    if (!same_queue && !attack.cross_queue) {
        return {"queue",
                fmt::format("it is in queue {}, and room is made within queue {}",
                            queue_name(s, row.queue),
                            queue_name(s, attack.queue))};
    }
    return {};
}

// What the owner asks for, and the domain in which it is given that.
struct Clearing {
    std::vector<Resources::Amount> need;
    std::vector<bool> nodes;
};

Clearing clearing_of(const Retrials& trials, const std::string& owner) {
    const Snapshot& s = trials.snapshot();
    Clearing out{.need = {}, .nodes = std::vector<bool>(s.nodes.size(), true)};
    std::vector<PodId> members;
    std::string domain;
    for (const Placement& p : trials.plan().placements) {
        if (p.pod != owner && p.owner != owner) continue;
        if (const PodId pod = pod_named(trials.cluster(), p.pod)) members.push_back(pod);
        domain = p.domain;
    }
    out.need = sum_requests(s, members);
    const auto area = std::ranges::find_if(
        s.domains.domains, [&](const Domain& d) { return !domain.empty() && s.words->text(d.name) == domain; });
    if (area == s.domains.domains.end()) return out;
    out.nodes.assign(s.nodes.size(), false);
    for (NodeId node : area->nodes)
        out.nodes[node.index()] = true;
    return out;
}

// Places in the list of units: the least important first.
std::vector<std::uint32_t> by_importance(const Snapshot& s, const UnitList& list) {
    std::vector<std::uint32_t> out(list.units.size());
    std::iota(out.begin(), out.end(), 0U);
    std::ranges::sort(out, [&](auto a, auto b) { return more_important(s, list, list.units[b], list.units[a]); });
    return out;
}

// The same as the actions for gangs offer them: what can be spared and what is left of broken gangs before the rest.
std::vector<std::uint32_t> in_bundles(const Retrials& trials,
                                      const Attack& attack,
                                      const std::string& action,
                                      const UnitList& list,
                                      const Clearing& clearing) {
    const Snapshot& s = trials.snapshot();
    const auto actions = actions_of(trials.config());
    const ActionConfig* config = find_action(actions, action);
    BundleRules rules{.reclaim = attack.reclaim, .roi_threshold_ppm = config->roi_threshold_ppm, .queue_order = {}};
    if (attack.reclaim) rules.queue_order = victim_queue_order(s, Shares(s), attack.queue);
    std::vector<std::uint32_t> out;
    for (const Bundle& bundle : make_bundles(s, list, clearing.need, rules, clearing.nodes))
        out.insert(out.end(), bundle.units.begin(), bundle.units.end());
    return out;
}

}  // namespace

const char* rule_name(Protection protection) {
    switch (protection) {
        case Protection::kMinRuntime:
        case Protection::kToleration:
            return "minRuntime";
        default:
            return "protected";
    }
}

std::vector<OrderedUnit> victim_order(const Retrials& trials,
                                      const std::string& owner,
                                      const std::string& action,
                                      const std::vector<std::string>& nodes) {
    auto attack = attack_of(trials, owner, action);
    if (!attack) return {};
    const Snapshot& s = trials.snapshot();
    const Clearing clearing = clearing_of(trials, owner);
    attack->need = clearing.need;
    std::vector<NodeId> ids;
    for (const std::string& name : nodes) {
        const StringId word = s.words->find_string(name);
        if (const NodeId node = word ? trials.cluster().find_node(word) : NodeId()) ids.push_back(node);
    }
    Session session(trials.cluster(), trials.config());
    UnitFinder finder(session);
    UnitList list;
    finder.on_nodes(ids, *attack, list);
    const bool for_gangs = action != to_text(ActionKind::kPreempt);
    std::vector<OrderedUnit> out;
    for (const std::uint32_t at :
         for_gangs ? in_bundles(trials, *attack, action, list, clearing) : by_importance(s, list)) {
        OrderedUnit& entry = out.emplace_back();
        for (PodId pod : list.pods_of(list.units[at])) {
            entry.pods.push_back(s.pod_name(pod));
            entry.evicted = entry.evicted || std::ranges::any_of(trials.plan().evictions, [&](const Eviction& e) {
                                return e.pod == entry.pods.back();
                            });
        }
    }
    return out;
}

Exemption exemption(const Retrials& trials,
                    const std::string& owner,
                    const std::string& action,
                    const std::string& name) {
    const Snapshot& s = trials.snapshot();
    const PodId pod = pod_named(trials.cluster(), name);
    if (action == to_text(ActionKind::kServingPreempt)) return replica_exemption(trials, owner, pod);
    const auto attack = attack_of(trials, owner, action);
    const auto priority = attack_priority(trials.cluster(), owner);
    if (Exemption own = protection_of(trials, pod, priority.value_or(0)); !own.rule.empty()) return own;
    if (!attack) return {};
    if (Exemption rule = by_action(s, s.pods[pod], *attack); !rule.rule.empty()) return rule;
    // What its gang cannot spare goes whole or not at all.
    const GangId gang = s.pods[pod].gang;
    if (!gang) return {};
    for (PodId member : s.gangs[gang].pods) {
        if (member == pod || s.pods[member].state != PodState::kRunning) continue;
        Exemption theirs = protection_of(trials, member, attack->priority);
        if (theirs.rule.empty()) theirs = by_action(s, s.pods[member], *attack);
        if (!theirs.rule.empty() && s.gangs[gang].live <= s.gangs[gang].min)
            return {"gang", fmt::format("its gang would go whole, and of {} {}", s.pod_name(member), theirs.why)};
    }
    return {};
}

}  // namespace reprieve
