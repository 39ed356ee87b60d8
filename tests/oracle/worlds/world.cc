#include "world.h"

#include <algorithm>
#include <bit>
#include <map>

namespace reprieve::worlds {

const char* to_text(Rule rule) {
    switch (rule) {
        case Rule::kHostAffinity:
            return "host affinity";
        case Rule::kZoneAffinity:
            return "zone affinity";
        case Rule::kMutualAffinity:
            return "mutual affinity";
        case Rule::kHostAntiAffinity:
            return "host anti-affinity";
        case Rule::kZoneAntiAffinity:
            return "zone anti-affinity";
        case Rule::kHostSpread:
            return "host spread";
        case Rule::kZoneSpread:
            return "zone spread";
        case Rule::kPorts:
            return "host ports";
        case Rule::kDevices:
            return "devices";
        case Rule::kDeviceGroups:
            return "device groups";
        case Rule::kShares:
            return "device shares";
        case Rule::kVolumes:
            return "volumes";
        case Rule::kStrictBudgets:
            return "strict budgets";
        case Rule::kBudgets:
            return "budgets";
        case Rule::kGangVictims:
            return "gangs as victims";
        case Rule::kOwnPriorities:
            return "own priorities";
        case Rule::kQueueLimits:
            return "queue limits";
        case Rule::kTopology:
            return "hard topology";
        case Rule::kTwoDemands:
            return "two demands";
        case Rule::kDeviceClaims:
            return "device claims";
        case Rule::kSharedClaims:
            return "shared claims";
        case Rule::kLeaving:
            return "leaving pods";
        case Rule::kPools:
            return "pools and taints";
        case Rule::kPartlyRunning:
            return "partly running";
        case Rule::kShortSearch:
            return "short search";
        case Rule::kOtherCosts:
            return "other costs";
        case Rule::kManyNodes:
            return "many nodes";
        case Rule::kAlikeNodes:
            return "alike nodes";
        case Rule::kForeignFilters:
            return "foreign filters";
    }
    return "";
}

std::string claim_of(const World& world, const WorldPod& pod) {
    if (!world.by_claim || pod.node < 0) return "";
    return pod.traits.gpus > 0 ? pod.name : pod.user_of;
}

bool World::drawn_with(Rule rule) const { return std::ranges::find(rules, rule) != rules.end(); }

Mask members_running(const World& world, int gang) {
    Mask out = 0;
    for (int p = 0; p < world.pod_count(); ++p) {
        if (world.pod(p).gang == gang && world.pod(p).node >= 0) out |= bit(p);
    }
    return out;
}

std::vector<WorldDemand> demands_of(const World& world) {
    std::vector<WorldDemand> out;
    for (int p = 0; p < world.pod_count(); ++p) {
        const WorldPod& pod = world.pod(p);
        if (pod.node >= 0) continue;
        const auto known =
            std::ranges::find_if(out, [&](const WorldDemand& d) { return d.gang >= 0 && d.gang == pod.gang; });
        if (known != out.end()) {
            known->pods.push_back(p);
            known->priority = std::min(known->priority, pod.traits.priority);
            continue;
        }
        WorldDemand demand{
            .name = "default/" + pod.name, .gang = pod.gang, .pods = {p}, .priority = pod.traits.priority};
        if (pod.gang >= 0) {
            demand.name = "default/" + world.gang(pod.gang).name;
            demand.min = world.gang(pod.gang).min;
        }
        out.push_back(std::move(demand));
    }
    for (WorldDemand& demand : out) {
        if (demand.gang < 0) continue;
        if (world.gang(demand.gang).priority) demand.priority = *world.gang(demand.gang).priority;
        demand.min -= std::popcount(members_running(world, demand.gang));
    }
    std::ranges::stable_sort(out, [](const WorldDemand& a, const WorldDemand& b) { return a.priority > b.priority; });
    return out;
}

std::vector<Mask> sites_of(const World& world, const WorldDemand& demand, Mask gone) {
    std::vector<Mask> out;
    if (demand.gang < 0) {
        for (int n = 0; n < world.node_count(); ++n)
            out.push_back(bit(n));
        return out;
    }
    const Together together = world.gang(demand.gang).together;
    if (together == Together::kAnywhere) return {world.all_nodes()};
    std::map<int, Mask> domains;
    for (int n = 0; n < world.node_count(); ++n) {
        const int domain = together == Together::kRack ? world.node(n).rack : world.node(n).zone;
        if (domain >= 0) domains[domain] |= bit(n);
    }
    Mask held = 0;
    for (int p = 0; p < world.pod_count(); ++p) {
        if (has(members_running(world, demand.gang) & ~gone, p)) held |= bit(world.pod(p).node);
    }
    for (const auto& [domain, nodes] : domains) {
        if ((held & ~nodes) == 0) out.push_back(nodes);
    }
    return out;
}

}  // namespace reprieve::worlds
