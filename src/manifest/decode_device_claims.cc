// DeviceClass, ResourceClaim, ResourceClaimTemplate and DeviceTaintRule; a pod's entries for claims, and what its
// containers would claim for extended resources.
#include <fmt/format.h>

#include <algorithm>

#include "manifest/binding_conditions.h"
#include "manifest/decode_devices.h"
#include "manifest/decode_selector.h"
#include "manifest/object_source.h"

namespace reprieve {
namespace {

// What a claim says of its devices beside their names.
struct DeviceToBind {
    StringId driver;
    StringId pool;
    StringId device;
    std::vector<std::string> binding_conditions;
    std::vector<std::string> failure_conditions;
};
struct DeviceReport {
    StringId driver;
    StringId pool;
    StringId device;
    std::vector<std::string> true_conditions;
};

void decode_words(Cursor& at, std::vector<std::string>& out) {
    for (Items item(at); item.next();)
        item->read(out.emplace_back());
}

void decode_report(Cursor& at, DeviceReport& out) {
    for (Fields f(at); f.next();) {
        if (f->is_null()) continue;
        if (f.id() == "driver"_key) f->read(out.driver);
        if (f.id() == "pool"_key) f->read(out.pool);
        if (f.id() == "device"_key) f->read(out.device);
        if (f.id() != "conditions"_key) continue;
        for (Items item(*f); item.next();) {
            std::string type;
            std::string_view status;
            for (Fields field(*item); field.next();) {
                if (field.id() == "type"_key) field->read(type);
                if (field.id() == "status"_key) field->read(status);
            }
            if (status == "True") out.true_conditions.push_back(std::move(type));
        }
    }
}

void note_binding(const Vocabulary& words,
                  const std::vector<DeviceToBind>& devices,
                  const std::vector<DeviceReport>& reports,
                  ClaimAllocation& out) {
    const auto look = look_at_binding(devices, [&](const DeviceToBind& device, const std::string& type) {
        return std::ranges::any_of(reports, [&](const DeviceReport& report) {
            return report.driver == device.driver && report.pool == device.pool && report.device == device.device &&
                   std::ranges::find(report.true_conditions, type) != report.true_conditions.end();
        });
    });
    if (look.state == BindingState::kReady) return;
    out.failed = look.state == BindingState::kFailed;
    out.not_ready = fmt::format("{} {} of its device {}/{}/{}",
                                out.failed ? "cannot be bound to: its driver reports" : "waits for condition",
                                look.condition,
                                words.text(look.device->driver),
                                words.text(look.device->pool),
                                words.text(look.device->device));
}

void decode_result(Cursor& at, AllocatedDevice& out, DeviceToBind& binding, std::string& trouble) {
    std::vector<std::pair<std::string, Wide>> consumed;
    for (Fields f(at); f.next();) {
        if (f->is_null()) continue;
        switch (f.id()) {
            case "request"_key:
                f->read(out.request);
                break;
            case "driver"_key:
                f->read(out.driver);
                break;
            case "pool"_key:
                f->read(out.pool);
                break;
            case "device"_key:
                f->read(out.device);
                break;
            case "adminAccess"_key:
                f->read(out.admin);
                break;
            case "shareID"_key:
                out.share = true;
                break;
            case "bindingConditions"_key:
                decode_words(*f, binding.binding_conditions);
                break;
            case "bindingFailureConditions"_key:
                decode_words(*f, binding.failure_conditions);
                break;
            case "consumedCapacity"_key:
                for (Fields field(*f); field.next();)
                    read_amount(*field, consumed.emplace_back(field.key(), 0).second, trouble);
                break;
            default:
                break;
        }
    }
    for (const auto& [name, value] : consumed)
        out.consumed.push_back({qualified(at.words(), name, at.words().text(out.driver)), value});
    out.share = out.share || !out.consumed.empty();
    binding.driver = out.driver;
    binding.pool = out.pool;
    binding.device = out.device;
}

void decode_allocation(Cursor& at, ResourceClaim& claim, std::vector<DeviceToBind>& to_bind) {
    if (at.is_null()) return;
    ClaimAllocation& allocation = claim.allocation.emplace();
    for (Fields f(at); f.next();) {
        if (f->is_null()) continue;
        if (f.id() == "devices"_key) {
            for (Fields field(*f); field.next();) {
                if (field.id() != "results"_key || field->is_null()) continue;
                for (Items item(*field); item.next();)
                    decode_result(*item, allocation.devices.emplace_back(), to_bind.emplace_back(), claim.spec.trouble);
            }
        } else if (f.id() == "allocationTimestamp"_key) {
            f->read(allocation.since);
        } else if (f.id() == "nodeSelector"_key) {
            allocation.nodes.emplace();
            for (Fields field(*f); field.next();) {
                if (field.id() == "nodeSelectorTerms"_key) decode_node_terms(*field, *allocation.nodes);
            }
        }
    }
}

void decode_consumer(Cursor& at, ClaimConsumer& out) {
    std::string_view group;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "apiGroup"_key:
                f->read(group);
                break;
            case "resource"_key:
                f->read(out.resource);
                break;
            case "name"_key:
                f->read(out.name);
                break;
            case "uid"_key:
                f->read(out.uid);
                break;
            default:
                break;
        }
    }
    out.is_pod = group.empty() && out.resource == "pods";
}

