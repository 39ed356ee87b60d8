#include "actions/queue_balance.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "actions/evict_unit.h"
#include "search/budgets_left.h"
#include "search/victim_problem.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

constexpr QueueTrim::Stage kPreprocess{"preprocess", "was granted"};
constexpr QueueTrim::Stage kPreempt{"preempt", "deserves"};
constexpr int kRounds = 8;

// What is guaranteed to the queue is taken by nobody.
Resources at_least_guaranteed(const Snapshot& s, QueueId queue, Resources bound) {
    for (const auto& [dim, least] : s.queues[queue].fact->guarantee) {
        if (const std::int64_t* most = bound.find(dim); most != nullptr && *most < least) bound.set(dim, least);
    }
    return bound;
}

bool is_within(const Resources& use, const Resources& bound) {
    return std::ranges::all_of(bound, [&](const Resources::Amount& most) { return use.get(most.dim) <= most.value; });
}

IdVector<QueueId, std::vector<PodId>> running_pods(const Snapshot& s) {
    IdVector<QueueId, std::vector<PodId>> found(s.queues.size());
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        const PodRow& row = s.pods[pod];
        if (row.queue && row.state == PodState::kRunning) found[row.queue].push_back(pod);
    }
    return found;
}

Resources lower_of(Resources a, const Resources& b) {
    for (const auto& [dim, value] : b)
        a.set(dim, a.lists(dim) ? std::min(a.get(dim), value) : value);
    return a;
}

void add_amounts(const Snapshot& s, const std::set<Dim>& dims, const Resources& amounts, NamedAmounts& sum) {
    for (Dim dim : dims)
        sum[std::string(s.words->text(dim))] += amounts.get(dim);
}

}  // namespace

void QueueBalance::run() {
    const std::vector<Heavy> queues = find_heavy();
    if (queues.empty()) return;
    const Snapshot& s = desk_.snapshot();
    const Members members = running_pods(s);
    const UnitList list = units_of(queues, members);
    const DemandNeed nothing;
    const Pricing pricing{.snapshot = &s,
                          .order = &order_,
                          .work = work_resource(s, desk_.session.config.plugins.lost_work_resource),
                          .need = &nothing,
                          .queue_order = {}};
    const bool strict = action_.pdb == PdbMode::kStrict;
    const VictimProblem problem(
        list,
        pricing,
        {.open_splits = true, .strict_budgets = strict, .at_most = guarantees(list, members), .vote_order = {}},
        false);
    const auto start = desk_.session.tx.checkpoint();
    FixedWalk walk(desk_.session.tx, s, problem);
    QueueTrim::Round round{.walk = walk,
                           .unit_of = std::vector(s.pods.size(), QueueTrim::kNoUnit),
                           .strict_budgets = strict,
                           .reasons = {}};
    for (std::uint32_t u = 0; u < list.units.size(); ++u) {
        for (PodId pod : list.pods_of(list.units[u]))
            round.unit_of[pod.index()] = u;
    }
    trim(queues, members, round);
    desk_.session.tx.rollback(start);
    carry_out(round, pricing);
    desk_.session.commit(start);
}

std::vector<QueueBalance::Heavy> QueueBalance::find_heavy() const {
    std::vector<Heavy> found;
    for (const QueueGrant& grant : grants_.queues()) {
        Resources granted = at_least_guaranteed(desk_.snapshot(), grant.queue, grant.recorded);
        Resources deserved = at_least_guaranteed(desk_.snapshot(), grant.queue, grant.deserved);
        if (is_within(grant.live, granted) && is_within(grant.live, deserved)) continue;
        found.push_back({grant.queue, std::move(granted), std::move(deserved)});
    }
    return found;
}

// No pod attacks: whoever is protected from anybody at all is protected here. What a gang's surplus is, the walk says.
UnitList QueueBalance::units_of(std::span<const Heavy> queues, const Members& members) const {
    std::vector<PodId> pods;
    for (const Heavy& heavy : queues)
        pods.insert(pods.end(), members[heavy.queue].begin(), members[heavy.queue].end());
    UnitList list;
    UnitFinder(desk_.session)
        .among(pods,
               {.priority = std::numeric_limits<std::int32_t>::min(),
                .reclaim = true,
                .open_split = true,
                .open_single = true},
               list);
    return list;
}

