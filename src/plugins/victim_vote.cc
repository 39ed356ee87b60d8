#include "plugins/victim_vote.h"

#include <algorithm>

namespace reprieve {

VictimVote::VictimVote(const Snapshot& snapshot) : snapshot_(snapshot) {
    for (QueueId q : IdRange<QueueId>(snapshot.queues.size())) {
        for (Dim dim : IdRange<Dim>(snapshot.dims))
            base_.push_back(snapshot.later.queue_used(q, dim));
    }
    given_.assign(base_.size(), 0);
}

void VictimVote::reset() { given_.assign(base_.size(), 0); }

std::vector<QueueId> levels_below_common(const Snapshot& snapshot, QueueId of, QueueId other) {
    const std::vector<QueueId>& path = snapshot.queue_path[other];
    std::vector<QueueId> out;
    for (QueueId q : snapshot.queue_path[of]) {
        if (std::ranges::find(path, q) != path.end()) break;
        out.push_back(q);
    }
    return out;
}

bool VictimVote::breaks_guarantee(QueueId queue, const Resources& amounts) const {
    const Queue* fact = snapshot_.queues[queue].fact;
    return fact != nullptr && std::ranges::any_of(fact->guarantee, [&](const auto& floor) {
               const std::int64_t gives = amounts.get(floor.dim);
               return gives > 0 && used(queue, floor.dim) - gives < floor.value;
           });
}

void VictimVote::count_given(QueueId queue, const Resources& amounts, std::int64_t sign) {
    for (QueueId q : snapshot_.queue_path[queue]) {
        for (const auto& [dim, value] : amounts)
            given_[at(q, dim)] += sign * value;
    }
}

// Pods of one unit may sit in several queues; each gives its part.
std::vector<VictimVote::Part> VictimVote::parts_of(std::span<const PodId> pods) const {
    std::vector<Part> parts;
    for (PodId pod : pods) {
        const QueueId queue = snapshot_.pods[pod].queue;
        auto part = std::ranges::find(parts, queue, &Part::queue);
        if (part == parts.end()) part = parts.insert(parts.end(), {queue, {}});
        for (const auto& [dim, value] : snapshot_.class_of(pod).requests)
            part->amounts.add(dim, value);
    }
    return parts;
}

bool VictimVote::accept(std::span<const PodId> pods) {
    std::vector<PodId> order(pods.begin(), pods.end());
    if (pods.size() < 2 || !one_by_one(order)) return accept_parts(pods);
    const std::span<const PodId> all(order);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (accept_parts(all.subspan(i, 1))) continue;
        // What was given for a unit that stays is given back.
        for (PodId given : all.first(i))
            withdraw(std::span(&given, 1));
        return false;
    }
    return true;
}

bool VictimVote::accept_parts(std::span<const PodId> pods) {
    // One after another: two queues of one parent give from what it has together.
    const std::vector<Part> parts = parts_of(pods);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!parts[i].queue || !may_give(parts[i])) {
            withdraw(std::span(parts).first(i));
            return false;
        }
        count_given(parts[i].queue, parts[i].amounts);
        gives(parts[i], true);
    }
    return true;
}

void VictimVote::withdraw(std::span<const PodId> pods) { withdraw(parts_of(pods)); }

void VictimVote::withdraw(std::span<const Part> parts) {
    for (const Part& part : parts) {
        count_given(part.queue, part.amounts, -1);
        gives(part, false);
    }
}

}  // namespace reprieve
