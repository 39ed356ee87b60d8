#include "kube/known_pods.h"

#include <algorithm>

#include "kube/resource_version.h"

namespace reprieve {
namespace {

KnownPod as_seen(const Pod& pod, const Vocabulary& words) {
    const PodExtras& more = pod.more();
    KnownPod known;
    known.uid = pod.uid;
    known.bound = pod.node.valid();
    known.nominated = words.str(pod.nominated);
    known.marked = pod.disruption_target;
    known.deleting = pod.deleting;
    known.grace_seconds = pod.grace_seconds;
    if (more.has_deletion_cost) known.deletion_cost = more.deletion_cost;
    known.claimed_by = more.claimed_by;
    known.softly_evicted = !more.soft_eviction.empty();
    known.has_claims = more.extended_claim.valid() || (pod.spec && !words.spec(pod.spec).claims.empty());
    if (more.plan) {
        known.has_plan = true;
        known.plan_node = words.str(more.plan->node);
        known.plan_victims = more.plan->victim_uids;
        std::ranges::sort(known.plan_victims);
    }
    return known;
}

// Whether the defaults would say the same of a running pod. Its grace matters only while it is leaving.
bool is_unremarkable(const KnownPod& pod) {
    return pod.bound && pod.nominated.empty() && !pod.has_plan && !pod.marked && !pod.deleting.is_set() &&
           !pod.deletion_cost && pod.claimed_by.empty() && !pod.softly_evicted;
}

std::string name_of(const Pod& pod, const Vocabulary& words) {
    std::string name = words.str(pod.ns);
    name += '/';
    return name += pod.name;
}

}  // namespace

void KnownPods::see(const Pod& pod, const Vocabulary& words, const PodText& text) {
    KnownPod seen = as_seen(pod, words);
    const bool keep = !is_unremarkable(seen);
    const std::lock_guard lock(mutex_);
    note_victims(seen);
    if (!keep && entries_.empty()) return;
    const std::string name = name_of(pod, words);
    const auto found = entries_.find(name);
    note_mark(seen, found == entries_.end() ? nullptr : &found->second, text);
    if (found == entries_.end()) {
        if (keep) take_in(entries_.emplace(name, Entry{}).first, std::move(seen));
        return;
    }
    Entry& entry = found->second;
    if (entry.pod.uid.empty() || entry.pod.uid == seen.uid) {
        entry.seen_bound = entry.seen_bound || seen.bound;
        if (entry.writes > 0) {
            entry.meanwhile = {std::move(seen), version_number(text.version())};
            return;
        }
        if (entry.written_version != 0 && version_number(text.version()) < entry.written_version) return;
    }
    take_in(found, std::move(seen));
}

void KnownPods::file(const std::string& name, const KnownPod& pod) {
    const auto keep = [&](std::set<std::string>& names, bool in) {
        if (in)
            names.insert(name);
        else if (!names.empty())
            names.erase(name);
    };
    keep(planned_, pod.has_plan);
    keep(marked_, pod.marked);
}

void KnownPods::drop(Entries::iterator entry) {
    file(entry->first, {});
    entries_.erase(entry);
}

void KnownPods::take_in(Entries::iterator entry, KnownPod seen) {
    if (is_unremarkable(seen)) return drop(entry);
    const bool is_bound = seen.bound;
    entry->second = {.pod = std::move(seen), .seen_bound = is_bound};
    file(entry->first, entry->second.pod);
    tell_of_old_plan(entry->second);
}

void KnownPods::on_old_plan(std::function<void()> listener) {
    const std::lock_guard lock(mutex_);
    on_old_plan_ = std::move(listener);
}

// That a binding has failed does not mean that it was not carried out: then the pod is seen on its node.
// While a write is under way, what it will bring about counts.
bool KnownPods::is_bound(const Entry& entry) {
    return entry.pod.certain || entry.writes > 0 ? entry.pod.bound : entry.seen_bound;
}

bool KnownPods::has_old_plan(const Entry& entry) { return entry.writes == 0 && is_bound(entry) && entry.pod.has_plan; }

bool KnownPods::waits(const std::string& name, const std::string& uid, const std::string& plan_node) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end()) return false;
    const KnownPod& pod = found->second.pod;
    if (pod.uid != uid || is_bound(found->second) || pod.deleting.is_set()) return false;
    return plan_node.empty() || (pod.has_plan && pod.plan_node == plan_node);
}

void KnownPods::tell_of_old_plan(const Entry& entry) const {
    if (on_old_plan_ && has_old_plan(entry)) on_old_plan_();
}

