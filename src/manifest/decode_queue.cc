// Volcano's Queue and Koordinator's ElasticQuota.
#include <fmt/format.h>

#include "manifest/decode_selector.h"
#include "manifest/object_source.h"
#include "model/amount_text.h"

namespace reprieve {
namespace {

void decode_guarantee(Cursor& at, Queue& queue) {
    for (Fields f(at); f.next();) {
        if (f.id() == "resource"_key) f->read(queue.guarantee);
    }
}

void decode_queue_spec(Cursor& at, Queue& queue) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "weight"_key:
                f->read(queue.weight, 1, INT32_MAX);
                break;
            case "priority"_key:
                f->read(queue.priority);
                break;
            case "reclaimable"_key:
                f->read(queue.reclaimable);
                break;
            case "parent"_key:
                f->read(queue.parent);
                break;
            case "capability"_key:
                f->read(queue.limit);
                break;
            case "deserved"_key:
                f->read(queue.deserved);
                // An empty list is one that was not written: Volcano cannot tell them apart.
                if (queue.deserved && queue.deserved->empty()) queue.deserved.reset();
                break;
            case "guarantee"_key:
                decode_guarantee(*f, queue);
                break;
            default:
                break;
        }
    }
}

void decode_queue_status(Cursor& at, Queue& queue) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "state"_key: {
                std::string_view state;
                f->read(state);
                queue.open = state.empty() || state == "Open";
                break;
            }
            case "allocated"_key:
                f->read(queue.allocated);
                break;
            default:
                break;
        }
    }
}

// Volcano says "used" with status.allocated: what Reprieve granted stands in its own annotation, which wins.
void read_queue_notes(ObjectSource& from, Queue& queue) {
    Reading& reading = from.reading;
    for (const Note& note : from.metadata.notes) {
        read_setting(reading, note, queue.settings);
        switch (note.id()) {
            case "reprieve.dev/allocated"_key:
                note.read(reading, queue.allocated);
                break;
            case "reprieve.dev/request"_key:
                note.read(reading, queue.request);
                break;
            case "reprieve.dev/over-since"_key:
                note.read(reading, queue.over_since);
                break;
            default:
                break;
        }
    }
}

void read_namespaces(ObjectSource& from, const Note& note, Queue& queue) {
    note.read_json(from.reading, [&](Cursor& at) { at.read(queue.namespaces); });
    sort_unique(queue.namespaces);
}

void read_quota_notes(ObjectSource& from, Queue& queue) {
    Reading& reading = from.reading;
    for (const Note& note : from.metadata.notes) {
        switch (note.id()) {
            case "quota.scheduling.koordinator.sh/parent"_key:
                note.read(reading, queue.parent);
                break;
            case "quota.scheduling.koordinator.sh/is-parent"_key:
                queue.is_parent = note.flag_or(reading, false);
                break;
            case "quota.scheduling.koordinator.sh/tree-id"_key:
                note.read(reading, queue.tree);
                break;
            case "quota.scheduling.koordinator.sh/shared-weight"_key:
                note.read(reading, queue.shared_weight);
                break;
            case "quota.scheduling.koordinator.sh/total-resource"_key:
                note.read(reading, queue.tree_total);
                break;
            case "quota.scheduling.koordinator.sh/allow-lent-resource"_key:
                queue.lends = note.flag_or(reading, false);
                break;
            case "quota.scheduling.koordinator.sh/min-quota-scale"_key:
                queue.min_scales = note.flag_or(reading, false);
                break;
            case "quota.scheduling.koordinator.sh/namespaces"_key:
                read_namespaces(from, note, queue);
                break;
            default:
                break;
        }
    }
}

// A guarantee above the limit contradicts itself.
void check_bounds(
    ObjectSource& from, const char* low_field, const char* high_field, const char* where, const Queue& queue) {
    for (const Resources::Amount& low : queue.guarantee) {
        const std::int64_t* high = queue.limit.find(low.dim);
        if (high == nullptr || low.value <= *high) continue;
        const std::string_view resource = from.words().text(low.dim);
        return from.reading.fail(
            fmt::format("{}.{}", low_field, resource),
            fmt::format(
                "{} is more than {}: {}", amount_text(resource, low.value), high_field, amount_text(resource, *high)),
            where);
    }
}

}  // namespace

void decode_queue(ObjectSource& from, Object& out) {
    Queue& queue = out.emplace<Queue>();
    queue.name = from.name;
    const char* where = from.root.location();
    for (Fields& f = from.fields; f.next();) {
        switch (f.id()) {
            case "spec"_key:
                where = f->location();
                decode_queue_spec(*f, queue);
                break;
            case "status"_key:
                decode_queue_status(*f, queue);
                break;
            default:
                break;
        }
    }
    if (queue.parent == queue.name) from.reading.fail("spec.parent", "is the queue itself", where);
    check_bounds(from, "spec.guarantee.resource", "spec.capability", where, queue);
    read_queue_notes(from, queue);
}

void decode_elastic_quota(ObjectSource& from, Object& out) {
    Queue& queue = out.emplace<Queue>();
    queue.name = from.name;
    queue.ns = from.ns;
    queue.is_quota = true;
    const char* where = from.root.location();
    for (Fields& f = from.fields; f.next();) {
        if (f.id() != "spec"_key) continue;
        for (Fields field(*f); field.next();) {
            if (field.id() == "min"_key) {
                where = field->location();
                field->read(queue.guarantee);
            }
            if (field.id() == "max"_key) field->read(queue.limit);
        }
    }
    check_bounds(from, "spec.min", "spec.max", where, queue);
    read_quota_notes(from, queue);
    read_queue_notes(from, queue);
}

}  // namespace reprieve
