#include "kube/demand_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "manifest/plan_note.h"
#include "manifest/soft_note.h"

namespace reprieve {
namespace {

// The others are not deleted by us: a controller or a second delete does it.
bool is_marked_first(const Eviction& eviction) {
    return eviction.mode != EvictionMode::kScaleDown && eviction.mode != EvictionMode::kForceDelete;
}

// Whether all that an eviction does has been done.
bool is_over(const Eviction& eviction, const KnownPod& known) {
    if (!known.certain || known.uid != eviction.uid) return false;
    return known.deleting.is_set() || (eviction.mode == EvictionMode::kSoft && known.marked && known.softly_evicted);
}

std::string mark_message(const Eviction& eviction) {
    std::string message = fmt::format("preempted {} ({})", for_whom(eviction), eviction.action);
    if (!eviction.reason.empty()) message += ": " + eviction.reason;
    return message;
}

bool is_refused_by_budget(const HttpAnswer& answer) {
    return answer.status == 429 && read_status(answer.body).budget_refused;
}

}  // namespace

std::map<std::string, DemandWrites> demands_of(const Plan& plan) {
    std::map<std::string, DemandWrites> demands;
    std::unordered_map<std::string_view, const Intent*> intents;
    for (const Intent& intent : plan.intents)
        intents.emplace(intent.pod, &intent);
    std::set<std::string> evicting;
    for (const Eviction& eviction : plan.evictions)
        evicting.insert(eviction.owner);
    for (const Placement& placement : plan.placements) {
        if (!placement.after_evictions) continue;
        // A surplus member may have victims of its own, beside those of its gang.
        const bool own = placement.owner.empty() || evicting.contains(placement.pod);
        const auto intent = intents.find(placement.pod);
        demands[own ? placement.pod : placement.owner].waiting.push_back(
            {.placement = &placement, .intent = intent == intents.end() ? nullptr : intent->second});
    }
    for (const Eviction& eviction : plan.evictions) {
        if (is_marked_first(eviction)) demands[eviction.owner].evictions.push_back(&eviction);
    }
    for (auto& [owner, demand] : demands)
        demand.owner = owner;
    return demands;
}

PodWrite DemandRun::status_patch(SinkStep step,
                                 const std::string& pod,
                                 const std::string& uid,
                                 std::string body) const {
    PodWrite write{.step = step, .pod = pod, .uid = uid};
    write.request.method = "PATCH";
    write.request.path = pod_path(pod, "status");
    write.request.content_type = kStrategicPatch;
    write.request.body = std::move(body);
    write.request.rank = rank_;
    return write;
}

void DemandRun::start() {
    outbox_->open();
    record();
}

void DemandRun::step_ended(WriteEnd end, bool gone_is_fine, void (DemandRun::*next)()) {
    if (end == WriteEnd::kFailed || (end == WriteEnd::kGone && !gone_is_fine)) failed_ = true;
    if (--open_ > 0) return;
    if (failed_)
        refuse_rest();
    else
        (this->*next)();
}

void DemandRun::record() {
    open_ = 1;
    for (const DemandWrites::Waiting& one : demand_.waiting)
        nominate(*one.placement, one.intent);
    step_ended(WriteEnd::kDone, true, &DemandRun::mark);
}

void DemandRun::nominate(const Placement& placement, const Intent* intent) {
    const KnownPod known = outbox_->pods().find(placement.pod);
    const bool same_pod = known.certain && known.uid == placement.uid;
    // A plan that evicts nobody more leaves the record of the plan that did, unless that was for another place.
    const bool has_record = same_pod && known.has_plan && known.plan_node == placement.node;
    std::optional<std::string> note;
    if (intent != nullptr && !(has_record && (intent->victims.empty() || known.plan_victims == intent->victims)))
        note = plan_note(plan_->id, *intent, demand_.seen);
    if (intent == nullptr && known.has_plan && !has_record) note = "";
    if (!note && same_pod && known.nominated == placement.node) return;

    const std::string message =
        demand_.evictions.empty()
            ? fmt::format("waits on node {} for pods that are leaving", placement.node)
            : fmt::format("waits on node {} for {} preempted pods to leave", placement.node, demand_.evictions.size());
    PodWrite write = status_patch(SinkStep::kNominate,
                                  placement.pod,
                                  placement.uid,
                                  nomination_body(placement.uid, placement.node, note, message, plan_->now));
    write.change = [&](KnownPod& pod) {
        pod.nominated = placement.node;
        if (!note) return;
        pod.has_plan = intent != nullptr;
        pod.plan_node = intent != nullptr ? intent->node : std::string();
        pod.plan_victims = intent != nullptr ? intent->victims : std::vector<std::string>();
    };
    ++open_;
    outbox_->write(std::move(write), [self = shared_from_this()](WriteEnd end, const HttpAnswer&) {
        self->step_ended(end, false, &DemandRun::mark);
    });
}

void DemandRun::mark() {
    open_ = 1;
    for (const Eviction* eviction : demand_.evictions)
        mark(*eviction);
    step_ended(WriteEnd::kDone, true, &DemandRun::evict);
}

void DemandRun::mark(const Eviction& eviction) {
    const KnownPod known = outbox_->pods().find(eviction.pod);
    const bool softly = eviction.mode == EvictionMode::kSoft;
    const bool marked = known.certain && known.uid == eviction.uid && known.marked;
    if (is_over(eviction, known) || (marked && !softly)) return;

    std::map<std::string, std::string> annotations;
    if (softly) annotations[SoftEviction::kAnnotation] = soft_note(eviction, plan_->now);
    PodWrite write = status_patch(softly ? SinkStep::kEvict : SinkStep::kMark,
                                  eviction.pod,
                                  eviction.uid,
                                  mark_body(eviction.uid, mark_message(eviction), plan_->now, annotations));
    write.change = [softly](KnownPod& pod) {
        pod.marked = true;
        if (softly) pod.softly_evicted = true;
    };
    write.gone_is_fine = true;
    ++open_;
    outbox_->write(std::move(write), [self = shared_from_this(), &eviction, softly](WriteEnd end, const HttpAnswer&) {
        if (softly && end == WriteEnd::kDone) self->evicted_(eviction);
        self->step_ended(end, true, &DemandRun::evict);
    });
}

void DemandRun::evict() {
    for (const Eviction* eviction : demand_.evictions) {
        if (eviction->mode != EvictionMode::kSoft && !is_over(*eviction, outbox_->pods().find(eviction->pod)))
            evict(*eviction);
    }
    outbox_->close();
}

void DemandRun::evict(const Eviction& eviction) {
    const bool by_api = eviction.mode == EvictionMode::kEvict;
    PodWrite write{.step = SinkStep::kEvict, .pod = eviction.pod, .uid = eviction.uid};
    write.request.rank = rank_;
    write.request.method = by_api ? "POST" : "DELETE";
    write.request.path = pod_path(eviction.pod, by_api ? "eviction" : "");
    const std::string name = eviction.pod.substr(eviction.pod.find('/') + 1);
    write.request.body = by_api ? eviction_body(name, eviction.uid) : delete_body(eviction.uid, std::nullopt);
    if (by_api) write.request.is_final = &is_refused_by_budget;
    write.change = [now = plan_->now](KnownPod& pod) { pod.deleting = now; };
    write.gone_is_fine = true;
    outbox_->write(std::move(write),
                   [self = shared_from_this(), &eviction, by_api](WriteEnd end, const HttpAnswer& answer) {
                       if (end == WriteEnd::kDone) self->evicted_(eviction);
                       if (by_api && is_refused_by_budget(answer)) self->take_back_mark(eviction);
                   });
}

// The budget let nobody go: a pod that stays must not look as if it were leaving.
void DemandRun::take_back_mark(const Eviction& eviction) {
    PodWrite write = status_patch(SinkStep::kMark, eviction.pod, eviction.uid, unmark_body(eviction.uid, {}));
    write.change = [](KnownPod& pod) {
        pod.marked = false;
        pod.deleting = {};
    };
    write.gone_is_fine = true;
    outbox_->write(std::move(write));
}

void DemandRun::refuse_rest() {
    for (const Eviction* eviction : demand_.evictions) {
        outbox_->report({.step = SinkStep::kEvict,
                         .pod = eviction->pod,
                         .uid = eviction->uid,
                         .ok = false,
                         .what = fmt::format("not evicted: a step before failed for {}", demand_.owner),
                         .tried = false});
    }
    outbox_->close();
}

}  // namespace reprieve
