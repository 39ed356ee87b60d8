// gangPreempt and gangReclaim: a gang's way in, together, inside one domain.
//
// Preempt takes lower priority in the own queue; reclaim takes what other queues hold above their share. Both look at
// the domains in order of what it costs to enter them, and evict only for a place for every mandatory member. Others
// who know by themselves whom they may take (jobPreempt) find and carry out their victims here, too.
#pragma once

#include <functional>

#include "actions/desk.h"
#include "actions/obstacles.h"
#include "plugins/shares.h"
#include "search/gang_victims.h"
#include "search/node_sieve.h"

namespace reprieve {

class GangEvict {
public:
    GangEvict(Desk& desk, const ActionConfig& action, const Shares* shares);

    // REQUIRES: allocate failed for it. Single pods are gangs of one.
    [[nodiscard]] Served serve(const Demand& demand);

    // Why a unit of this queue goes, in words that end before the name of whom it goes for.
    using Ground = std::function<std::string(const Unit& unit, QueueId queue)>;
    // Finds, takes and certifies the victims that these rules allow, and places the members.
    [[nodiscard]] Served evict_for(const Demand& demand,
                                   const Mandatory& members,
                                   GangRules& rules,
                                   const Ground& ground);
    // The rules that do not depend on whom the action may take.
    [[nodiscard]] GangRules common_rules(const Demand& demand, std::span<const Resources::Amount> need) const;

private:
    [[nodiscard]] const std::vector<bool>& nodes_for(std::span<const PodId> members);
    // Where the members may go anywhere, the few nodes that are enough to look at; empty: all of them.
    [[nodiscard]] std::vector<NodeId> few_nodes(const SearchSpace& space,
                                                GangId home,
                                                const GangRules& rules,
                                                std::span<const PodId> members);
    [[nodiscard]] Served reclaim(const Demand& demand, const Mandatory& members);
    [[nodiscard]] std::optional<GangChoice> choose(const Demand& demand,
                                                   const GangRules& rules,
                                                   std::span<const PodId> members,
                                                   std::string& why_not);
    // Within the rules' vote, and where that held back units that may go by themselves, beyond it.
    [[nodiscard]] std::optional<GangChoice> search_all(const SearchSpace& space,
                                                       GangId home,
                                                       const GangRules& rules,
                                                       std::span<const PodId> members,
                                                       std::string& why_not);
    // `known`: what another search found here; what costs less is looked for.
    [[nodiscard]] std::optional<GangChoice> search(const SearchSpace& space,
                                                   GangId home,
                                                   const GangRules& rules,
                                                   std::span<const PodId> members,
                                                   std::string& why_not,
                                                   const std::optional<GangChoice>& known = {});
    void carry_out(const Demand& demand, const GangChoice& choice, const Mandatory& members, const Ground& ground);
    void certify(const Demand& demand,
                 const GangChoice& choice,
                 const DemandNeed& need,
                 const std::vector<QueueId>& queue_order);

    Desk& desk_;
    const ActionConfig& action_;
    Obstacles obstacles_;
    const Shares* shares_;
    CostOrder order_;
    WorkResource work_;
    bool reclaim_;
    std::optional<Cost> runner_up_;
    bool too_small_ = false;     // the last search: no domain holds the members, whoever leaves
    std::optional<Proof> none_;  // the last search that found nothing proved that there is nothing
    Cost bound_;                 // over all domains
    bool narrowed_ = false;      // by one vote over all candidates
    NodeSieve sieve_;
    // By NodeId, for pods of these specs: whether a node's facts let one of them in.
    std::map<std::vector<SpecId>, std::vector<bool>> useful_;
};

}  // namespace reprieve
