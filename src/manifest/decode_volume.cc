// PersistentVolume, PersistentVolumeClaim, StorageClass and CSINode.
#include <fmt/format.h>

#include "manifest/decode_selector.h"
#include "manifest/object_source.h"

namespace reprieve {
namespace {

constexpr std::pair<std::string_view, AccessMode> kAccessModes[] = {
    {"ReadWriteOnce", AccessMode::kReadWriteOnce},
    {"ReadOnlyMany", AccessMode::kReadOnlyMany},
    {"ReadWriteMany", AccessMode::kReadWriteMany},
    {"ReadWriteOncePod", AccessMode::kReadWriteOncePod}};
constexpr std::pair<std::string_view, bool> kVolumeModes[] = {{"Filesystem", true}, {"Block", false}};
constexpr std::pair<std::string_view, bool> kBindingModes[] = {{"Immediate", false}, {"WaitForFirstConsumer", true}};

void decode_modes(Cursor& at, std::vector<AccessMode>& out) {
    for (Items item(at); item.next();)
        item->choose(out.emplace_back(), kAccessModes);
    sort_unique(out);
}

void decode_storage(Cursor& at, std::int64_t& out) {
    for (Fields f(at); f.next();) {
        if (f.id() == "storage"_key) f->read_quantity(out, QuantityUnit::kWhole);
    }
}

void decode_node_affinity(Cursor& at, PersistentVolume& volume) {
    for (Fields f(at); f.next();) {
        if (f.id() != "required"_key || f->is_null()) continue;
        volume.node_affinity_required = true;
        for (Fields field(*f); field.next();) {
            if (field.id() == "nodeSelectorTerms"_key) decode_node_terms(*field, volume.node_terms);
        }
    }
}

void decode_volume_spec(Cursor& at, PersistentVolume& volume) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "storageClassName"_key:
                f->read(volume.storage_class);
                break;
            case "capacity"_key:
                decode_storage(*f, volume.capacity);
                break;
            case "accessModes"_key:
                decode_modes(*f, volume.modes);
                break;
            case "volumeMode"_key:
                f->choose(volume.filesystem, kVolumeModes);
                break;
            case "nodeAffinity"_key:
                decode_node_affinity(*f, volume);
                break;
            case "claimRef"_key:
                for (Fields field(*f); field.next();) {
                    if (field.id() == "namespace"_key) field->read(volume.claim_ns);
                    if (field.id() == "name"_key) field->read(volume.claim_name);
                }
                break;
            case "csi"_key:
                for (Fields field(*f); field.next();) {
                    if (field.id() == "driver"_key) field->read(volume.csi_driver);
                    if (field.id() == "volumeHandle"_key) field->read(volume.csi_handle);
                }
                break;
            default:
                break;
        }
    }
}

void decode_claim_spec(Cursor& at, VolumeClaim& claim) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "storageClassName"_key:
                f->read(claim.storage_class, claim.storage_class_written);
                break;
            case "volumeName"_key:
                f->read(claim.volume);
                break;
            case "accessModes"_key:
                decode_modes(*f, claim.modes);
                break;
            case "volumeMode"_key:
                f->choose(claim.filesystem, kVolumeModes);
                break;
            case "selector"_key:
                decode_selector(*f, claim.selector);
                break;
            case "resources"_key:
                for (Fields field(*f); field.next();) {
                    if (field.id() == "requests"_key) decode_storage(*field, claim.request);
                }
                break;
            default:
                break;
        }
    }
}

// The phase of a volume or claim.
std::string_view decode_phase(Cursor& at) {
    std::string_view phase;
    for (Fields f(at); f.next();) {
        if (f.id() == "phase"_key) f->read(phase);
    }
    return phase;
}

