#include "sim/api.h"

#include <fmt/format.h>

#include <set>

#include "manifest/claim_write.h"
#include "sim/claim_controller.h"
#include "sim/kubelets.h"

namespace reprieve {
namespace {

std::string joined(const std::vector<std::string>& parts) {
    std::string out;
    for (const std::string& part : parts)
        out += (out.empty() ? "" : ",") + part;
    return out;
}

void drop_promise(Json& body) {
    erase_path(body, {"status", "nominatedNodeName"});
    erase_path(body, {"metadata", "annotations", kPlanNote});
}

}  // namespace

Result<SlotId> Api::find(const PodRef& pod) const {
    const SlotId slot = store_.find_pod(pod.name);
    if (!slot) return fail(fmt::format("pods \"{}\" not found", pod.name));
    if (!pod.uid.empty() && store_.at(slot).uid() != pod.uid) {
        return fail(fmt::format("pods \"{}\": the UID in the precondition ({}) does not match ({})",
                                pod.name,
                                pod.uid,
                                store_.at(slot).uid()));
    }
    return slot;
}

Result<void> Api::annotate(const PodRef& pod,
                           const std::map<std::string, std::string>& set,
                           const std::vector<std::string>& remove) {
    const Result<SlotId> slot = find(pod);
    if (!slot) return std::unexpected(slot.error());
    write_annotations(*slot, set, remove);
    return {};
}

void Api::write_annotations(SlotId slot,
                            const std::map<std::string, std::string>& set,
                            const std::vector<std::string>& remove) {
    Json body = store_.at(slot).body;
    for (const auto& [key, value] : set)
        make_path(body, {"metadata", "annotations", key}) = value;
    for (const std::string& key : remove)
        erase_path(body, {"metadata", "annotations", key});
    store_.edit(slot, std::move(body));
}

Result<void> Api::annotate_queue(const std::string& queue, const QueueNotes& notes) {
    for (const auto& [key, slot] : store_.slots()) {
        const Store::Entry& entry = store_.at(slot);
        const bool is_named = key.name == queue || key.ns + "/" + key.name == queue;
        if (!is_named || !entry.present || !std::holds_alternative<Queue>(entry.object)) continue;
        write_annotations(slot, notes.set, notes.remove);
        return {};
    }
    return fail(fmt::format("queues \"{}\" not found", queue));
}

Result<void> Api::mark(const PodRef& pod) {
    const Result<SlotId> slot = find(pod);
    if (!slot) return {};  // who is gone needs no mark
    Json body = store_.at(*slot).body;
    set_condition(body, "DisruptionTarget", true, "PreemptionByScheduler");
    store_.edit(*slot, std::move(body));
    return {};
}

Result<void> Api::remove(const PodRef& pod, std::optional<std::int64_t> grace_seconds) {
    if (const Result<SlotId> slot = find(pod)) remove_pod(*slot, grace_seconds);
    return {};
}

void Api::remove_pod(SlotId slot, std::optional<std::int64_t> grace_seconds) {
    const Store::Entry& entry = store_.at(slot);
    const Pod& pod = entry.pod();
    const std::int64_t grace = grace_seconds.value_or(pod.grace_seconds);
    if (!pod.node || pod.finished() || grace == 0) {
        if (!has_finalizers(entry.body)) return store_.remove(slot);
        if (pod.terminating()) return;
        Json ended = entry.body;
        ended["metadata"]["deletionTimestamp"] = format_time(store_.now());
        ended["metadata"]["deletionGracePeriodSeconds"] = 0;
        if (pod.node) make_path(ended, {"status", "phase"}) = "Failed";
        return store_.edit(slot, std::move(ended));
    }
    const Time end = store_.now() + Duration{grace * 1'000'000};
    if (pod.terminating() && pod.deleting <= end) return;  // a second request never prolongs
    Json body = entry.body;
    body["metadata"]["deletionTimestamp"] = format_time(end);
    body["metadata"]["deletionGracePeriodSeconds"] = grace;
    store_.edit(slot, std::move(body));
}

Result<void> Api::evict(const PodRef& pod) {
    const Result<SlotId> slot = find(pod);
    if (!slot || store_.at(*slot).pod().terminating()) return {};
    const Store::Entry& entry = store_.at(*slot);
    const Labels& labels = store_.words().labels(entry.pod().labels);
    std::vector<SlotId> budgets;
    for (SlotId id : store_.of_kind("PodDisruptionBudget.policy")) {
        const auto& budget = std::get<DisruptionBudget>(store_.at(id).object);
        if (store_.at(id).key.ns != entry.key.ns || budget.selector.empty() ||
            !budget.selector.matches(labels, store_.words()))
            continue;
        if (number_at(store_.at(id).body, {"status", "disruptionsAllowed"}, 0) <= 0) {
            return fail(
                fmt::format("429: cannot evict {}: budget {} allows no disruption", pod.name, store_.at(id).key.name));
        }
        budgets.push_back(id);
    }
    for (SlotId id : budgets) {
        Json body = store_.at(id).body;
        make_path(body, {"status", "disruptionsAllowed"}) = number_at(body, {"status", "disruptionsAllowed"}, 0) - 1;
        store_.edit(id, std::move(body));
    }
    remove_pod(*slot, {});
    return {};
}

Result<void> Api::nominate(const PodRef& pod, const std::string& node) {
    const Result<SlotId> slot = find(pod);
    if (!slot) return node.empty() ? Result<void>() : std::unexpected(slot.error());
    Json body = store_.at(*slot).body;
    if (node.empty())
        drop_promise(body);
    else
        make_path(body, {"status", "nominatedNodeName"}) = node;
    store_.edit(*slot, std::move(body));
    return {};
}

SlotId Api::find_claim(const std::string& full_name) const {
    const std::size_t slash = full_name.find('/');
    return store_.find({kClaimKind, full_name.substr(0, slash), full_name.substr(slash + 1)});
}

Result<void> Api::check_claim(const PlacedClaim& claim, const Store::Entry& pod) const {
    const SlotId slot = find_claim(claim.claim);
    if (!slot && !claim.extended) return fail(fmt::format("resourceclaims \"{}\" not found", claim.claim));
    if (slot) {
        const auto standing = read_claim_standing(store_.at(slot).body.dump());
        if (standing->deleting) return fail(fmt::format("claim {} is being deleted", claim.claim));
        if (claim.extended && standing->owner != pod.uid())
            return fail(fmt::format("claim {} belongs to an earlier pod of this name", claim.claim));
        if (standing->allocated && standing->devices != devices_of(claim))
            return fail(fmt::format("claim {} was given other devices meanwhile", claim.claim));
        if (standing->allocated) return {};
        if (!claim.is_new) return fail(fmt::format("claim {} has lost its devices", claim.claim));
    }
    // What a driver would refuse: the API server itself does not look.
    std::set<std::string> whole;
    for (const ClaimedDevice& device : claim.results) {
        if (!device.admin && device.share.empty())
            whole.insert(fmt::format("{}/{}/{}", device.driver, device.pool, device.device));
    }
    for (SlotId other : store_.of_kind(kClaimKind)) {
        const auto* fact = std::get_if<ResourceClaim>(&store_.at(other).object);
        if (fact == nullptr || !fact->allocation || other == slot) continue;
        for (const AllocatedDevice& held : fact->allocation->devices) {
            const Vocabulary& words = store_.words();
            const std::string name =
                fmt::format("{}/{}/{}", words.text(held.driver), words.text(held.pool), words.text(held.device));
            if (!held.admin && whole.contains(name))
                return fail(fmt::format("device {} is in claim {}", name, store_.at(other).key.name));
        }
    }
    return {};
}

void Api::give_devices(const PlacedClaim& claim, const Store::Entry& pod) {
    SlotId slot = find_claim(claim.claim);
    if (!slot) {
        const std::string made = extended_claim_body(claim, "resource.k8s.io/v1", pod.key.name, pod.uid());
        slot = store_.put(Json::parse(made)).value();
    }
    const std::string before = store_.at(slot).body.dump();
    if (read_claim_standing(before)->is_reserved_for(pod.uid())) return;
    store_.edit(slot, Json::parse(with_claim_consumer(before, claim, {}, pod.key.name, pod.uid(), store_.now())));
}

Result<void> Api::release_claim(const std::string& claim, const PodRef& pod) {
    const SlotId slot = find_claim(claim);
    const Result<SlotId> user = find(pod);
    if (!slot || !user || store_.at(*user).pod().node) return {};
    const std::string before = store_.at(slot).body.dump();
    if (read_claim_standing(before)->is_reserved_for(store_.at(*user).uid()))
        store_.edit(slot, Json::parse(without_claim_consumer(before, store_.at(*user).uid(), true)));
    return {};
}

Result<void> Api::bind(const PodRef& ref,
                       const std::string& node,
                       const std::vector<std::string>& devices,
                       const std::vector<PlacedClaim>& claims) {
    const Result<SlotId> slot = find(ref);
    if (!slot) return std::unexpected(slot.error());
    const Store::Entry& entry = store_.at(*slot);
    if (const std::string_view bound = store_.words().text(entry.pod().node); !bound.empty()) {
        if (bound == node) return {};
        return fail(fmt::format("409: pod {} is already assigned to node {}", ref.name, bound));
    }
    const SlotId target = store_.find({"Node", "", node});
    if (!target) return fail(fmt::format("nodes \"{}\" not found", node));
    Json body = entry.body;
    if (!devices.empty()) make_path(body, {"metadata", "annotations", "reprieve.dev/devices"}) = joined(devices);

    // The devices stand in the annotation: ask about the pod as it would be.
    Decoder decoder(store_.words());
    const auto asked = decoder.decode(body.dump());
    if (!asked || !*asked) return fail(fmt::format("pod {}: devices \"{}\" cannot be read", ref.name, joined(devices)));
    const bool extended = std::ranges::any_of(claims, &PlacedClaim::extended);
    if (auto admitted = admit_pod(store_, store_.at(target), std::get<Pod>(**asked), extended); !admitted) {
        return fail(fmt::format("node {}: {}", node, admitted.error().message));
    }
    for (const PlacedClaim& claim : claims) {
        if (auto good = check_claim(claim, entry); !good) return good;
    }
    for (const PlacedClaim& claim : claims) {
        give_devices(claim, entry);
        if (claim.extended) body.merge_patch(Json::parse(extended_claim_status(claim, body.dump())));
    }
    make_path(body, {"spec", "nodeName"}) = node;
    drop_promise(body);
    set_condition(body, "PodScheduled", true, "");
    store_.edit(*slot, std::move(body));
    return {};
}

SlotId Api::workload_of(const ScaleChange& change) const {
    const std::size_t slash = change.deployment.find('/');
    const std::string ns = change.deployment.substr(0, slash);
    const std::string name = change.deployment.substr(slash + 1);
    const std::string plane = change.plane.empty() ? "default" : change.plane;
    SlotId unrouted;  // a Revision that gets no traffic is scaled only where no other one does
    for (const char* kind : {"Deployment.apps", "Revision.serving.knative.dev", "Service.serving.knative.dev"}) {
        for (SlotId slot : store_.of_kind(kind)) {
            const Store::Entry& entry = store_.at(slot);
            if (entry.key.ns != ns || text_at(entry.body, {"metadata", "labels", "reprieve.dev/serving"}) != name)
                continue;
            const std::string own = text_at(entry.body, {"metadata", "labels", "reprieve.dev/plane"});
            if ((own.empty() ? "default" : own) != plane) continue;
            const std::string routing = text_at(entry.body, {"metadata", "labels", "serving.knative.dev/routingState"});
            if (routing.empty() || routing == "active") return slot;
            if (!unrouted) unrouted = slot;
        }
    }
    if (unrouted) return unrouted;
    const SlotId deployment = store_.find({"Deployment.apps", ns, name});
    return deployment ? deployment : store_.find({"Service.serving.knative.dev", ns, name});
}

Result<void> Api::scale(const ScaleChange& change) {
    const SlotId slot = workload_of(change);
    if (!slot) return fail(fmt::format("{}: no workload in plane {}", change.deployment, change.plane));
    Json body = store_.at(slot).body;
    if (store_.at(slot).key.kind == "Deployment.apps")
        make_path(body, {"spec", "replicas"}) = change.to;
    else if (store_.at(slot).key.kind == "Service.serving.knative.dev")
        make_path(body, {"spec", "template", "metadata", "annotations", "autoscaling.knative.dev/min-scale"}) =
            fmt::format("{}", change.to);
    else
        make_path(body, {"metadata", "annotations", "autoscaling.knative.dev/max-scale"}) =
            fmt::format("{}", change.to);
    store_.edit(slot, std::move(body));
    return {};
}

SlotId Api::find_like(const Json& manifest) const {
    const std::string kind = kind_of(text_at(manifest, {"apiVersion"}), text_at(manifest, {"kind"}));
    const std::string name = text_at(manifest, {"metadata", "name"});
    const std::string ns = text_at(manifest, {"metadata", "namespace"});
    if (const SlotId slot = store_.find({kind, ns.empty() ? "default" : ns, name})) return slot;
    return store_.find({kind, "", name});
}

Result<void> Api::apply(const Json& manifest) {
    Json body = manifest;
    if (const SlotId slot = find_like(manifest)) {
        body = store_.at(slot).body;
        body.merge_patch(manifest);
    }
    const Result<SlotId> done = store_.put(std::move(body));
    if (!done) return std::unexpected(done.error());
    return {};
}

Result<void> Api::erase(const Json& manifest) {
    const SlotId slot = find_like(manifest);
    if (!slot)
        return fail(
            fmt::format("{} \"{}\" not found", text_at(manifest, {"kind"}), text_at(manifest, {"metadata", "name"})));
    erase_all(slot);
    return {};
}

void Api::erase_all(SlotId slot) {
    const Store::Entry& entry = store_.at(slot);
    if (entry.is_pod()) return remove_pod(slot, {});
    const std::set<SlotId> children = store_.children(entry.key);
    store_.remove(slot);
    for (SlotId child : children)
        erase_all(child);
}

}  // namespace reprieve
