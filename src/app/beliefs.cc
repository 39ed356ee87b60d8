#include "app/beliefs.h"

#include <algorithm>

#include "app/retry.h"
#include "manifest/soft_note.h"
#include "model/placed_devices.h"
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
        if (const auto entry = entries_.find(cluster_.words().str(pod->ns) + "/" + pod->name);
            entry != entries_.end()) {
            overdue_.erase(entry->second.watched.uid);
            entries_.erase(entry);
        }
        const bool known = cluster_.find_pod(pod->ns, pod->name).valid();
        if (known) cluster_.remove(change.object);
        return known;
    }
    if (change.removed) {
        cluster_.remove(change.object);
        return true;
    }
    // Heartbeats are most of what a watch on nodes says.
    if (const auto* node = std::get_if<Node>(&change.object)) {
        const NodeId id = cluster_.find_node(node->name);
        if (id && *cluster_.node(id) == *node) return false;
    }
    const bool is_group = std::holds_alternative<Gang>(change.object);
    cluster_.apply(std::move(change.object), change.digest);
    if (is_group) release_members(now);
    return true;
}

void Beliefs::release_members(Time now) {
    for (auto& [name, entry] : entries_) {
        if (entry.group_due.is_set() && !lacks_group(entry.watched)) believe(name, entry, now);
    }
}

bool Beliefs::lacks_group(const Pod& pod) const {
    return !pod.node && pod.group && pod.more().koordinator_min < 0 && !cluster_.gangs().find(pod.ns, pod.group);
}

bool Beliefs::take_pod(Pod pod, Digest digest, Time now) {
    std::string name = cluster_.words().str(pod.ns) + "/" + pod.name;
    const auto known = entries_.find(name);
    if (known != entries_.end() && known->second.watched.uid != pod.uid)
        known->second = {};  // another pod of the same name
    Entry fresh;
    Entry& entry = known != entries_.end() ? known->second : fresh;
    if (known == entries_.end() && !pod_named(cluster_, name) && lacks_group(pod))
        entry.group_due = now + options_.group_delay;
    entry.watched = std::move(pod);
    entry.digest = digest;
    if (confirmed(entry)) {
        entry.assumed = Assumed::kNothing;
        entry.failures = 0;
    }
    const bool changed = believe(name, entry, now);
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
    return entry.assumed != Assumed::kNothing || entry.failures > 0 || entry.left_alone > now ||
           entry.group_due > now || pod.terminating() || (!pod.node && pod.more().plan);
}

bool Beliefs::confirmed(const Entry& entry) const {
    const Pod& pod = entry.watched;
    switch (entry.assumed) {
        case Assumed::kNothing:
            return false;
        case Assumed::kBound:
            return pod.node.valid();
        case Assumed::kLeaving:
            return pod.terminating();
        case Assumed::kAsked:
            return pod.terminating() || !pod.more().soft_eviction.empty();
        case Assumed::kNominated:
            return pod.node.valid() || (pod.nominated == entry.node && records(pod, entry.note));
        case Assumed::kNotNominated:
            return !pod.nominated && !pod.more().plan;
    }
    return false;
}

void Beliefs::overlay(const Entry& entry, Pod& pod) const {
    switch (entry.assumed) {
        case Assumed::kNothing:
            break;
        case Assumed::kBound:
            pod.node = entry.node;
            pod.nominated = {};
            if (pod.more().plan) pod.make_extras().plan.reset();
            if (!entry.devices.empty()) pod.make_extras().held_devices = entry.devices;
            break;
        case Assumed::kLeaving:
            pod.deleting = entry.leaving;
            pod.disruption_target = true;
            break;
        case Assumed::kAsked:
            pod.make_extras().soft_eviction = entry.asked;
            pod.disruption_target = true;
            break;
        case Assumed::kNominated:
            pod.nominated = entry.node;
            if (entry.note) pod.make_extras().plan = entry.note;
            break;
        case Assumed::kNotNominated:
            pod.nominated = {};
            if (pod.more().plan) pod.make_extras().plan.reset();
            break;
    }
}

// Only our own victims: whoever else deletes pods has reasons of its own to wait.
bool Beliefs::stuck(const Pod& pod, Time now) const {
    if (!pod.terminating() || pod.finished()) return false;
    return overdue_.contains(pod.uid) || (pod.disruption_target && pod.deleting + options_.patience <= now);
}

