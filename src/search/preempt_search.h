// PreemptSearch: the cheapest node for one pod to preempt its way in, and who goes there.
//
// For each kind of attacker (shape, priority, queue) a board keeps the cost of every node. A node is entered with a
// lower bound; only when its bound wins the tournament is it looked at in full. So all nodes are considered, few are
// searched, and the winner is proven cheapest. Boards follow the log of touched nodes.
//
// Boards of hundreds of shapes look at the same nodes. Where amounts alone decide, a look depends on what is missing on
// the node, not on what is asked for, and is the same for a whole range of that (ShortageRange). So attackers of one
// priority and queue share their looks, whatever their shapes: what one found is recalled by the others until the node
// is touched.
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
    [[nodiscard]] const DemandNeed& need() const { return need_; }
    [[nodiscard]] const WorkResource& work() const { return work_; }

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
    // Looks at each node that attackers of one priority and queue share, and where they hold.
    struct SharedLooks {
        struct Known {
            ShortageRange range;
            Look look;
        };
        std::vector<std::vector<Known>> on;  // by NodeId
        TouchLog::Moment seen = 0;
    };
    // A demand and the two ways to look at a node for it.
    struct Attempt {
        PodId pod;
        const VictimRules& rules;
        const Asker& asker;
        NodeVictims& victims;
    };
    // Where evictions may help a pod: what does not depend on the node is asked once.
    struct Prospect {
        Candidate candidate;
        const FactAnswers& facts;
        FitBoard* fits;  // null: by the filters themselves
        bool alone;
        bool limit_binds;
    };

    [[nodiscard]] std::optional<PreemptChoice> find_cheapest(PodId pod);
    [[nodiscard]] VictimRules rules_for(PodId pod, std::span<const Resources::Amount> amounts) const;
    [[nodiscard]] WorkBudget budget() const;
    [[nodiscard]] Prospect prospect(const Asker& asker, bool limit_binds);
    [[nodiscard]] bool is_potential(const Prospect& prospect, NodeId node);
    // The looks of this attacker's priority and queue, without those at nodes that were touched since; null: its looks
    // are its own.
    [[nodiscard]] SharedLooks* shared_looks(const Attempt& attempt);
    // Touches nothing but its own results and the node's place in `shared`, so that several threads may share the work.
    [[nodiscard]] static Look look(
        NodeVictims& victims, NodeId node, Victims& scratch, bool improve, SharedLooks* shared);
    [[nodiscard]] static Look look_afresh(
        NodeVictims& victims, NodeId node, Victims& scratch, bool improve, std::optional<ShortageRange>& range);
    [[nodiscard]] std::size_t worker_count(std::size_t nodes, const NodeVictims& victims) const;
    void build(CostBoard& board, const Attempt& attempt);
    void catch_up(CostBoard& board, const Attempt& attempt);
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
    WorkResource work_;
    DemandNeed need_;  // of the pod that is looked at
    std::map<Key, std::unique_ptr<CostBoard>> boards_;
    std::map<std::pair<std::int32_t, QueueId>, SharedLooks> looks_;  // by priority and queue
    std::map<TopologyKeyId, bool> one_node_each_;
    std::uint64_t uses_ = 0;
    std::size_t most_workers_ = 1;
    Victims scratch_;
    std::vector<NodeId> touched_;
    std::optional<Proof> none_;
};

}  // namespace reprieve
