#include "actions/obstacles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "model/amount_text.h"
#include "plugins/quota_vote.h"
#include "state/budgets.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

constexpr std::size_t kMostReasons = 4;
constexpr std::size_t kMostBoards = 64;  // of a few numbers for each node

std::string list_of(const std::map<std::string, std::int64_t>& reasons) {
    std::vector<std::pair<std::int64_t, std::string>> order;
    for (const auto& [reason, count] : reasons)
        order.emplace_back(-count, count > 0 ? fmt::format("{} {}", count, reason) : reason);
    std::ranges::sort(order);
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < order.size() && i < kMostReasons; ++i)
        parts.push_back(order[i].second);
    if (order.size() > kMostReasons) parts.emplace_back("and others");
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string Obstacles::say(std::span<const PodId> members, const Attack& attack, PdbMode pdb, const Shares* shares) {
    const Last asked{.spec = desk_.snapshot().class_of(members.front()).spec,
                     .priority = attack.priority,
                     .queue = attack.queue,
                     .pdb = pdb,
                     .at = desk_.session.tx.checkpoint()};
    if (said_.empty() || asked != last_) {
        last_ = asked;
        said_ = count(members, attack, pdb, shares);
    }
    return said_;
}

std::string Obstacles::name(QueueId queue) const {
    return desk_.snapshot().words->str(desk_.snapshot().queues[queue].name);
}

std::string Obstacles::count(std::span<const PodId> members, const Attack& attack, PdbMode pdb, const Shares* shares) {
    const Snapshot& s = desk_.snapshot();
    ObstacleBoard& board = board_of(attack, pdb);
    std::vector<std::int64_t> counts(board.reasons());
    std::vector<bool> others(s.queues.size());
    std::vector<bool> seen(s.nodes.size());
    const FactAnswers* last = nullptr;
    for (PodId member : members) {
        const FactAnswers& answers = desk_.placer.facts(member);
        if (&answers == std::exchange(last, &answers)) continue;
        for (NodeId node : s.nodes_by_name) {
            if (seen[node.index()] || !answers[node.index()].fits()) continue;
            seen[node.index()] = true;
            board.add(node, counts, others);
        }
    }
    Reasons pods;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] > 0) pods.emplace(board.reason(i), counts[i]);
    }
    Reasons queues;
    for (QueueId queue : IdRange<QueueId>(s.queues.size())) {
        if (!others[queue.index()] || queue == attack.queue) continue;
        const std::string why = shares != nullptr         ? why_queue_keeps(queue, attack, *shares)
                                : attack.quota != nullptr ? why_quota_keeps(queue, attack)
                                                          : "";
        if (!why.empty()) queues[why] = 0;
    }
    const std::string of_queues = list_of(queues);
    const std::string of_pods = list_of(pods);
    return of_queues + (of_queues.empty() || of_pods.empty() ? "" : ", ") + of_pods;
}

// Quotas vote by what the demand asks for, so each such demand gets a board of its own.
ObstacleBoard& Obstacles::board_of(const Attack& attack, PdbMode pdb) {
    const auto look = [this,
                       priority = attack.priority,
                       queue = attack.queue,
                       cross = attack.cross_queue,
                       quota = attack.quota,
                       reclaim = attack.reclaim,
                       pdb](NodeId node) {
        return look_at(node,
                       {.priority = priority, .queue = queue, .cross_queue = cross, .quota = quota, .reclaim = reclaim},
                       pdb);
    };
    if (attack.quota != nullptr) return of_quota_.emplace(desk_.session, look);
    const Asked asked{attack.priority, attack.queue, attack.cross_queue, attack.reclaim, pdb};
    const auto at = boards_.find(asked);
    if (at != boards_.end()) {
        at->second.follow(desk_.session);
        return at->second;
    }
    if (boards_.size() >= kMostBoards) boards_.clear();
    return boards_.emplace(asked, ObstacleBoard(desk_.session, look)).first->second;
}

NodeObstacles Obstacles::look_at(NodeId node, const Attack& attack, PdbMode pdb) const {
    const Snapshot& s = desk_.snapshot();
    NodeObstacles found;
    for (PodId pod : s.node_pods[node]) {
        const PodRow& row = s.pods[pod];
        if (row.state == PodState::kNominated && row.unit_priority >= attack.priority)
            ++found.pods[fmt::format("promised to {}", row.gang ? s.gang_name(row.gang) : s.pod_name(pod))];
        if (row.state != PodState::kRunning) continue;
        std::string why = why_pod_stays(pod, attack);
        if (why.empty() && pdb == PdbMode::kStrict) why = why_budget_keeps(pod);
        if (!why.empty()) ++found.pods[why];
        if (row.queue && std::ranges::find(found.queues, row.queue) == found.queues.end())
            found.queues.push_back(row.queue);
    }
    return found;
}

