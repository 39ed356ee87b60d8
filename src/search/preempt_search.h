// PreemptSearch: the cheapest node for one pod to preempt its way in, and who goes there.
//
// For each kind of attacker (shape, priority, queue) a board keeps the cost of every node. A node is entered with a
// lower bound; only when its bound wins the tournament is it looked at in full. So all nodes are considered, few are
// searched, and the winner is proven cheapest. Boards follow the log of touched nodes.
//
// Pods with rules about other pods (affinity, spread) use the same boards. There the board answers for the pod's rules
// about the node alone, which is a bound whatever the other rules say; these are asked once for all nodes that lie in
// the same domains, and on the node that wins (preempt_far.cc). So such a decision costs as much as there are domains.
//
// Pods whose queue is at its limit, or who ask beyond a node in another way (a volume for one pod, shared devices), get
// a board for once: there an eviction anywhere may change the answer of any node.
//
// What is claimed: `optimal` if the winner's set is proven on its node, and every other node is either proven to cost
// at least as much or proven to have no set at all. `infeasible` if every node is proven to have none. A node that
// facts rule out (verdict never) is proven by that.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "search/cost_board.h"
#include "search/node_victims.h"
#include "search/placement.h"

namespace reprieve {

struct PreemptChoice {
    NodeId node;
    Victims victims;
    std::optional<Proof> proof;  // no node has a cheaper set
    std::optional<Cost> bound;   // where there is no proof: no set costs less than this
    std::optional<Cost> runner_up;
    std::int64_t candidates = 0;  // nodes where evictions would make room
};

class PreemptSearch {
public:
    PreemptSearch(Session& session, Placer& placer, const ActionConfig& action);

    // Of claims with alternatives, the earliest that costs no more.
    [[nodiscard]] std::optional<PreemptChoice> find(PodId pod);
    // A running pod's deferred resize: only its own node counts.
    [[nodiscard]] std::optional<PreemptChoice> find_for_resize(PodId pod);
    // The last search that found nothing proved that there is nothing.
    [[nodiscard]] const std::optional<Proof>& proven_none() const { return none_; }
    [[nodiscard]] const CostOrder& order() const { return order_; }
    [[nodiscard]] Dim work() const { return work_; }

private:
    struct Key {
        SpecId spec;
        StringId ns;
        std::int32_t priority = 0;
        QueueId queue;
        bool alone = false;  // by the rules that look at the node alone
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    // What a look at one node found.
    struct Look {
        CostBoard::Entry entry;
        std::optional<Cost> open;
    };
    // A demand and the two ways to look at a node for it.
    struct Attempt {
        PodId pod;
        const VictimRules& rules;
        const Asker& asker;
        NodeVictims& victims;
    };

    [[nodiscard]] std::optional<PreemptChoice> find_cheapest(PodId pod);
    [[nodiscard]] VictimRules rules_for(PodId pod, std::span<const Resources::Amount> amounts) const;
    [[nodiscard]] WorkBudget budget() const;
    [[nodiscard]] bool is_potential(const Asker& asker, NodeId node, bool limit_binds);
    void ask(CostBoard& board, const Attempt& attempt, NodeId node);
    // Touches nothing but its own results, so that several threads may share the work.
    [[nodiscard]] static Look look(NodeVictims& victims, NodeId node, Victims& scratch, bool improve);
    [[nodiscard]] std::size_t worker_count(std::size_t nodes, const NodeVictims& victims) const;
    void build(CostBoard& board, const Attempt& attempt);
    [[nodiscard]] CostBoard new_board() const;
    [[nodiscard]] CostBoard& board_for(const Key& key, const Attempt& attempt);
    [[nodiscard]] std::optional<PreemptChoice> choose(CostBoard& board, NodeVictims& victims);
    [[nodiscard]] PreemptChoice describe(CostBoard& board, NodeVictims& victims, std::uint32_t rank, const Cost& floor);
    void certify(PreemptChoice& choice, const std::optional<Cost>& open, const Cost& floor) const;
    [[nodiscard]] std::optional<PreemptChoice> find_limited(NodeVictims& victims, const Asker& asker);

    // preempt_far.cc: pods with rules about other pods.
    class FarChoice;
    [[nodiscard]] bool by_far_board(const PodClass& cls) const;
    [[nodiscard]] std::optional<PreemptChoice> find_far(Key key, const VictimRules& rules, const Asker& asker);
    [[nodiscard]] bool one_node_each(TopologyKeyId key);
    // A rule about pods on the same node keeps the pod off, and somebody whom it speaks of may not be taken.
    [[nodiscard]] bool blocked_for_good(const Candidate& candidate, NodeId node);
    [[nodiscard]] std::vector<TopologyKeyId> wide_keys(const PodClass& cls);

    Session& session_;
    Placer& placer_;
    const ActionConfig& action_;
    CostOrder order_;
    Dim work_;
    std::map<Key, std::unique_ptr<CostBoard>> boards_;
    std::map<TopologyKeyId, bool> one_node_each_;
    std::uint64_t uses_ = 0;
    Victims scratch_;
    std::vector<NodeId> touched_;
    std::optional<Proof> none_;
};

}  // namespace reprieve
