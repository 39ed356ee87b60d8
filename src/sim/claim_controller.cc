#include "sim/claim_controller.h"

#include <utility>

#include "sim/pod_maker.h"

namespace reprieve {
namespace {

constexpr const char* kTemplateKind = "ResourceClaimTemplate.resource.k8s.io";

const Json& list_at(const Json& body, JsonPath path) {
    static const Json kNone = Json::array();
    const Json* found = find_path(body, path);
    return found != nullptr && found->is_array() ? *found : kNone;
}

// The claims that a pod names, in its spec or its status.
std::set<std::string> claims_of(const Json& pod) {
    std::set<std::string> out;
    for (const Json& entry : list_at(pod, {"spec", "resourceClaims"}))
        out.insert(text_at(entry, {"resourceClaimName"}));
    for (const Json& entry : list_at(pod, {"status", "resourceClaimStatuses"}))
        out.insert(text_at(entry, {"resourceClaimName"}));
    out.insert(text_at(pod, {"status", "extendedResourceClaimStatus", "resourceClaimName"}));
    out.erase("");
    return out;
}

}  // namespace

void ClaimController::observe(SlotId slot) {
    const Store::Entry& entry = store_.at(slot);
    if (entry.is_pod()) {
        for (const std::string& name : claims_of(entry.body)) {
            if (const SlotId claim = store_.find({kClaimKind, entry.key.ns, name})) claims_.insert(claim);
        }
        if (!list_at(entry.body, {"spec", "resourceClaims"}).empty()) pods_.insert(slot);
    } else if (entry.key.kind == kClaimKind) {
        claims_.insert(slot);
    } else if (entry.key.kind == kTemplateKind) {
        for (SlotId pod : store_.of_kind("Pod"))
            pods_.insert(pod);
    }
}

void ClaimController::act() {
    for (SlotId slot : std::exchange(claims_, {}))
        sync(slot);
    for (SlotId slot : std::exchange(pods_, {}))
        make_claims(slot);
}

void ClaimController::make_claims(SlotId slot) {
    const Store::Entry& pod = store_.at(slot);
    if (!pod.present || pod.pod().node || pod.pod().terminating() || pod.pod().finished()) return;
    Json body = pod.body;
    Json statuses = list_at(body, {"status", "resourceClaimStatuses"});
    const std::size_t before = statuses.size();
    for (const Json& entry : list_at(pod.body, {"spec", "resourceClaims"})) {
        const std::string name = text_at(entry, {"name"});
        bool has_one = false;
        for (const Json& status : statuses)
            has_one = has_one || text_at(status, {"name"}) == name;
        const SlotId made_from =
            store_.find({kTemplateKind, pod.key.ns, text_at(entry, {"resourceClaimTemplateName"})});
        if (has_one || !made_from) continue;
        const std::string claim = pod.key.name + "-" + name;
        if (const SlotId old = store_.find({kClaimKind, pod.key.ns, claim})) {
            // Of an earlier pod of the same name: it goes first.
            if (store_.at(old).owner.name == pod.key.name) pods_.insert(slot);
            continue;
        }
        const Json* spec = find_path(store_.at(made_from).body, {"spec", "spec"});
        const Json made = {{"apiVersion", "resource.k8s.io/v1"},
                           {"kind", "ResourceClaim"},
                           {"metadata",
                            {{"name", claim},
                             {"namespace", pod.key.ns},
                             {"annotations", {{"resource.kubernetes.io/pod-claim-name", name}}},
                             {"ownerReferences", Json::array({reference_to(pod)})}}},
                           {"spec", spec == nullptr ? Json::object() : *spec}};
        if (!store_.put(made)) continue;
        statuses.push_back({{"name", name}, {"resourceClaimName", claim}});
    }
    if (statuses.size() == before) return;
    make_path(body, {"status", "resourceClaimStatuses"}) = std::move(statuses);
    store_.edit(slot, std::move(body));
}

bool ClaimController::needs(const std::string& ns, const std::string& name, const std::string& uid) const {
    const SlotId slot = store_.find({"Pod", ns, name});
    if (!slot) return false;
    const Store::Entry& pod = store_.at(slot);
    if (!uid.empty() && pod.uid() != uid) return false;
    return !pod.pod().finished() && !(pod.pod().terminating() && !pod.pod().node);
}

void ClaimController::sync(SlotId slot) {
    const Store::Entry& claim = store_.at(slot);
    if (!claim.present) return;
    const Json& users = list_at(claim.body, {"status", "reservedFor"});
    Json left = Json::array();
    for (const Json& user : users) {
        const bool is_pod = text_at(user, {"apiGroup"}).empty() && text_at(user, {"resource"}) == "pods";
        if (!is_pod || needs(claim.key.ns, text_at(user, {"name"}), text_at(user, {"uid"}))) left.push_back(user);
    }
    if (left.size() < users.size()) {
        Json body = claim.body;
        if (left.empty()) {
            for (const char* gone : {"reservedFor", "allocation", "devices"})
                erase_path(body, {"status", gone});
        } else {
            make_path(body, {"status", "reservedFor"}) = std::move(left);
        }
        store_.edit(slot, std::move(body));
    }
    const Store::Entry& now = store_.at(slot);
    const bool made_for_pod = now.owner.kind == "Pod";
    if (!made_for_pod || find_path(now.body, {"status", "allocation"}) != nullptr) return;
    std::string owner_uid;
    for (const Json& owner : list_at(now.body, {"metadata", "ownerReferences"}))
        owner_uid = text_at(owner, {"uid"});
    if (!needs(now.key.ns, now.owner.name, owner_uid)) store_.remove(slot);
}

}  // namespace reprieve
