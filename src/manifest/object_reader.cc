#include "manifest/object_reader.h"

#include <fmt/format.h>

#include "manifest/object_source.h"

namespace reprieve {
namespace {

struct Kind {
    std::string_view kind;
    std::string_view group;
    bool namespaced;
    void (*decode)(ObjectSource&, Object&);
    std::string_view versions = {};  // that mean what we read; empty: whatever comes
};

// Alpha versions said other things by the same names.
constexpr std::string_view kDeviceVersions = " v1 v1beta1 v1beta2 ";
constexpr std::string_view kTaintRuleVersions = " v1 v1beta1 v1beta2 v1alpha3 ";

constexpr Kind kKinds[] = {
    {"Pod", "", true, decode_pod},
    {"Node", "", false, decode_node},
    {"Namespace", "", false, decode_namespace},
    {"PersistentVolume", "", false, decode_persistent_volume},
    {"PersistentVolumeClaim", "", true, decode_volume_claim},
    {"StorageClass", "storage.k8s.io", false, decode_storage_class},
    {"CSINode", "storage.k8s.io", false, decode_csi_node},
    {"CSIDriver", "storage.k8s.io", false, decode_csi_driver},
    {"CSIStorageCapacity", "storage.k8s.io", true, decode_csi_capacity},
    {"ResourceSlice", "resource.k8s.io", false, decode_resource_slice, kDeviceVersions},
    {"DeviceClass", "resource.k8s.io", false, decode_device_class, kDeviceVersions},
    {"ResourceClaim", "resource.k8s.io", true, decode_resource_claim, kDeviceVersions},
    {"ResourceClaimTemplate", "resource.k8s.io", true, decode_claim_template, kDeviceVersions},
    {"DeviceTaintRule", "resource.k8s.io", false, decode_taint_rule, kTaintRuleVersions},
    {"PriorityClass", "scheduling.k8s.io", false, decode_priority_class},
    {"PodDisruptionBudget", "policy", true, decode_budget},
    {"PodGroup", "scheduling.k8s.io", true, decode_core_group},
    {"CompositePodGroup", "scheduling.k8s.io", true, decode_composite_group},
    {"PodGroup", "scheduling.volcano.sh", true, decode_volcano_group},
    {"PodGroup", "scheduling.x-k8s.io", true, decode_plain_group},
    {"PodGroup", "scheduling.sigs.k8s.io", true, decode_plain_group},
    {"Queue", "scheduling.volcano.sh", false, decode_queue},
    {"ElasticQuota", "scheduling.sigs.k8s.io", true, decode_elastic_quota},
    {"ElasticQuota", "scheduling.x-k8s.io", true, decode_elastic_quota},
    {"HyperNode", "topology.volcano.sh", false, decode_hyper_node},
    {"Deployment", "apps", true, decode_workload},
    {"ReplicaSet", "apps", true, decode_workload},
    {"StatefulSet", "apps", true, decode_workload},
    {"DaemonSet", "apps", true, decode_workload},
    {"Job", "batch", true, decode_workload},
    {"Job", "batch.volcano.sh", true, decode_volcano_job},
    {"Revision", "serving.knative.dev", true, decode_revision},
    {"Service", "serving.knative.dev", true, decode_knative_service},
    {"ServingDeployment", "reprieve.dev", true, decode_serving},
};

const Kind* find_kind(std::string_view kind, std::string_view group) {
    for (const Kind& known : kKinds) {
        if (known.kind == kind && known.group == group) return &known;
    }
    return nullptr;
}

// The group is what stands before the slash; the core group has no name and no slash.
std::string_view group_of(std::string_view api_version) {
    const std::size_t slash = api_version.find('/');
    return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

std::string_view version_of(std::string_view api_version) {
    const std::size_t slash = api_version.find('/');
    return slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
}

}  // namespace

ObjectReader::Outcome ObjectReader::read(Cursor& root, Fields& fields, const Header& defaults, Object& out) {
    metadata_.clear();
    draft_.clear();
    header_ = defaults;

    read_header(fields);
    if (!reading_.failed() && header_.kind.empty()) root.wrong("kind", "is missing");
    const Outcome outcome = reading_.failed() ? Outcome::kFailed : decode(root, fields, out);
    if (outcome == Outcome::kFailed) {
        if (metadata_.name.empty()) find_name();
        const Kind* kind = find_kind(header_.kind, group_of(header_.api_version));
        reading_.error().object = name_of_object(kind == nullptr || kind->namespaced);
    }
    return outcome;
}

// Reads up to where apiVersion, kind and metadata are known, and leaves `fields` where a decoder starts.
void ObjectReader::read_header(Fields& fields) {
    bool has_version = !header_.api_version.empty();
    bool has_kind = !header_.kind.empty();
    bool has_metadata = false;
    bool passed_over = false;
    while (!(has_version && has_kind && has_metadata) && fields.next()) {
        switch (fields.id()) {
            case "apiVersion"_key:
                fields->read(header_.api_version);
                has_version = true;
                break;
            case "kind"_key:
                fields->read(header_.kind);
                has_kind = true;
                break;
            case "metadata"_key:
                decode_metadata(*fields, metadata_);
                has_metadata = true;
                break;
            default:
                passed_over = true;
                break;
        }
    }
    if (passed_over) fields.rewind();
}

ObjectReader::Outcome ObjectReader::decode(Cursor& root, Fields& fields, Object& out) {
    if (own_kinds_.contains(header_.kind)) {
        reading_.about(header_.kind, metadata_.ns.empty() ? std::string_view("default") : metadata_.ns, metadata_.name);
        return Outcome::kOwn;
    }
    if (header_.api_version.empty()) {
        root.wrong("apiVersion", "is missing");
        return Outcome::kFailed;
    }
    const std::string_view group = group_of(header_.api_version);
    const Kind* kind = find_kind(header_.kind, group);
    if (kind == nullptr) {
        // The core Workload is a template: its PodGroups say all that it says.
        const bool says_nothing = header_.kind == "Workload" && group == "scheduling.k8s.io";
        if (!says_nothing)
            ++ignored_[group.empty() ? std::string(header_.kind) : fmt::format("{}.{}", header_.kind, group)];
        return Outcome::kIgnored;
    }
    const std::string_view version = version_of(header_.api_version);
    if (!kind->versions.empty() && kind->versions.find(fmt::format(" {} ", version)) == std::string_view::npos) {
        ++ignored_[fmt::format("{}.{}.{}", header_.kind, version, group)];
        return Outcome::kIgnored;
    }
    if (metadata_.name.empty()) {
        root.wrong("metadata.name", "is missing");
        return Outcome::kFailed;
    }
    Vocabulary& words = reading_.words();
    const std::string_view ns = metadata_.ns.empty() ? std::string_view("default") : metadata_.ns;
    reading_.about(header_.kind, kind->namespaced ? ns : std::string_view(), metadata_.name);
    ObjectSource source{.reading = reading_,
                        .root = root,
                        .fields = fields,
                        .metadata = metadata_,
                        .draft = draft_,
                        .group = group,
                        .version = version,
                        .kind = header_.kind,
                        .name = {},
                        .ns = {}};
    // The names of pods are many and used once: they are no part of the vocabulary.
    if (kind->decode != decode_pod) source.name = words.string(metadata_.name);
    if (kind->namespaced) source.ns = words.string(ns);
    kind->decode(source, out);
    return reading_.failed() ? Outcome::kFailed : Outcome::kObject;
}

// After an error before the name was read: annotations stand before it. Another look, for the name alone.
void ObjectReader::find_name() {
    const std::string_view text = reading_.document();
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    simdjson::ondemand::object object;
    if (parser.iterate(text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING).get(document) !=
        simdjson::SUCCESS)
        return;
    if (document.find_field_unordered("metadata").get_object().get(object) != simdjson::SUCCESS) return;
    for (auto [field, key] : {std::pair(&metadata_.ns, "namespace"), std::pair(&metadata_.name, "name")}) {
        simdjson::ondemand::raw_json_string raw;
        std::string_view name;
        const auto code = object.find_field_unordered(key).get_raw_json_string().get(raw);
        if (code == simdjson::NO_SUCH_FIELD) continue;
        if (code != simdjson::SUCCESS) return;  // broken: simdjson must not be asked again
        if (reading_.text(raw.raw(), name) && fault_of_name(name).empty()) *field = name;
    }
}

std::string ObjectReader::name_of_object(bool namespaced) const {
    std::string name(header_.kind);
    if (metadata_.name.empty()) return name;
    if (!name.empty()) name += ' ';
    if (namespaced) name += fmt::format("{}/", metadata_.ns.empty() ? std::string_view("default") : metadata_.ns);
    return name.append(metadata_.name);
}

}  // namespace reprieve
