// Balanced queues: what the plan says of them adds up, and whoever is stopped to balance them had to go, in turn.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "audit/balance_book.h"
#include "audit/budget_index.h"
#include "audit/rules.h"

namespace reprieve {
namespace {

bool balances(const EvictedPod& item) { return item.action == ActionKind::kQueueBalance; }

class BalanceJudge {
public:
    BalanceJudge(const Case& judged, Report& report) : judged_(judged), report_(report), book_(judged) {
        for (const EvictedPod& item : judged_.evicted) {
            const QueueId queue = judged_.row(item.pod).queue;
            if (!queue) continue;
            for (const Dim dim : book_.dims()) {
                if (judged_.runs(item.pod)) gone_[queue].add(dim, book_.held(item.pod, dim));
                if (balances(item)) stopped_[queue].add(dim, book_.held(item.pod, dim));
            }
        }
    }

    void judge() {
        judge_status();
        for (const EvictedPod& item : judged_.evicted) {
            if (balances(item)) judge_stop(item);
        }
    }

private:
    using Entry = BalanceBook::Entry;

    std::string name(QueueId queue) const { return judged_.words.str(judged_.snapshot.queues[queue].name); }

    static std::int64_t amount(const QueueReport& told, const char* share, const std::string& resource) {
        const auto at = told.shares.find(share);
        if (at == told.shares.end()) return 0;
        const auto found = at->second.find(resource);
        return found == at->second.end() ? 0 : found->second;
    }

    void compare(QueueId queue, const char* share, Dim dim, std::int64_t says, std::int64_t is) {
        if (says == is) return;
        report_.add("queue-status",
                    name(queue),
                    fmt::format("says {} {} of {}; it is {}", share, says, judged_.words.text(dim), is));
    }

    void judge_status() {
        std::map<Dim, std::int64_t> missing;     // before anything is given
        std::map<Dim, std::int64_t> held_above;  // what is deserved
        std::map<Dim, std::int64_t> waits;
        for (const auto& [queue, entry] : book_.queues()) {
            const QueueReport* says = judged_.told(queue);
            // Without this share the queues were not balanced.
            if (says == nullptr || !says->shares.contains("preempting")) return;
            for (const Dim dim : book_.dims()) {
                const std::string resource(judged_.words.text(dim));
                const std::int64_t deserved = entry.deserved.get(dim);
                compare(queue, "deserved", dim, amount(*says, "deserved", resource), deserved);
                compare(queue, "used", dim, amount(*says, "used", resource), entry.used.get(dim));
                compare(queue, "usedLive", dim, amount(*says, "usedLive", resource), live_after(queue, dim));
                const std::int64_t allocated = amount(*says, "allocated", resource);
                const std::int64_t preempting = amount(*says, "preempting", resource);
                compare(queue, "allocated and preempting together", dim, allocated + preempting, deserved);
                const std::int64_t kept = std::min(had(queue, entry, dim), deserved);
                if (allocated < kept || preempting < 0) compare(queue, "allocated", dim, allocated, kept);
                missing[dim] += deserved - kept;
                held_above[dim] += std::max<std::int64_t>(0, entry.used.get(dim) - deserved);
                waits[dim] += preempting;
            }
        }
        for (const auto& [dim, amount] : waits) {
            if (amount == std::min(missing[dim], held_above[dim])) continue;
            report_.add("queue-status",
                        "queues",
                        fmt::format("{} of {} wait; {} are missing and {} held above the shares",
                                    amount,
                                    judged_.words.text(dim),
                                    missing[dim],
                                    held_above[dim]));
        }
    }

    // What the queue was granted before; what lives there where that is not recorded.
    std::int64_t had(QueueId queue, const Entry& entry, Dim dim) const {
        const std::int64_t* recorded = granted(queue, dim);
        return recorded != nullptr ? *recorded : entry.live.get(dim);
    }

    const std::int64_t* granted(QueueId queue, Dim dim) const {
        const auto& recorded = judged_.snapshot.queues[queue].fact->allocated;
        return recorded ? recorded->find(dim) : nullptr;
    }

    // Of pods that run and are not evicted by the plan.
    std::int64_t live_after(QueueId queue, Dim dim) const {
        return book_.queues().at(queue).live.get(dim) - sum(gone_, queue, dim);
    }

    using Sums = std::map<QueueId, Resources>;

    static std::int64_t sum(const Sums& sums, QueueId queue, Dim dim) {
        const auto at = sums.find(queue);
        return at == sums.end() ? 0 : at->second.get(dim);
    }

    void judge_stop(const EvictedPod& item) {
        const QueueId queue = judged_.row(item.pod).queue;
        if (item.entry->stage != "preprocess" && item.entry->stage != "preempt")
            report_.add("queue-balance", item.entry->pod, "is stopped in no known stage");
        if (!queue || !book_.queues().contains(queue)) {
            if (item.entry->unit != UnitKind::kWhole)
                report_.add("queue-balance", item.entry->pod, "is in no queue that is balanced");
            return;
        }
        if (!judged_.snapshot.queues[queue].fact->reclaimable)
            report_.add("queue-balance", item.entry->pod, fmt::format("queue {} is not reclaimable", name(queue)));
        if (!needed(item, queue)) {
            report_.add("needless", item.entry->pod, fmt::format("queue {} holds no more than it may", name(queue)));
        }
        judge_turn(item, queue);
    }