// Resource names that are neither Kubernetes' own nor a node's storage or memory pages.
bool is_extended(std::string_view name) {
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos || name.starts_with("requests.")) return false;
    const std::string_view domain = name.substr(0, slash);
    return domain == "deviceclass.resource.kubernetes.io" ||
           !(domain == "kubernetes.io" || domain.ends_with(".kubernetes.io"));
}

struct ContainerAsk {
    std::size_t position = 0;  // among the container's sorted resource names
    std::int64_t count = 0;
};

ContainerAsk ask_of(const ContainerDraft& container, Dim resource, const Vocabulary& words) {
    Resources requests = container.requests;
    for (const Resources::Amount& limit : container.limits) {
        if (!requests.lists(limit.dim)) requests.set(limit.dim, limit.value);
    }
    ContainerAsk ask{.count = requests.get(resource)};
    for (const Resources::Amount& other : requests)
        ask.position += words.text(other.dim) < words.text(resource) ? 1U : 0U;
    return ask;
}

}  // namespace

void decode_device_class(ObjectSource& from, Object& out) {
    DeviceClass& cls = out.emplace<DeviceClass>();
    cls.name = from.name;
    cls.created = from.metadata.created;
    for (Fields& f = from.fields; f.next();) {
        if (f.id() != "spec"_key || f->is_null()) continue;
        for (Fields field(*f); field.next();) {
            if (field->is_null()) continue;
            if (field.id() == "selectors"_key) decode_device_selectors(*field, cls.selectors);
            if (field.id() == "extendedResourceName"_key) field->read(cls.extended_resource);
        }
    }
}

void decode_resource_claim(ObjectSource& from, Object& out) {
    ResourceClaim& claim = out.emplace<ResourceClaim>();
    claim.ns = from.ns;
    claim.name = from.name;
    claim.uid = from.metadata.uid;
    claim.owner = from.metadata.owner;
    claim.deleting = from.metadata.deleting.is_set();
    std::vector<DeviceToBind> to_bind;
    std::vector<DeviceReport> reports;
    for (Fields& f = from.fields; f.next();) {
        if (f->is_null()) continue;
        if (f.id() == "spec"_key) decode_claim_spec(*f, claim.spec);
        if (f.id() != "status"_key) continue;
        for (Fields field(*f); field.next();) {
            if (field.id() == "allocation"_key) decode_allocation(*field, claim, to_bind);
            if (field.id() == "devices"_key && !field->is_null()) {
                for (Items item(*field); item.next();)
                    decode_report(*item, reports.emplace_back());
            }
            if (field.id() == "reservedFor"_key && !field->is_null()) {
                for (Items item(*field); item.next();)
                    decode_consumer(*item, claim.consumers.emplace_back());
            }
        }
    }
    if (claim.allocation) note_binding(from.reading.words(), to_bind, reports, *claim.allocation);
    for (const Note& note : from.metadata.notes) {
        if (!note.is_label() && note.id() == "resource.kubernetes.io/extended-resource-claim"_key)
            claim.for_extended_resources = note.text(from.reading) == "true";
    }
}

