#include "audit/balance_book.h"

#include <algorithm>
#include <tuple>

#include "base/wide.h"

namespace reprieve {

BalanceBook::BalanceBook(const Case& judged) : judged_(judged) {
    for (const QueueId queue : IdRange<QueueId>(judged.snapshot.queues.size())) {
        if (is_weighted(queue) && judged.snapshot.queues[queue].children.empty()) entries_.emplace(queue, Entry{});
        if (!is_weighted(queue) || !judged.snapshot.queues[queue].fact->request) continue;
        for (const auto& [dim, value] : *judged.snapshot.queues[queue].fact->request)
            dims_.insert(dim);
    }
    read_pods();
    dims_.erase(kPods);
    for (const Dim dim : dims_)
        share_out({}, dim, capacity(dim));
}

bool BalanceBook::is_weighted(QueueId queue) const {
    const Queue* fact = judged_.snapshot.queues[queue].fact;
    return judged_.snapshot.queues[queue].alive && fact != nullptr && !fact->is_quota;
}

// None: the queues at the top.
std::vector<QueueId> BalanceBook::children(QueueId parent) const {
    std::vector<QueueId> found;
    for (const QueueId queue : IdRange<QueueId>(judged_.snapshot.queues.size())) {
        if (!is_weighted(queue)) continue;
        const QueueId above = judged_.snapshot.queues[queue].parent;
        const bool at_the_top = !above || !is_weighted(above);
        if (parent ? above == parent : at_the_top) found.push_back(queue);
    }
    return found;
}

void BalanceBook::read_pods() {
    for (const PodId pod : IdRange<PodId>(judged_.cluster.pod_slots())) {
        const bool counts = judged_.exists(pod) && (judged_.bound(pod) || judged_.waits(pod));
        const auto at = counts && judged_.row(pod).queue ? entries_.find(judged_.row(pod).queue) : entries_.end();
        if (at == entries_.end()) continue;
        for (const auto& [dim, value] : judged_.spec(pod).requests) {
            dims_.insert(dim);
            at->second.asked.add(dim, value);
            if (judged_.bound(pod)) at->second.used.add(dim, held(pod, dim));
            if (judged_.runs(pod)) at->second.live.add(dim, held(pod, dim));
        }
    }
}

std::int64_t BalanceBook::held(PodId pod, Dim dim) const {
    const auto& resized_from = judged_.fact(pod).more().resize_held;
    return resized_from && dim != kPods ? resized_from->get(dim) : judged_.spec(pod).requests.get(dim);
}

// Ready nodes, without what pods of no such queue hold there.
std::int64_t BalanceBook::capacity(Dim dim) const {
    std::int64_t sum = 0;
    for (const NodeId node : IdRange<NodeId>(judged_.snapshot.nodes.size())) {
        const Node* fact = judged_.cluster.node(node);
        if (fact == nullptr || !fact->ready) continue;
        sum = saturating_add(sum, fact->allocatable.get(dim));
    }
    for (const PodId pod : IdRange<PodId>(judged_.cluster.pod_slots())) {
        if (!judged_.exists(pod) || !judged_.bound(pod)) continue;
        if (judged_.row(pod).queue && entries_.contains(judged_.row(pod).queue)) continue;
        const NodeId at = judged_.cluster.find_node(judged_.fact(pod).node);
        if (at && judged_.cluster.node(at)->ready) sum -= held(pod, dim);
    }
    return std::max<std::int64_t>(0, sum);
}

std::int64_t BalanceBook::request(QueueId queue, Dim dim) const {
    const Queue& fact = *judged_.snapshot.queues[queue].fact;
    std::int64_t amount = 0;
    if (fact.request && fact.request->lists(dim)) {
        amount = fact.request->get(dim);
    } else if (const auto at = entries_.find(queue); at != entries_.end()) {
        // By its weight alone a queue takes whatever its part is.
        const bool by_pods = std::ranges::any_of(judged_.actions, &ActionConfig::request_by_pods);
        amount = by_pods ? at->second.asked.get(dim) : INT64_MAX;
    } else {
        for (const QueueId child : children(queue))
            amount = saturating_add(amount, request(child, dim));
    }
    return fact.limit.lists(dim) ? std::min(amount, fact.limit.get(dim)) : amount;
}

// The modest first: each gets what it asks for, at most its part by weight of what is left. What nobody got goes to
// those who want more, the heaviest first.
void BalanceBook::share_out(QueueId parent, Dim dim, std::int64_t amount) {
    struct Party {
        std::int64_t wants = 0;
        std::int64_t weight = 0;
        std::string_view name;
        QueueId queue;
        std::int64_t gets = 0;
    };
    std::vector<Party> parties;
    std::int64_t weights = 0;
    for (const QueueId queue : children(parent)) {
        const QueueRow& row = judged_.snapshot.queues[queue];
        parties.push_back({request(queue, dim), row.fact->weight, judged_.words.text(row.name), queue, 0});
        weights += row.fact->weight;
    }
    std::ranges::sort(parties, {}, [](const Party& p) { return std::tie(p.wants, p.name); });
    for (Party& party : parties) {
        const auto part = static_cast<std::int64_t>(static_cast<Wide>(amount) * party.weight / weights);
        party.gets = std::min(party.wants, part);
        amount -= party.gets;
        weights -= party.weight;
    }
    std::ranges::sort(parties, {}, [](const Party& p) { return std::tuple(-p.weight, p.name); });
    for (Party& party : parties) {
        const std::int64_t more = std::min(amount, party.wants - party.gets);
        party.gets += more;
        amount -= more;
        const auto& written = judged_.snapshot.queues[party.queue].fact->deserved;
        if (written && written->lists(dim)) party.gets = written->get(dim);
    }
    for (const Party& party : parties) {
        if (const auto at = entries_.find(party.queue); at != entries_.end())
            at->second.deserved.set(dim, party.gets);
        else
            share_out(party.queue, dim, party.gets);
    }
}

}  // namespace reprieve
