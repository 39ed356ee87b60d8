#include "actions/obstacles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "actions/queue_obstacles.h"
#include "plugins/quota_vote.h"
#include "search/placement_stands.h"
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

std::string Obstacles::say(std::span<const PodId> members, const Attack& attack, const ObstacleRules& rules) {
    const Last asked{.spec = desk_.snapshot().class_of(members.front()).spec,
                     .priority = attack.priority,
                     .queue = attack.queue,
                     .pdb = rules.pdb,
                     .at = desk_.session.tx.checkpoint()};
    if (!said_ || asked != last_) {
        last_ = asked;
        said_ = why_rules_forbid(members, attack);
        if (const std::string stay = count(members, attack, rules); !stay.empty()) *said_ += " (stay: " + stay + ")";
    }
    return *said_;
}

std::string Obstacles::count(std::span<const PodId> members, const Attack& attack, const ObstacleRules& rules) {
    const Snapshot& s = desk_.snapshot();
    ObstacleBoard& board = board_of(attack, rules);
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
        const QueueDemand asked{.queue = attack.queue, .need = attack.need};
        const std::string why = rules.shares != nullptr   ? why_queue_keeps(s, *rules.shares, asked, queue)
                                : attack.quota != nullptr ? why_quota_keeps(s, asked, queue)
                                                          : "";
        if (!why.empty()) queues[why] = 0;
    }
    const std::string of_queues = list_of(queues);
    const std::string of_pods = list_of(pods);
    return of_queues + (of_queues.empty() || of_pods.empty() ? "" : ", ") + of_pods;
}

// Nothing of a demand that goes with the demand is kept: what it needs, whom its quota votes out.
ObstacleBoard& Obstacles::board_of(const Attack& attack, const ObstacleRules& rules) {
    const Rank rank = attack.quota != nullptr ? Rank(attack.quota->rank()) : std::nullopt;
    const auto look = [this,
                       priority = attack.priority,
                       queue = attack.queue,
                       cross = attack.cross_queue,
                       reclaim = attack.reclaim,
                       rank,
                       rules](NodeId node) {
        const Attack same{.priority = priority, .queue = queue, .cross_queue = cross, .reclaim = reclaim};
        return look_at(node, same, rank, rules);
    };
    const Asked asked{attack.priority,
                      attack.queue,
                      attack.cross_queue,
                      attack.reclaim,
                      rules.pdb,
                      rules.allow_whole,
                      rank.has_value(),
                      rank && rank->fixed,
                      rank && rank->kinds.unmarked_are_fixed};
    const auto at = boards_.find(asked);
    if (at != boards_.end()) {
        at->second.follow(desk_.session);
        return at->second;
    }
    if (boards_.size() >= kMostBoards) boards_.clear();
    return boards_.emplace(asked, ObstacleBoard(desk_.session, look)).first->second;
}

NodeObstacles Obstacles::look_at(NodeId node,
                                 const Attack& attack,
                                 const Rank& rank,
                                 const ObstacleRules& rules) const {
    const Snapshot& s = desk_.snapshot();
    NodeObstacles found;
    for (PodId pod : s.node_pods[node]) {
        const PodRow& row = s.pods[pod];
        if (row.state == PodState::kNominated && row.unit_priority >= attack.priority)
            ++found.pods[fmt::format("promised to {}", row.gang ? s.gang_name(row.gang) : s.pod_name(pod))];
        if (row.state != PodState::kRunning) continue;
        std::string why = why_pod_stays(pod, attack, rank);
        if (why.empty() && rules.pdb == PdbMode::kStrict) why = why_budget_keeps(pod);
        if (why.empty() && !rules.allow_whole && row.gang && s.gangs[row.gang].min > 0)
            why = fmt::format("of gang {}, which may not go whole", s.gang_name(row.gang));
        if (!why.empty()) ++found.pods[why];
        if (row.queue && std::ranges::find(found.queues, row.queue) == found.queues.end())
            found.queues.push_back(row.queue);
    }
    return found;
}

// Rules of queues as a whole are told of the queue.
std::string Obstacles::why_pod_stays(PodId pod, const Attack& attack, const Rank& rank) const {
    const Snapshot& s = desk_.snapshot();
    const PodRow& row = s.pods[pod];
    const Protection protection = desk_.session.protections.of(s, pod, attack.priority);
    if (protection != Protection::kNone) return fmt::format("protected: {}", why_protected(s, pod, protection));
    if (rank) {
        const bool own = row.queue == attack.queue || !is_in_quota(s, row.queue);
        if (!own || rank->may_take(s, pod)) return "";
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

// Where everybody who may go has gone, the rules about other pods may still say no: those who went may be those whom
// the pod needs (plugins/monotone.h).
std::string Obstacles::why_rules_forbid(std::span<const PodId> members, const Attack& attack) const {
    constexpr std::size_t kMostLookedAt = 4096;
    const Snapshot& s = desk_.snapshot();
    Session& session = desk_.session;
    const auto bound = std::ranges::find_if(
        members, [&](PodId p) { return !session.filters.monotone(s, p) && !s.class_of(p).has_claims; });
    if (bound == members.end()) return "";
    const Candidate candidate(s, *bound);
    const FactAnswers& facts = desk_.placer.facts(*bound);
    std::vector<NodeId> nodes;
    std::ranges::copy_if(s.nodes_by_name, std::back_inserter(nodes), [&](NodeId n) { return facts[n.index()].fits(); });
    const UnitFinder finder(session);
    std::vector<PodId> gone;
    for (NodeId node : s.nodes_by_name) {
        std::ranges::copy_if(
            s.node_pods[node], std::back_inserter(gone), [&](PodId p) { return finder.takeable(p, attack); });
        if (gone.size() > kMostLookedAt) return "";
    }
    const bool paused = session.tx.touches().pause(true);
    const auto start = session.tx.checkpoint();
    for (PodId pod : gone)
        session.tx.evict(pod);
    std::map<std::string_view, std::int64_t> said;
    for (NodeId node : nodes) {
        if (!session.filters.check_monotone(candidate, s.later, node).fits()) continue;
        const Answer answer = session.filters.check_view(candidate, s.later, s.later, node);
        if (answer.filter == FilterId::kInterPodAffinity)
            ++said["leaves nobody there whom its required pod affinity asks for"];
        else if (answer.filter == FilterId::kPodTopologySpread)
            ++said["its topology spread constraint forbids to use it"];
        else if (answer.fits() && !SecondPass(session, *bound).passes(node))
            ++said["its rules about other pods hold there only by pods that are nominated, not bound"];
    }
    session.tx.rollback(start);
    session.tx.touches().pause(paused);
    if (said.empty()) return "";
    const auto& [what, count] = *std::ranges::max_element(said, {}, [](const auto& one) { return one.second; });
    return fmt::format(": evicting all of them makes room on {} node{}, but {}", count, count == 1 ? "" : "s", what);
}

}  // namespace reprieve
