#include "actions/queue_balance.h"

#include <algorithm>

#include "actions/queue_trim.h"

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
    // Whoever comes back may let its gang spare another one, who goes after all. What a queue holds too much only gets
    // less on the way, and a second round is seldom needed.
    bool again = true;
    for (int round = 0; again && round < kRounds; ++round) {
        again = false;
        for (Item& item : items) {
            again = item.trim.stop_above(item.deserved, kPreempt) || again;
            item.trim.give_back(lower_of(item.deserved, item.granted));
            again = item.trim.stop_above(item.granted, kPreprocess) || again;
        }
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
