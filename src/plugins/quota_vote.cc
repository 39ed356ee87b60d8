#include "plugins/quota_vote.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace reprieve {

std::vector<QueueId> levels_given_to(const Snapshot& s, QueueId job, QueueId giver) {
    std::vector<QueueId> levels = levels_below_common(s, job, giver);
    if (levels.empty()) levels.push_back(job);
    return levels;
}

QuotaVote::QuotaVote(const Snapshot& s, QuotaKinds kinds, const QuotaJob& job)
    : VictimVote(s),
      kinds_(kinds),
      job_(job) {
    // Without anything of its own use it must at least stay within its minimum.
    const Queue* own = job.queue ? s.queues[job.queue].fact : nullptr;
    if (own == nullptr || !own->is_quota) return;
    bool any = false;
    has_minimum_ = std::ranges::all_of(job.asked, [&](const auto& a) {
        if (!own->guarantee.lists(a.dim) && !own->limit.lists(a.dim)) return true;
        any = any || a.dim != kPods;
        return a.value <= own->guarantee.get(a.dim);
    });
    has_minimum_ = has_minimum_ && any;
}

bool is_in_quota(const Snapshot& s, QueueId queue) {
    return queue && std::ranges::any_of(s.queue_path[queue], [&](QueueId q) {
               return s.queues[q].fact != nullptr && s.queues[q].fact->is_quota;
           });
}

bool QuotaRank::may_take(const Snapshot& s, PodId pod) const {
    const PodRow& row = s.pods[pod];
    if (kinds.is_fixed(s.classes[row.cls]) || !row.queue) return false;
    const bool lower = row.unit_priority < priority;
    if (row.queue == queue) return lower || fixed;
    // Queues of other kinds keep their pods to themselves; `default` is nobody's.
    const bool job_outside = queue && s.queues[queue].fact != nullptr && !is_in_quota(s, queue);
    return lower && s.queues[row.queue].fact == nullptr && !job_outside;
}

bool QuotaVote::may_take(PodId pod) const {
    const PodRow& row = snapshot().pods[pod];
    if (is_own(row.queue) || !is_in_quota(snapshot(), row.queue)) return rank().may_take(snapshot(), pod);
    return !kinds_.is_fixed(snapshot().classes[row.cls]) && has_minimum_ && !gives_in_vain(row.queue);
}

void QuotaVote::reset() {
    VictimVote::reset();
    returning_to_.clear();
}

bool QuotaVote::may_give(const Part& part) {
    if (is_own(part.queue) || !is_in_quota(snapshot(), part.queue)) return true;
    if (!has_minimum_) return false;
    for (QueueId q : levels_below_common(snapshot(), part.queue, job_.queue)) {
        if (breaks_guarantee(q, part.amounts)) return false;
    }
    return true;
}

void QuotaVote::gives(const Part& part, bool after_all) {
    if (is_own(part.queue) || !is_in_quota(snapshot(), part.queue)) return;
    for (QueueId q : levels_given_to(snapshot(), job_.queue, part.queue))
        returning_to_[q] += after_all ? 1 : -1;
}

// Whoever takes from others ends within its own minimum. An ancestor that sets no minimum for a dimension sets none.
bool QuotaVote::returns_to(QueueId level) const {
    const Queue* fact = snapshot().queues[level].fact;
    if (fact == nullptr || !fact->is_quota) return true;
    return std::ranges::all_of(job_.asked, [&](const auto& a) {
        const std::int64_t* least = fact->guarantee.find(a.dim);
        if (least == nullptr) return !is_own(level) || !fact->limit.lists(a.dim);
        return used(level, a.dim) + a.value <= *least;
    });
}

bool QuotaVote::gives_in_vain(QueueId giver) const {
    return !hopeless_.empty() &&
           std::ranges::any_of(levels_given_to(snapshot(), job_.queue, giver),
                               [&](QueueId level) { return std::ranges::find(hopeless_, level) != hopeless_.end(); });
}

std::vector<QueueId> QuotaVote::levels_never_within() const {
    std::vector<QueueId> out;
    if (!is_in_quota(snapshot(), job_.queue)) return out;
    std::ranges::copy_if(
        snapshot().queue_path[job_.queue], std::back_inserter(out), [&](QueueId level) { return !returns_to(level); });
    return out;
}

