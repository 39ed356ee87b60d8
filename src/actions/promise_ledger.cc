#include "actions/promise_ledger.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "actions/demands.h"
#include "actions/nominations.h"
#include "search/domain_fit.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

constexpr std::size_t kAllSubsets = 4;  // up to so many promises, every way to break some of them is tried
constexpr std::size_t kMostGrouped = 256;
constexpr std::size_t kMostOptions = 48;
constexpr int kMostSpared = 48;  // looks at whether fewer would do

Resources sum_of(const Snapshot& s, std::span<const PodId> pods) {
    Resources sum;
    for (PodId pod : pods) {
        for (const auto& [dim, value] : s.class_of(pod).requests)
            sum.add(dim, value);
    }
    return sum;
}

}  // namespace

PromiseLedger::PromiseLedger(Desk& desk) : desk_(desk) {
    const Cluster& facts = *desk.snapshot().facts;
    for (PodId pod : facts.pending()) {
        if (const auto& plan = facts.pod(pod).more().plan)
            named_.insert(plan->victim_uids.begin(), plan->victim_uids.end());
    }
}

void PromiseLedger::hold(Demand demand) {
    const Snapshot& s = desk_.snapshot();
    Promise promise{.demand = std::move(demand), .pods = {}, .leaving = {}, .early = {}};
    bool waits = false;
    for (PodId pod : promise.demand.pods) {
        const PodState state = s.pods[pod].state;
        if (state != PodState::kPlaced && state != PodState::kNominated) continue;
        promise.pods.push_back(pod);
        waits = waits || state == PodState::kNominated;
    }
    if (waits) {
        find_leaving(promise);
        find_early(promise);
        keep_early(promise, +1);
    }
    promises_.push_back(std::move(promise));
}

void PromiseLedger::let_go() {
    for (const Promise& promise : promises_)
        keep_early(promise, -1);
    promises_.clear();
    spoken_for_.clear();
}

// Who leaves for it by name; and, where nobody says for whom, as many others as it still needs on its nodes.
void PromiseLedger::find_leaving(Promise& promise) {
    const Snapshot& s = desk_.snapshot();
    std::map<NodeId, std::vector<PodId>> by_node;
    for (PodId pod : promise.pods)
        by_node[s.pods[pod].node].push_back(pod);
    for (const auto& [node, pods] : by_node) {
        Resources lacks = sum_of(s, pods);
        const auto count = [&](PodId victim) {
            promise.leaving.push_back(victim);
            spoken_for_.insert(victim);
            lacks.subtract(sum_of(s, std::span(&victim, 1)));
        };
        const auto leaves = [&](PodId other, LeavesFor how) {
            return std::ranges::any_of(pods, [&](PodId pod) { return leaves_for(s, other, pod) == how; });
        };
        for (const LeavesFor how : {LeavesFor::kByName, LeavesFor::kByPriority}) {
            for (PodId other : s.node_pods[node]) {
                if (s.pods[other].state != PodState::kTerminating || spoken_for_.contains(other)) continue;
                const auto is_anybodys = [&] {
                    const bool lacking = std::ranges::any_of(lacks, [](const auto& a) { return a.value > 0; });
                    return lacking && !named_.contains(s.facts->pod(other).uid);
                };
                if ((how == LeavesFor::kByName || is_anybodys()) && leaves(other, how)) count(other);
            }
        }
    }
}

// What its pods need beyond what still leaves for them has been left already, or was free from the start.
void PromiseLedger::find_early(Promise& promise) const {
    const Snapshot& s = desk_.snapshot();
    std::map<NodeId, Resources> lacks;
    for (PodId pod : promise.pods)
        lacks[s.pods[pod].node].add(sum_of(s, std::span(&pod, 1)));
    for (PodId victim : promise.leaving)
        lacks[s.pods[victim].node].subtract(sum_of(s, std::span(&victim, 1)));
    for (const auto& [node, amounts] : lacks) {
        Early early{.node = node, .amounts = {}};
        for (const auto& [dim, value] : amounts) {
            const std::int64_t held = std::min(value, std::max<std::int64_t>(0, s.now.free(node, dim)));
            if (held > 0) early.amounts.set(dim, held);
        }
        if (!early.amounts.empty()) promise.early.push_back(std::move(early));
    }
}