void decode_allowed_topology(Cursor& at, NodeSelectorTerm& out) {
    for (Fields f(at); f.next();) {
        if (f.id() != "matchLabelExpressions"_key) continue;
        for (Items item(*f); item.next();) {
            Requirement& requirement = out.labels.emplace_back();
            requirement.op = SelectorOp::kIn;
            for (Fields field(*item); field.next();) {
                if (field.id() == "key"_key) field->read(requirement.key);
                if (field.id() == "values"_key) field->read(requirement.values);
            }
            if (!requirement.key) item->wrong("key", "is missing");
            sort_unique(requirement.values);
        }
    }
    sort_unique(out.labels);
}

void decode_driver(Cursor& at, CsiNode& node) {
    StringId name;
    std::optional<std::int32_t> count;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "name"_key:
                f->read(name);
                break;
            case "allocatable"_key:
                for (Fields field(*f); field.next();) {
                    if (field.id() == "count"_key && !field->is_null()) field->read(count.emplace(), 0);
                }
                break;
            default:
                break;
        }
    }
    if (!name) return at.wrong("name", "is missing");
    node.limits.emplace_back(name, count);
}

}  // namespace

void decode_persistent_volume(ObjectSource& from, Object& out) {
    PersistentVolume& volume = out.emplace<PersistentVolume>();
    volume.name = from.name;
    volume.deleting = from.metadata.deleting != Time();
    for (Fields& f = from.fields; f.next();) {
        switch (f.id()) {
            case "spec"_key:
                decode_volume_spec(*f, volume);
                break;
            case "status"_key: {
                const std::string_view phase = decode_phase(*f);
                volume.available = phase.empty() || phase == "Available";
                break;
            }
            default:
                break;
        }
    }
    volume.labels = std::move(from.metadata.labels);
}

void decode_volume_claim(ObjectSource& from, Object& out) {
    VolumeClaim& claim = out.emplace<VolumeClaim>();
    claim.ns = from.ns;
    claim.name = from.name;
    claim.deleting = from.metadata.deleting != Time();
    for (Fields& f = from.fields; f.next();) {
        switch (f.id()) {
            case "spec"_key:
                decode_claim_spec(*f, claim);
                break;
            case "status"_key:
                claim.lost = decode_phase(*f) == "Lost";
                break;
            default:
                break;
        }
    }
    for (const Note& note : from.metadata.notes) {
        if (note.is_label()) continue;
        if (note.id() == "volume.kubernetes.io/selected-node"_key) note.read(from.reading, claim.selected_node);
        if (note.id() == "volume.beta.kubernetes.io/storage-class"_key && !claim.storage_class_written) {
            note.read(from.reading, claim.storage_class);
            claim.storage_class_written = true;
        }
    }
}

void decode_storage_class(ObjectSource& from, Object& out) {
    StorageClass& storage = out.emplace<StorageClass>();
    storage.name = from.name;
    for (Fields& f = from.fields; f.next();) {
        switch (f.id()) {
            case "provisioner"_key:
                f->read(storage.provisioner);
                break;
            case "volumeBindingMode"_key:
                f->choose(storage.wait_for_first_consumer, kBindingModes);
                break;
            case "allowedTopologies"_key:
                for (Items item(*f); item.next();)
                    decode_allowed_topology(*item, storage.allowed_topologies.emplace_back());
                sort_unique(storage.allowed_topologies);
                break;
            default:
                break;
        }
    }
    for (const Note& note : from.metadata.notes) {
        const bool marks_default = note.id() == "storageclass.kubernetes.io/is-default-class"_key ||
                                   note.id() == "storageclass.beta.kubernetes.io/is-default-class"_key;
        if (marks_default && !note.is_label() && note.text(from.reading) == "true") storage.is_default = true;
    }
}

void decode_csi_node(ObjectSource& from, Object& out) {
    CsiNode& node = out.emplace<CsiNode>();
    node.name = from.name;
    for (Fields& f = from.fields; f.next();) {
        if (f.id() != "spec"_key) continue;
        for (Fields field(*f); field.next();) {
            if (field.id() != "drivers"_key) continue;
            for (Items item(*field); item.next();)
                decode_driver(*item, node);
        }
    }
    sort_unique(node.limits);
}

}  // namespace reprieve