void decode_claim_template(ObjectSource& from, Object& out) {
    ResourceClaimTemplate& made_from = out.emplace<ResourceClaimTemplate>();
    made_from.ns = from.ns;
    made_from.name = from.name;
    for (Fields& f = from.fields; f.next();) {
        if (f.id() != "spec"_key || f->is_null()) continue;
        for (Fields field(*f); field.next();) {
            if (field.id() == "spec"_key && !field->is_null()) decode_claim_spec(*field, made_from.spec);
        }
    }
}

void decode_taint_rule(ObjectSource& from, Object& out) {
    DeviceTaintRule& rule = out.emplace<DeviceTaintRule>();
    rule.name = from.name;
    for (Fields& f = from.fields; f.next();) {
        if (f.id() != "spec"_key || f->is_null()) continue;
        for (Fields field(*f); field.next();) {
            if (field->is_null()) continue;
            if (field.id() == "taint"_key) decode_device_taint(*field, rule.taint);
            if (field.id() != "deviceSelector"_key) continue;
            rule.selects = true;
            for (Fields part(*field); part.next();) {
                if (part.id() == "driver"_key) part->read(rule.driver);
                if (part.id() == "pool"_key) part->read(rule.pool);
                if (part.id() == "device"_key) part->read(rule.device);
            }
        }
    }
}

void decode_claim_entries(Cursor& at, PodDraft& draft) {
    for (Items item(at); item.next();) {
        ClaimEntry& entry = draft.shape.claims.emplace_back();
        for (Fields f(*item); f.next();) {
            if (f->is_null()) continue;
            if (f.id() == "name"_key) f->read(entry.name);
            if (f.id() == "resourceClaimName"_key) f->read(entry.claim);
            if (f.id() == "resourceClaimTemplateName"_key) f->read(entry.from_template);
        }
        if (!entry.name) item->wrong("name", "is missing");
        if (entry.claim.valid() == entry.from_template.valid())
            item->wrong("names either a resourceClaimName or a resourceClaimTemplateName");
    }
}

// Containers that keep running ask each for themselves. Init containers run one after the other and use what later
// ones ask for; of what goes beyond, only the largest wish is asked for.
void find_extended_asks(PodDraft& draft, Vocabulary& words) {
    std::vector<std::size_t> order;  // init containers first
    for (const bool init : {true, false}) {
        for (std::size_t i = 0; i < draft.containers.size(); ++i) {
            if (draft.containers[i].init == init) order.push_back(i);
        }
    }
    std::vector<Dim> resources;
    for (const ContainerDraft& container : draft.containers) {
        for (const Resources* list : {&container.requests, &container.limits}) {
            for (const Resources::Amount& amount : *list) {
                if (amount.dim > kEphemeralStorage && amount.value > 0 && is_extended(words.text(amount.dim)))
                    resources.push_back(amount.dim);
            }
        }
    }
    sort_unique(resources);
    for (Dim resource : resources) {
        std::vector<std::int64_t> kept(order.size());
        ExtendedAsk largest;
        for (const bool keeps_running : {true, false}) {
            for (std::size_t i = 0; i < order.size(); ++i) {
                const ContainerDraft& container = draft.containers[order[i]];
                if ((!container.init || container.restartable) != keeps_running) continue;
                const ContainerAsk ask = ask_of(container, resource, words);
                std::int64_t beyond = ask.count;
                for (std::size_t later = i; !keeps_running && later < order.size(); ++later)
                    beyond -= kept[later];
                if (beyond <= 0) continue;
                const StringId name = words.string(fmt::format("container-{}-request-{}", i, ask.position));
                if (keeps_running) {
                    kept[i] = beyond;
                    draft.shape.extended.push_back({resource, name, beyond});
                } else if (beyond > largest.count) {
                    largest = {resource, name, beyond};
                }
            }
        }
        if (largest.count > 0) draft.shape.extended.push_back(largest);
    }
    std::ranges::sort(draft.shape.extended, {}, [&](const ExtendedAsk& ask) { return words.text(ask.request); });
}

}  // namespace reprieve
