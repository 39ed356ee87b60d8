#include "sim/deeds.h"

#include <algorithm>
#include <set>

#include "manifest/plan_note.h"
#include "manifest/queue_notes.h"
#include "manifest/soft_note.h"

namespace reprieve {
namespace {

constexpr std::int64_t kForcedGraceSeconds = 1;

void record(const Plan& plan, std::vector<Deed>& out) {
    for (const Intent& intent : plan.intents) {
        out.push_back({.step = SinkStep::kRecord,
                       .pod = {intent.pod, intent.uid},
                       .set = {{kPlanNote, plan_note(plan.id, intent)}}});
    }
    for (const AnnotationChange& change : plan.annotations) {
        out.push_back(
            {.step = SinkStep::kAnnotate, .pod = {change.pod, ""}, .set = change.set, .remove = change.remove});
    }
    for (const QueueReport& report : plan.queues) {
        if (auto notes = queue_notes(report); !notes.empty())
            out.push_back({.step = SinkStep::kStatus,
                           .pod = {report.name, ""},
                           .set = std::move(notes.set),
                           .remove = std::move(notes.remove)});
    }
}

void release(const Plan& plan, std::vector<Deed>& out) {
    for (const ClaimRelease& one : plan.releases)
        out.push_back({.step = SinkStep::kStatus, .pod = {one.pod, one.uid}, .release = one.claim});
}

void make_room(const Plan& plan, std::vector<Deed>& out) {
    const auto deletes = [](const Eviction& e) {
        return e.mode == EvictionMode::kDelete || e.mode == EvictionMode::kEvict;
    };
    for (const Eviction& e : plan.evictions) {
        if (deletes(e)) out.push_back({.step = SinkStep::kMark, .pod = {e.pod, e.uid}});
        if (e.mode == EvictionMode::kSoft)
            out.push_back({.step = SinkStep::kAnnotate,
                           .pod = {e.pod, e.uid},
                           .set = {{SoftEviction::kAnnotation, soft_note(e, plan.now)}}});
    }
    for (const Eviction& e : plan.evictions) {
        if (deletes(e)) out.push_back({.step = SinkStep::kEvict, .pod = {e.pod, e.uid}, .mode = e.mode});
    }
    for (const ScaleChange& change : plan.scale)
        out.push_back({.step = SinkStep::kScale, .pod = {change.deployment, ""}, .scale = change});
    for (const std::string& pod : plan.force_deletes)
        out.push_back({.step = SinkStep::kForceDelete, .pod = {pod, ""}});
}

void promise(const Plan& plan, std::vector<Deed>& out) {
    std::set<std::string> recorded;
    for (const Intent& intent : plan.intents)
        recorded.insert(intent.pod);
    std::set<std::string> placed;
    for (const Placement& p : plan.placements)
        placed.insert(p.pod);
    // A pod that is placed again needs no clearing, but what was recorded about its old place must go.
    for (const std::string& pod : plan.nominations_cleared) {
        if (!placed.contains(pod))
            out.push_back({.step = SinkStep::kClearNomination, .pod = {pod, ""}});
        else if (!recorded.contains(pod))
            out.push_back({.step = SinkStep::kAnnotate, .pod = {pod, ""}, .remove = {kPlanNote}});
    }
    for (const Placement& p : plan.placements) {
        if (p.after_evictions) out.push_back({.step = SinkStep::kNominate, .pod = {p.pod, p.uid}, .node = p.node});
    }
}

void bind(const Plan& plan, std::vector<Deed>& out) {
    for (const Placement& p : plan.placements) {
        if (!p.after_evictions)
            out.push_back({.step = SinkStep::kBind,
                           .pod = {p.pod, p.uid},
                           .node = p.node,
                           .devices = p.devices,
                           .claims = p.claims});
    }
}

Result<void> carry_out(const Deed& deed, Api& api) {
    switch (deed.step) {
        case SinkStep::kRecord:
        case SinkStep::kAnnotate:
            return api.annotate(deed.pod, deed.set, deed.remove);
        case SinkStep::kMark:
            return api.mark(deed.pod);
        case SinkStep::kEvict:
            return deed.mode == EvictionMode::kEvict ? api.evict(deed.pod) : api.remove(deed.pod);
        case SinkStep::kScale:
            return api.scale(*deed.scale);
        case SinkStep::kForceDelete:
            return api.remove(deed.pod, kForcedGraceSeconds);
        case SinkStep::kNominate:
            return api.nominate(deed.pod, deed.node);
        case SinkStep::kClearNomination:
            return api.nominate(deed.pod, "");
        case SinkStep::kBind:
            return api.bind(deed.pod, deed.node, deed.devices, deed.claims);
        case SinkStep::kStatus:
            if (!deed.release.empty()) return api.release_claim(deed.release, deed.pod);
            return api.annotate_queue(deed.pod.name, {deed.set, deed.remove});
    }
    return {};
}

}  // namespace

std::vector<Deed> deeds_of(const Plan& plan) {
    std::vector<Deed> out;
    record(plan, out);
    release(plan, out);
    make_room(plan, out);
    promise(plan, out);
    bind(plan, out);
    return out;
}

SinkReport perform(const Deed& deed, Api& api) {
    const Result<void> done = carry_out(deed, api);
    return {.step = deed.step,
            .pod = deed.pod.name,
            .uid = deed.pod.uid,
            .ok = done.has_value(),
            .what = done ? std::string() : done.error().message};
}

}  // namespace reprieve