    // Others who go with it: they come back with it or not at all.
    std::vector<PodId> unit_of(const EvictedPod& item) const {
        std::vector<PodId> pods{item.pod};
        const GangId gang = judged_.row(item.pod).gang;
        if (item.entry->unit != UnitKind::kWhole || !gang) return pods;
        const Gang* fact = judged_.snapshot.gangs[gang].fact;
        if (fact != nullptr && fact->disruption == DisruptionMode::kSingle) return pods;
        for (const EvictedPod* other : judged_.evicted_with(gang)) {
            if (other->pod != item.pod && other->entry->unit == UnitKind::kWhole) pods.push_back(other->pod);
        }
        return pods;
    }

    // With its unit back the queue would be above what it deserves or was granted. What other actions evict counts as
    // staying: they may have come later.
    bool needed(const EvictedPod& item, QueueId queue) const {
        if (goes_with_its_gang(item)) return true;
        const std::vector<PodId> unit = unit_of(item);
        for (const Dim dim : book_.dims()) {
            std::int64_t back = 0;
            for (const PodId pod : unit) {
                if (judged_.row(pod).queue == queue) back += book_.held(pod, dim);
            }
            const std::int64_t live = book_.queues().at(queue).live.get(dim) + back - sum(stopped_, queue, dim);
            std::int64_t most = book_.queues().at(queue).deserved.get(dim);
            if (const std::int64_t* recorded = granted(queue, dim)) most = std::min(most, *recorded);
            most = std::max(most, judged_.snapshot.queues[queue].fact->guarantee.get(dim));
            if (back > 0 && live > most) return true;
        }
        return false;
    }

    // Surplus of a gang of which nothing is left has nowhere to return to; a gang may also go for another queue.
    bool goes_with_its_gang(const EvictedPod& item) const {
        const GangId gang = judged_.row(item.pod).gang;
        if (!gang || judged_.minimum(gang) < 1) return false;
        const QueueId queue = judged_.row(item.pod).queue;
        return std::ranges::any_of(judged_.evicted_with(gang), [&](const EvictedPod* other) {
            if (other->entry->unit != UnitKind::kWhole) return false;
            return item.entry->unit == UnitKind::kSafe || judged_.row(other->pod).queue != queue;
        });
    }

    // Of two single pods that hold the same, the one whose turn comes first goes.
    void judge_turn(const EvictedPod& item, QueueId queue) {
        if (!stands_alone(item.pod)) return;
        const auto first = first_to_stay().find({queue, holds(item.pod)});
        if (first != first_to_stay().end() && turn(first->second) < turn(item.pod))
            report_.add(
                "queue-order", item.entry->pod, fmt::format("{} would go before it", judged_.name(first->second)));
    }

    using Kind = std::pair<QueueId, std::vector<std::int64_t>>;  // a queue, and what is held

    // Of the single pods that stay and need not, by queue and by what they hold, the one whose turn comes first.
    const std::map<Kind, PodId>& first_to_stay() {
        if (first_to_stay_) return *first_to_stay_;
        first_to_stay_.emplace();
        for (const PodId pod : IdRange<PodId>(judged_.cluster.pod_slots())) {
            if (!judged_.exists(pod) || !judged_.runs(pod) || judged_.eviction_of(pod) != nullptr) continue;
            if (!judged_.row(pod).queue || !stands_alone(pod) || !may_be_evicted(judged_, pod) || judged_.is_fixed(pod))
                continue;
            const auto [at, fresh] = first_to_stay_->try_emplace({judged_.row(pod).queue, holds(pod)}, pod);
            if (!fresh && turn(pod) < turn(at->second)) at->second = pod;
        }
        return *first_to_stay_;
    }

    bool stands_alone(PodId pod) const {
        return !judged_.row(pod).gang && judged_.cluster.find_node(judged_.fact(pod).node) &&
               judged_.budgets().over(pod).empty();
    }

    std::vector<std::int64_t> holds(PodId pod) const {
        std::vector<std::int64_t> amounts;
        for (const Dim dim : book_.dims())
            amounts.push_back(book_.held(pod, dim));
        return amounts;
    }

    using Turn = std::tuple<std::int32_t, bool, std::int32_t, Duration, std::string_view, std::string_view>;

    Turn turn(PodId pod) const {
        const Pod& fact = judged_.fact(pod);
        return {fact.more().preemption_rank,
                fact.phase != PodPhase::kPending,
                judged_.standings.own(pod),
                judged_.snapshot.now_time - judged_.snapshot.started(pod),
                judged_.words.text(fact.ns),
                fact.name};
    }

    const Case& judged_;
    Report& report_;
    BalanceBook book_;
    Sums gone_;     // what queues lose with those who are evicted and run
    Sums stopped_;  // with those who are stopped to balance queues
    std::optional<std::map<Kind, PodId>> first_to_stay_;
};

}  // namespace

void judge_balance(const Case& judged, Report& report) {
    for (const EvictedPod& item : judged.evicted) {
        if (!item.entry->stage.empty() && !balances(item))
            report.add("queue-balance", item.entry->pod, "has a stage and is not stopped to balance queues");
    }
    const bool balanced = std::ranges::any_of(
        judged.plan.queues, [](const QueueReport& queue) { return queue.shares.contains("preempting"); });
    if (balanced || std::ranges::any_of(judged.evicted, balances)) BalanceJudge(judged, report).judge();
}

}  // namespace reprieve
