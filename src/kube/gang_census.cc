#include "kube/gang_census.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace reprieve {

bool GangCensus::serves(std::string_view scheduler) const {
    return std::ranges::find(scheduler_names_, scheduler) != scheduler_names_.end();
}

GangCensus::Member GangCensus::member_of(const Pod& pod, const Vocabulary& words) const {
    if (!pod.group || !serves(words.text(words.spec(pod.spec).scheduler))) return {};
    const bool has_place = pod.node && !pod.terminating() && !pod.finished();
    const bool succeeded = pod.phase == PodPhase::kSucceeded;
    return {.gang = fmt::format("{}/{}", words.text(pod.ns), words.text(pod.group)),
            .part = {.members = 1,
                     .placed = has_place || succeeded,
                     .running = has_place && pod.phase == PodPhase::kRunning,
                     .succeeded = succeeded,
                     .failed = pod.phase == PodPhase::kFailed}};
}

void GangCensus::see(const Pod& pod, const Vocabulary& words) {
    put(fmt::format("{}/{}", words.text(pod.ns), pod.name), member_of(pod, words));
}

void GangCensus::see_gone(const std::string& pod) { put(pod, {}); }

// A member of no gang is not kept.
void GangCensus::put(const std::string& pod, Member member) {
    const std::lock_guard lock(mutex_);
    const auto known = members_.find(pod);
    const bool was_known = known != members_.end();
    if (was_known ? known->second == member : member.gang.empty()) return;
    if (was_known) {
        add(known->second, -1);
        members_.erase(known);
    }
    if (member.gang.empty()) return;
    add(member, 1);
    members_.emplace(pod, std::move(member));
}

void GangCensus::add(const Member& member, std::int32_t sign) {
    GangCount& count = gangs_[member.gang];
    count.members += sign * member.part.members;
    count.placed += sign * member.part.placed;
    count.running += sign * member.part.running;
    count.succeeded += sign * member.part.succeeded;
    count.failed += sign * member.part.failed;
    changed_[member.gang] = count;
    tell();
    if (count == GangCount{}) gangs_.erase(member.gang);
}

void GangCensus::see_group(const std::string& gang, bool gone) {
    const std::lock_guard lock(mutex_);
    const auto found = gangs_.find(gang);
    if (found != gangs_.end())
        changed_[gang] = found->second;
    else if (gone)
        changed_[gang] = {};
    tell();
}

void GangCensus::see_more() {
    const std::lock_guard lock(mutex_);
    tell();
}

void GangCensus::tell() {
    if (!std::exchange(told_, true) && on_change_) on_change_();
}

std::map<std::string, GangCount> GangCensus::take_changes() {
    const std::lock_guard lock(mutex_);
    told_ = false;
    return std::exchange(changed_, {});
}

void GangCensus::on_change(std::function<void()> listener) {
    const std::lock_guard lock(mutex_);
    on_change_ = std::move(listener);
}

}  // namespace reprieve
