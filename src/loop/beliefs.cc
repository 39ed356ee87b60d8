#include "loop/beliefs.h"

#include <algorithm>

#include "loop/retry.h"
#include "manifest/soft_note.h"
#include "model/placed_devices.h"
#include "model/word_marks.h"
#include "state/pod_named.h"

namespace reprieve {
namespace {

void earlier(Time& best, Time other) {
    if (other.is_set() && (!best.is_set() || other < best)) best = other;
}

// Whether the intent is on record. One of an earlier plan that says the same is not written again.
bool records(const Pod& pod, const std::optional<PlanNote>& wanted) {
    if (!wanted) return true;
    const std::optional<PlanNote>& found = pod.more().plan;
    return found && found->node == wanted->node && found->victim_uids == wanted->victim_uids;
}

}  // namespace

bool Beliefs::take(Change change, Time now) {
    if (auto* pod = std::get_if<Pod>(&change.object)) {
        if (!change.removed) return take_pod(std::move(*pod), change.digest, now);
        const std::string name = cluster_.words().str(pod->ns) + "/" + pod->name;
        if (const PodId id = claims_.empty() ? PodId() : pod_named(cluster_, name))
            claims_.forget(cluster_.pod(id).uid);
        if (const auto entry = entries_.find(name); entry != entries_.end()) {
            overdue_.erase(entry->second.watched.uid);
            entries_.erase(entry);
        }
        return cluster_.remove(change.object);
    }
    if (auto* claim = std::get_if<ResourceClaim>(&change.object))
        return change.removed ? claims_.take_gone(*claim) : claims_.take(std::move(*claim), change.digest);
    if (change.removed) return cluster_.remove(change.object);
    const auto* gang = std::get_if<Gang>(&change.object);
    const std::pair group = gang != nullptr ? std::pair(gang->ns, gang->name) : std::pair<StringId, StringId>();
    const bool changed = cluster_.apply(std::move(change.object), change.digest);
    if (changed && group.second) release_members(group.first, group.second, now);
    return changed;
}

void Beliefs::release_members(StringId ns, StringId group, Time now) {
    const auto members = early_.extract({ns, group});
    if (members.empty()) return;
    for (const std::string& name : members.mapped()) {
        const auto entry = entries_.find(name);
        if (entry != entries_.end() && entry->second.group_due.is_set()) believe(entry->second, now);
    }
}

bool Beliefs::lacks_group(const Pod& pod) const {
    return !pod.node && pod.group && pod.more().koordinator_min < 0 && !cluster_.gangs().find(pod.ns, pod.group);
}

bool Beliefs::take_pod(Pod pod, Digest digest, Time now) {
    std::string name = cluster_.words().str(pod.ns) + "/" + pod.name;
    const auto known = entries_.find(name);
    if (known != entries_.end() && known->second.watched.uid != pod.uid) {
        claims_.forget(known->second.watched.uid);
        known->second = {};  // another pod of the same name
    }
    Entry fresh;
    Entry& entry = known != entries_.end() ? known->second : fresh;
    if (known == entries_.end() && !pod_named(cluster_, name) && lacks_group(pod)) {
        entry.group_due = early_until_ = now + options_.group_delay;
        early_[{pod.ns, pod.group}].push_back(name);
    }
    entry.watched = std::move(pod);
    entry.digest = digest;
    confirm(entry);
    const bool changed = believe(entry, now);
    const bool keep = remarkable(entry, now);
    if (keep) note_due(entry, now);
    if (keep && known == entries_.end())
        entries_.emplace(std::move(name), std::move(entry));
    else if (!keep && known != entries_.end())
        entries_.erase(known);
    return changed;
}

bool Beliefs::remarkable(const Entry& entry, Time now) {
    const Pod& pod = entry.watched;
    return assumes(entry) || entry.failures > 0 || entry.left_alone > now || entry.group_due > now ||
           pod.terminating() || (!pod.node && pod.more().plan);
}

void Beliefs::confirm(Entry& entry) {
    const Pod& pod = entry.watched;
    const bool placed = [&] {
        switch (entry.place) {
            case Place::kAsWatched:
                return false;
            case Place::kBound:
                return pod.node.valid();
            case Place::kNominated:
                return pod.node.valid() || (pod.nominated == entry.node && records(pod, entry.note));
            case Place::kNotNominated:
                return !pod.nominated && !pod.more().plan;
        }
        return false;
    }();
    const bool leaves = (entry.leave != Leave::kAsWatched && pod.terminating()) ||
                        (entry.leave == Leave::kAsked && !pod.more().soft_eviction.empty());
    if (placed) entry.place = Place::kAsWatched;
    if (leaves) entry.leave = Leave::kAsWatched;
    if (placed || leaves) entry.failures = 0;
}

void Beliefs::overlay(const Entry& entry, Pod& pod) {
    switch (entry.place) {
        case Place::kAsWatched:
            break;
        case Place::kBound:
            pod.node = entry.node;
            pod.nominated = {};
            if (pod.more().plan) pod.make_extras().plan.reset();
            if (!entry.devices.empty()) pod.make_extras().held_devices = entry.devices;
            break;
        case Place::kNominated:
            pod.nominated = entry.node;
            if (entry.note) pod.make_extras().plan = entry.note;
            break;
        case Place::kNotNominated:
            pod.nominated = {};
            if (pod.more().plan) pod.make_extras().plan.reset();
            break;
    }
    switch (entry.leave) {
        case Leave::kAsWatched:
            break;
        case Leave::kLeaving:
            pod.deleting = entry.leaving;
            pod.disruption_target = true;
            break;
        case Leave::kAsked:
            pod.make_extras().soft_eviction = entry.asked;
            pod.disruption_target = true;
            break;
    }
}

// Only our own victims: whoever else deletes pods has reasons of its own to wait.
bool Beliefs::stuck(const Pod& watched, Time now) const {
    if (!watched.terminating() || watched.finished() || now < watched.deleting + options_.patience) return false;
    return watched.disruption_target || overdue_.contains(watched.uid);
}

// Brings the Cluster to what is believed of the pod.
bool Beliefs::believe(Entry& entry, Time now) {
    Pod pod = entry.watched;
    overlay(entry, pod);
    if (!pod.node && !pod.nominated && pod.more().plan) pod.nominated = pod.more().plan->node;
    const bool promised_by_others =
        !pod.node && pod.nominated && !pod.terminating() && !pod.finished() && !cluster_.is_ours(pod);
    if (promised_by_others) {
        pod.node = pod.nominated;
        pod.make_extras().preemptible = false;
        pod.make_extras().preemptible_marker = "another scheduler has promised it its room";
    }
    const bool stays = stuck(entry.watched, now);
    if (stays) {
        pod.deleting = {};
        pod.disruption_target = false;
    }
    const bool alone = entry.left_alone > now;
    const bool told = alone && !pod.node && !entry.hold.empty();
    if (told) pod.make_extras().hold = entry.hold;
    if ((alone && !pod.node && !told) || (entry.group_due > now && lacks_group(pod))) pod.gated = true;
    if (stays || (alone && pod.node)) {
        pod.make_extras().preemptible = false;
        pod.make_extras().preemptible_marker =
            stays ? "its termination is overdue" : "its eviction failed a moment ago";
    }
    if (options_.tell) options_.tell(entry.watched, pod);
    return cluster_.apply(std::move(pod), entry.digest);
}

Beliefs::Entry& Beliefs::entry_of(PodId id) {
    const Pod& pod = cluster_.pod(id);
    const auto [at, fresh] = entries_.try_emplace(cluster_.words().str(pod.ns) + "/" + pod.name);
    // What has no entry is believed as it was watched.
    if (fresh) at->second.watched = pod;
    return at->second;
}

void Beliefs::assume_place(const std::string& name, Place what, StringId node, bool answered, Time now) {
    const PodId id = pod_named(cluster_, name);
    if (!id) return;
    Entry& entry = entry_of(id);
    entry.place = what;
    entry.node = node;
    entry.place_expires = answered ? Time() : now + options_.confirmation;
    note_due(entry, now);
    believe(entry, now);
}

void Beliefs::assume_leave(const std::string& name, Leave what, std::string asked, Time now) {
    const PodId id = pod_named(cluster_, name);
    if (!id) return;
    Entry& entry = entry_of(id);
    entry.leave = what;
    entry.asked = std::move(asked);
    entry.leaving = now + Duration::of_seconds(entry.watched.grace_seconds);
    entry.leave_expires = {};
    note_due(entry, now);
    believe(entry, now);
}

void Beliefs::assume(const Plan& plan, Time now) {
    std::map<std::string, const Intent*> intents;
    for (const Intent& intent : plan.intents)
        intents.emplace(intent.pod, &intent);
    std::set<std::string> placed;
    for (const Placement& p : plan.placements) {
        placed.insert(p.pod);
        const PodId id = pod_named(cluster_, p.pod);
        if (!id) continue;
        const StringId node = cluster_.words().string(p.node);
        const auto intent = intents.find(p.pod);
        // A nomination that stands needs no assuming.
        if (p.after_evictions && intent == intents.end() && cluster_.pod(id).nominated == node) continue;
        Entry& entry = entry_of(id);
        entry.devices = placed_devices(p.devices);
        entry.note.reset();
        if (intent != intents.end()) {
            entry.note = PlanNote{.id = plan.id,
                                  .node = node,
                                  .victim_uids = intent->second->victims,
                                  .devices = intent->second->devices,
                                  .deadline = intent->second->deadline};
        }
        // A nomination that evicts nobody is written only if it lasts.
        const bool answered = !p.after_evictions || intent != intents.end();
        assume_place(p.pod, p.after_evictions ? Place::kNominated : Place::kBound, node, answered, now);
        if (!p.after_evictions) claims_.assume(p);
    }
    for (const Eviction& e : plan.evictions) {
        if (e.mode == EvictionMode::kDelete || e.mode == EvictionMode::kEvict)
            assume_leave(e.pod, Leave::kLeaving, {}, now);
        if (e.mode == EvictionMode::kSoft) assume_leave(e.pod, Leave::kAsked, soft_note(e, now), now);
    }
    for (const std::string& pod : plan.nominations_cleared) {
        if (!placed.contains(pod)) assume_place(pod, Place::kNotNominated, {}, true, now);
    }
}

void Beliefs::set_aside(PodId id, std::string why, Time now) {
    Entry& entry = entry_of(id);
    entry.hold = std::move(why);
    entry.left_alone = now + pause_after(++entry.failures);
    note_due(entry, now);
    believe(entry, now);
}

void Beliefs::expect(Entry& entry, const SinkReport& report, Time now) {
    const Time until = now + options_.confirmation;
    switch (report.step) {
        case SinkStep::kRecord:
        case SinkStep::kNominate:
            if (entry.place == Place::kNominated) entry.place_expires = until;
            break;
        case SinkStep::kClearNomination:
            if (entry.place == Place::kNotNominated) entry.place_expires = until;
            break;
        case SinkStep::kEvict:
            if (entry.leave != Leave::kAsWatched) entry.leave_expires = until;
            break;
        case SinkStep::kAnnotate:
            if (entry.leave == Leave::kAsked) entry.leave_expires = until;
            break;
        case SinkStep::kBind:
        case SinkStep::kMark:
        case SinkStep::kForceDelete:
        case SinkStep::kScale:
        case SinkStep::kStatus:
            break;
    }
    note_due(entry, now);
}

void Beliefs::undo(Entry& entry, const SinkReport& report, Time now) {
    switch (report.step) {
        case SinkStep::kBind:
            if (entry.place != Place::kBound) break;
            if (report.unsure)
                entry.place_expires = now + options_.confirmation;
            else
                entry.place = Place::kAsWatched;
            if (entry.place == Place::kAsWatched) claims_.forget(entry.watched.uid);
            break;
        case SinkStep::kRecord:
        case SinkStep::kNominate:
        case SinkStep::kClearNomination:
            if (entry.place != Place::kBound) entry.place = Place::kAsWatched;
            break;
        case SinkStep::kMark:
        case SinkStep::kEvict:
            if (report.unsure && entry.leave != Leave::kAsWatched)
                entry.leave_expires = now + options_.confirmation;
            else
                entry.leave = Leave::kAsWatched;
            break;
        case SinkStep::kAnnotate:
            if (entry.leave == Leave::kAsked) entry.leave = Leave::kAsWatched;
            break;
        case SinkStep::kForceDelete:
        case SinkStep::kScale:
        case SinkStep::kStatus:
            break;
    }
}

bool Beliefs::hear(const SinkReport& report, Time now) {
    if (report.step == SinkStep::kStatus || report.step == SinkStep::kScale) return false;
    const auto known = entries_.find(report.pod);
    if (known == entries_.end()) return false;
    Entry& entry = known->second;
    if (!report.uid.empty() && entry.watched.uid != report.uid) return false;
    if (report.ok) {
        expect(entry, report, now);
        return false;
    }
    undo(entry, report, now);
    if (!report.tried) {
        believe(entry, now);
        return true;
    }
    ++entry.failures;
    entry.hold.clear();
    // A bind that fails once is tried again at once: most often somebody else was faster and the next plan knows.
    const bool at_once = report.step == SinkStep::kBind && entry.failures == 1;
    if (!at_once) entry.left_alone = now + pause_after(entry.failures);
    note_due(entry, now);
    believe(entry, now);
    return true;
}

bool Beliefs::review(Time now) {
    if (!due_.is_set() || now < due_) return false;
    // Those of plans that are still there, and those that are still leaving; the others are nobody's worry any more.
    std::set<std::string> overdue;
    for (const auto& [name, entry] : entries_) {
        const auto& plan = entry.watched.more().plan;
        if (!entry.watched.node && plan && plan->deadline.is_set() && plan->deadline <= now)
            overdue.insert(plan->victim_uids.begin(), plan->victim_uids.end());
        if (overdue_.contains(entry.watched.uid)) overdue.insert(entry.watched.uid);
    }
    overdue_ = std::move(overdue);
    if (early_until_ <= now) early_.clear();
    bool changed = false;
    for (auto at = entries_.begin(); at != entries_.end();) {
        Entry& entry = at->second;
        if (entry.place_expires.is_set() && entry.place_expires <= now) {
            if (entry.place == Place::kBound) claims_.forget(entry.watched.uid);
            entry.place = Place::kAsWatched;
        }
        if (entry.leave_expires.is_set() && entry.leave_expires <= now) entry.leave = Leave::kAsWatched;
        changed = believe(entry, now) || changed;
        if (entry.left_alone.is_set() && entry.left_alone + kLongestPause <= now) entry.failures = 0;
        at = remarkable(entry, now) ? std::next(at) : entries_.erase(at);
    }
    due_ = {};
    for (const auto& [name, entry] : entries_)
        earlier(due_, due(entry, now));
    return changed;
}

Time Beliefs::due(const Entry& entry, Time now) const {
    Time next;
    const auto later = [&](Time time) {
        if (time > now) earlier(next, time);
    };
    const Pod& pod = entry.watched;
    if (entry.place != Place::kAsWatched) later(entry.place_expires);
    if (entry.leave != Leave::kAsWatched) later(entry.leave_expires);
    later(entry.left_alone);
    later(entry.group_due);
    if (entry.left_alone.is_set()) later(entry.left_alone + kLongestPause);
    if (pod.terminating()) later(pod.deleting + options_.patience);
    const auto& plan = pod.more().plan;
    if (!pod.node && plan) later(plan->deadline);
    return next;
}

void Beliefs::note_due(const Entry& entry, Time now) {
    earlier(due_, due(entry, now));
    // Passed while nobody looked, perhaps under another scheduler.
    const auto& plan = entry.watched.more().plan;
    if (!entry.watched.node && plan && plan->deadline.is_set() && plan->deadline <= now) earlier(due_, now);
}

void Beliefs::mark(WordMarks& marks) const {
    for (const auto& [name, entry] : entries_)
        marks.all(entry.watched, entry.node, entry.note);
    claims_.mark(marks);
}

std::size_t Beliefs::assumptions() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(entries_, [](const auto& entry) { return assumes(entry.second); }));
}

}  // namespace reprieve
