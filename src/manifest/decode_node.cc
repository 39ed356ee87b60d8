// Node, Namespace and PriorityClass.
#include <fmt/format.h>

#include <algorithm>

#include "manifest/decode_selector.h"
#include "manifest/node_devices.h"
#include "manifest/object_source.h"
#include "manifest/preemption_policies.h"

namespace reprieve {
namespace {

constexpr std::pair<std::string_view, TaintEffect> kTaintEffects[] = {
    {"NoSchedule", TaintEffect::kNoSchedule},
    {"PreferNoSchedule", TaintEffect::kPreferNoSchedule},
    {"NoExecute", TaintEffect::kNoExecute}};

void decode_taint(Cursor& at, Taint& out) {
    std::optional<TaintEffect> effect;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "key"_key:
                f->read(out.key);
                break;
            case "value"_key:
                f->read(out.value);
                break;
            case "effect"_key:
                f->choose(effect, kTaintEffects);
                break;
            default:
                break;
        }
    }
    if (!out.key) return at.wrong("key", "is missing");
    if (!effect) return at.wrong("effect", "is missing");
    out.effect = *effect;
}

void decode_preemption_policy(Cursor& at, Node& node) {
    for (Fields f(at); f.next();) {
        if (f.id() != "disableResizePreemption"_key) continue;
        for (Items item(*f); item.next();)
            node.resize_preemption_disabled = true;
    }
}

void decode_spec(Cursor& at, Node& node) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "unschedulable"_key:
                f->read(node.unschedulable);
                break;
            case "taints"_key:
                for (Items item(*f); item.next();)
                    decode_taint(*item, node.taints.emplace_back());
                break;
            case "podPreemptionPolicy"_key:
                decode_preemption_policy(*f, node);
                break;
            default:
                break;
        }
    }
    drop_repeated(node.taints);
}

void decode_condition(Cursor& at, Node& node) {
    std::string_view type;
    std::string_view status;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "type"_key:
                f->read(type);
                break;
            case "status"_key:
                f->read(status);
                break;
            default:
                break;
        }
    }
    if (type == "Ready") node.ready = status == "True";
}

// One image may have several names.
void decode_image(Cursor& at, Node& node) {
    std::vector<StringId> names;
    std::int64_t bytes = 0;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "names"_key:
                f->read(names);
                break;
            case "sizeBytes"_key:
                f->read(bytes, 0, INT64_MAX);
                break;
            default:
                break;
        }
    }
    for (const StringId name : names)
        node.images.push_back({name, bytes});
}

void decode_status(Cursor& at, Node& node, Resources& capacity) {
    bool allocatable_written = false;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "allocatable"_key:
                allocatable_written = !f->is_null();
                f->read(node.allocatable);
                break;
            case "capacity"_key:
                f->read(capacity);
                break;
            case "conditions"_key:
                for (Items item(*f); item.next();)
                    decode_condition(*item, node);
                break;
            case "images"_key:
                for (Items item(*f); item.next();)
                    decode_image(*item, node);
                break;
            default:
                break;
        }
    }
    if (!allocatable_written) node.allocatable = capacity;
    sort_unique(node.images);
}

void read_toleration_notes(ObjectSource& from, PriorityClass& out) {
    for (const Note& note : from.metadata.notes) {
        if (note.is_label()) continue;
        if (note.id() == "preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority"_key) {
            note.read(from.reading, out.minimum_preemptable_priority.emplace());
        } else if (note.id() == "preemption-toleration.scheduling.x-k8s.io/toleration-seconds"_key) {
            // A negative number tolerates for ever, as there.
            note.read(from.reading, out.toleration_seconds.emplace(), INT64_MIN, INT64_MAX);
        }
    }
}

}  // namespace

void decode_node(ObjectSource& from, Object& out) {
    Node& node = out.emplace<Node>();
    node.name = from.name;
    Resources capacity;
    for (Fields& f = from.fields; f.next();) {
        switch (f.id()) {
            case "spec"_key:
                decode_spec(*f, node);
                break;
            case "status"_key:
                decode_status(*f, node, capacity);
                break;
            default:
                break;
        }
    }
    if (from.reading.failed()) return;
    settle_devices(from, capacity, node);
    node.labels = std::move(from.metadata.labels);
}

void decode_namespace(ObjectSource& from, Object& out) {
    Namespace& ns = out.emplace<Namespace>();
    ns.name = from.name;
    ns.labels = std::move(from.metadata.labels);
    // The API server puts it there; files often lack it.
    ns.labels.set(from.words().string("kubernetes.io/metadata.name"), ns.name);
}

void decode_priority_class(ObjectSource& from, Object& out) {
    PriorityClass& priority = out.emplace<PriorityClass>();
    priority.name = from.name;
    bool value_written = false;
    for (Fields& f = from.fields; f.next();) {
        switch (f.id()) {
            case "value"_key:
                value_written = !f->is_null();
                f->read(priority.value);
                break;
            case "globalDefault"_key:
                f->read(priority.global_default);
                break;
            case "preemptionPolicy"_key:
                f->choose(priority.preemption_policy, kPreemptionPolicies);
                break;
            default:
                break;
        }
    }
    if (!value_written) from.root.wrong("value", "is missing");
    read_settings(from.reading, from.metadata, priority.settings);
    read_toleration_notes(from, priority);
}

}  // namespace reprieve
