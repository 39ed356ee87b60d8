#include "quota_rules.h"

#include <algorithm>
#include <map>

#include "rules.h"

namespace reprieve::oracle {

QuotaRules::QuotaRules(const Instance& instance) : instance_(instance), need_(need_of(instance.demand)) {
    own_path_ = path(instance.demand.quota);
    add_limits();
    add_floors();
    add_returns();
}

std::vector<int> QuotaRules::path(int from) const {
    std::vector<int> out;
    for (int at = from; at >= 0; at = quota(at).parent)
        out.push_back(at);
    return out;
}

bool QuotaRules::counts_in(const RunningPod& pod, int at) const {
    const std::vector<int> above = path(pod.quota);
    return std::ranges::find(above, at) != above.end();
}

std::int64_t QuotaRules::used(int at, std::size_t dim, bool fixed_only) const {
    std::int64_t sum = 0;
    for (const RunningPod& pod : instance_.pods) {
        if (counts_in(pod, at) && (pod.is_fixed || !fixed_only)) sum += pod.ask[dim];
    }
    return sum;
}

// Nobody on the demand's path holds more than its limit.
void QuotaRules::add_limits() {
    for (int at : own_path_) {
        for (std::size_t d = 0; d < kDims; ++d) {
            if (need_[d] <= 0 || !quota(at).managed[d]) continue;
            const std::int64_t excess = used(at, d, false) + need_[d] - quota(at).most[d];
            if (excess > 0) conditions_.push_back({.quota = at, .dim = d, .amount = excess, .if_from = {}});
        }
    }
}

// Other quotas give what they hold above their minimum.
void QuotaRules::add_floors() {
    for (int at = 0; at < static_cast<int>(instance_.quotas.size()); ++at) {
        if (!quota(at).elastic || std::ranges::find(own_path_, at) != own_path_.end()) continue;
        for (std::size_t d = 0; d < kDims; ++d) {
            if (!quota(at).managed[d]) continue;
            const std::int64_t borrowed = std::max<std::int64_t>(0, used(at, d, false) - quota(at).least[d]);
            conditions_.push_back({.quota = at, .dim = d, .at_least = false, .amount = borrowed, .if_from = {}});
        }
    }
}

// Whoever takes from another quota ends within its own minimum, at each level below the one they share.
void QuotaRules::add_returns() {
    for (int level : own_path_) {
        if (!quota(level).elastic) continue;
        std::vector<int> givers;
        for (int giver = 0; giver < static_cast<int>(instance_.quotas.size()); ++giver) {
            if (giver == instance_.demand.quota) continue;
            const std::vector<int> theirs = path(giver);
            const bool shared = std::ranges::find(theirs, level) != theirs.end();
            // A quota below the demand's own shares everything with it: then the demand's own counts.
            if (!shared || level == instance_.demand.quota) givers.push_back(giver);
        }
        for (std::size_t d = 0; d < kDims; ++d) {
            if (need_[d] <= 0 || !quota(level).managed[d] || givers.empty()) continue;
            const std::int64_t excess = used(level, d, false) + need_[d] - quota(level).least[d];
            if (excess > 0) conditions_.push_back({.quota = level, .dim = d, .amount = excess, .if_from = givers});
        }
    }
}

bool QuotaRules::may_trigger() const {
    if (instance_.demand.way != Way::kJobPreempt) return true;
    const bool fixed = instance_.demand.is_fixed;
    return std::ranges::all_of(own_path_, [&](int at) {
        if (!quota(at).elastic) return true;
        for (std::size_t d = 0; d < kDims; ++d) {
            if (need_[d] <= 0 || !quota(at).managed[d]) continue;
            const std::int64_t limit = fixed ? quota(at).least[d] : quota(at).most[d];
            if (used(at, d, fixed) + need_[d] > limit) return false;
        }
        return true;
    });
}

bool QuotaRules::over_limit() const {
    return std::ranges::any_of(conditions_, [](const QuotaCondition& c) { return c.at_least && c.if_from.empty(); });
}

// It asks for no more than its own minimum, and the quota manages something of it.
bool QuotaRules::job_within_own_minimum() const {
    if (own_path_.empty() || !quota(own_path_.front()).elastic) return false;
    const Quota& own = quota(own_path_.front());
    bool any = false;
    for (std::size_t d = 0; d < kDims; ++d) {
        if (need_[d] <= 0 || !own.managed[d]) continue;
        any = true;
        if (need_[d] > own.least[d]) return false;
    }
    return any;
}

bool QuotaRules::may_take(const RunningPod& pod, std::int64_t standing) const {
    const bool lower = standing < instance_.demand.priority;
    const bool own = pod.quota == instance_.demand.quota;
    if (instance_.demand.way != Way::kJobPreempt) return own && lower;
    if (pod.is_fixed) return false;
    if (own) return lower || instance_.demand.is_fixed;
    if (pod.quota >= 0) return quota(pod.quota).elastic && job_within_own_minimum();
    return lower && quota(instance_.demand.quota).elastic;
}

// Whether these pods could give enough, each other quota no more than it holds above its minimum.
bool QuotaRules::can_hold(const QuotaCondition& c, const std::vector<int>& pods) const {
    std::map<int, std::int64_t> given;
    for (int i : pods) {
        const RunningPod& pod = instance_.pods[static_cast<std::size_t>(i)];
        if (counts_in(pod, c.quota)) given[pod.quota] += pod.ask[c.dim];
    }
    std::int64_t sum = 0;
    for (const auto& [at, amount] : given) {
        const bool bound = std::ranges::find(own_path_, at) == own_path_.end() && quota(at).managed[c.dim];
        const std::int64_t most = std::max<std::int64_t>(0, used(at, c.dim, false) - quota(at).least[c.dim]);
        sum += bound ? std::min(amount, most) : amount;
    }
    return sum >= c.amount;
}

void QuotaRules::drop_vain(std::vector<int>& pods) const {
    for (bool dropped = true; dropped;) {
        dropped = false;
        for (const QuotaCondition& c : conditions_) {
            if (c.if_from.empty() || can_hold(c, pods)) continue;
            dropped |= std::erase_if(pods, [&](int i) {
                           const int from = instance_.pods[static_cast<std::size_t>(i)].quota;
                           return std::ranges::find(c.if_from, from) != c.if_from.end();
                       }) > 0;
        }
    }
}

bool QuotaRules::hold(const std::vector<int>& gone) const {
    return std::ranges::all_of(conditions_, [&](const QuotaCondition& c) {
        std::int64_t given = 0;
        bool applies = c.if_from.empty();
        for (int i : gone) {
            const RunningPod& pod = instance_.pods[static_cast<std::size_t>(i)];
            if (counts_in(pod, c.quota)) given += pod.ask[c.dim];
            applies = applies || std::ranges::find(c.if_from, pod.quota) != c.if_from.end();
        }
        return !applies || (c.at_least ? given >= c.amount : given <= c.amount);
    });
}

}  // namespace reprieve::oracle
