#include "actions/queue_trim.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/amount_text.h"
#include "plugins/grants.h"
#include "state/cluster.h"

namespace reprieve {

QueueTrim::QueueTrim(
    const Snapshot& snapshot, Round& round, std::uint32_t number, QueueId queue, std::span<const PodId> pods)
    : snapshot_(snapshot),
      round_(round),
      number_(number),
      queue_(queue) {
    for (PodId pod : pods)
        members_.push_back({pod, held_by(snapshot_, pod)});
    std::ranges::sort(members_, [&](const Member& a, const Member& b) { return goes_before(a.pod, b.pod); });
}

bool QueueTrim::goes_before(PodId a, PodId b) const {
    const auto key = [&](PodId p) {
        const PodRow& row = snapshot_.pods[p];
        const Pod& fact = snapshot_.facts->pod(p);
        return std::tuple(fact.more().preemption_rank,
                          fact.phase != PodPhase::kPending,
                          row.unit_priority,
                          row.priority,
                          -snapshot_.started(p).us);
    };
    const auto x = key(a);
    const auto y = key(b);
    return x != y ? x < y : snapshot_.name_less(a, b);
}

Resources QueueTrim::live_use() const {
    Resources sum;
    for (const Member& member : members_) {
        if (snapshot_.pods[member.pod].state == PodState::kRunning) sum.add(member.holds);
    }
    return sum;
}

const Resources::Amount* QueueTrim::exceeded_by(const Member& member, const Resources& bound) const {
    const Resources::Amount* first = nullptr;
    for (const Resources::Amount& amount : member.holds) {
        const std::int64_t* most = bound.find(amount.dim);
        if (most == nullptr || amount.value <= 0 || live_.get(amount.dim) <= *most) continue;
        if (first == nullptr || snapshot_.words->comes_before(amount.dim, first->dim)) first = &amount;
    }
    return first;
}

bool QueueTrim::stop_above(const Resources& bound, const Stage& stage) {
    live_ = live_use();
    FixedWalk& walk = round_.walk;
    bool any = false;
    // Budgets only shrink on the way: who breaks one when its turn comes breaks it later, too.
    for (const bool over_budget : {false, true}) {
        if (over_budget && round_.strict_budgets) break;
        for (const Member& member : members_) {
            const std::uint32_t unit = round_.unit_of[member.pod.index()];
            if (unit == kNoUnit || walk.has(unit)) continue;
            const Resources::Amount* excess = exceeded_by(member, bound);
            if (excess == nullptr) continue;
            auto step = walk.step_with(unit);
            if (!step || (!over_budget && walk.breaks_budget(*step))) continue;
            round_.reasons.push_back({stage.name, reason(*excess, bound, stage)});
            live_.subtract(held_in_queue(walk.pods_of(step->units)));
            walk.take(std::move(*step), number_);
            any = true;
        }
    }
    return any;
}

std::string QueueTrim::reason(const Resources::Amount& excess, const Resources& bound, const Stage& stage) const {
    const std::string_view resource = snapshot_.words->text(excess.dim);
    return fmt::format("queue {} holds {} of {} and {} {}",
                       snapshot_.words->text(snapshot_.queues[queue_].name),
                       amount_text(resource, live_.get(excess.dim)),
                       resource,
                       stage.measure,
                       amount_text(resource, bound.get(excess.dim)));
}

Resources QueueTrim::held_in_queue(std::span<const PodId> pods) const {
    Resources sum;
    for (PodId pod : pods) {
        if (snapshot_.pods[pod].queue == queue_) sum.add(held_by(snapshot_, pod));
    }
    return sum;
}

void QueueTrim::give_back(const Resources& bound) {
    live_ = live_use();
    round_.walk.give_back(
        [&](std::span<const PodId> pods) {
            const Resources back = held_in_queue(pods);
            const bool fits = std::ranges::all_of(back, [&](const Resources::Amount& amount) {
                const std::int64_t* most = bound.find(amount.dim);
                return most == nullptr || live_.get(amount.dim) + amount.value <= *most;
            });
            if (fits) live_.add(back);
            return fits;
        },
        number_);
}

}  // namespace reprieve
