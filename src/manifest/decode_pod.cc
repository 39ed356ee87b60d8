// Pod: its metadata and status; the spec is read by decode_pod_spec.
#include <fmt/format.h>

#include "manifest/kai_notes.h"
#include "manifest/object_source.h"
#include "manifest/pod_notes.h"

namespace reprieve {
namespace {

constexpr std::int64_t kUsualGraceSeconds = 30;

// A pod in phase Unknown is taken to run on: its node is lost, not its claim to the room.
constexpr std::pair<std::string_view, PodPhase> kPhases[] = {{"Pending", PodPhase::kPending},
                                                             {"Running", PodPhase::kRunning},
                                                             {"Succeeded", PodPhase::kSucceeded},
                                                             {"Failed", PodPhase::kFailed},
                                                             {"Unknown", PodPhase::kRunning},
                                                             {"", PodPhase::kPending}};

Resize resize_from(std::string_view reason) {
    if (reason == "Deferred") return Resize::kDeferred;
    return reason == "Infeasible" ? Resize::kInfeasible : Resize::kNone;
}

void decode_condition(Cursor& at, Pod& pod, Resize& resize) {
    std::string_view type;
    std::string_view status;
    std::string_view reason;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "type"_key:
                f->read(type);
                break;
            case "status"_key:
                f->read(status);
                break;
            case "reason"_key:
                f->read(reason);
                break;
            default:
                break;
        }
    }
    if (status != "True") return;
    if (type == "Ready") pod.ready = true;
    if (type == "DisruptionTarget" && reason == "PreemptionByScheduler") pod.disruption_target = true;
    if (type == "PodResizePending") resize = resize_from(reason);
}

void decode_claim_status(Cursor& at, Pod& pod) {
    auto& [entry, claim] = pod.make_extras().claim_statuses.emplace_back();
    for (Fields f(at); f.next();) {
        if (f.id() == "name"_key) f->read(entry);
        if (f.id() == "resourceClaimName"_key) f->read(claim);
    }
}

void decode_status(Cursor& at, Pod& pod, PodDraft& draft, Resize& resize) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "phase"_key:
                f->choose(pod.phase, kPhases);
                break;
            case "startTime"_key:
                f->read(pod.started);
                break;
            case "nominatedNodeName"_key:
                f->read(pod.nominated);
                break;
            case "conditions"_key:
                for (Items item(*f); item.next();)
                    decode_condition(*item, pod, resize);
                break;
            case "containerStatuses"_key:
            case "initContainerStatuses"_key:
                decode_container_statuses(*f, draft);
                break;
            case "resourceClaimStatuses"_key:
                for (Items item(*f); item.next();)
                    decode_claim_status(*item, pod);
                break;
            case "extendedResourceClaimStatus"_key:
                if (f->is_null()) break;
                for (Fields field(*f); field.next();) {
                    if (field.id() == "resourceClaimName"_key) field->read(pod.make_extras().extended_claim);
                }
                break;
            case "resize"_key: {  // before conditions said it
                std::string_view state;
                f->read(state);
                if (resize == Resize::kNone) resize = resize_from(state);
                break;
            }
            default:
                break;
        }
    }
}

void take_draft(PodDraft& draft, const Metadata& metadata, Pod& pod) {
    pod.priority = draft.priority;
    pod.priority_class = draft.priority_class;
    pod.preemption_policy = draft.preemption_policy;
    pod.node = draft.node;
    pod.gated = draft.gated;
    pod.group = draft.group;
    pod.created = metadata.created;
    pod.deleting = metadata.deleting;
    pod.grace_seconds =
        (pod.terminating() ? metadata.deletion_grace_seconds : draft.grace_seconds).value_or(kUsualGraceSeconds);
    pod.owner = metadata.owner;
    if (!draft.unsupported.empty()) pod.make_extras().hold = draft.unsupported;
}

}  // namespace

void decode_container_statuses(Cursor& at, PodDraft& draft) {
    for (Items item(at); item.next();) {
        ContainerStatusDraft& status = draft.statuses.emplace_back();
        for (Fields f(*item); f.next();) {
            switch (f.id()) {
                case "name"_key:
                    f->read(status.name);
                    break;
                case "allocatedResources"_key:
                    f->read(status.allocated);
                    break;
                case "resources"_key:
                    for (Fields resource(*f); resource.next();) {
                        if (resource.id() == "requests"_key) resource->read(status.actual);
                    }
                    break;
                default:
                    break;
            }
        }
    }
}

void decode_pod(ObjectSource& from, Object& out) {
    Pod& pod = out.emplace<Pod>();
    Resize resize = Resize::kNone;
    for (Fields& f = from.fields; f.next();) {
        switch (f.id()) {
            case "spec"_key:
                decode_pod_spec(*f, from.draft);
                break;
            case "status"_key:
                decode_status(*f, pod, from.draft, resize);
                break;
            default:
                break;
        }
    }
    if (from.reading.failed()) return;

    pod.ns = from.ns;
    pod.name = from.metadata.name;
    pod.uid = from.metadata.uid;
    take_draft(from.draft, from.metadata, pod);
    read_pod_notes(from.reading, from.metadata, pod, from.draft.shape.devices);
    settle_kai_ask(from.reading, pod, from.draft.shape.devices);

    PodRequests requests = sum_requests(from.draft, resize, from.words());
    if (requests.held) pod.make_extras().resize_held = std::move(requests.held);
    finish_affinity(from.draft, from.ns, from.metadata.labels);
    finish_shape(from.reading, from.draft, from.metadata, std::move(requests));
    protect_keeper(from.draft.shape.devices, pod);
    pod.labels = from.words().labels(std::move(from.metadata.labels));
    pod.spec = from.words().spec(std::move(from.draft.shape));
}

}  // namespace reprieve