void KnownPods::note_newest(std::uint64_t version) {
    const std::lock_guard lock(mutex_);
    newest_ = std::max(newest_, version);
}

std::string KnownPods::newest() const {
    const std::lock_guard lock(mutex_);
    return newest_ == 0 ? std::string() : std::to_string(newest_);
}

void KnownPods::see_gone(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end()) return;
    named_.erase(found->second.pod.uid);
    drop(found);
}

KnownPod KnownPods::find(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end()) return {};
    KnownPod pod = found->second.pod;
    pod.confirmed = found->second.writes == 0 && found->second.written_version == 0;
    return pod;
}

std::vector<std::pair<std::string, std::string>> KnownPods::with_old_plans() const {
    std::vector<std::pair<std::string, std::string>> found;
    const std::lock_guard lock(mutex_);
    for (const std::string& name : planned_) {
        const Entry& entry = entries_.at(name);
        if (has_old_plan(entry)) found.emplace_back(name, entry.pod.uid);
    }
    return found;
}

void KnownPods::note_victims(const KnownPod& pod) {
    if (pod.has_plan) named_.insert(pod.plan_victims.begin(), pod.plan_victims.end());
}

// Marks of our own making are entered before they are seen, and looked after by the plan that made them.
void KnownPods::note_mark(const KnownPod& seen, const Entry* before, const PodText& text) {
    const bool is_known = before != nullptr && before->pod.uid == seen.uid && before->pod.marked;
    if (seen.marked && !is_known && text.has_our_mark()) named_.insert(seen.uid);
}

std::vector<std::pair<std::string, std::string>> KnownPods::with_old_marks(const std::set<std::string>& wanted) {
    std::vector<std::pair<std::string, std::string>> found;
    const std::lock_guard lock(mutex_);
    for (const std::string& name : marked_) {
        const Entry& entry = entries_.at(name);
        const KnownPod& pod = entry.pod;
        const bool leaves = (pod.deleting.is_set() && pod.certain) || pod.softly_evicted;
        if (entry.writes == 0 && !leaves && named_.contains(pod.uid) && !wanted.contains(pod.uid))
            found.emplace_back(name, pod.uid);
    }
    if (found.empty() && named_.size() < most_named_) return found;
    const std::unordered_set<std::string_view> live = live_victims();
    std::erase_if(found, [&](const auto& one) { return live.contains(one.second); });
    forget_victims(live);
    return found;
}

std::unordered_set<std::string_view> KnownPods::live_victims() const {
    std::unordered_set<std::string_view> live;
    for (const std::string& name : planned_) {
        const Entry& entry = entries_.at(name);
        if (!entry.pod.bound) live.insert(entry.pod.plan_victims.begin(), entry.pod.plan_victims.end());
    }
    return live;
}

// Now and then: those of no plan, which are not marked any more either.
void KnownPods::forget_victims(const std::unordered_set<std::string_view>& live) {
    if (named_.size() < most_named_) return;
    std::unordered_set<std::string_view> marked;
    for (const std::string& name : marked_)
        marked.insert(entries_.at(name).pod.uid);
    std::erase_if(named_, [&](const std::string& uid) { return !live.contains(uid) && !marked.contains(uid); });
    most_named_ = std::max(kManyVictims, 2 * named_.size());
}

void KnownPods::begin_write(const std::string& name,
                            const std::string& uid,
                            const std::function<void(KnownPod&)>& change) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[name];
    if (entry.pod.uid.empty()) entry.pod.uid = uid;
    if (entry.pod.uid != uid) return;  // another pod has its name by now
    change(entry.pod);
    file(name, entry.pod);
    note_victims(entry.pod);
    ++entry.writes;
}

void KnownPods::end_write(const std::string& name, const std::string& uid, bool ok, const std::string& version) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end() || found->second.pod.uid != uid) return;  // gone meanwhile
    Entry& entry = found->second;
    entry.writes = std::max(entry.writes - 1, 0);
    if (!ok) entry.pod.certain = false;
    if (!version.empty()) entry.written_version = std::max(entry.written_version, version_number(version));
    if (entry.writes > 0) return;
    // The event of a write may come before its answer does.
    std::optional<Seen> meanwhile;
    meanwhile.swap(entry.meanwhile);
    if (ok && meanwhile && !version.empty() && meanwhile->version >= entry.written_version)
        return take_in(found, std::move(meanwhile->pod));
    if (!ok) tell_of_old_plan(entry);
}

void KnownPods::forget_gone(const std::string& name, const std::string& uid) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end() || found->second.writes > 0 || found->second.pod.uid != uid) return;
    named_.erase(uid);
    drop(found);
}

std::size_t KnownPods::size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

}  // namespace reprieve
