// Form: the plan says what it must, once, in order, about things that exist.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "audit/rules.h"

namespace reprieve {
namespace {

template <class Items, class Key>
void judge_order(const Items& items, Key key, const char* array, Report& report) {
    if (!std::ranges::is_sorted(items, {}, key)) report.add("form", array, "is not sorted");
}

void judge_orders(const Plan& plan, Report& report) {
    judge_order(plan.placements, &Placement::pod, "placements", report);
    judge_order(plan.evictions, &Eviction::pod, "evictions", report);
    judge_order(plan.nominations_cleared, std::identity{}, "nominationsCleared", report);
    judge_order(plan.scale, [](const ScaleChange& c) { return std::pair(c.deployment, c.plane); }, "scale", report);
    judge_order(plan.force_deletes, std::identity{}, "forceDeletes", report);
    judge_order(plan.annotations, &AnnotationChange::pod, "annotations", report);
    judge_order(plan.queues, &QueueReport::name, "queues", report);
    judge_order(plan.unplaced, [](const Unplaced& u) { return u.pod.empty() ? u.owner : u.pod; }, "unplaced", report);
    judge_order(
        plan.certificates, [](const Certificate& c) { return std::pair(c.owner, c.action); }, "certificates", report);
    judge_order(plan.warnings, std::identity{}, "warnings", report);
}

bool is_ours_to_place(const Case& judged, PodId pod) {
    return judged.waits(pod) && !judged.row(pod).has(kForeign) && !judged.row(pod).has(kServing);
}

// Where the pod's group has a minimum, `for` names the group.
void judge_for(const Case& judged, PodId pod, const std::string& named, Report& report) {
    const GangId gang = judged.gang_with_minimum(pod);
    if (!gang || named == judged.snapshot.gang_name(gang)) return;
    report.add("form", judged.name(pod), fmt::format("is listed for \"{}\" instead of its gang", named));
}

void judge_placement(const Case& judged, const Placement& item, Report& report) {
    const PodId pod = judged.find_pod(item.pod);
    if (!pod) return report.add("form", item.pod, "is placed and does not exist");
    if (!is_ours_to_place(judged, pod)) report.add("form", item.pod, "is placed and does not wait for a place of ours");
    const StringId node = judged.words.find_string(item.node);
    if (!node || !judged.cluster.find_node(node))
        report.add("form", item.pod, fmt::format("node {} does not exist", item.node));
    for (const std::string& text : item.devices) {
        if (!device_index(text)) report.add("form", item.pod, fmt::format("\"{}\" is no device", text));
    }
    judge_for(judged, pod, item.owner, report);
}

void judge_unplaced(const Case& judged, const Unplaced& item, Report& report) {
    const std::string& name = item.pod.empty() ? item.owner : item.pod;
    if (item.reason.empty()) report.add("form", name, "is unplaced without a reason");
    if (item.pod.empty()) {
        if (item.owner.empty() || item.replicas < 1)
            report.add("form", "unplaced", "an entry names neither a pod nor replicas");
        return;
    }
    const PodId pod = judged.find_pod(item.pod);
    if (!pod) return report.add("form", item.pod, "is unplaced and does not exist");
    if (!is_ours_to_place(judged, pod))
        report.add("form", item.pod, "is unplaced and does not wait for a place of ours");
    judge_for(judged, pod, item.owner, report);
}

void judge_eviction(const Case& judged, const Eviction& item, Report& report) {
    if (item.reason.empty()) report.add("form", item.pod, "is evicted without a reason");
    const PodId pod = judged.find_pod(item.pod);
    if (!pod || !judged.bound(pod)) return report.add("eviction-target", item.pod, "is evicted and does not run");
    const Pod& fact = judged.fact(pod);
    if (judged.words.text(fact.node) != item.node) {
        report.add(
            "eviction-target", item.pod, fmt::format("runs on {}, not on {}", judged.words.text(fact.node), item.node));
    }
    if (!item.uid.empty() && item.uid != fact.uid) report.add("eviction-target", item.pod, "is meant by another UID");
    const auto action = judged.action(item.action);
    if (!action)
        return report.add("form", item.pod, fmt::format("is evicted by \"{}\", which is not configured", item.action));
    if ((item.unit == UnitKind::kReplica) != (*action == ActionKind::kServingPreempt)) {
        report.add("form", item.pod, fmt::format("is evicted as {} by {}", to_text(item.unit), item.action));
    }
}

void judge_mentions(const Case& judged, Report& report) {
    std::map<std::string, int> mentions;
    std::map<std::string, int> evictions;
    for (const Placement& item : judged.plan.placements)
        ++mentions[item.pod];
    for (const Unplaced& item : judged.plan.unplaced) {
        if (!item.pod.empty()) ++mentions[item.pod];
    }
    for (const auto& [pod, count] : mentions) {
        if (count > 1) report.add("form", pod, fmt::format("is {} times among placements and unplaced", count));
    }
    for (const PodId pod : IdRange<PodId>(judged.cluster.pod_slots())) {
        if (!judged.exists(pod) || !is_ours_to_place(judged, pod) || mentions.contains(judged.name(pod))) continue;
        report.add("form", judged.name(pod), "waits and is neither placed nor unplaced");
    }
    for (const Eviction& item : judged.plan.evictions)
        ++evictions[item.pod];
    for (const auto& [pod, count] : evictions) {
        if (count > 1) report.add("form", pod, fmt::format("is evicted {} times", count));
    }
}

// Whether it is still allocated for a pod that is gone or has finished: its controller will take it out, and free the
// claim.
bool outlives_a_user(const Case& judged, const ResourceClaim& claim) {
    return claim.allocation && std::ranges::any_of(claim.consumers, [&](const ClaimConsumer& consumer) {
               if (!consumer.is_pod) return false;
               const PodId pod = judged.cluster.find_pod(claim.ns, consumer.name);
               if (!pod) return true;
               const Pod& fact = judged.fact(pod);
               return fact.finished() || (!consumer.uid.empty() && !fact.uid.empty() && fact.uid != consumer.uid);
           });
}

// To wait for evictions, there must be some, or somebody, or somebody's claim, must be leaving.
void judge_waiting(const Case& judged, Report& report) {
    if (!judged.evicted.empty()) return;
    bool claims_leave = false;
    judged.cluster.resource_claims().for_each(
        [&](auto, const ResourceClaim& claim) { claims_leave = claims_leave || outlives_a_user(judged, claim); });
    if (claims_leave) return;
    for (const PodId pod : IdRange<PodId>(judged.cluster.pod_slots())) {
        if (judged.bound(pod) && judged.leaves(pod)) return;
    }
    for (const PlacedPod& item : judged.placed) {
        if (item.entry->after_evictions && !item.in_flight)
            report.add("form", item.entry->pod, "waits for evictions, but there are none");
    }
}

void judge_rest(const Case& judged, Report& report) {
    for (const std::string& name : judged.plan.nominations_cleared) {
        const PodId pod = judged.find_pod(name);
        if (!pod || !judged.fact(pod).nominated) report.add("form", name, "has no nomination to clear");
    }
    for (const std::string& name : judged.plan.force_deletes) {
        const PodId pod = judged.find_pod(name);
        if (!pod || !judged.bound(pod) || !judged.fact(pod).terminating()) {
            report.add("form", name, "is deleted by force and not terminating");
        }
    }
}

}  // namespace

void judge_form(const Case& judged, Report& report) {
    judge_orders(judged.plan, report);
    for (const Placement& item : judged.plan.placements)
        judge_placement(judged, item, report);
    for (const Unplaced& item : judged.plan.unplaced)
        judge_unplaced(judged, item, report);
    for (const Eviction& item : judged.plan.evictions)
        judge_eviction(judged, item, report);
    judge_mentions(judged, report);
    judge_waiting(judged, report);
    judge_rest(judged, report);
}

void judge_certificates(const Case& judged, Report& report) {
    std::map<std::pair<std::string, std::string>, std::int64_t> victims;
    for (const EvictedPod& item : judged.evicted) {
        // Whoever was asked to go by an earlier plan was certified by that.
        if (!item.action || judged.leaves(item.pod)) continue;
        if (serves_a_demand(*item.action)) ++victims[{item.entry->owner, item.entry->action}];
        if (item.action == ActionKind::kServingPreempt) ++victims[{item.entry->owner, item.entry->action}];
        // What a quota or a queue gives back is certified for it.
        const bool by_queue = item.action == ActionKind::kRevoke || item.action == ActionKind::kQueueBalance;
        if (const QueueId queue = judged.row(item.pod).queue; queue && by_queue)
            ++victims[{std::string(queue_name(judged, queue)), item.entry->action}];
    }
    std::map<std::pair<std::string, std::string>, const Certificate*> certificates;
    for (const Certificate& item : judged.plan.certificates)
        certificates.emplace(std::pair(item.owner, item.action), &item);
    for (const auto& [key, count] : victims) {
        const auto it = certificates.find(key);
        if (it == certificates.end()) {
            report.add("certificate", key.first, fmt::format("evicts by {} without a certificate", key.second));
            continue;
        }
        const Certificate* found = it->second;
        if (is_refusal(found->status))
            report.add("certificate", key.first, fmt::format("evicts though {}", to_text(found->status)));
        if (found->cost.empty()) report.add("certificate", key.first, "evicts without a cost");
        if (found->status == CertificateStatus::kOptimal && !found->bound.empty() && found->bound != found->cost) {
            report.add("certificate", key.first, "claims to be optimal with a bound that differs from the cost");
        }
        for (const auto& [term, value] : found->cost) {
            if (term != "pods" || value == count) continue;
            report.add("certificate", key.first, fmt::format("claims {} victims and has {}", value, count));
        }
    }
}

}  // namespace reprieve