// Brings the Cluster to what is believed of the pod.
bool Beliefs::believe(const std::string& name, Entry& entry, Time now) {
    Pod pod = entry.watched;
    overlay(entry, pod);
    if (!pod.node && !pod.nominated && pod.more().plan) pod.nominated = pod.more().plan->node;
    const bool stays = stuck(pod, now);
    if (stays) {
        pod.deleting = {};
        pod.disruption_target = false;
    }
    const bool alone = entry.left_alone > now;
    if ((alone && !pod.node) || (entry.group_due > now && lacks_group(pod))) pod.gated = true;
    if (stays || (alone && pod.node)) {
        pod.make_extras().preemptible = false;
        pod.make_extras().preemptible_marker =
            stays ? "its termination is overdue" : "its eviction failed a moment ago";
    }
    const PodId id = pod_named(cluster_, name);
    if (id && cluster_.pod(id) == pod) return false;
    cluster_.apply(std::move(pod), entry.digest);
    return true;
}

Beliefs::Entry& Beliefs::entry_of(PodId id) {
    const Pod& pod = cluster_.pod(id);
    const auto [at, fresh] = entries_.try_emplace(cluster_.words().str(pod.ns) + "/" + pod.name);
    // What has no entry is believed as it was watched.
    if (fresh) at->second.watched = pod;
    return at->second;
}

void Beliefs::assume(const std::string& name, Assumed what, StringId node, Time now) {
    const PodId id = pod_named(cluster_, name);
    if (!id) return;
    Entry& entry = entry_of(id);
    entry.assumed = what;
    entry.node = node;
    entry.expires = now + options_.confirmation;
    entry.leaving = now + Duration::of_seconds(entry.watched.grace_seconds);
    note_due(entry, now);
    believe(name, entry, now);
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
                                  .deadline = intent->second->deadline};
        }
        assume(p.pod, p.after_evictions ? Assumed::kNominated : Assumed::kBound, node, now);
    }
    for (const Eviction& e : plan.evictions) {
        if (e.mode == EvictionMode::kDelete || e.mode == EvictionMode::kEvict)
            assume(e.pod, Assumed::kLeaving, {}, now);
        if (const PodId id = e.mode == EvictionMode::kSoft ? pod_named(cluster_, e.pod) : PodId()) {
            entry_of(id).asked = soft_note(e, now);
            assume(e.pod, Assumed::kAsked, {}, now);
        }
    }
    for (const std::string& pod : plan.nominations_cleared) {
        if (!placed.contains(pod)) assume(pod, Assumed::kNotNominated, {}, now);
    }
}

bool Beliefs::hear(const SinkReport& report, Time now) {
    if (report.ok || report.step == SinkStep::kStatus || report.step == SinkStep::kScale) return false;
    const auto known = entries_.find(report.pod);
    if (known == entries_.end()) return false;
    Entry& entry = known->second;
    if (!report.uid.empty() && entry.watched.uid != report.uid) return false;
    entry.assumed = Assumed::kNothing;
    if (!report.tried) {
        believe(report.pod, entry, now);
        return true;
    }
    ++entry.failures;
    // A bind that fails once is tried again at once: most often somebody else was faster and the next plan knows.
    const bool at_once = report.step == SinkStep::kBind && entry.failures == 1;
    if (!at_once) entry.left_alone = now + pause_after(entry.failures);
    note_due(entry, now);
    believe(report.pod, entry, now);
    return true;
}

bool Beliefs::review(Time now) {
    if (!due_.is_set() || now < due_) return false;
    for (const auto& [name, entry] : entries_) {
        const auto& plan = entry.watched.more().plan;
        if (!entry.watched.node && plan && plan->deadline.is_set() && plan->deadline <= now)
            overdue_.insert(plan->victim_uids.begin(), plan->victim_uids.end());
    }
    bool changed = false;
    for (auto at = entries_.begin(); at != entries_.end();) {
        Entry& entry = at->second;
        if (entry.assumed != Assumed::kNothing && entry.expires <= now) entry.assumed = Assumed::kNothing;
        changed = believe(at->first, entry, now) || changed;
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
    if (entry.assumed != Assumed::kNothing) later(entry.expires);
    later(entry.left_alone);
    later(entry.group_due);
    if (entry.left_alone.is_set()) later(entry.left_alone + kLongestPause);
    if (pod.terminating() && pod.disruption_target) later(pod.deleting + options_.patience);
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

std::size_t Beliefs::assumptions() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(entries_, [](const auto& entry) { return entry.second.assumed != Assumed::kNothing; }));
}

}  // namespace reprieve
