#include "plugins/grants.h"

#include <algorithm>
#include <utility>

#include "plugins/proportion.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

bool is_weighted(const QueueRow& row) { return row.alive && row.fact != nullptr && !row.fact->is_quota; }

bool is_bound(PodState state) { return state == PodState::kRunning || state == PodState::kTerminating; }

std::vector<QueueId> weighted(const Snapshot& s, std::vector<QueueId> queues) {
    std::erase_if(queues, [&](QueueId q) { return !is_weighted(s.queues[q]); });
    return queues;
}

Resources ready_capacity(const Snapshot& s) {
    Resources total;
    for (NodeId node : s.nodes_by_name) {
        if (s.nodes[node].ready) total.add(s.facts->node(node)->allocatable);
    }
    return total;
}

// More than any cluster has: a queue that takes what its weight gives it.
constexpr std::int64_t kWithoutBound = INT64_MAX;

// A queue asks for what it says, else for what is in `asked` (or what the queues below it ask for); never for more than
// it may hold.
void settle_request(const Snapshot& s, QueueId queue, std::map<QueueId, Resources>& asked) {
    const QueueRow& row = s.queues[queue];
    Resources& own = asked[queue];
    for (QueueId child : weighted(s, row.children)) {
        settle_request(s, child, asked);
        for (const auto& [dim, value] : asked[child])
            own.set(dim, saturating_add(own.get(dim), value));
    }
    if (row.fact->request) {
        for (const auto& [dim, value] : *row.fact->request)
            own.set(dim, value);
    }
    for (const auto& [dim, limit] : row.fact->limit) {
        if (own.get(dim) > limit) own.set(dim, limit);
    }
}

}  // namespace

Resources held_by(const Snapshot& s, PodId pod) {
    Resources held;
    for (const auto& [dim, value] : s.class_of(pod).requests)
        held.set(dim, value);
    if (!s.pods[pod].has(kResizing)) return held;
    for (const auto& [dim, more] : s.facts->resize_delta(pod))
        held.add(dim, -more);
    return held;
}

bool balances_queues(const Snapshot& s, const SchedulerConfig& config) {
    if (config.actions)
        return std::ranges::find(*config.actions, ActionKind::kQueueBalance, &ActionConfig::kind) !=
               config.actions->end();
    return std::ranges::any_of(s.queues, [](const QueueRow& row) { return is_weighted(row) && row.fact->request; });
}

Grants::Grants(const Snapshot& s, bool by_pods) {
    find_queues(s);
    Amounts asked;
    Resources capacity = ready_capacity(s);
    read_pods(s, asked, capacity);
    find_dims(s, asked);
    if (!by_pods) {
        for (const QueueGrant& leaf : queues_) {
            for (Dim dim : dims_)
                asked[leaf.queue].set(dim, kWithoutBound);
        }
    }
    std::vector<QueueId> top;
    for (QueueId q : IdRange<QueueId>(s.queues.size())) {
        const QueueId parent = s.queues[q].parent;
        if (is_weighted(s.queues[q]) && !(parent && is_weighted(s.queues[parent]))) top.push_back(q);
    }
    for (QueueId q : top)
        settle_request(s, q, asked);
    divide(s, top, capacity, asked);
    for (Dim dim : dims_)
        grant(s, dim);
}

void Grants::find_dims(const Snapshot& s, const Amounts& asked) {
    for (const auto& [queue, amounts] : asked) {
        for (const auto& [dim, value] : amounts)
            dims_.insert(dim);
    }
    for (const QueueRow& row : s.queues) {
        if (!is_weighted(row) || !row.fact->request) continue;
        for (const auto& [dim, value] : *row.fact->request)
            dims_.insert(dim);
    }
    dims_.erase(kPods);
}