// What lives in a queue beyond what it is guaranteed may go; where that is nothing, nobody goes who holds of it.
std::vector<GiveRule> QueueBalance::guarantees(const UnitList& list, const Members& members) const {
    const Snapshot& s = desk_.snapshot();
    std::set<QueueId> touched;
    for (PodId pod : list.pods)
        touched.insert(s.pods[pod].queue);
    std::vector<GiveRule> rules;
    for (QueueId queue : touched) {
        if (!queue || s.queues[queue].fact == nullptr || s.queues[queue].fact->guarantee.empty()) continue;
        Resources live;
        for (PodId pod : members[queue])
            live.add(held_by(s, pod));
        for (const auto& [dim, least] : s.queues[queue].fact->guarantee)
            rules.push_back(
                {.queue = queue, .dim = dim, .amount = std::max<std::int64_t>(live.get(dim) - least, 0), .givers = {}});
    }
    sort_by_names(s, rules);
    return rules;
}

void QueueBalance::trim(std::span<const Heavy> queues, const Members& members, QueueTrim::Round& round) const {
    std::vector<QueueTrim> trims;
    for (const Heavy& heavy : queues)
        trims.emplace_back(
            desk_.snapshot(), round, static_cast<std::uint32_t>(trims.size()), heavy.queue, members[heavy.queue]);
    for (std::size_t i = 0; i < trims.size(); ++i) {
        trims[i].stop_above(queues[i].granted, kPreprocess);
        trims[i].give_back(queues[i].granted);
    }
    // Whoever comes back may let its gang spare another one, who goes after all. What a queue holds too much only gets
    // less on the way, and a second round is seldom needed.
    bool again = true;
    for (int turn = 0; again && turn < kRounds; ++turn) {
        again = false;
        for (std::size_t i = 0; i < trims.size(); ++i) {
            again = trims[i].stop_above(queues[i].deserved, kPreempt) || again;
            trims[i].give_back(lower_of(queues[i].deserved, queues[i].granted));
            again = trims[i].stop_above(queues[i].granted, kPreprocess) || again;
        }
    }
}

// Budgets are spent anew, in the same order: who was given back has spent nothing.
void QueueBalance::carry_out(const QueueTrim::Round& round, const Pricing& pricing) {
    const Snapshot& s = desk_.snapshot();
    std::map<QueueId, UnitList> given;  // a gang in several queues is part of what each of them gives
    for (const FixedWalk::Step& step : round.walk.steps()) {
        const std::vector<PodId> pods = round.walk.pods_of(step.units);
        Unit unit = round.walk.as_unit(step);
        BudgetsLeft left(s);
        std::map<QueueId, Unit> parts;
        for (PodId pod : pods) {
            UnitList& list = given[s.pods[pod].queue];
            Unit part = unit;
            part.first = static_cast<std::uint32_t>(list.pods.size());
            part.count = 0;
            part.violations = 0;
            Unit& mine = parts.try_emplace(s.pods[pod].queue, part).first->second;
            list.pods.push_back(pod);
            ++mine.count;
            if (left.take(pod)) continue;
            ++mine.violations;
            ++unit.violations;
        }
        for (const auto& [queue, part] : parts)
            given[queue].units.push_back(part);
        const QueueTrim::Round::Reason& why = round.reasons[step.number];
        evict_unit(desk_, action_, unit, pods, {.reason = why.text, .stage = why.stage});
    }
    for (const auto& [queue, list] : given) {
        std::vector<std::uint32_t> all(list.units.size());
        std::iota(all.begin(), all.end(), 0U);
        desk_.plan.certificate({.owner = s.words->str(s.queues[queue].name),
                                .action = to_text(action_.kind),
                                .status = CertificateStatus::kHeuristic,
                                .cost = order_.print(pricing.cost(list, all))});
    }
}

void QueueBalance::report(std::span<const PodId> evicted, std::vector<QueueReport>& queues) const {
    const Snapshot& s = desk_.snapshot();
    for (const QueueGrant& grant : grants_.queues()) {
        Resources live = grant.live;
        for (PodId pod : evicted) {
            if (s.pods[pod].queue == grant.queue) live.subtract(held_by(s, pod));
        }
        for (QueueId queue : s.queue_path[grant.queue]) {
            const auto at = std::ranges::find(queues, s.words->text(s.queues[queue].name), &QueueReport::name);
            if (at == queues.end()) continue;
            if (queue == grant.queue) at->shares["used"].clear();
            add_amounts(s, grants_.dims(), grant.deserved, at->shares["deserved"]);
            add_amounts(s, grants_.dims(), grant.allocated, at->shares["allocated"]);
            if (queue == grant.queue) add_amounts(s, grants_.dims(), grant.used, at->shares["used"]);
            add_amounts(s, grants_.dims(), live, at->shares["usedLive"]);
            add_amounts(s, grants_.dims(), grant.preempting, at->shares["preempting"]);
        }
    }
}

}  // namespace reprieve
