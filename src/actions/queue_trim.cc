#include "actions/queue_trim.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "actions/eviction_mode.h"
#include "actions/gang_part.h"
#include "model/amount_text.h"
#include "plugins/grants.h"
#include "search/surplus.h"

namespace reprieve {
namespace {

// No pod attacks: whoever is protected from anybody at all is protected here.
constexpr Attack kByShare{.priority = std::numeric_limits<std::int32_t>::min(), .reclaim = true};

}  // namespace

QueueTrim::QueueTrim(Desk& desk, const ActionConfig& action, QueueId queue, std::span<const PodId> pods)
    : desk_(desk),
      action_(action),
      queue_(queue),
      finder_(desk.session) {
    for (PodId pod : pods)
        members_.push_back({pod, held_by(snapshot(), pod)});
    std::ranges::sort(members_, [&](const Member& a, const Member& b) { return goes_before(a.pod, b.pod); });
}

bool QueueTrim::goes_before(PodId a, PodId b) const {
    const auto key = [&](PodId p) {
        const PodRow& row = snapshot().pods[p];
        const Pod& fact = snapshot().facts->pod(p);
        return std::tuple(fact.more().preemption_rank,
                          fact.phase != PodPhase::kPending,
                          row.unit_priority,
                          row.priority,
                          -row.started.us);
    };
    const auto x = key(a);
    const auto y = key(b);
    return x != y ? x < y : snapshot().name_less(a, b);
}

Resources QueueTrim::live_use() const {
    Resources sum;
    for (const Member& member : members_) {
        if (snapshot().pods[member.pod].state == PodState::kRunning) sum.add(member.holds);
    }
    return sum;
}

const Resources::Amount* QueueTrim::exceeded_by(const Member& member, const Resources& bound) const {
    const auto at = std::ranges::find_if(member.holds, [&](const Resources::Amount& amount) {
        const std::int64_t* most = bound.find(amount.dim);
        return most != nullptr && amount.value > 0 && live_.get(amount.dim) > *most;
    });
    return at == member.holds.end() ? nullptr : &*at;
}

bool QueueTrim::find_unit(PodId pod, UnitList& out) const {
    const Snapshot& s = snapshot();
    out.clear();
    if (!s.pods[pod].node || !finder_.takeable(pod, kByShare)) return false;
    const GangId id = s.pods[pod].gang;
    Unit unit{.gang = id, .priority = s.pods[pod].unit_priority};
    out.pods = {pod};
    if (id && (s.gangs[id].min > 0 || s.gangs[id].one_unit())) {
        const GangRow& gang = s.gangs[id];
        const bool spared = !gang.one_unit() && can_spare(s, id, out.pods, {});
        const bool alone = gang.fact != nullptr && gang.fact->disruption == DisruptionMode::kSingle;
        unit.kind = spared ? UnitKind::kSafe : UnitKind::kWhole;
        if (!spared && (gang.one_unit() || !alone) && !finder_.whole_pods(id, kByShare, out.pods)) return false;
    }
    unit.count = static_cast<std::uint32_t>(out.pods.size());
    out.units = {unit};
    split_by_budget(s, out, std::array<std::uint32_t, 1>{0});
    return true;
}

bool QueueTrim::stop_above(const Resources& bound, const Stage& stage) {
    live_ = live_use();
    const std::size_t before = stopped_.size();
    UnitList list;
    // Budgets only shrink on the way: who breaks one when its turn comes breaks it later, too.
    for (const bool over_budget : {false, true}) {
        if (over_budget && action_.pdb == PdbMode::kStrict) break;
        for (const Member& member : members_) {
            const Resources::Amount* excess = exceeded_by(member, bound);
            if (excess == nullptr || !find_unit(member.pod, list) || !keeps_guarantee(list.pods)) continue;
            if (over_budget || list.units.front().violations == 0) stop(list, stage, reason(*excess, bound, stage));
        }
    }
    return stopped_.size() > before;
}

void QueueTrim::stop(const UnitList& list, const Stage& stage, const std::string& reason) {
    const Snapshot& s = snapshot();
    const Unit& unit = list.units.front();
    const std::string part = part_of_gang(s, unit);
    const std::uint32_t note = desk_.plan.note({.action = action_.kind,
                                                .unit = unit.kind,
                                                .group = unit.gang ? s.gang_name(unit.gang) : "",
                                                .mode = eviction_mode(action_),
                                                .stage = stage.name,
                                                .violations = unit.violations,
                                                .priority = unit.priority,
                                                .reason = reason,
                                                .part = part});
    const auto start = desk_.session.tx.checkpoint();
    for (PodId pod : list.pods)
        desk_.session.tx.evict(pod, note);
    desk_.session.commit(start);
    live_.subtract(held_in_queue(list.pods));
    stopped_.push_back({unit.kind, unit.gang, list.pods});
}

std::string QueueTrim::reason(const Resources::Amount& excess, const Resources& bound, const Stage& stage) const {
    const Snapshot& s = snapshot();
    return fmt::format("queue {} holds {} of {} and {} {}",
                       s.words->text(s.queues[queue_].name),
                       amount_text(excess.dim, live_.get(excess.dim)),
                       s.words->text(excess.dim),
                       stage.measure,
                       amount_text(excess.dim, bound.get(excess.dim)));
}

Resources QueueTrim::held_in_queue(const std::vector<PodId>& pods) const {
    Resources sum;
    for (PodId pod : pods) {
        if (snapshot().pods[pod].queue == queue_) sum.add(held_by(snapshot(), pod));
    }
    return sum;
}

// Without these pods the queue still holds what it is guaranteed of what they hold.
bool QueueTrim::keeps_guarantee(const std::vector<PodId>& pods) const {
    const Resources gone = held_in_queue(pods);
    return std::ranges::all_of(snapshot().queues[queue_].fact->guarantee, [&](const Resources::Amount& least) {
        return gone.get(least.dim) == 0 || live_.get(least.dim) - gone.get(least.dim) >= least.value;
    });
}

// Nobody comes back into a gang that is gone without it.
bool QueueTrim::may_return(const Stopped& unit) const {
    if (unit.kind != UnitKind::kSafe) return true;
    const Gang* group = snapshot().gangs[unit.gang].fact;
    if (group != nullptr && group->disruption == DisruptionMode::kSingle) return true;
    return std::ranges::none_of(stopped_, [&](const Stopped& other) {
        return other.gang == unit.gang && other.kind == UnitKind::kWhole && !other.pods.empty();
    });
}

void QueueTrim::give_back(const Resources& bound) {
    live_ = live_use();
    for (auto unit = stopped_.rbegin(); unit != stopped_.rend(); ++unit) {
        const Resources back = held_in_queue(unit->pods);
        const bool fits = std::ranges::all_of(back, [&](const Resources::Amount& amount) {
            const std::int64_t* most = bound.find(amount.dim);
            return most == nullptr || live_.get(amount.dim) + amount.value <= *most;
        });
        if (!fits || !may_return(*unit)) continue;
        const auto start = desk_.session.tx.checkpoint();
        for (PodId pod : unit->pods)
            desk_.session.tx.restore(pod);
        desk_.session.commit(start);
        live_.add(back);
        unit->pods.clear();
    }
    std::erase_if(stopped_, [](const Stopped& unit) { return unit.pods.empty(); });
}

}  // namespace reprieve