void Grants::find_queues(const Snapshot& s) {
    for (QueueId q : IdRange<QueueId>(s.queues.size())) {
        if (is_weighted(s.queues[q]) && s.queues[q].children.empty()) queues_.push_back({.queue = q});
    }
    std::ranges::sort(queues_, {}, [&](const QueueGrant& g) { return s.words->text(s.queues[g.queue].name); });
    position_.resize(s.queues.size(), kNotShared);
    for (std::size_t i = 0; i < queues_.size(); ++i)
        position_[queues_[i].queue] = i;
}

QueueGrant* Grants::grant_of(QueueId queue) {
    return position_[queue] == kNotShared ? nullptr : &queues_[position_[queue]];
}

void Grants::read_pods(const Snapshot& s, Amounts& asked, Resources& capacity) {
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        const PodRow& row = s.pods[pod];
        const bool bound = is_bound(row.state);
        if (!bound && row.state != PodState::kPending) continue;
        const Resources held = held_by(s, pod);
        QueueGrant* own = row.queue ? grant_of(row.queue) : nullptr;
        if (own == nullptr) {
            if (bound && row.node && s.nodes[row.node].ready) capacity.subtract(held);
            continue;
        }
        asked[row.queue].add(s.spec_of(pod).requests);
        if (bound) own->used.add(held);
        if (row.state == PodState::kRunning) own->live.add(held);
    }
}

void Grants::divide(const Snapshot& s, const std::vector<QueueId>& siblings, const Resources& total, Amounts& asked) {
    std::vector<Resources> deserved(siblings.size());
    for (Dim dim : dims_) {
        std::vector<Claimant> claimants;
        for (QueueId q : siblings)
            claimants.push_back({s.queues[q].fact->weight, asked[q].get(dim), s.words->text(s.queues[q].name)});
        const auto parts = divide_by_weight(std::max<std::int64_t>(0, total.get(dim)), claimants);
        for (std::size_t i = 0; i < siblings.size(); ++i) {
            const auto& written = s.queues[siblings[i]].fact->deserved;
            deserved[i].set(dim, written && written->lists(dim) ? written->get(dim) : parts[i]);
        }
    }
    for (std::size_t i = 0; i < siblings.size(); ++i) {
        if (QueueGrant* own = grant_of(siblings[i]))
            own->deserved = deserved[i];
        else
            divide(s, weighted(s, s.queues[siblings[i]].children), deserved[i], asked);
    }
}

// Nobody keeps more than it deserves. What is missing is given at once, heavier queues first, except as much as is
// still held by others; for that the rest waits.
void Grants::grant(const Snapshot& s, Dim dim) {
    std::int64_t held_above = 0;
    std::int64_t missing = 0;
    for (QueueGrant& g : queues_) {
        const std::int64_t deserved = g.deserved.get(dim);
        const auto& before = s.queues[g.queue].fact->allocated;
        if (before && before->lists(dim)) g.recorded.set(dim, before->get(dim));
        const std::int64_t had = g.recorded.lists(dim) ? g.recorded.get(dim) : g.live.get(dim);
        g.allocated.set(dim, std::min(had, deserved));
        missing = saturating_add(missing, deserved - g.allocated.get(dim));
        held_above = saturating_add(held_above, std::max<std::int64_t>(0, g.used.get(dim) - deserved));
    }
    std::int64_t free = std::max<std::int64_t>(0, missing - held_above);
    std::vector<QueueGrant*> heaviest_first;
    for (QueueGrant& g : queues_)
        heaviest_first.push_back(&g);
    std::ranges::sort(heaviest_first, {}, [&](const QueueGrant* g) {
        const QueueRow& row = s.queues[g->queue];
        return std::pair(-row.fact->weight, s.words->text(row.name));
    });
    for (QueueGrant* g : heaviest_first) {
        const std::int64_t lacks = g->deserved.get(dim) - g->allocated.get(dim);
        const std::int64_t given = std::min(free, lacks);
        g->allocated.add(dim, given);
        g->preempting.set(dim, lacks - given);
        free -= given;
    }
}

}  // namespace reprieve
