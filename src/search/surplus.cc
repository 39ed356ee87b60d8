#include "search/surplus.h"

#include <algorithm>

#include "state/cluster.h"

namespace reprieve {

namespace {

// How many of `live` members a minimum can spare. Members that have succeeded stand for those that are missing, never
// for those that might go. Negative: it is short even so.
std::int32_t spare(std::int32_t live, std::int32_t done, std::int32_t min) {
    return live >= min ? live - min : std::min(0, live + done - min);
}

}  // namespace

Surplus::Surplus(const Snapshot& s, GangId id, std::span<const PodId> evicted) : snapshot_(s), evicted_(evicted) {
    const GangRow& gang = s.gangs[id];
    global_ = spare(gang.live + static_cast<std::int32_t>(evicted.size()), gang.done, gang.min);
    broken_ = global_ < 0;
    count_sub_groups(gang);
    count_roles(gang);
}

bool Surplus::counts(PodId pod) const {
    const PodState state = snapshot_.pods[pod].state;
    const bool lives = state == PodState::kRunning || state == PodState::kPlaced || state == PodState::kNominated;
    return lives || std::ranges::find(evicted_, pod) != evicted_.end();
}

bool Surplus::has_succeeded(PodId pod) const { return snapshot_.facts->pod(pod).phase == PodPhase::kSucceeded; }

void Surplus::count_roles(const GangRow& gang) {
    if (gang.fact == nullptr || gang.fact->role_minimums.empty()) return;
    std::int64_t sum = 0;
    for (const auto& [role, min] : gang.fact->role_minimums)
        sum += min;
    if (gang.min < sum) return;  // elastic: role minimums are not enforced
    for (const auto& [role, min] : gang.fact->role_minimums) {
        std::int32_t live = 0;
        std::int32_t done = 0;
        for (PodId p : gang.pods) {
            if (snapshot_.facts->pod(p).role != role) continue;
            if (counts(p)) ++live;
            if (has_succeeded(p)) ++done;
        }
        roles_.emplace_back(role, spare(live, done, min));
    }
}

void Surplus::count_sub_groups(const GangRow& gang) {
    if (gang.fact == nullptr || gang.fact->sub_groups.empty()) return;
    policies_ = &gang.fact->sub_groups;
    for (PodId p : gang.pods) {
        if (!counts(p) && !has_succeeded(p)) continue;
        const SubGroupKey key = sub_group_of(snapshot_, p);
        if (!key) continue;
        auto at = std::ranges::find(subs_, key, &SubGroup::key);
        if (at == subs_.end()) at = subs_.insert(subs_.end(), {.key = key});
        ++(counts(p) ? at->live : at->done);
    }
    for (SubGroup& sub : subs_) {
        const std::int32_t size = std::max(1, (*policies_)[static_cast<std::size_t>(sub.key.policy)].size);
        sub.needs = sub.live >= size || sub.live + sub.done < size ? size : sub.live;
    }
}

bool Surplus::take(PodId pod) {
    if (broken_) return true;
    if (global_ <= 0) return false;
    const StringId role = snapshot_.facts->pod(pod).role;
    const auto at = std::ranges::find(roles_, role, &std::pair<StringId, std::int32_t>::first);
    if (at != roles_.end() && at->second <= 0) return false;
    if (!take_from_sub_group(pod)) return false;
    --global_;
    if (at != roles_.end()) --at->second;
    return true;
}

// A pod of a complete sub-group may go only while its policy has more complete ones than it needs; one of a
// sub-group that is broken already may go anyway.
bool Surplus::take_from_sub_group(PodId pod) {
    if (policies_ == nullptr) return true;
    const SubGroupKey key = sub_group_of(snapshot_, pod);
    const auto at = key ? std::ranges::find(subs_, key, &SubGroup::key) : subs_.end();
    if (at == subs_.end()) return true;
    if (at->is_ready()) {
        const auto ready =
            std::ranges::count_if(subs_, [&](const SubGroup& s) { return s.key.policy == key.policy && s.is_ready(); });
        if (at->live == at->needs && ready <= (*policies_)[static_cast<std::size_t>(key.policy)].min_sub_groups)
            return false;
    }
    --at->live;
    return true;
}

bool can_spare(const Snapshot& s, GangId gang, std::span<const PodId> gone, std::span<const PodId> evicted) {
    Surplus surplus(s, gang, evicted);
    return std::ranges::all_of(gone, [&](PodId pod) { return surplus.take(pod); });
}

}  // namespace reprieve
