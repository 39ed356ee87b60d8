#include "manifest/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace reprieve {
namespace {

void read_owner(Cursor& at, OwnerRef& out, bool& controls) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "kind"_key:
                f->read(out.kind);
                break;
            case "name"_key:
                f->read(out.name);
                break;
            case "uid"_key:
                f->read(out.uid);
                break;
            case "controller"_key:
                f->read(controls);
                break;
            default:
                break;
        }
    }
}

void read_owners(Cursor& at, OwnerRef& out) {
    bool found = false;
    for (Items item(at); item.next();) {
        OwnerRef owner;
        bool controls = false;
        read_owner(*item, owner, controls);
        if (controls || (!found && item.index() == 0)) out = owner;
        found = found || controls;
    }
}

void read_notes(Cursor& at, bool are_labels, Metadata& out) {
    for (Fields f(at); f.next();) {
        if (f->is_null()) continue;
        if (!f->is_string()) {
            std::string_view none;
            return f->read(none);  // says what it is instead
        }
        const Note& note = out.notes.emplace_back(f.key(), f->location() + 1, are_labels);
        if (are_labels) {
            const std::string_view value = note.text(at.reading());
            out.labels.set(at.words().string(f.key()), at.words().string(value));
        }
    }
}

// A "no" is never overruled by another marker of the same object.
void mark_preemptible(Settings& out, bool preemptible, std::string_view marker) {
    if (out.preemptible == false) return;
    out.preemptible = preemptible;
    out.preemptible_marker = marker;
}

}  // namespace

std::string Note::path() const {
    return std::string(where_) + (label_ ? "metadata.labels[" : "metadata.annotations[") + std::string(key_) + "]";
}

std::string_view Note::text(Reading& reading) const {
    std::string_view text;
    if (!reading.failed() && !reading.text(raw_, text)) wrong(reading, "has a bad escape sequence");
    return text;
}

void Note::read(Reading& reading, bool& out) const {
    const std::string_view value = text(reading);
    if (value != "true" && value != "false")
        return wrong(reading, fmt::format("\"{}\" is neither true nor false", value));
    out = value == "true";
}

bool Note::flag_or(Reading& reading, bool protective) const {
    const std::string_view value = text(reading);
    if (value == "true" || value == "false") return value == "true";
    reading.warn(fmt::format(
        "{}: {}: \"{}\" is neither true nor false and counts as {}", reading.subject(), key_, value, protective));
    return protective;
}

void Note::read(Reading& reading, std::optional<bool>& out) const {
    bool value = false;
    read(reading, value);
    out = value;
}

void Note::read(Reading& reading, std::int64_t& out, std::int64_t least, std::int64_t most) const {
    const std::string_view value = text(reading);
    std::int64_t number = 0;
    const char* end = value.data() + value.size();
    const auto read = std::from_chars(value.data(), end, number);
    if (read.ec != std::errc{} || read.ptr != end)
        return wrong(reading, fmt::format("\"{}\" is not a whole number", value));
    if (number < least) return wrong(reading, fmt::format("{} is less than {}", number, least));
    if (number > most) return wrong(reading, fmt::format("{} is more than {}", number, most));
    out = number;
}

void Note::read(Reading& reading, std::int32_t& out, std::int32_t least) const {
    std::int64_t value = least;
    read(reading, value, least, INT32_MAX);
    out = static_cast<std::int32_t>(value);
}

void Note::read(Reading& reading, Time& out) const {
    const Result<Time> time = parse_time(text(reading));
    if (!time) return wrong(reading, time.error().message);
    out = *time;
}

void Note::read(Reading& reading, std::optional<Duration>& out) const {
    const std::string_view value = text(reading);
    const Result<Duration> duration = parse_duration(value);
    if (!duration) return wrong(reading, duration.error().message);
    if (duration->us < 0) return wrong(reading, fmt::format("\"{}\" is negative", value));
    out = *duration;
}

void Note::read(Reading& reading, StringId& out) const {
    const std::string_view value = text(reading);
    if (!value.empty()) out = reading.words().string(value);
}

void Note::read(Reading& reading, std::optional<Resources>& out) const {
    read_json(reading, [&](Cursor& at) { at.read(out.emplace()); });
}

void Metadata::clear() {
    name = ns = uid = {};
    created = deleting = {};
    deletion_grace_seconds.reset();
    owner = {};
    labels = {};
    notes.clear();
}

void decode_metadata(Cursor& at, Metadata& out) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "name"_key:
                f->read(out.name);
                if (const auto fault = fault_of_name(out.name); !fault.empty()) f->wrong(std::string(fault));
                break;
            case "namespace"_key:
                f->read(out.ns);
                if (out.ns.empty()) break;
                if (const auto fault = fault_of_name(out.ns); !fault.empty()) f->wrong(std::string(fault));
                break;
            case "uid"_key:
                f->read(out.uid);
                break;
            case "creationTimestamp"_key:
                f->read(out.created);
                break;
            case "deletionTimestamp"_key:
                f->read(out.deleting);
                break;
            case "deletionGracePeriodSeconds"_key:
                f->read(out.deletion_grace_seconds);
                break;
            case "ownerReferences"_key:
                read_owners(*f, out.owner);
                break;
            case "labels"_key:
                read_notes(*f, true, out);
                break;
            case "annotations"_key:
                read_notes(*f, false, out);
                break;
            default:
                break;
        }
    }
}

std::string_view fault_of_name(std::string_view name) {
    constexpr std::size_t kLongest = 253;
    if (name.empty()) return "is empty";
    if (name.size() > kLongest) return "is longer than 253 characters";
    const auto bad = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F' || c == '/'; };
    if (std::any_of(name.begin(), name.end(), bad)) return "has a slash, a space or a control character";
    return {};
}

void read_setting(Reading& reading, const Note& note, Settings& out) {
    switch (note.id()) {
        case "reprieve.dev/preemptible"_key: {
            bool preemptible = true;
            note.read(reading, preemptible);
            mark_preemptible(out, preemptible, note.key());
            break;
        }
        case "volcano.sh/preemptable"_key:
        case "quota.scheduling.koordinator.sh/preemptible"_key:
            mark_preemptible(out, note.flag_or(reading, false), note.key());
            break;
        case "scheduling.koordinator.sh/disable-preemptible"_key:
            if (note.flag_or(reading, true)) mark_preemptible(out, false, note.key());
            break;
        case "reprieve.dev/min-runtime"_key:
            note.read(reading, out.min_runtime);
            break;
        case "reprieve.dev/restart-cost"_key:
            note.read(reading, out.restart_cost);
            break;
        default:
            break;
    }
}

void read_settings(Reading& reading, const Metadata& metadata, Settings& out) {
    for (const Note& note : metadata.notes)
        read_setting(reading, note, out);
}

void read_plan_note(Reading& reading, const Note& note, std::optional<PlanNote>& out) {
    note.read_json(reading, [&](Cursor& at) {
        PlanNote& plan = out.emplace();
        for (Fields f(at); f.next();) {
            switch (f.id()) {
                case "id"_key:
                    f->read(plan.id);
                    break;
                case "node"_key:
                    f->read(plan.node);
                    break;
                case "deadline"_key:
                    f->read(plan.deadline);
                    break;
                case "victims"_key:
                    for (Items item(*f); item.next();)
                        item->read(plan.victim_uids.emplace_back());
                    break;
                case "devices"_key:
                    for (Items item(*f); item.next();)
                        item->read(plan.devices.emplace_back());
                    break;
                default:
                    break;
            }
        }
    });
}

}  // namespace reprieve
