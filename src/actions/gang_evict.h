// gangPreempt and gangReclaim: a gang's way in, together, inside one domain.
//
// Preempt takes lower priority in the own queue; reclaim takes what other queues hold above their share. Both look at
// the domains in order of what it costs to enter them, and evict only for a place for every mandatory member.
#pragma once

#include "actions/desk.h"
#include "search/gang_victims.h"

namespace reprieve {

class GangEvict {
public:
    GangEvict(Desk& desk, const ActionConfig& action, const Shares* shares);

    // REQUIRES: allocate failed for it. Single pods are gangs of one.
    [[nodiscard]] Served serve(const Demand& demand);

private:
    [[nodiscard]] GangRules rules_for(const Demand& demand, std::span<const Resources::Amount> need) const;
    [[nodiscard]] std::optional<GangChoice> choose(const Demand& demand,
                                                   const GangRules& rules,
                                                   std::span<const PodId> members,
                                                   std::string& why_not);
    [[nodiscard]] std::optional<GangChoice> search(const SearchSpace& space,
                                                   GangId home,
                                                   const GangRules& rules,
                                                   std::span<const PodId> members,
                                                   std::string& why_not);
    void challenge(std::optional<GangChoice>& best, GangChoice choice);
    void carry_out(const Demand& demand,
                   const GangChoice& choice,
                   std::span<const PodId> members,
                   const std::vector<std::vector<PodId>>& surplus);
    void certify(const Demand& demand,
                 const GangChoice& choice,
                 std::span<const Resources::Amount> need,
                 const std::vector<QueueId>& queue_order);

    Desk& desk_;
    const ActionConfig& action_;
    const Shares* shares_;
    CostOrder order_;
    Dim work_;
    bool reclaim_;
    std::optional<Cost> runner_up_;
    Cost bound_;  // over all domains
};

}  // namespace reprieve
