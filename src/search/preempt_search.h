// PreemptSearch: the cheapest node for one pod to preempt its way in, and who goes there.
//
// For each kind of attacker (shape, priority, queue) a board keeps the cost of every node. A node is entered with a
// lower bound; only when its bound wins the tournament is it looked at in full. So all nodes are considered, few are
// searched, and the winner is proven cheapest. After a commit only touched nodes are asked again.
#pragma once

#include <cstdint>
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
    bool proven = false;        // no node has a cheaper set
    std::optional<Cost> bound;  // where not proven: no set costs less than this
    std::optional<Cost> runner_up;
    std::int64_t candidates = 0;  // nodes where evictions would make room
};

class PreemptSearch {
public:
    PreemptSearch(Session& session, Placer& placer, const ActionConfig& action);

    [[nodiscard]] std::optional<PreemptChoice> find(PodId pod);
    // A running pod's deferred resize: only its own node counts.
    [[nodiscard]] std::optional<PreemptChoice> find_for_resize(PodId pod);
    // The last search that found nothing did not try everything.
    [[nodiscard]] bool unproven() const { return unproven_; }
    [[nodiscard]] const CostOrder& order() const { return order_; }
    [[nodiscard]] Dim work() const { return work_; }

private:
    struct Entry {
        Cost key;  // the cost, or a bound on it
        bool candidate = false;
        bool exact = false;
        std::optional<Cost> open;  // not everything was tried: something from here on may cost less
    };
    struct Board {
        std::vector<Entry> entries;       // by rank
        std::vector<std::uint32_t> open;  // ranks that are or were open
        Tournament best;
        std::size_t cursor = 0;
        std::int64_t candidates = 0;
        bool limit_binds = false;
    };
    struct Key {
        SpecId spec;
        StringId ns;
        std::int32_t priority = 0;
        QueueId queue;
        friend auto operator<=>(const Key&, const Key&) = default;
    };

    [[nodiscard]] VictimRules rules_for(PodId pod, std::span<const Resources::Amount> amounts) const;
    [[nodiscard]] bool is_potential(PodId pod, NodeId node, bool limit_binds);
    void ask(Board& board, NodeVictims& victims, PodId pod, NodeId node);
    // Fills in a potential node; touches nothing but its own entry, so that several threads may share the work.
    static void look(Entry& entry, NodeVictims& victims, NodeId node, Victims& scratch, bool improve);
    [[nodiscard]] std::size_t worker_count(std::size_t nodes, const NodeVictims& victims) const;
    void build(Board& board, NodeVictims& victims, PodId pod, const VictimRules& rules, const Asker& asker);
    [[nodiscard]] std::optional<PreemptChoice> choose(Board& board, NodeVictims& victims);
    [[nodiscard]] static std::optional<Cost> open_bound(const Board& board);
    [[nodiscard]] std::optional<PreemptChoice> find_limited(NodeVictims& victims, PodId pod);

    Session& session_;
    Placer& placer_;
    const ActionConfig& action_;
    CostOrder order_;
    Dim work_;
    std::map<Key, std::unique_ptr<Board>> boards_;
    Victims scratch_;
    bool unproven_ = false;
};

}  // namespace reprieve
