// Controllers of pods, and serving deployments.
#include <fmt/format.h>

#include "manifest/decode_selector.h"
#include "manifest/object_source.h"

namespace reprieve {
namespace {

WorkloadKind kind_of(std::string_view kind) {
    switch (key_id(kind)) {
        case "ReplicaSet"_key:
            return WorkloadKind::kReplicaSet;
        case "StatefulSet"_key:
            return WorkloadKind::kStatefulSet;
        case "DaemonSet"_key:
            return WorkloadKind::kDaemonSet;
        case "Job"_key:
            return WorkloadKind::kJob;
        default:
            return WorkloadKind::kDeployment;
    }
}

void start_workload(ObjectSource& from, WorkloadKind kind, Workload& workload) {
    workload.kind = kind;
    workload.ns = from.ns;
    workload.name = from.name;
    workload.uid = from.metadata.uid;
    workload.owner = from.metadata.owner;
}

// What one replica asks for, out of the draft of its template.
void take_template(ObjectSource& from, const char* containers, Workload& workload) {
    PodDraft& draft = from.draft;
    workload.template_priority = draft.priority;
    workload.template_priority_class = draft.priority_class;
    PodRequests sums = sum_requests(draft, Resize::kNone, from.words());
    DeviceAsk devices;
    if (std::string fault = take_device_ask(from.words(), sums.requests, devices); !fault.empty()) {
        return from.reading.fail(containers, std::move(fault), draft.containers_at);
    }
    sums.requests.drop_zeros();
    sums.requests.set(kPods, 1);
    workload.replica_requests = std::move(sums.requests);
}

void decode_template(Cursor& at, PodDraft& draft) {
    for (Fields f(at); f.next();) {
        if (f.id() == "spec"_key) decode_pod_spec(*f, draft);
    }
}

void decode_spec(Cursor& at, PodDraft& draft, Workload& workload) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "replicas"_key:
                f->read(workload.replicas, 0, INT32_MAX);
                break;
            case "parallelism"_key:  // of a Job
                if (workload.kind == WorkloadKind::kJob) f->read(workload.replicas, 0, INT32_MAX);
                break;
            case "selector"_key:
                decode_selector(*f, workload.selector);
                break;
            case "template"_key:
                decode_template(*f, draft);
                break;
            default:
                break;
        }
    }
}

void decode_status(Cursor& at, Workload& workload) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "replicas"_key:
                f->read(workload.status_replicas);
                break;
            case "updatedReplicas"_key:
                f->read(workload.updated_replicas);
                break;
            default:
                break;
        }
    }
}

void decode_plane(Cursor& at, ServingPlane& out) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "name"_key:
                f->read(out.name);
                break;
            case "score"_key:
                f->read(out.score);
                break;
            case "committed"_key:
                if (!f->is_null()) f->read(out.committed.emplace(), 0, INT32_MAX);
                break;
            default:
                break;
        }
    }
    if (!out.name) at.wrong("name", "is missing");
}

void decode_planes(Cursor& at, ServingDeployment& serving) {
    for (Items item(at); item.next();) {
        ServingPlane plane;
        decode_plane(*item, plane);
        for (const ServingPlane& other : serving.planes) {
            if (other.name == plane.name)
                return item->wrong("name", fmt::format("\"{}\" is listed twice", at.words().text(plane.name)));
        }
        serving.planes.push_back(plane);
    }
}

}  // namespace

void decode_workload(ObjectSource& from, Object& out) {
    Workload& workload = out.emplace<Workload>();
    start_workload(from, kind_of(from.kind), workload);
    for (Fields& f = from.fields; f.next();) {
        switch (f.id()) {
            case "spec"_key:
                decode_spec(*f, from.draft, workload);
                break;
            case "status"_key:
                decode_status(*f, workload);
                break;
            default:
                break;
        }
    }
    for (const Note& note : from.metadata.notes) {
        if (note.id() != "reprieve.dev/desired-replicas"_key || workload.kind != WorkloadKind::kDeployment) continue;
        note.read(from.reading, workload.desired_replicas.emplace(), 0, INT32_MAX);
    }
    take_template(from, "spec.template.spec.containers", workload);
    workload.labels = std::move(from.metadata.labels);
}

