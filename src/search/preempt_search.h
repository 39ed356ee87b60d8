// PreemptSearch: the cheapest node for one pod to preempt its way in, and who goes there.
//
// For each kind of attacker (shape, priority, queue) a board keeps the cost of every node. A node is entered with a
// lower bound; only when its bound wins the tournament is it looked at in full. So all nodes are considered, few are
// searched, and the winner is proven cheapest. Boards follow the log of touched nodes. Pods whose rules reach beyond a
// node, or whose queue is at its limit, get a board for once: there an eviction anywhere may change the answer of any
// node.
//
// What is claimed: `optimal` if the winner's set is proven on its node, and every other node is either proven to cost
// at least as much or proven to have no set at all. `infeasible` if every node is proven to have none. A node that
// facts rule out (verdict never) is proven by that.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "search/node_victims.h"
#include "search/placement.h"
#include "search/tournament.h"

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
    struct Entry {
        Cost key;  // the cost, or a bound on it
        bool candidate = false;
        bool settled = false;  // looked at in full
    };
    struct Board {
        std::vector<Entry> entries;          // by rank
        std::map<std::uint32_t, Cost> open;  // by rank: not everything was tried; from here on something may cost less
        Tournament best;
        TouchLog::Moment seen = 0;
        std::int64_t candidates = 0;
        std::uint64_t used = 0;  // when it was asked last
    };
    struct Key {
        SpecId spec;
        StringId ns;
        std::int32_t priority = 0;
        QueueId queue;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    // What a look at one node found.
    struct Look {
        Entry entry;
        std::optional<Cost> open;
    };

    [[nodiscard]] std::optional<PreemptChoice> find_cheapest(PodId pod);
    [[nodiscard]] VictimRules rules_for(PodId pod, std::span<const Resources::Amount> amounts) const;
    [[nodiscard]] WorkBudget budget() const;
    [[nodiscard]] bool is_potential(PodId pod, NodeId node, bool limit_binds);
    void ask(Board& board, NodeVictims& victims, PodId pod, NodeId node);
    // Touches nothing but its own results, so that several threads may share the work.
    [[nodiscard]] static Look look(NodeVictims& victims, NodeId node, Victims& scratch, bool improve);
    [[nodiscard]] std::size_t worker_count(std::size_t nodes, const NodeVictims& victims) const;
    void build(Board& board, NodeVictims& victims, PodId pod, const VictimRules& rules, const Asker& asker);
    [[nodiscard]] Board& board_for(
        const Key& key, NodeVictims& victims, PodId pod, const VictimRules& rules, const Asker& asker);
    [[nodiscard]] std::optional<PreemptChoice> choose(Board& board, NodeVictims& victims);
    [[nodiscard]] PreemptChoice describe(Board& board, NodeVictims& victims, std::uint32_t rank, const Cost& floor);
    [[nodiscard]] static std::optional<Cost> open_bound(const Board& board);
    [[nodiscard]] std::optional<PreemptChoice> find_limited(NodeVictims& victims, PodId pod);

    Session& session_;
    Placer& placer_;
    const ActionConfig& action_;
    CostOrder order_;
    Dim work_;
    std::map<Key, std::unique_ptr<Board>> boards_;
    std::uint64_t uses_ = 0;
    Victims scratch_;
    std::vector<NodeId> touched_;
    std::optional<Proof> none_;
};

}  // namespace reprieve
