#include "actions/queue_obstacles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "model/amount_text.h"
#include "plugins/victim_vote.h"

namespace reprieve {
namespace {

class Level {
public:
    Level(const Snapshot& s, QueueId level, QueueId victim) : s_(s), level_(level), victim_(victim) {}

    // Why this queue gives nothing at all; empty: it gives something.
    [[nodiscard]] std::string refuses(const Shares& shares, const QueueDemand& ask) const {
        std::string within;
        std::vector<std::string_view> unlisted;
        for (const auto& [dim, need] : ask.need) {
            if (dim == kPods || need <= 0) continue;
            const std::int64_t* share = shares.deserved(level_, dim);
            if (share == nullptr) {
                unlisted.push_back(word(dim));
                continue;
            }
            const std::int64_t used = s_.later.queue_used(level_, dim);
            if (used > *share) {
                const std::int64_t least = guaranteed(dim);
                if (used > least && used - least >= extreme_pod(dim, false)) return "";
                return says(fmt::format("is inside its guarantee of {} {}", text(dim, least), word(dim)));
            }
            within =
                says(fmt::format("comes to {} of {} and deserves {}", text(dim, used), word(dim), text(dim, *share)));
        }
        return within.empty() ? says(fmt::format("lists no share of {}", fmt::join(unlisted, ", "))) : within;
    }

    // Why what it gives is too little; empty: it is not.
    [[nodiscard]] std::string gives_too_little(const Shares& shares, const QueueDemand& ask) const {
        for (const auto& [dim, need] : ask.need) {
            const std::int64_t* share = dim == kPods || need <= 0 ? nullptr : shares.deserved(level_, dim);
            const std::int64_t used = s_.later.queue_used(level_, dim);
            if (share == nullptr || used <= *share) continue;
            // The last pod may carry the queue below its share, but not below its guarantee.
            if (used - guaranteed(dim) < need) {
                return says(fmt::format("may give {} of {} beyond its guarantee of {}, and that is not enough",
                                        text(dim, used - guaranteed(dim)),
                                        word(dim),
                                        text(dim, guaranteed(dim))));
            }
            if (used - *share - 1 + extreme_pod(dim, true) < need) {
                return says(fmt::format(
                    "is above its share by {} of {}, and that is not enough", text(dim, used - *share), word(dim)));
            }
            return "";
        }
        return "";
    }

    // Above its share, and not by too little.
    [[nodiscard]] std::string excess(const Shares& shares, const QueueDemand& ask, const std::string& why) const {
        for (const auto& [dim, need] : ask.need) {
            const std::int64_t* share = dim == kPods || need <= 0 ? nullptr : shares.deserved(level_, dim);
            const std::int64_t used = s_.later.queue_used(level_, dim);
            if (share == nullptr || used <= *share) continue;
            return says(
                fmt::format("is above its share by {} of {}, and {}", text(dim, used - *share), word(dim), why));
        }
        return "";
    }

    [[nodiscard]] std::string within_minimum(const QueueDemand& ask) const {
        const Queue* fact = s_.queues[level_].fact;
        if (fact == nullptr || !fact->is_quota) return "";
        for (const auto& [dim, need] : ask.need) {
            const std::int64_t* least = dim == kPods || need <= 0 ? nullptr : fact->guarantee.find(dim);
            if (least == nullptr) continue;
            const std::int64_t used = s_.later.queue_used(level_, dim);
            const std::int64_t above = used - *least;
            if (above > 0 && above < extreme_pod(dim, false)) {
                return says(
                    fmt::format("holds {} of {} more than its minimum of {}, and each of its pods more than that",
                                text(dim, above),
                                word(dim),
                                text(dim, *least)),
                    "quota");
            }
            if (above > 0) continue;
            return says(
                fmt::format(
                    "holds {} of {}, no more than its minimum of {}", text(dim, used), word(dim), text(dim, *least)),
                "quota");
        }
        return "";
    }

private:
    [[nodiscard]] std::string_view word(Dim dim) const { return s_.words->text(dim); }
    [[nodiscard]] std::string text(Dim dim, std::int64_t value) const { return amount_text(word(dim), value); }
    [[nodiscard]] std::string_view name(QueueId queue) const { return s_.words->text(s_.queues[queue].name); }
    [[nodiscard]] std::int64_t guaranteed(Dim dim) const {
        const Queue* fact = s_.queues[level_].fact;
        return fact == nullptr ? 0 : fact->guarantee.get(dim);
    }
    [[nodiscard]] std::string says(const std::string& what, std::string_view kind = "queue") const {
        if (level_ == victim_) return fmt::format("{} {} {}", kind, name(victim_), what);
        return fmt::format("{} {} is in {} {}, which {}", kind, name(victim_), kind, name(level_), what);
    }
    // Of the victim queue's running pods that ask for some: how much the smallest, or the largest, asks for.
    [[nodiscard]] std::int64_t extreme_pod(Dim dim, bool largest) const {
        std::int64_t out = 0;
        for (const PodRow& row : s_.pods) {
            if (!row.queue || row.state != PodState::kRunning) continue;
            const std::vector<QueueId>& path = s_.queue_path[row.queue];
            if (std::ranges::find(path, victim_) == path.end()) continue;
            for (const auto& a : s_.classes[row.cls].requests) {
                if (a.dim != dim || a.value <= 0) continue;
                out = out == 0 ? a.value : (largest ? std::max(out, a.value) : std::min(out, a.value));
            }
        }
        return out;
    }

