// Cluster: what a pod wants of claims, and who keeps an allocated one.
#include <fmt/format.h>

#include <algorithm>

#include "state/cluster.h"

namespace reprieve {
namespace {

std::string describe(const ClaimConsumer& consumer) {
    return fmt::format("reserved for {} {}", consumer.resource, consumer.name);
}

}  // namespace

// What a pod wants: claims that exist, or that would be made for it.
void Cluster::resolve_claims(PodId id) {
    const Pod& pod = pods_[id];
    const PodSpec& spec = words_.spec(pod.spec);
    const bool extended = std::ranges::any_of(spec.extended, [&](const ExtendedAsk& ask) {
        return snapshot_.device_claims.class_of_resource.contains(ask.resource);
    });
    if (snapshot_.pods[id].state != PodState::kPending || (spec.claims.empty() && !extended)) return;
    ClaimTable& table = snapshot_.device_claims;
    PodClaims& claims = table.make(id);
    const ClassId cls_id = snapshot_.pods[id].cls;
    // Which node the pod goes to is then not a matter of that node alone.
    const auto stands_apart = [&] {
        if (claims.apart) return;
        claims.apart = cls_id;
        ++snapshot_.classes[cls_id].claims_apart;
        settle_claims_of(snapshot_.classes[cls_id]);
    };
    const auto trouble = [&](std::string what) {
        if (claims.trouble.empty()) claims.trouble = std::move(what);
        stands_apart();
    };
    const auto want = [&](StringId name, bool own) {
        const PlainId slot = resource_claims_.find(pod.ns, name);
        const ResourceClaim* fact = resource_claims_.get(slot);
        const std::string full = fmt::format("claim {}/{}", words_.text(pod.ns), words_.text(name));
        if (fact == nullptr) return trouble(full + " does not exist");
        if (fact->deleting) return trouble(full + " is being deleted");
        if (own && fact->owner.uid && !pod.uid.empty() && words_.text(fact->owner.uid) != pod.uid)
            return trouble(full + " belongs to another pod");
        // Two entries may name one claim: it is one claim all the same.
        const DeviceClaimId row = claim_rows_[slot.index()];
        if (std::ranges::find(claims.wants, row) == claims.wants.end()) claims.wants.push_back(row);
        if (!own || fact->allocation) stands_apart();
    };
    const auto& statuses = pod.more().claim_statuses;
    for (const ClaimEntry& entry : spec.claims) {
        if (entry.claim) {
            want(entry.claim, false);
            continue;
        }
        const auto status = std::ranges::find(statuses, entry.name, [](const auto& s) { return s.first; });
        if (status != statuses.end()) {
            if (status->second) want(status->second, true);
            continue;
        }
        if (options_.claims_by_controller) {
            trouble(fmt::format("its claim {} has not been made yet (from template {}/{})",
                                words_.text(entry.name),
                                words_.text(pod.ns),
                                words_.text(entry.from_template)));
            continue;
        }
        const PlainId slot = claim_templates_.find(pod.ns, entry.from_template);
        const ResourceClaimTemplate* made_from = claim_templates_.get(slot);
        if (made_from == nullptr) {
            trouble(fmt::format(
                "claim template {}/{} does not exist", words_.text(pod.ns), words_.text(entry.from_template)));
            continue;
        }
        claims.made.push_back(table.add(
            {.ns = pod.ns, .name = fmt::format("{}-{}", pod.name, words_.text(entry.name)), .spec = &made_from->spec}));
        claims.wants.push_back(claims.made.back());
    }
    for (DeviceClaimId claim : claims.wants) {
        const auto several = [](const DeviceRequest& r) { return r.wishes.size() > 1; };
        if (std::ranges::any_of(table.row(claim).spec->requests, several)) claims.has_alternatives = true;
    }
    // Which alternative a node offers is compared between nodes.
    if (claims.has_alternatives) stands_apart();
    if (!extended) return;
    if (pod.more().extended_claim) return want(pod.more().extended_claim, true);
    ClaimSpec made;
    for (const ExtendedAsk& ask : spec.extended) {
        const auto cls = table.class_of_resource.find(ask.resource);
        if (cls == table.class_of_resource.end()) continue;
        DeviceRequest& request = made.requests.emplace_back();
        request.name = ask.request;
        request.resource = ask.resource;
        request.wishes.push_back({.cls = cls->second->name, .count = ask.count});
    }
    claims.made.push_back(table.add_with_spec(
        {.ns = pod.ns, .name = fmt::format("{}-extended-resources", pod.name), .extended = true}, std::move(made)));
    claims.wants.push_back(claims.made.back());
}

// Who keeps an allocated claim: pods that run, pods that leave, and consumers that no eviction removes.
void Cluster::resolve_consumers(const ResourceClaim& fact, DeviceClaimId id) {
    ClaimTable& table = snapshot_.device_claims;
    ClaimRow& row = table.row(id);
    const auto stranger = [&](std::string who) {
        ++row.strangers;
        if (row.stranger.empty()) row.stranger = std::move(who);
    };
    if (fact.consumers.empty()) return stranger("allocated, but reserved for nobody");
    for (const ClaimConsumer& consumer : fact.consumers) {
        if (!consumer.is_pod) {
            stranger(describe(consumer));
            continue;
        }
        const PodId pod = find_pod(fact.ns, consumer.name);
        const bool same = pod && (consumer.uid.empty() || pods_[pod].uid.empty() || pods_[pod].uid == consumer.uid);
        if (same && snapshot_.pods[pod].state == PodState::kRunning) {
            // A pod that stands there twice is one user.
            if (std::ranges::find(row.pods, pod) != row.pods.end()) continue;
            row.pods.push_back(pod);
            table.hold(pod, id, true);
        } else if (same && snapshot_.pods[pod].state != PodState::kTerminating && !pods_[pod].finished()) {
            stranger(describe(consumer));  // it waits, whether we see to it or not
        } else {
            ++row.leaving;
        }
    }
    std::ranges::sort(row.pods, [&](PodId a, PodId b) { return snapshot_.name_less(a, b); });
}

}  // namespace reprieve
