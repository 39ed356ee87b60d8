// ObjectSource: one object on its way in: who it is, and its fields still to be read. Each kind has one function that
// turns it into a value of the model.
#pragma once

#include <string_view>

#include "manifest/cursor.h"
#include "manifest/metadata.h"
#include "manifest/pod_draft.h"
#include "model/objects.h"

namespace reprieve {

struct ObjectSource {
    Reading& reading;
    Cursor& root;
    Fields& fields;  // at or after the first field that is not apiVersion, kind or metadata
    Metadata& metadata;
    PodDraft& draft;  // empty
    std::string_view group;
    std::string_view version;
    std::string_view kind;
    StringId name;
    StringId ns;  // none for kinds that have none

    [[nodiscard]] Vocabulary& words() const { return reading.words(); }
};

void decode_pod(ObjectSource& from, Object& out);
void decode_node(ObjectSource& from, Object& out);
void decode_namespace(ObjectSource& from, Object& out);
void decode_priority_class(ObjectSource& from, Object& out);

void decode_core_group(ObjectSource& from, Object& out);
void decode_composite_group(ObjectSource& from, Object& out);
void decode_volcano_group(ObjectSource& from, Object& out);
void decode_plain_group(ObjectSource& from, Object& out);  // scheduling.x-k8s.io and scheduling.sigs.k8s.io

void decode_queue(ObjectSource& from, Object& out);
void decode_elastic_quota(ObjectSource& from, Object& out);
void decode_hyper_node(ObjectSource& from, Object& out);
void decode_budget(ObjectSource& from, Object& out);

void decode_workload(ObjectSource& from, Object& out);
void decode_volcano_job(ObjectSource& from, Object& out);
void decode_revision(ObjectSource& from, Object& out);
void decode_knative_service(ObjectSource& from, Object& out);
void decode_serving(ObjectSource& from, Object& out);

void decode_persistent_volume(ObjectSource& from, Object& out);
void decode_volume_claim(ObjectSource& from, Object& out);
void decode_storage_class(ObjectSource& from, Object& out);
void decode_csi_node(ObjectSource& from, Object& out);
void decode_csi_driver(ObjectSource& from, Object& out);
void decode_csi_capacity(ObjectSource& from, Object& out);

void decode_resource_slice(ObjectSource& from, Object& out);
void decode_device_class(ObjectSource& from, Object& out);
void decode_resource_claim(ObjectSource& from, Object& out);
void decode_claim_template(ObjectSource& from, Object& out);
void decode_taint_rule(ObjectSource& from, Object& out);

}  // namespace reprieve