// By queue: what its candidates hold, and of that no more than it has above its minimum.
std::map<QueueId, Resources> QuotaVote::most_given(std::span<const PodId> candidates) const {
    std::map<QueueId, Resources> out;
    for (PodId pod : candidates) {
        if (!may_take(pod)) continue;
        for (const auto& [dim, value] : snapshot().class_of(pod).requests)
            out[snapshot().pods[pod].queue].add(dim, value);
    }
    for (auto& [queue, amounts] : out) {
        const Queue* fact = snapshot().queues[queue].fact;
        if (fact == nullptr || levels_below_common(snapshot(), queue, job_.queue).empty()) continue;
        for (const auto& [dim, least] : fact->guarantee) {
            const std::int64_t most = std::max<std::int64_t>(0, used_before(queue, dim) - least);
            amounts.set(dim, std::min(amounts.get(dim), most));
        }
    }
    return out;
}

void QuotaVote::bar_hopeless(std::span<const PodId> candidates) {
    for (;;) {
        reset();
        for (const auto& [queue, amounts] : most_given(candidates))
            count_given(queue, amounts);
        std::vector<QueueId> levels = levels_never_within();
        reset();
        // With a level that is out its givers are, and with them what they would have given to the levels above.
        if (levels.size() == hopeless_.size()) return;
        hopeless_ = std::move(levels);
    }
}

std::string QuotaVote::why_none_give() const {
    if (hopeless_.empty()) return "";
    return fmt::format("no other quota gives back to {}: whoever goes, it would hold more than its minimum",
                       snapshot().words->text(snapshot().queues[hopeless_.front()].name));
}

// `returns_to`, told of what must be given.
std::vector<GiveRule> QuotaVote::return_rules(QueueId level, std::vector<QueueId> givers) const {
    std::vector<GiveRule> out;
    const Queue* fact = snapshot().queues[level].fact;
    if (fact == nullptr || !fact->is_quota) return out;
    for (const auto& [dim, value] : job_.asked) {
        const std::int64_t* least = fact->guarantee.find(dim);
        if (least == nullptr && !(is_own(level) && fact->limit.lists(dim))) continue;
        // Without a minimum of its own the job gets nothing from others, whoever goes.
        const std::int64_t excess = least == nullptr ? INT64_MAX : used_before(level, dim) + value - *least;
        if (excess > 0)
            out.push_back({.queue = level, .dim = dim, .at_least = true, .amount = excess, .givers = givers});
    }
    return out;
}

std::optional<std::vector<GiveRule>> QuotaVote::rules() const {
    if (told_) return told_;
    std::map<QueueId, std::vector<QueueId>> given_to;  // levels of the job's path, by whom
    std::set<QueueId> floors;                          // levels of those who give
    for (QueueId giver : IdRange<QueueId>(snapshot().queues.size())) {
        if (!snapshot().queues[giver].alive || is_own(giver) || !is_in_quota(snapshot(), giver)) continue;
        for (QueueId q : levels_below_common(snapshot(), giver, job_.queue)) {
            // Above the quotas, others give who are not asked for a minimum.
            if (!is_in_quota(snapshot(), q)) return std::nullopt;
            floors.insert(q);
        }
        for (QueueId q : levels_given_to(snapshot(), job_.queue, giver))
            given_to[q].push_back(giver);
    }
    std::vector<GiveRule> out;
    for (QueueId q : floors) {
        if (snapshot().queues[q].fact == nullptr) continue;
        for (const auto& [dim, least] : snapshot().queues[q].fact->guarantee) {
            const std::int64_t borrowed = std::max<std::int64_t>(0, used_before(q, dim) - least);
            out.push_back({.queue = q, .dim = dim, .amount = borrowed, .givers = {}});
        }
    }
    for (auto& [level, givers] : given_to) {
        std::vector<GiveRule> rules = return_rules(level, std::move(givers));
        out.insert(out.end(), rules.begin(), rules.end());
    }
    sort_by_names(snapshot(), out);
    told_ = std::move(out);
    return told_;
}

// Of its own quota, and of no quota: only what other quotas give is bounded, and asks something of the job's own.
bool QuotaVote::lets_all(std::span<const PodId> pods) const {
    QueueId known;
    return std::ranges::all_of(pods, [&](PodId pod) {
        const QueueId queue = snapshot().pods[pod].queue;
        if (queue && queue == known) return true;
        if (!queue || (!is_own(queue) && is_in_quota(snapshot(), queue))) return false;
        known = queue;
        return true;
    });
}

bool QuotaVote::passes() const {
    return std::ranges::all_of(returning_to_,
                               [&](const auto& level) { return level.second == 0 || returns_to(level.first); });
}

}  // namespace reprieve
