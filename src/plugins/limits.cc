#include "plugins/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quantity.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

struct Breach {
    QueueId queue;
    Dim dim;
    std::int64_t would = 0;
    std::int64_t limit = 0;
};

std::optional<Breach> first_breach(const Snapshot& s,
                                   const Occupancy& view,
                                   QueueId queue,
                                   std::span<const Resources::Amount> amounts) {
    if (!queue) return std::nullopt;
    for (QueueId q : s.queue_path[queue]) {
        const Queue* fact = s.queues[q].fact;
        if (fact == nullptr || fact->limit.empty()) continue;
        for (const auto& [dim, value] : amounts) {
            const std::int64_t* limit = fact->limit.find(dim);
            if (limit == nullptr || value <= 0) continue;
            const std::int64_t would = saturating_add(view.queue_used(q, dim), value);
            if (would > *limit) return Breach{q, dim, would, *limit};
        }
    }
    return std::nullopt;
}

std::string amount_text(const Snapshot& s, Dim dim, std::int64_t value) {
    if (dim == kCpu) return format_cpu(value);
    return dim == kMemory || dim == kEphemeralStorage ? format_bytes(value)
                                                      : fmt::format("{} {}", value, s.words->text(dim));
}

}  // namespace

bool within_limits(const Snapshot& s,
                   const Occupancy& view,
                   QueueId queue,
                   std::span<const Resources::Amount> amounts) {
    return !first_breach(s, view, queue, amounts);
}

std::string describe_limit(const Snapshot& s,
                           const Occupancy& view,
                           QueueId queue,
                           std::span<const Resources::Amount> amounts) {
    const auto breach = first_breach(s, view, queue, amounts);
    if (!breach) return "";
    return fmt::format("queue {} is limited to {} of {}; with this it would hold {}",
                       s.words->text(s.queues[breach->queue].name),
                       amount_text(s, breach->dim, breach->limit),
                       s.words->text(breach->dim),
                       amount_text(s, breach->dim, breach->would));
}

bool limited(const Snapshot& s, QueueId queue, std::span<const Resources::Amount> amounts) {
    if (!queue) return false;
    for (QueueId q : s.queue_path[queue]) {
        const Queue* fact = s.queues[q].fact;
        if (fact == nullptr) continue;
        for (const auto& [dim, value] : amounts) {
            if (fact->limit.lists(dim)) return true;
        }
    }
    return false;
}

bool share_limit(const Snapshot& s, QueueId a, QueueId b) {
    if (!a || !b) return false;
    const std::vector<QueueId>& other = s.queue_path[b];
    return std::ranges::any_of(s.queue_path[a], [&](QueueId q) {
        return s.queues[q].fact != nullptr && !s.queues[q].fact->limit.empty() &&
               std::ranges::find(other, q) != other.end();
    });
}

Verdict queue_takes(const Snapshot& s, PodId pod) {
    const PodRow& row = s.pods[pod];
    if (row.has(kQueueMissing) || !row.queue) {
        const Pod& fact = s.facts->pod(pod);
        const Gang* group = row.gang ? s.gangs[row.gang].fact : nullptr;
        const StringId name = fact.queue && !fact.queue_is_quota
                                  ? fact.queue
                                  : (group != nullptr && group->queue ? group->queue : fact.queue);
        return Verdict::never("queue", fmt::format("queue {} does not exist", s.words->text(name)));
    }
    const QueueRow& queue = s.queues[row.queue];
    if (queue.takes_pods()) return Verdict::yes();
    if (!queue.fact->open)
        return Verdict::not_now("queue", fmt::format("queue {} is not open", s.words->text(queue.name)));
    return Verdict::not_now(
        "queue", fmt::format("queue {} has child queues and takes no pods itself", s.words->text(queue.name)));
}

}  // namespace reprieve
