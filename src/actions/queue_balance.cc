#include "actions/queue_balance.h"

#include <fmt/format.h>

#include <algorithm>

#include "actions/queue_trim.h"
#include "model/amount_text.h"

namespace reprieve {
namespace {

constexpr QueueTrim::Stage kPreprocess{"preprocess", "was granted"};
constexpr QueueTrim::Stage kPreempt{"preempt", "deserves"};

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

Resources requests_of(const Snapshot& s, std::span<const PodId> pods) {
    Resources sum;
    for (PodId pod : pods)
        sum.add(s.spec_of(pod).requests);
    return sum;
}

void add_amounts(const Snapshot& s, const std::set<Dim>& dims, const Resources& amounts, NamedAmounts& sum) {
    for (Dim dim : dims)
        sum[std::string(s.words->text(dim))] += amounts.get(dim);
}

}  // namespace

void QueueBalance::run() {
    struct Item {
        QueueTrim trim;
        Resources granted;
        Resources deserved;
    };
    const Snapshot& s = desk_.snapshot();
    const auto members = running_pods(s);
    std::vector<Item> items;
    for (const QueueGrant& grant : grants_.queues()) {
        Resources granted = at_least_guaranteed(s, grant.queue, grant.recorded);
        Resources deserved = at_least_guaranteed(s, grant.queue, grant.deserved);
        if (is_within(grant.live, granted) && is_within(grant.live, deserved)) continue;
        items.push_back(
            {QueueTrim(desk_, action_, grant.queue, members[grant.queue]), std::move(granted), std::move(deserved)});
    }
    for (Item& item : items) {
        item.trim.stop_above(item.granted, kPreprocess);
        item.trim.give_back(item.granted);
    }
    for (Item& item : items) {
        item.trim.stop_above(item.deserved, kPreempt);
        item.trim.give_back(lower_of(item.deserved, item.granted));
    }
}

std::optional<Dim> QueueBalance::exceeded(QueueId queue, const Resources& asked, const Resources& on_top) const {
    const QueueGrant* grant = queue ? grants_.of(queue) : nullptr;
    if (grant == nullptr) return std::nullopt;
    for (const auto& [dim, value] : asked) {
        if (value <= 0 || !grants_.dims().contains(dim)) continue;
        const std::int64_t use = saturating_add(desk_.snapshot().later.queue_used(queue, dim), on_top.get(dim));
        if (use > grant->allocated.get(dim)) return dim;
    }
    return std::nullopt;
}

Demand QueueBalance::granted_part(Demand demand) const {
    if (!demand.gang || !demand.queue || grants_.of(demand.queue) == nullptr) return demand;
    const Mandatory members = desk_.members_of(demand);
    if (members.missing > 0) return demand;
    Resources asked = requests_of(desk_.snapshot(), members.pods);
    demand.pods = members.pods;
    for (const std::vector<PodId>& batch : members.surplus) {
        Resources with = asked;
        with.add(requests_of(desk_.snapshot(), batch));
        if (exceeded(demand.queue, with, with)) continue;
        asked = std::move(with);
        demand.pods.insert(demand.pods.end(), batch.begin(), batch.end());
    }
    return demand;
}

bool QueueBalance::grants_hold(std::span<const PodId> back) const {
    const Snapshot& s = desk_.snapshot();
    return std::ranges::none_of(
        back, [&](PodId pod) { return exceeded(s.pods[pod].queue, s.spec_of(pod).requests, {}).has_value(); });
}

std::string QueueBalance::excess(const Demand& demand) const {
    const Snapshot& s = desk_.snapshot();
    const auto dim = exceeded(demand.queue, requests_of(s, demand.pods), {});
    if (!dim) return "";
    return fmt::format("with it queue {} would hold {} of {} and is granted {}",
                       s.words->text(s.queues[demand.queue].name),
                       amount_text(*dim, s.later.queue_used(demand.queue, *dim)),
                       s.words->text(*dim),
                       amount_text(*dim, grants_.of(demand.queue)->allocated.get(*dim)));
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
