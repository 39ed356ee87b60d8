// NodeSieve: for a gang that may run anywhere, a few nodes that stand for all.
//
// Nodes that are alike to a demand are interchangeable: they have as much room for its members, and the units on them
// free the same and cost the same. A set of victims for k members uses at most k nodes.
//
// Devices that members claim are part of the room, a number for each kind (state/counted_claims.h).
//
// Claim. Let S hold, of every kind of node, the first nodes by name, at least k of them or all. Then the cheapest set
// of victims within S costs as much as the cheapest one anywhere, and of those that cost the same the one that comes
// first by (number of nodes, names of nodes) lies within S.
// Proof. Take the cheapest set that comes first. If it uses a node x outside S, then S holds k nodes of x's kind, all
// before x by name, and one of them, y, is not used, because x is one of the at most k nodes in use. Take what was
// taken on x on y instead: the same room, the same cost, as many nodes, and an earlier list of names. Contradiction.
//
// The exchange needs units that lie on one node alone and whose cost depends on nothing elsewhere. Nodes for which that
// is not so are never left out: those with pods of a gang that also runs elsewhere, pods under a disruption budget, or
// gangs that could spare other pods than their order says, devices that become free only when several units have gone.
//
// The kinds follow the log of touched nodes, so a decision costs as much as there are kinds and touched nodes.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "search/gang_victims.h"

namespace reprieve {

class NodeSieve {
public:
    NodeSieve(Session& session, Placer& placer) : session_(session), placer_(placer) {}

    // The nodes that stand for all, by name. Empty: nothing can be left out. REQUIRES: the members are counted
    // (DomainFit::can_count), their queues take them, no vote, and nothing is tried out at this moment.
    [[nodiscard]] std::vector<NodeId> nodes_for(const GangRules& rules, std::span<const PodId> members);

private:
    struct Key {
        SpecId spec;
        std::size_t members = 0;  // what a gang spares first depends on the whole need
        std::int32_t priority = 0;
        QueueId queue;
        std::uint32_t claims = 0;  // the number of what members of the spec claim; 0: no devices
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    // Of one node: nothing (it is of no use), a kind, or a node that is never left out.
    static constexpr std::uint32_t kUseless = 0;
    static constexpr std::uint32_t kAlways = 1;
    using Description = std::vector<std::int64_t>;
    struct Table {
        std::map<Description, std::uint32_t> numbers;  // of kinds, from 2 on
        std::vector<std::set<std::uint32_t>> ranks;    // of nodes, by kind
        std::vector<std::uint32_t> kind_of;            // by rank
        TouchLog::Moment seen = 0;
        std::uint64_t used = 0;
    };

    void describe_again(Table& table, NodeId node, const GangRules& rules, PodId like);
    [[nodiscard]] std::uint32_t kind_of(Table& table, NodeId node, const GangRules& rules, PodId like);
    // False: it must always be looked at.
    [[nodiscard]] bool describe_unit(const Unit& unit, NodeId node, const GangRules& rules);
    // What units free of the devices that are claimed. False: it is not a matter of each alone.
    [[nodiscard]] bool describe_devices(NodeId node);
    [[nodiscard]] bool has_room_for_one(NodeId node, PodId like) const;

    Session& session_;
    Placer& placer_;
    std::map<Key, Table> tables_;
    std::uint64_t uses_ = 0;
    CountedClaims* claims_ = nullptr;  // of the members asked about; null: none
    DemandNeed need_;                  // of them together
    UnitList list_;
    Description description_;
    std::vector<std::int64_t> freed_;  // by unit and kind
    std::vector<NodeId> touched_;
};

}  // namespace reprieve
