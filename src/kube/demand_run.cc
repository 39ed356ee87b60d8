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
        refuse_rest(fmt::format("a step before failed for {}", demand_.owner));
    else if (!all_wait())
        refuse_rest(fmt::format("{} does not wait for it any more", demand_.owner));
    else
        (this->*next)();
}

bool DemandRun::still_waits(const DemandWrites::Waiting& one) const {
    const Placement& placement = *one.placement;
    return outbox_->pods().waits(placement.pod, placement.uid, one.intent != nullptr ? placement.node : std::string());
}

// What evicts nobody has nothing to call off.
bool DemandRun::all_wait() const {
    return demand_.evictions.empty() ||
           std::ranges::all_of(demand_.waiting, [this](const DemandWrites::Waiting& one) { return still_waits(one); });
}

const std::function<bool()>* DemandRun::gate_of(const Placement& placement) {
    std::function<bool()>& gate = nominations_[placement.pod];
    gate = [this, &placement] {
        return outbox_->may_act() && outbox_->pods().waits(placement.pod, placement.uid, std::string());
    };
    return &gate;
}

// Of a large gang only one pod is asked for each victim: the one that waits on its node, or the first.
const std::function<bool()>* DemandRun::gate_of(const Eviction& eviction) {
    const auto [gate, fresh] = gates_.try_emplace(eviction.node);
    if (!fresh) return &gate->second;
    const auto at_node = std::ranges::find_if(
        demand_.waiting, [&](const DemandWrites::Waiting& one) { return one.placement->node == eviction.node; });
    const DemandWrites::Waiting* one = at_node != demand_.waiting.end() ? &*at_node
                                       : demand_.waiting.empty()        ? nullptr
                                                                        : demand_.waiting.data();
    gate->second = [this, one] { return outbox_->may_act() && (one == nullptr || still_waits(*one)); };
    return &gate->second;
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
    if (!note && same_pod && known.nominated == placement.node) {
        if (intent != nullptr) outbox_->report_done(SinkStep::kNominate, placement.pod, placement.uid);
        return;
    }

    const std::string message =
        demand_.evictions.empty()
            ? fmt::format("waits on node {} for pods that are leaving", placement.node)
            : fmt::format("waits on node {} for {} preempted pods to leave", placement.node, demand_.evictions.size());
    PodWrite write = status_patch(SinkStep::kNominate,
                                  placement.pod,
                                  placement.uid,
                                  nomination_body(placement.uid, placement.node, note, message, plan_->now));
    // The victims' time begins when this is on record, not while it waits for its turn.
    if (note && intent != nullptr) {
        write.request.body_now = [self = shared_from_this(), &placement, intent, message] {
            Intent later = *intent;
            later.deadline = later.deadline + std::max(self->outbox_->now() - self->plan_->now, Duration{0});
            const std::string now = plan_note(self->plan_->id, later, self->demand_.seen);
            return nomination_body(placement.uid, placement.node, now, message, self->plan_->now);
        };
    }
    if (demand_.evictions.empty()) {
        write.request.gate = gate_of(placement);
        write.withheld_is_fine = true;
    }
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
    if (softly && is_over(eviction, known)) outbox_->report_done(SinkStep::kEvict, eviction.pod, eviction.uid);
    if (is_over(eviction, known) || (marked && !softly)) return;

    std::map<std::string, std::string> annotations;
    if (softly) annotations[SoftEviction::kAnnotation] = soft_note(eviction, plan_->now);
    PodWrite write = status_patch(softly ? SinkStep::kEvict : SinkStep::kMark,
                                  eviction.pod,
                                  eviction.uid,
                                  mark_body(eviction.uid, mark_message(eviction), plan_->now, annotations));
    write.request.gate = gate_of(eviction);
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
        if (eviction->mode == EvictionMode::kSoft) continue;
        if (is_over(*eviction, outbox_->pods().find(eviction->pod)))
            outbox_->report_done(SinkStep::kEvict, eviction->pod, eviction->uid);
        else
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
    write.request.gate = gate_of(eviction);
    if (by_api) write.request.is_final = &is_refused_by_budget;
    write.change = [now = plan_->now](KnownPod& pod) { pod.deleting = now; };
    write.gone_is_fine = true;
    outbox_->write(std::move(write),
                   [self = shared_from_this(), &eviction, by_api](WriteEnd end, const HttpAnswer& answer) {
                       if (end == WriteEnd::kDone) self->evicted_(eviction);
                       const bool stays = end == WriteEnd::kFailed;
                       if (by_api && stays && is_refused_by_budget(answer)) self->take_back_mark(eviction);
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

void DemandRun::refuse_rest(const std::string& why) {
    for (const Eviction* eviction : demand_.evictions) {
        outbox_->report({.step = SinkStep::kEvict,
                         .pod = eviction->pod,
                         .uid = eviction->uid,
                         .ok = false,
                         .what = "not evicted: " + why,
                         .tried = false});
    }
    outbox_->close();
}

}  // namespace reprieve