void PromiseLedger::keep_early(const Promise& promise, int sign) {
    Snapshot& s = desk_.snapshot();
    for (const Early& early : promise.early) {
        s.now.offer(s.geometry(), early.node, early.amounts, -sign);
        desk_.session.tx.touches().note(early.node);
    }
}

void PromiseLedger::take_off(const Option& option) {
    for (const std::size_t at : option) {
        const auto start = desk_.session.tx.checkpoint();
        for (PodId pod : promises_[at].pods)
            desk_.session.tx.unplace(pod);
        desk_.session.commit(start);
        keep_early(promises_[at], -1);
    }
}

// Few promises: every set of them, smaller ones first. Many: singly, and of each node the least important ones
// together, those of low priority first; and all of them.
std::vector<PromiseLedger::Option> PromiseLedger::options(std::span<const std::size_t> outranked) const {
    std::vector<Option> out;
    if (outranked.size() <= kAllSubsets) {
        for (unsigned mask = 1; mask < 1U << outranked.size(); ++mask) {
            Option& option = out.emplace_back();
            for (std::size_t i = 0; i < outranked.size(); ++i) {
                if ((mask >> i & 1U) != 0) option.push_back(outranked[i]);
            }
        }
        std::ranges::stable_sort(out, {}, &Option::size);
        return out;
    }
    const Option order = by_priority({outranked.begin(), outranked.end()});
    const Snapshot& s = desk_.snapshot();
    std::map<std::uint32_t, Option> by_node;  // by rank
    for (const std::size_t at : std::span(order).first(std::min(order.size(), kMostGrouped))) {
        out.push_back({at});
        std::set<std::uint32_t> nodes;
        for (PodId pod : promises_[at].pods)
            nodes.insert(s.nodes[s.pods[pod].node].rank);
        for (const std::uint32_t node : nodes) {
            Option& together = by_node[node];
            together.push_back(at);
            if (together.size() > 1) out.push_back(together);
        }
    }
    const auto dearness = [&](const Option& option) {
        return std::pair(promises_[option.back()].demand.priority, option.size());
    };
    std::ranges::stable_sort(out, {}, dearness);
    if (out.size() > kMostOptions) out.resize(kMostOptions);
    out.push_back(order);
    return out;
}

PromiseLedger::Option PromiseLedger::by_priority(Option option) const {
    std::ranges::stable_sort(option, {}, [&](std::size_t at) { return promises_[at].demand.priority; });
    return option;
}

// Many promises are not broken in every combination: of those that were found the dearest ones are kept, several at
// once, where that is served as well.
void PromiseLedger::spare_some(Option& option, Cost& cost, const Trial& cost_of) const {
    option = by_priority(std::move(option));
    int looks = kMostSpared;
    for (std::size_t size = option.size() / 2; size > 0; size /= 2) {
        for (std::size_t end = option.size(); end >= size && option.size() > size && looks > 0; end -= size, --looks) {
            Option fewer = option;
            const auto last = fewer.begin() + static_cast<std::ptrdiff_t>(end);
            fewer.erase(last - static_cast<std::ptrdiff_t>(size), last);
            const std::optional<Cost> less = cost_of(fewer);
            if (!less || !(*less < cost)) continue;
            option = std::move(fewer);
            cost = *less;
        }
    }
}

