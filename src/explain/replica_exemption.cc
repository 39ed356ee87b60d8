// Why servingPreempt could not take a replica, by the rules of its match.
#include <fmt/format.h>

#include <algorithm>

#include "actions/serving/categories.h"
#include "actions/serving/stays.h"
#include "actions/serving/view.h"
#include "explain/victim_order.h"
#include "plugins/protection.h"
#include "state/pod_named.h"

namespace reprieve {
namespace {

serving::ReplicaIndex find_replica(const serving::View& view, PodId pod) {
    for (std::size_t i = 0; i < view.pods.size(); ++i) {
        if (view.pods[i] == pod) return serving::ReplicaIndex(i);
    }
    return {};
}

serving::DeploymentIndex find_deployment(const serving::World& world, const std::string& name) {
    for (std::size_t i = 0; i < world.deployments.size(); ++i) {
        if (world.deployments[i].name == name) return serving::DeploymentIndex(i);
    }
    return {};
}

std::set<serving::ReplicaIndex> taken_by(const Retrials& trials, const serving::View& view) {
    std::set<serving::ReplicaIndex> out;
    for (const Match& match : trials.plan().matches) {
        for (const MatchVictim& victim : match.victims) {
            const PodId pod = pod_named(trials.cluster(), victim.pod);
            if (const auto replica = pod ? find_replica(view, pod) : serving::ReplicaIndex()) out.insert(replica);
        }
    }
    return out;
}

}  // namespace

Exemption replica_exemption(const Retrials& trials, const std::string& owner, PodId pod) {
    const Session session(trials.cluster(), trials.config());
    const Snapshot& s = trials.snapshot();
    const auto actions = actions_of(trials.config());
    const auto action = std::ranges::find(actions, ActionKind::kServingPreempt, &ActionConfig::kind);
    if (action == actions.end()) return {};
    const ServingRoster roster = read_servings(trials.cluster(), trials.config().plugins.plane_label);
    const serving::View view = serving::look_at(session, roster, *action, {}, {});
    const serving::World& world = view.world;
    const serving::DeploymentIndex beneficiary = find_deployment(world, owner);
    const serving::ReplicaIndex replica = find_replica(view, pod);
    if (!beneficiary) return {};
    if (!replica) return {"serving", "it is no replica of a serving deployment, and only those go for one"};
    const std::vector<serving::Category> categories = serving::categorize(world);
    const serving::StayRules rules(world, categories, taken_by(trials, view));
    const serving::Deployment& own = world.at(world.at(replica).deployment);
    const serving::Deployment& winner = world.at(beneficiary);
    switch (rules.why(beneficiary, replica)) {
        case serving::Stays::kCouldGo:
            return {};
        case serving::Stays::kPriority:
            return {"priority",
                    fmt::format("the priority of {}, {}, is not below the {} of {}",
                                own.name,
                                own.priority,
                                winner.priority,
                                winner.name)};
        case serving::Stays::kProtected: {
            const Protection protection = Protections(trials.config()).of_replica(s, pod, winner.priority);
            return {rule_name(protection), why_protected(s, pod, protection)};
        }
        case serving::Stays::kRollout:
            return {"rollout",
                    fmt::format("{} is in a rollout, and gives no replica that its commit covers", own.name)};
        case serving::Stays::kUnclear:
            return {"unclear",
                    fmt::format("several workloads are the commit of {} in its plane, and none of them is scaled",
                                own.name)};
        case serving::Stays::kLastReplica:
            return {"lastReplica", fmt::format("it is the last replica of {} in its plane that could stay", own.name)};
    }
    return {};
}

}  // namespace reprieve