    const Snapshot& s_;
    QueueId level_;
    QueueId victim_;
};

// It would be enough: a gang stands in the way, or those who hold it run where their going helps nobody.
std::string why_excess_stays(const Snapshot& s, QueueId queue) {
    std::string gang;
    for (const PodRow& row : s.pods) {
        if (row.queue != queue || row.state != PodState::kRunning || !row.gang || s.gangs[row.gang].min < 2) continue;
        const std::string its = s.gang_name(row.gang);
        if (gang.empty() || its < gang) gang = its;
    }
    return gang.empty() ? "what it may give makes no room here" : fmt::format("gang {} goes whole or not at all", gang);
}

}  // namespace

std::string why_may_not_reclaim(const Snapshot& s, const Shares& shares, const QueueDemand& ask, QueueId victim) {
    std::vector<std::string_view> asked;
    bool listed = false;
    for (QueueId q : levels_below_common(s, ask.queue, victim)) {
        for (const auto& [dim, value] : ask.need) {
            if (dim == kPods || value <= 0) continue;
            const std::string_view resource = s.words->text(dim);
            if (q == ask.queue) asked.push_back(resource);
            const std::int64_t* share = shares.deserved(q, dim);
            if (share == nullptr) continue;
            listed = true;
            const std::int64_t would = s.later.queue_used(q, dim) + value;
            if (would <= *share) continue;
            return fmt::format("queue {} would be above what it deserves: {} of {} instead of {}",
                               s.words->text(s.queues[q].name),
                               amount_text(resource, would),
                               resource,
                               amount_text(resource, *share));
        }
    }
    if (listed) return "";
    return fmt::format("what queue {} deserves names none of {}, so it takes none back",
                       s.words->text(s.queues[ask.queue].name),
                       fmt::join(asked, ", "));
}

std::string why_queue_gives_nothing(const Snapshot& s, const Shares& shares, const QueueDemand& ask, QueueId victim) {
    const Queue* fact = s.queues[victim].fact;
    if (fact != nullptr && !fact->reclaimable)
        return fmt::format("queue {} is not reclaimable", s.words->text(s.queues[victim].name));
    for (QueueId q : levels_below_common(s, victim, ask.queue)) {
        if (std::string why = Level(s, q, victim).refuses(shares, ask); !why.empty()) return why;
    }
    return why_may_not_reclaim(s, shares, ask, victim);
}

std::string why_queue_keeps(const Snapshot& s, const Shares& shares, const QueueDemand& ask, QueueId victim) {
    if (std::string why = why_queue_gives_nothing(s, shares, ask, victim); !why.empty()) return why;
    for (QueueId q : levels_below_common(s, victim, ask.queue)) {
        if (std::string why = Level(s, q, victim).gives_too_little(shares, ask); !why.empty()) return why;
    }
    return Level(s, victim, victim).excess(shares, ask, why_excess_stays(s, victim));
}

std::string why_quota_keeps(const Snapshot& s, const QueueDemand& ask, QueueId victim) {
    for (QueueId q : levels_below_common(s, victim, ask.queue)) {
        if (std::string why = Level(s, q, victim).within_minimum(ask); !why.empty()) return why;
    }
    return "";
}

}  // namespace reprieve