// The template of the first task stands for the replica.
void decode_volcano_job(ObjectSource& from, Object& out) {
    Workload& workload = out.emplace<Workload>();
    start_workload(from, WorkloadKind::kVolcanoJob, workload);
    workload.replicas = 0;
    std::int64_t least = 0;  // read to find slips: the group of the job says what holds
    for (Fields& f = from.fields; f.next();) {
        if (f.id() != "spec"_key) continue;
        for (Fields field(*f); field.next();) {
            if (field.id() == "minAvailable"_key && !field->is_null()) field->read(least, 0, INT32_MAX);
            if (field.id() != "tasks"_key) continue;
            for (Items task(*field); task.next();) {
                std::int64_t replicas = 1;
                for (Fields part(*task); part.next();) {
                    if (part.id() == "replicas"_key) part->read(replicas, 0, INT32_MAX);
                    if (part.id() == "minAvailable"_key && !part->is_null()) part->read(least, 0, INT32_MAX);
                    if (part.id() == "template"_key && task.index() == 0) decode_template(*part, from.draft);
                }
                workload.replicas += replicas;
            }
        }
    }
    take_template(from, "spec.tasks[0].template.spec.containers", workload);
    workload.labels = std::move(from.metadata.labels);
}

// A Revision's spec is a pod spec; what it may grow to stands in an annotation.
void decode_revision(ObjectSource& from, Object& out) {
    Workload& workload = out.emplace<Workload>();
    start_workload(from, WorkloadKind::kRevision, workload);
    workload.replicas = 0;
    for (Fields& f = from.fields; f.next();) {
        if (f.id() != "spec"_key) continue;
        for (Fields field(*f); field.next();)
            decode_pod_spec_field(field, from.draft);
    }
    bool serving = false;
    for (const Note& note : from.metadata.notes) {
        switch (note.id()) {
            case "autoscaling.knative.dev/max-scale"_key:
            case "autoscaling.knative.dev/maxScale"_key:
                note.read(from.reading, workload.replicas, 0, INT32_MAX);
                break;
            case "reprieve.dev/serving"_key:
                serving = serving || note.is_label();
                break;
            default:
                break;
        }
    }
    if (serving && workload.replicas == 0) {
        from.root.wrong("metadata.annotations[autoscaling.knative.dev/max-scale]",
                        "is missing or 0, which means unlimited: a plane of a serving deployment needs a number");
    }
    take_template(from, "spec.containers", workload);
    workload.labels = std::move(from.metadata.labels);
}

// A Service asks for as many replicas as its template's min-scale says; what it should have may stand beside it.
void decode_knative_service(ObjectSource& from, Object& out) {
    Workload& workload = out.emplace<Workload>();
    start_workload(from, WorkloadKind::kKnativeService, workload);
    Metadata of_template;
    for (Fields& f = from.fields; f.next();) {
        if (f.id() != "spec"_key) continue;
        for (Fields field(*f); field.next();) {
            if (field.id() != "template"_key) continue;
            for (Fields part(*field); part.next();) {
                if (part.id() == "metadata"_key) decode_metadata(*part, of_template);
                if (part.id() == "spec"_key) decode_pod_spec(*part, from.draft);
            }
        }
    }
    for (const Note& note : of_template.notes) {
        const bool least =
            note.id() == "autoscaling.knative.dev/min-scale"_key || note.id() == "autoscaling.knative.dev/minScale"_key;
        if (least) note.inside("spec.template.").read(from.reading, workload.replicas, 0, INT32_MAX);
    }
    workload.desired_replicas = workload.replicas;
    for (const Note& note : from.metadata.notes) {
        if (note.id() == "reprieve.dev/desired-replicas"_key)
            note.read(from.reading, *workload.desired_replicas, 0, INT32_MAX);
    }
    take_template(from, "spec.template.spec.containers", workload);
    workload.labels = std::move(from.metadata.labels);
}

void decode_serving(ObjectSource& from, Object& out) {
    ServingDeployment& serving = out.emplace<ServingDeployment>();
    serving.ns = from.ns;
    serving.name = from.name;
    for (Fields& f = from.fields; f.next();) {
        if (f.id() != "spec"_key) continue;
        for (Fields field(*f); field.next();) {
            switch (field.id()) {
                case "priority"_key:
                    field->read(serving.priority);
                    break;
                case "priorityClassName"_key:
                    field->read(serving.priority_class);
                    break;
                case "replicas"_key:
                    field->read(serving.replicas, 0, INT32_MAX);
                    break;
                case "resources"_key:
                    field->read(serving.resources);
                    break;
                case "planes"_key:
                    decode_planes(*field, serving);
                    break;
                default:
                    break;
            }
        }
    }
}

}  // namespace reprieve
