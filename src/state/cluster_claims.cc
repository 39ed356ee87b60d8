// Cluster: claims for devices from nothing: pools, rows, who uses what, and the books of both views.
#include <fmt/format.h>

#include <algorithm>

#include "state/cluster.h"

namespace reprieve {
namespace {

constexpr std::string_view kImplicitResource = "deviceclass.resource.kubernetes.io/";

std::string describe(const ClaimConsumer& consumer) {
    return fmt::format("reserved for {} {}", consumer.resource, consumer.name);
}

}  // namespace

// Claims are worked out anew when a pod comes, changes or goes that may have to do with one.
bool Cluster::concerns_claims(const Pod& pod) const {
    const PodSpec& spec = words_.spec(pod.spec);
    return !spec.claims.empty() || pod.more().extended_claim || (!spec.extended.empty() && device_classes_.size() > 0);
}

// The newer class wins where two stand behind one resource, then the smaller name.
void Cluster::rebuild_device_classes() {
    ClaimTable& table = snapshot_.device_claims;
    const auto stand_behind = [&](std::string_view resource, const DeviceClass* cls) {
        const Dim dim = words_.find_dimension(resource);
        if (!dim) return;  // nobody asks for it
        const DeviceClass*& known = table.class_of_resource[dim];
        if (known == nullptr || cls->created > known->created ||
            (cls->created == known->created && words_.text(cls->name) < words_.text(known->name)))
            known = cls;
    };
    for (PlainId id : IdRange<PlainId>(device_classes_.slots())) {
        const DeviceClass* cls = device_classes_.get(id);
        if (cls == nullptr) continue;
        table.classes[cls->name] = cls;
        if (cls->extended_resource) stand_behind(words_.text(cls->extended_resource), cls);
        stand_behind(fmt::format("{}{}", kImplicitResource, words_.text(cls->name)), cls);
    }
}

void Cluster::rebuild_device_pools() {
    std::vector<const ResourceSlice*> slices;
    for (PlainId id : IdRange<PlainId>(resource_slices_.slots())) {
        if (const ResourceSlice* slice = resource_slices_.get(id)) slices.push_back(slice);
    }
    std::vector<const DeviceTaintRule*> rules;
    for (PlainId id : IdRange<PlainId>(taint_rules_.slots())) {
        if (const DeviceTaintRule* rule = taint_rules_.get(id)) rules.push_back(rule);
    }
    std::ranges::sort(rules, {}, [&](const DeviceTaintRule* r) { return words_.text(r->name); });
    DevicePools::Nodes nodes;
    for (NodeId id : snapshot_.nodes_by_name)
        nodes.emplace_back(id, nodes_.get(id));
    snapshot_.device_claims.pools.build(std::move(slices), rules, nodes, words_);
}

void Cluster::rebuild_device_claims() {
    ClaimTable& table = snapshot_.device_claims;
    table.set_words(words_);
    rebuild_device_pools();
    std::vector<DeviceClaimId> id_of(resource_claims_.slots());
    for (PlainId slot : IdRange<PlainId>(resource_claims_.slots())) {
        const ResourceClaim* fact = resource_claims_.get(slot);
        if (fact == nullptr) continue;
        ClaimRow row{.ns = fact->ns,
                     .name = words_.str(fact->name),
                     .spec = &fact->spec,
                     .extended = fact->for_extended_resources,
                     .deleting = fact->deleting};
        if (fact->allocation) {
            GivenDevices& given = row.given.emplace();
            given.nodes = fact->allocation->nodes;
            for (const AllocatedDevice& device : fact->allocation->devices)
                given.devices.push_back({.device = table.pools.device(device.driver, device.pool, device.device),
                                         .request = device.request,
                                         .admin = device.admin,
                                         .share = device.share,
                                         .amounts = device.consumed});
        }
        id_of[slot.index()] = table.add(std::move(row));
    }
    for (PodClass& cls : snapshot_.classes)
        cls.claims_local = cls.has_claims && table.pools.all_local();
    for (PodId pod : IdRange<PodId>(pods_.size())) {
        if (pods_[pod].ns) resolve_claims(pod, id_of);
    }
    for (PlainId slot : IdRange<PlainId>(resource_claims_.slots())) {
        const ResourceClaim* fact = resource_claims_.get(slot);
        if (fact != nullptr && fact->allocation) resolve_consumers(*fact, id_of[slot.index()]);
    }
    table.index_holders();
    for (ClaimBook* book : {&snapshot_.now.claim_book(), &snapshot_.later.claim_book(), &snapshot_.fixed_claims})
        book->resize(table.size(), table.pools.device_count());
    for (DeviceClaimId id : IdRange<DeviceClaimId>(table.size())) {
        const ClaimRow& row = table.row(id);
        if (!row.given) continue;
        const auto running = static_cast<std::int32_t>(row.pods.size());
        const auto join = [&](ClaimBook& book, std::int32_t users) {
            for (std::int32_t i = 0; i < users; ++i)
                book.use(id, *row.given, +1);
        };
        join(snapshot_.now.claim_book(), running + row.leaving + row.strangers);
        join(snapshot_.later.claim_book(), running + row.strangers);
        join(snapshot_.fixed_claims, row.strangers);
    }
}

// What a pod wants: claims that exist, or that would be made for it.
void Cluster::resolve_claims(PodId id, const std::vector<DeviceClaimId>& id_of) {
    const Pod& pod = pods_[id];
    const PodSpec& spec = words_.spec(pod.spec);
    const bool extended = std::ranges::any_of(spec.extended, [&](const ExtendedAsk& ask) {
        return snapshot_.device_claims.class_of_resource.contains(ask.resource);
    });
    if (snapshot_.pods[id].state != PodState::kPending || (spec.claims.empty() && !extended)) return;
    ClaimTable& table = snapshot_.device_claims;
    PodClaims& claims = table.make(id);
    const auto trouble = [&](std::string what) {
        if (claims.trouble.empty()) claims.trouble = std::move(what);
        snapshot_.classes[snapshot_.pods[id].cls].claims_local = false;
    };
    const auto want = [&](StringId name, bool own) {
        const PlainId slot = resource_claims_.find(pod.ns, name);
        const ResourceClaim* fact = resource_claims_.get(slot);
        const std::string full = fmt::format("claim {}/{}", words_.text(pod.ns), words_.text(name));
        if (fact == nullptr) return trouble(full + " does not exist");
        if (fact->deleting) return trouble(full + " is being deleted");
        if (own && fact->owner.uid && !pod.uid.empty() && words_.text(fact->owner.uid) != pod.uid)
            return trouble(full + " belongs to another pod");
        claims.wants.push_back(id_of[slot.index()]);
        if (!own || fact->allocation) snapshot_.classes[snapshot_.pods[id].cls].claims_local = false;
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
        const PlainId slot = claim_templates_.find(pod.ns, entry.from_template);
        const ResourceClaimTemplate* made_from = claim_templates_.get(slot);
        if (made_from == nullptr) {
            trouble(fmt::format(
                "claim template {}/{} does not exist", words_.text(pod.ns), words_.text(entry.from_template)));
            continue;
        }
        claims.wants.push_back(table.add(
            {.ns = pod.ns, .name = fmt::format("{}-{}", pod.name, words_.text(entry.name)), .spec = &made_from->spec}));
    }
    for (DeviceClaimId claim : claims.wants) {
        const auto several = [](const DeviceRequest& r) { return r.wishes.size() > 1; };
        if (std::ranges::any_of(table.row(claim).spec->requests, several)) claims.has_alternatives = true;
    }
    // Which alternative a node offers is compared between nodes.
    if (claims.has_alternatives) snapshot_.classes[snapshot_.pods[id].cls].claims_local = false;
    if (!extended) return;
    if (pod.more().extended_claim) return want(pod.more().extended_claim, true);
    ClaimSpec& made = table.make_spec();
    for (const ExtendedAsk& ask : spec.extended) {
        const auto cls = table.class_of_resource.find(ask.resource);
        if (cls == table.class_of_resource.end()) continue;
        DeviceRequest& request = made.requests.emplace_back();
        request.name = ask.request;
        request.resource = ask.resource;
        request.wishes.push_back({.cls = cls->second->name, .count = ask.count});
    }
    claims.wants.push_back(table.add(
        {.ns = pod.ns, .name = fmt::format("{}-extended-resources", pod.name), .spec = &made, .extended = true}));
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
        const PodState state = same ? snapshot_.pods[pod].state : PodState::kAbsent;
        if (state == PodState::kRunning) {
            row.pods.push_back(pod);
            table.make(pod).holds.push_back(id);
        } else if (state == PodState::kPending) {
            stranger(describe(consumer));
        } else {
            ++row.leaving;
        }
    }
    std::ranges::sort(row.pods, [&](PodId a, PodId b) { return snapshot_.name_less(a, b); });
}

}  // namespace reprieve