// Rules of queues as a whole are told of the queue.
std::string Obstacles::why_pod_stays(PodId pod, const Attack& attack) const {
    const Snapshot& s = desk_.snapshot();
    const PodRow& row = s.pods[pod];
    const Protection protection = desk_.session.protections.of(s, pod, attack.priority);
    if (protection != Protection::kNone) return fmt::format("protected: {}", why_protected(s, pod, protection));
    if (attack.quota != nullptr) {
        const bool own = row.queue == attack.queue || !is_in_quota(s, row.queue);
        if (!own || attack.quota->may_take(pod)) return "";
        return row.unit_priority < attack.priority && row.queue != attack.queue ? "in another queue"
                                                                                : "of equal or higher priority";
    }
    if (attack.reclaim) return row.queue == attack.queue ? "in the same queue" : "";
    if (row.unit_priority >= attack.priority) return "of equal or higher priority";
    return !attack.cross_queue && row.queue != attack.queue ? "in another queue" : "";
}

// Among those who could go: one that a strict budget does not let go any more. Of several budgets, the first by name.
std::string Obstacles::why_budget_keeps(PodId pod) const {
    const Snapshot& s = desk_.snapshot();
    std::string spent;
    for (BudgetId id : s.class_of(pod).budgets) {
        const BudgetRow& budget = s.budgets[id];
        if (!takes_from(s, pod, id) || budget.left > 0) continue;
        const std::string name = fmt::format("{}/{}", s.words->text(budget.fact->ns), s.words->text(budget.fact->name));
        if (spent.empty() || name < spent) spent = name;
    }
    return spent.empty() ? "" : fmt::format("whose disruption budget {} is spent", spent);
}

std::string Obstacles::why_queue_keeps(QueueId queue, const Attack& attack, const Shares& shares) const {
    const Snapshot& s = desk_.snapshot();
    const Queue* fact = s.queues[queue].fact;
    if (fact != nullptr && !fact->reclaimable) return fmt::format("queue {} is not reclaimable", name(queue));
    std::string within;
    for (const auto& [dim, need] : attack.need) {
        const std::int64_t* share = dim == kPods || need <= 0 ? nullptr : shares.deserved(queue, dim);
        if (share == nullptr) continue;
        const std::int64_t used = s.later.queue_used(queue, dim);
        const std::int64_t least = fact == nullptr ? 0 : fact->guarantee.get(dim);
        if (used > *share) {
            if (used <= least || used - least < smallest_in(queue, dim)) {
                return fmt::format("queue {} is inside its guarantee of {} {}",
                                   name(queue),
                                   amount_text(dim, least),
                                   s.words->text(dim));
            }
            return fmt::format("queue {} is above its share by {} of {}, and {}",
                               name(queue),
                               amount_text(dim, used - *share),
                               s.words->text(dim),
                               used - *share < need ? "that is not enough" : why_excess_stays(queue));
        }
        within = fmt::format("queue {} comes to {} of {} and deserves {}",
                             name(queue),
                             amount_text(dim, used),
                             s.words->text(dim),
                             amount_text(dim, *share));
    }
    return within;
}

// It would be enough: a gang stands in the way, or those who hold it run where their going helps nobody.
std::string Obstacles::why_excess_stays(QueueId queue) const {
    const Snapshot& s = desk_.snapshot();
    std::string gang;
    for (const PodRow& row : s.pods) {
        if (row.queue != queue || row.state != PodState::kRunning || !row.gang || s.gangs[row.gang].min < 2) continue;
        const std::string its = s.gang_name(row.gang);
        if (gang.empty() || its < gang) gang = its;
    }
    return gang.empty() ? "what it may give makes no room here" : fmt::format("gang {} goes whole or not at all", gang);
}

std::int64_t Obstacles::smallest_in(QueueId queue, Dim dim) const {
    const Snapshot& s = desk_.snapshot();
    std::int64_t least = INT64_MAX;
    for (const PodRow& row : s.pods) {
        if (row.queue != queue || row.state != PodState::kRunning) continue;
        for (const auto& a : s.classes[row.cls].requests) {
            if (a.dim == dim && a.value > 0) least = std::min(least, a.value);
        }
    }
    return least == INT64_MAX ? 0 : least;
}

std::string Obstacles::why_quota_keeps(QueueId queue, const Attack& attack) const {
    const Snapshot& s = desk_.snapshot();
    const Queue* fact = s.queues[queue].fact;
    if (fact == nullptr || !fact->is_quota) return "";
    for (const auto& [dim, need] : attack.need) {
        const std::int64_t* least = dim == kPods || need <= 0 ? nullptr : fact->guarantee.find(dim);
        if (least == nullptr) continue;
        const std::int64_t above = s.later.queue_used(queue, dim) - *least;
        if (above > 0 && above < smallest_in(queue, dim)) {
            return fmt::format(
                "quota {} holds {} of {} more than its minimum of {}, and each of its pods more than that",
                name(queue),
                amount_text(dim, above),
                s.words->text(dim),
                amount_text(dim, *least));
        }
        if (above > 0) continue;
        return fmt::format("quota {} holds {} of {}, no more than its minimum of {}",
                           name(queue),
                           amount_text(dim, s.later.queue_used(queue, dim)),
                           s.words->text(dim),
                           amount_text(dim, *least));
    }
    return "";
}

}  // namespace reprieve
