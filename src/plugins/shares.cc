#include "plugins/shares.h"

#include <algorithm>
#include <set>

#include "base/wide.h"
#include "plugins/proportion.h"
#include "state/claim_questions.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

std::int64_t weight_of(const Snapshot& s, QueueId q) {
    return s.queues[q].fact == nullptr ? 1 : std::max<std::int64_t>(0, s.queues[q].fact->weight);
}

// The queue's own level in the chain of `path` that lies directly below `above` (none: below the root).
QueueId below(const std::vector<QueueId>& path, QueueId above) {
    QueueId found = path.front();
    for (QueueId q : path) {
        if (q == above) break;
        found = q;
    }
    return found;
}

// Where claims serve an extended resource, the devices that its class selects are what the cluster has of it. A device
// that several nodes can use is one device.
void add_claimed_resources(const Snapshot& s, const IdVector<QueueId, Resources>& asked, Resources& total) {
    const ClaimTable& table = s.device_claims;
    for (const auto& [resource, cls] : table.class_of_resource) {
        const Dim dim = resource;
        if (std::ranges::none_of(asked, [&](const Resources& of_queue) { return of_queue.get(dim) > 0; })) continue;
        std::set<DeviceId> devices;
        for (NodeId node : s.nodes_by_name) {
            if (!served_by_claim(s, node, dim)) continue;
            for (const NodePool& pool : table.pools.on_node(node)) {
                if (!pool.trouble.empty()) continue;
                for (OfferId offer : pool.offers) {
                    if (table.select(cls->selectors, offer, nullptr) == Selected::kYes)
                        devices.insert(table.pools.offer(offer).device);
                }
            }
        }
        total.add(dim, static_cast<std::int64_t>(devices.size()));
    }
}

}  // namespace

Shares::Shares(const Snapshot& s) {
    deserved_.resize(s.queues.size());
    asked_.resize(s.queues.size());
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        const PodRow& row = s.pods[pod];
        if (row.state == PodState::kAbsent || row.has(kFinished) || !row.queue) continue;
        for (QueueId q : s.queue_path[row.queue]) {
            for (const auto& [dim, value] : s.classes[row.cls].requests)
                asked_[q].add(dim, value);
        }
    }
    Resources total;
    for (NodeId node : s.nodes_by_name)
        total.add(s.facts->node(node)->allocatable);
    add_claimed_resources(s, asked_, total);
    std::vector<QueueId> top;
    for (QueueId q : IdRange<QueueId>(s.queues.size())) {
        if (s.queues[q].alive && !s.queues[q].parent) top.push_back(q);
    }
    divide(s, top, total);
}

void Shares::divide(const Snapshot& s, const std::vector<QueueId>& siblings, const Resources& total) {
    std::vector<Resources> by_weight(siblings.size());
    for (const auto& [dim, whole] : total) {
        if (dim == kPods) continue;
        std::vector<Claimant> claimants;
        for (QueueId q : siblings)
            claimants.push_back({weight_of(s, q), asked_[q].get(dim), s.words->text(s.queues[q].name)});
        const std::vector<std::int64_t> parts = divide_by_weight(whole, claimants);
        for (std::size_t i = 0; i < siblings.size(); ++i)
            by_weight[i].set(dim, parts[i]);
    }
    for (std::size_t i = 0; i < siblings.size(); ++i) {
        const QueueRow& row = s.queues[siblings[i]];
        deserved_[siblings[i]] = row.fact != nullptr && row.fact->deserved ? *row.fact->deserved : by_weight[i];
        if (!row.children.empty()) divide(s, row.children, deserved_[siblings[i]]);
    }
}

const std::int64_t* Shares::deserved(QueueId queue, Dim dim) const { return deserved_[queue].find(dim); }

// By the dominant ratio used / deserved; deserved 0 with use counts as more than any other.
int Shares::compare_use(const Snapshot& s, QueueId a, QueueId b) const {
    struct Ratio {
        Wide used = 0;
        Wide share = 1;
    };
    const auto dominant = [&](QueueId q) {
        Ratio most;
        for (const auto& [dim, share] : deserved_[q]) {
            if (dim == kPods) continue;
            const std::int64_t used = s.later.queue_used(q, dim);
            Ratio here{used, share};
            if (share == 0) here = used > 0 ? Ratio{1'000'000'000, 1} : Ratio{0, 1};
            if (here.used * most.share > most.used * here.share) most = here;
        }
        return most;
    };
    const Ratio x = dominant(a);
    const Ratio y = dominant(b);
    const Wide left = x.used * y.share;
    const Wide right = y.used * x.share;
    return left == right ? 0 : (left < right ? -1 : 1);
}

// At the first level below the common ancestor: who is served first, or (giving) who gives first.
bool Shares::compare(const Snapshot& s, QueueId a, QueueId b, bool giving) const {
    if (a == b) return false;
    const std::vector<QueueId>& up_a = s.queue_path[a];
    const std::vector<QueueId>& up_b = s.queue_path[b];
    QueueId ancestor;
    for (QueueId q : up_a) {
        if (std::ranges::find(up_b, q) != up_b.end()) {
            ancestor = q;
            break;
        }
    }
    const QueueId x = below(up_a, ancestor);
    const QueueId y = below(up_b, ancestor);
    const auto priority = [&](QueueId q) { return s.queues[q].fact == nullptr ? 0 : s.queues[q].fact->priority; };
    if (priority(x) != priority(y)) return giving ? priority(x) < priority(y) : priority(x) > priority(y);
    if (const int use = compare_use(s, x, y); use != 0) return giving ? use > 0 : use < 0;
    return s.words->text(s.queues[x].name) < s.words->text(s.queues[y].name);
}

bool Shares::serve_before(const Snapshot& s, QueueId a, QueueId b) const { return compare(s, a, b, false); }
bool Shares::gives_before(const Snapshot& s, QueueId a, QueueId b) const { return compare(s, a, b, true); }

}  // namespace reprieve
