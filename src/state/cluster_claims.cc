// Cluster: claims for devices: pools, rows, who uses what, and the books of both views.
//
// What a change touches leaves the table and the books at once, as the facts still were, and comes back with the next
// refresh: a claim with its users, a pod with what it wants, a slice with the nodes that see its pool. Claims are
// touched by their consumers and pods by the claims they name. Only what everybody depends on (DeviceClasses, taint
// rules, templates where no controller makes the claims) has everything worked out from nothing.
#include <fmt/format.h>

#include <algorithm>

#include "state/cluster.h"

namespace reprieve {
namespace {

constexpr std::string_view kImplicitResource = "deviceclass.resource.kubernetes.io/";

}  // namespace

// Whether the pod names a claim, or asks for a resource that claims may serve.
bool Cluster::concerns_claims(const Pod& pod) const {
    const PodSpec& spec = words_.spec(pod.spec);
    return !spec.claims.empty() || pod.more().extended_claim || (!spec.extended.empty() && device_classes_.size() > 0);
}

// Pods by the claims they name.
void Cluster::index_claims(PodId id, bool enter) {
    const Pod& pod = pods_[id];
    const auto name = [&](StringId claim) {
        if (claim) count_in(by_device_claim_, name_key(pod.ns, claim), id, enter);
    };
    for (const ClaimEntry& entry : words_.spec(pod.spec).claims)
        name(entry.claim);
    for (const auto& [entry, claim] : pod.more().claim_statuses)
        name(claim);
    name(pod.more().extended_claim);
}

// Claims by the pods they are reserved for.
void Cluster::index_consumers(PlainId slot, bool enter) {
    const ResourceClaim* fact = resource_claims_.get(slot);
    if (fact == nullptr) return;
    for (const ClaimConsumer& consumer : fact->consumers) {
        if (!consumer.is_pod) continue;
        std::set<PlainId>& claims = claims_by_consumer_[pod_hash(fact->ns, consumer.name)];
        if (enter)
            claims.insert(slot);
        else
            claims.erase(slot);
        if (claims.empty()) claims_by_consumer_.erase(pod_hash(fact->ns, consumer.name));
    }
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

void Cluster::join_books(DeviceClaimId id, int sign) {
    const ClaimRow& row = snapshot_.device_claims.row(id);
    if (!row.given) return;
    const auto running = static_cast<std::int32_t>(row.pods.size());
    const auto join = [&](ClaimBook& book, std::int32_t users) {
        for (std::int32_t i = 0; i < users; ++i)
            book.use(id, *row.given, sign);
    };
    join(snapshot_.now.claim_book(), running + row.leaving + row.strangers);
    join(snapshot_.later.claim_book(), running + row.strangers);
    join(snapshot_.fixed_claims, row.strangers);
}

// The claim leaves the books; its row stays, empty, until the next refresh.
void Cluster::withdraw_claim(PlainId slot) {
    if (!built_ || !dirty_claims_.insert(slot).second || slot.index() >= claim_rows_.size()) return;
    const DeviceClaimId id = claim_rows_[slot.index()];
    if (!id) return;
    ClaimTable& table = snapshot_.device_claims;
    join_books(id, -1);
    table.index_holder(id, false);
    const std::vector<PodId> users = table.row(id).pods;
    for (PodId pod : users) {
        table.hold(pod, id, false);
        const PodClaims& left = table.of(pod);
        if (left.holds.empty() && left.wants.empty() && left.trouble.empty()) table.forget(pod);
    }
    table.row(id) = ClaimRow();
}

// What the pod wants leaves the table, and every claim that it keeps leaves the books.
void Cluster::withdraw_claims_of(PodId id) {
    if (!built_) return;
    const Pod& pod = pods_[id];
    if (!claims_by_consumer_.empty()) {
        if (const auto kept = claims_by_consumer_.find(pod_hash(pod.ns, pod.name)); kept != claims_by_consumer_.end()) {
            for (PlainId slot : kept->second)
                withdraw_claim(slot);
        }
    }
    ClaimTable& table = snapshot_.device_claims;
    if (!table.knows(id) && !concerns_claims(pod)) return;
    dirty_claim_pods_.insert(id);
    if (!table.knows(id)) return;
    PodClaims& claims = table.make(id);
    if (claims.apart) {
        PodClass& cls = snapshot_.classes[claims.apart];
        --cls.claims_apart;
        settle_claims_of(cls);
    }
    for (DeviceClaimId made : claims.made)
        table.remove(made);
    // Whoever holds a claim stands in its reservedFor, so nothing is held any more.
    table.forget(id);
}

void Cluster::settle_claims_of(PodClass& cls) const {
    cls.claims_local = cls.has_claims && cls.claims_apart == 0 && snapshot_.device_claims.pools.all_local();
}

void Cluster::touch_device_claim(PlainId slot) {
    const ResourceClaim* fact = resource_claims_.get(slot);
    if (!built_ || fact == nullptr) return;
    withdraw_claim(slot);
    const auto named = by_device_claim_.find(name_key(fact->ns, fact->name));
    if (named == by_device_claim_.end()) return;
    const std::vector<PodId> pods(named->second.begin(), named->second.end());
    for (PodId pod : pods)
        withdraw_claims_of(pod);
}

std::vector<const DeviceTaintRule*> Cluster::taint_rules_by_name() const {
    std::vector<const DeviceTaintRule*> rules;
    taint_rules_.for_each([&](PlainId, const DeviceTaintRule& rule) { rules.push_back(&rule); });
    std::ranges::sort(rules, {}, [&](const DeviceTaintRule* r) { return words_.text(r->name); });
    return rules;
}

// Before the fact changes or goes.
void Cluster::withdraw_slice(PlainId slot) {
    if (!built_) return;
    ClaimTable& table = snapshot_.device_claims;
    const auto at = static_cast<std::uint32_t>(slot.index());
    table.forget_answers(table.pools.offers_of_slice(at));
    table.pools.remove_slice(at);
}

void Cluster::enter_slice(PlainId slot) {
    const ResourceSlice* fact = resource_slices_.get(slot);
    if (!built_ || fact == nullptr) return;
    ClaimTable& table = snapshot_.device_claims;
    const auto at = static_cast<std::uint32_t>(slot.index());
    table.pools.add_slice(at, *fact, taint_rules_by_name(), words_);
    table.forget_answers(table.pools.offers_of_slice(at));
}

// Before pods of new kinds come: which resources claims can serve, and whom that concerns.
void Cluster::clear_device_claims() {
    snapshot_.device_claims = ClaimTable();
    for (ClaimBook* book : {&snapshot_.now.claim_book(), &snapshot_.later.claim_book(), &snapshot_.fixed_claims})
        *book = ClaimBook();
    claim_rows_.clear();
    rebuild_device_classes();
    for (PodClass& cls : snapshot_.classes) {
        if (!cls.ns) continue;
        cls.claims_apart = 0;
        const PodSpec& spec = words_.spec(cls.spec);
        cls.has_claims = !spec.claims.empty() || std::ranges::any_of(spec.extended, [&](const ExtendedAsk& ask) {
            return snapshot_.device_claims.class_of_resource.contains(ask.resource);
        });
    }
}

// REQUIRES: the table is as clear_device_claims leaves it.
void Cluster::rebuild_device_claims() {
    const std::vector<const DeviceTaintRule*> rules = taint_rules_by_name();
    resource_slices_.for_each([&](PlainId slot, const ResourceSlice& slice) {
        snapshot_.device_claims.pools.add_slice(static_cast<std::uint32_t>(slot.index()), slice, rules, words_);
    });
    for (NodeId id : snapshot_.nodes_by_name)
        snapshot_.device_claims.pools.note_node(nodes_.get(id)->name);
    dirty_claims_.clear();
    dirty_claim_pods_.clear();
    resource_claims_.for_each([&](PlainId slot, const ResourceClaim&) { dirty_claims_.insert(slot); });
    for (PodId id : IdRange<PodId>(pods_.size())) {
        if (pods_[id].ns && concerns_claims(pods_[id])) dirty_claim_pods_.insert(id);
    }
    update_device_claims();
}

void Cluster::gather_pools() {
    DevicePools& pools = snapshot_.device_claims.pools;
    if (!pools.is_stale()) return;
    if (pools.all_nodes_stale()) {
        for (NodeId id : snapshot_.nodes_by_name)
            pools.gather(id, nodes_.get(id), words_);
    } else {
        for (StringId name : pools.stale_nodes()) {
            if (const NodeId id = nodes_.find({}, name)) pools.gather(id, nodes_.get(id), words_);
        }
    }
    pools.settle();
    for (PodClass& cls : snapshot_.classes)
        settle_claims_of(cls);
}

// What was touched comes back: claims with the devices they have, pods with what they want, and users at last.
void Cluster::update_device_claims() {
    ClaimTable& table = snapshot_.device_claims;
    table.set_words(words_);
    table.limit_selectors();
    gather_pools();
    claim_rows_.resize(std::max(claim_rows_.size(), resource_claims_.slots()));
    for (PlainId slot : dirty_claims_)
        enter_claim(slot);
    for (PodId pod : dirty_claim_pods_) {
        if (pods_[pod].ns) resolve_claims(pod);
    }
    for (ClaimBook* book : {&snapshot_.now.claim_book(), &snapshot_.later.claim_book(), &snapshot_.fixed_claims})
        book->resize(table.size(), table.pools.device_count());
    for (PlainId slot : dirty_claims_) {
        const ResourceClaim* fact = resource_claims_.get(slot);
        if (fact == nullptr || !fact->allocation) continue;
        const DeviceClaimId id = claim_rows_[slot.index()];
        resolve_consumers(*fact, id);
        table.index_holder(id, true);
        join_books(id, +1);
    }
    dirty_claims_.clear();
    dirty_claim_pods_.clear();
}

// The row of a claim as its fact says, without its users; none, where there is no fact.
void Cluster::enter_claim(PlainId slot) {
    ClaimTable& table = snapshot_.device_claims;
    const ResourceClaim* fact = resource_claims_.get(slot);
    DeviceClaimId& id = claim_rows_[slot.index()];
    if (fact == nullptr) {
        if (id) table.remove(id);
        id = {};
        return;
    }
    ClaimRow row{.ns = fact->ns,
                 .name = words_.str(fact->name),
                 .spec = &fact->spec,
                 .extended = fact->for_extended_resources,
                 .deleting = fact->deleting};
    if (fact->allocation) {
        GivenDevices& given = row.given.emplace();
        given.nodes = fact->allocation->nodes;
        row.not_ready = fact->allocation->not_ready;
        for (const AllocatedDevice& device : fact->allocation->devices)
            given.devices.push_back({.device = table.pools.device(device.driver, device.pool, device.device),
                                     .request = device.request,
                                     .admin = device.admin,
                                     .share = device.share,
                                     .amounts = device.consumed});
    }
    if (id)
        table.row(id) = std::move(row);
    else
        id = table.add(std::move(row));
}

bool Cluster::put(ResourceSlice fact) {
    const PlainId known = resource_slices_.find({}, fact.name);
    const ResourceSlice* before = resource_slices_.get(known);
    if (before != nullptr && *before == fact) return false;
    const StringId name = fact.name;
    if (before != nullptr) withdraw_slice(known);
    enter_slice(resource_slices_.put({}, name, std::move(fact)));
    // Devices that come under ever new names: from time to time those that are gone are forgotten.
    const DevicePools& pools = snapshot_.device_claims.pools;
    touch_device_claims(built_ && pools.device_count() > 4 * (pools.offer_count() + 1'000));
    return true;
}
bool Cluster::put(DeviceClass fact) {
    const bool changed = device_classes_.replace({}, std::move(fact));
    touch_device_claims(changed);
    return changed;
}
bool Cluster::put(ResourceClaim fact) {
    const PlainId known = resource_claims_.find(fact.ns, fact.name);
    const ResourceClaim* before = resource_claims_.get(known);
    if (before != nullptr && *before == fact) return false;
    const StringId ns = fact.ns;
    const StringId name = fact.name;
    if (before != nullptr) {
        touch_device_claim(known);
        index_consumers(known, false);
    }
    const PlainId slot = resource_claims_.put(ns, name, std::move(fact));
    index_consumers(slot, true);
    touch_device_claim(slot);
    return true;
}
bool Cluster::put(ResourceClaimTemplate fact) {
    const StringId ns = fact.ns;
    const bool changed = claim_templates_.replace(ns, std::move(fact));
    touch_device_claims(changed && !options_.claims_by_controller);
    return changed;
}
bool Cluster::put(DeviceTaintRule fact) {
    const bool changed = taint_rules_.replace({}, std::move(fact));
    touch_device_claims(changed);
    return changed;
}
bool Cluster::drop(const ResourceSlice& like) {
    const PlainId slot = resource_slices_.find({}, like.name);
    if (resource_slices_.get(slot) != nullptr) withdraw_slice(slot);
    return resource_slices_.erase({}, like.name);
}
bool Cluster::drop(const DeviceClass& like) {
    const bool changed = device_classes_.erase({}, like.name);
    touch_device_claims(changed);
    return changed;
}
bool Cluster::drop(const ResourceClaim& like) {
    const PlainId slot = resource_claims_.find(like.ns, like.name);
    if (resource_claims_.get(slot) != nullptr) {
        touch_device_claim(slot);
        index_consumers(slot, false);
    }
    return resource_claims_.erase(like.ns, like.name);
}
bool Cluster::drop(const ResourceClaimTemplate& like) {
    const bool changed = claim_templates_.erase(like.ns, like.name);
    touch_device_claims(changed && !options_.claims_by_controller);
    return changed;
}
bool Cluster::drop(const DeviceTaintRule& like) {
    const bool changed = taint_rules_.erase({}, like.name);
    touch_device_claims(changed);
    return changed;
}

}  // namespace reprieve
