// ResourceSlice: the devices that a driver offers, and the counters that partitions of them share.
#include <fmt/format.h>

#include <algorithm>

#include "base/quantity.h"
#include "manifest/decode_devices.h"
#include "manifest/decode_selector.h"
#include "manifest/object_source.h"

namespace reprieve {
namespace {

void decode_node_selector(Cursor& at, DeviceReach& out) {
    if (at.is_null()) return;
    out.terms.emplace();
    for (Fields f(at); f.next();) {
        if (f.id() == "nodeSelectorTerms"_key) decode_node_terms(*f, *out.terms);
    }
}

// False: no field of a reach.
bool decode_reach_field(Fields& f, DeviceReach& out) {
    switch (f.id()) {
        case "nodeName"_key:
            f->read(out.node);
            return true;
        case "allNodes"_key:
            if (!f->is_null()) f->read(out.all_nodes);
            return true;
        case "nodeSelector"_key:
            decode_node_selector(*f, out);
            return true;
        default:
            return false;
    }
}

void decode_attribute(Cursor& at, std::string_view name, DeviceAttribute& out, std::string& trouble) {
    bool known = false;
    for (Fields f(at); f.next();) {
        if (f->is_null()) continue;
        switch (f.id()) {
            case "int"_key:
                f->read(out.value.emplace<std::int64_t>());
                known = true;
                break;
            case "bool"_key:
                f->read(out.value.emplace<bool>());
                known = true;
                break;
            case "string"_key:
                f->read(out.value.emplace<std::string>());
                known = true;
                break;
            case "version"_key: {
                VersionText& version = out.value.emplace<VersionText>();
                f->read(version.text);
                if (auto parsed = Semver::parse(version.text))
                    version.value = Rare(std::move(*parsed));
                else
                    note_trouble(trouble, fmt::format("attribute {}: {}", name, parsed.error().message));
                known = true;
                break;
            }
            default:
                break;
        }
    }
    if (!known) note_trouble(trouble, fmt::format("attribute {} is of a kind that is not supported", name));
}

void read_optional_amount(Cursor& at, std::optional<Wide>& out, std::string& trouble) {
    if (at.is_null()) return;
    read_amount(at, out.emplace(), trouble);
}

void decode_policy(Cursor& at, SharePolicy& out, std::string& trouble) {
    for (Fields f(at); f.next();) {
        if (f->is_null()) continue;
        switch (f.id()) {
            case "default"_key:
                read_optional_amount(*f, out.usual, trouble);
                break;
            case "validValues"_key:
                for (Items item(*f); item.next();)
                    read_amount(*item, out.valid.emplace_back(), trouble);
                std::ranges::sort(out.valid);
                break;
            case "validRange"_key:
                out.has_range = true;
                for (Fields field(*f); field.next();) {
                    if (field.id() == "min"_key) read_optional_amount(*field, out.least, trouble);
                    if (field.id() == "max"_key) read_optional_amount(*field, out.most, trouble);
                    if (field.id() == "step"_key) read_optional_amount(*field, out.step, trouble);
                }
                break;
            default:
                break;
        }
    }
}

void decode_capacity(Cursor& at, DeviceCapacity& out, std::string& trouble) {
    for (Fields f(at); f.next();) {
        if (f->is_null()) continue;
        if (f.id() == "value"_key) read_amount(*f, out.value, trouble);
        if (f.id() == "requestPolicy"_key) decode_policy(*f, out.policy.make(), trouble);
    }
}

// `name_key`: what the set is called where it is defined, or where it is used.
void decode_counter_set(Cursor& at, KeyId name_key, CounterSet& out, std::string& trouble) {
    for (Fields f(at); f.next();) {
        if (f.id() == name_key) f->read(out.name);
        if (f.id() == "compatibilityGroups"_key && !f->is_null())
            note_trouble(trouble, "compatibilityGroups are not supported");
        if (f.id() != "counters"_key || f->is_null()) continue;
        for (Fields counter(*f); counter.next();) {
            NamedCounter& named = out.counters.emplace_back();
            named.name = at.words().string(counter.key());
            for (Fields field(*counter); field.next();) {
                if (field.id() == "value"_key) read_amount(*field, named.value, trouble);
            }
        }
    }
}

// The names as written; the driver may stand after the devices.
struct DeviceNames {
    std::vector<std::string> attributes;
    std::vector<std::string> capacity;
};

void decode_device_field(Fields& f, PooledDevice& out, DeviceNames& names, std::string& trouble) {
    if (f->is_null()) return;
    switch (f.id()) {
        case "nodeName"_key:
        case "allNodes"_key:
        case "nodeSelector"_key:
            static_cast<void>(decode_reach_field(f, out.reach.make()));
            break;
        case "name"_key:
            f->read(out.name);
            break;
        case "attributes"_key:
            for (Fields field(*f); field.next();) {
                names.attributes.emplace_back(field.key());
                decode_attribute(*field, field.key(), out.attributes.emplace_back(), trouble);
            }
            break;
        case "capacity"_key:
            for (Fields field(*f); field.next();) {
                names.capacity.emplace_back(field.key());
                decode_capacity(*field, out.capacity.emplace_back(), trouble);
            }
            break;
        case "consumesCounters"_key:
            for (Items item(*f); item.next();)
                decode_counter_set(*item, "counterSet"_key, out.consumes.make().emplace_back(), trouble);
            break;
        case "taints"_key:
            for (Items item(*f); item.next();)
                decode_device_taint(*item, out.taints.make().emplace_back());
            break;
        case "bindsToNode"_key:
            f->read(out.binds_to_node);
            break;
        case "bindingConditions"_key:
        case "bindingFailureConditions"_key: {
            const bool is_failure = f.id() == "bindingFailureConditions"_key;
            for (Items item(*f); item.next();) {
                BindingCondition& condition = out.binding.make().emplace_back();
                item->read(condition.type);
                condition.is_failure = is_failure;
            }
            break;
        }
        case "allowMultipleAllocations"_key:
            f->read(out.shareable);
            break;
        case "basic"_key:  // v1beta1
            for (Fields field(*f); field.next();)
                decode_device_field(field, out, names, trouble);
            break;
        case "nodeAllocatableResourceMappings"_key:
        case "nodeAllocatableResources"_key:
        case "skipNodeOperations"_key:
            note_trouble(trouble, fmt::format("{} is not supported", f.key()));
            break;
        default:
            break;
    }
}

void complete_names(Vocabulary& words, std::string_view driver, const DeviceNames& names, PooledDevice& device) {
    for (std::size_t i = 0; i < names.attributes.size(); ++i)
        device.attributes[i].name = qualified(words, names.attributes[i], driver);
    for (std::size_t i = 0; i < names.capacity.size(); ++i)
        device.capacity[i].name = qualified(words, names.capacity[i], driver);
    const auto by_text = [&](const auto& entry) {
        return std::pair(words.text(entry.name.domain), words.text(entry.name.id));
    };
    std::ranges::sort(device.attributes, {}, by_text);
    std::ranges::sort(device.capacity, {}, by_text);
    device.attributes.shrink_to_fit();
    device.capacity.shrink_to_fit();
}

void decode_pool(Cursor& at, ResourceSlice& slice) {
    for (Fields f(at); f.next();) {
        if (f.id() == "name"_key) f->read(slice.pool);
        if (f.id() == "generation"_key) f->read(slice.generation);
        if (f.id() == "resourceSliceCount"_key) f->read(slice.slice_count);
    }
}

}  // namespace

void decode_resource_slice(ObjectSource& from, Object& out) {
    ResourceSlice& slice = out.emplace<ResourceSlice>();
    slice.name = from.name;
    std::vector<DeviceNames> names;
    for (Fields& f = from.fields; f.next();) {
        if (f.id() != "spec"_key) continue;
        for (Fields field(*f); field.next();) {
            if (decode_reach_field(field, slice.reach)) continue;
            if (field->is_null()) continue;
            switch (field.id()) {
                case "driver"_key:
                    field->read(slice.driver);
                    break;
                case "pool"_key:
                    decode_pool(*field, slice);
                    break;
                case "perDeviceNodeSelection"_key:
                    field->read(slice.per_device);
                    break;
                case "devices"_key:
                    for (Items item(*field); item.next();) {
                        PooledDevice& device = slice.devices.emplace_back();
                        DeviceNames& written = names.emplace_back();
                        for (Fields of_device(*item); of_device.next();)
                            decode_device_field(of_device, device, written, slice.trouble);
                        if (!device.name) item->wrong("name", "is missing");
                    }
                    break;
                case "sharedCounters"_key:
                    for (Items item(*field); item.next();)
                        decode_counter_set(*item, "name"_key, slice.counters.emplace_back(), slice.trouble);
                    break;
                case "partitionTypeAttribute"_key:
                case "skipNodeOperations"_key:
                    note_trouble(slice.trouble, fmt::format("{} is not supported", field.key()));
                    break;
                default:
                    break;
            }
        }
    }
    if (from.reading.failed()) return;
    if (!slice.driver) return from.root.wrong("spec.driver", "is missing");
    if (!slice.pool) return from.root.wrong("spec.pool.name", "is missing");
    slice.devices.shrink_to_fit();
    for (std::size_t i = 0; i < names.size(); ++i)
        complete_names(from.words(), from.words().text(slice.driver), names[i], slice.devices[i]);
}

}  // namespace reprieve