Cost PromiseLedger::price(const Demand& demand,
                          const CostOrder& order,
                          Transaction::Checkpoint start,
                          const Option& option) const {
    const Snapshot& s = desk_.snapshot();
    const WorkResource work = work_resource(s, desk_.session.config.plugins.lost_work_resource);
    const DemandNeed need = need_of(s, demand.pods, sum_requests(s, demand.pods));
    VictimBill bill(s, order, work, need, {});
    NotedUnits units;
    for (const Op& op : desk_.session.tx.since(start)) {
        if (op.kind != OpKind::kEvict || op.sign < 0 || s.pods[op.pod].state != PodState::kEvicted) continue;
        units.add(s, op.note, desk_.plan.note_of(op), op.pod, bill);
    }
    units.finish(bill);
    for (const std::size_t at : option) {
        const Promise& promise = promises_[at];
        bill.add_unit(true, 0, promise.demand.queue);
        for (PodId pod : promise.pods)
            bill.add_pod(pod, promise.demand.priority);
        for (PodId victim : promise.leaving) {
            bill.add_unit(true, 0, s.pods[victim].queue);
            bill.add_pod(victim, s.pods[victim].unit_priority);
        }
    }
    return bill.cost();
}

void PromiseLedger::undo(Transaction::Checkpoint start, const PlanBuilder::Mark& before) {
    desk_.session.rollback(start);
    desk_.plan.forget_since(before);
}

bool PromiseLedger::evicts_since(Transaction::Checkpoint start) const {
    return std::ranges::any_of(desk_.session.tx.since(start), [](const Op& op) { return op.kind == OpKind::kEvict; });
}

// Not every set of these was tried: one promised pod of the lowest priority is what any of them costs at least.
void PromiseLedger::doubt(const PlanBuilder::Mark& since,
                          const CostOrder& order,
                          std::span<const std::size_t> breakable) {
    Toll least;
    std::int32_t lowest = INT32_MAX;
    for (const std::size_t at : breakable)
        lowest = std::min(lowest, promises_[at].demand.priority);
    least.add_pod(lowest, INT64_MAX);
    least.units = 1;
    desk_.plan.doubt(since, order.print(order.cost(least)));
}

PromiseLedger::Outcome PromiseLedger::serve(const Demand& demand,
                                            const CostOrder& order,
                                            const std::function<bool(const Demand&)>& outranked,
                                            const std::function<Served()>& attempt) {
    const auto start = desk_.session.tx.checkpoint();
    const PlanBuilder::Mark before = desk_.plan.mark();
    Served first = attempt();
    std::vector<std::size_t> breakable;
    for (std::size_t at = 0; at < promises_.size(); ++at) {
        if (outranked(promises_[at].demand)) breakable.push_back(at);
    }
    if (breakable.empty() || (first.done && !evicts_since(start))) return {std::move(first), {}};
    std::optional<Cost> best;
    if (first.done) {
        best = price(demand, order, start, {});
        undo(start, before);
    }
    const Trial cost_of = [&](const Option& option) {
        take_off(option);
        const Served served = attempt();
        // Without all of them there is as much room as there can be.
        if (!served.done && option.size() == breakable.size() && !served.proof) first.proof.reset();
        const auto cost = served.done ? std::optional(price(demand, order, start, option)) : std::nullopt;
        undo(start, before);
        for (const std::size_t at : option)
            keep_early(promises_[at], +1);
        return cost;
    };
    std::optional<Option> chosen;
    for (const Option& option : options(breakable)) {
        // What the promises cost alone may be too much already.
        if (best && !(price(demand, order, start, option) < *best)) continue;
        const std::optional<Cost> cost = cost_of(option);
        if (!cost || (best && !(*cost < *best))) continue;
        best = cost;
        chosen = option;
    }
    if (chosen && breakable.size() > kAllSubsets) spare_some(*chosen, *best, cost_of);
    if (!chosen) {
        Outcome out{.served = first.done ? attempt() : std::move(first), .broken = {}};
        if (breakable.size() > kAllSubsets) doubt(before, order, breakable);
        return out;
    }
    take_off(*chosen);
    Outcome out{.served = attempt(), .broken = {}};
    if (breakable.size() > kAllSubsets) doubt(before, order, breakable);
    std::ranges::sort(*chosen, std::greater());
    for (const std::size_t at : *chosen) {
        out.broken.push_back(std::move(promises_[at].demand));
        promises_.erase(promises_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return out;
}

}  // namespace reprieve
