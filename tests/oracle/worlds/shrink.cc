// Smaller worlds with the same fault.
#include <algorithm>

#include "trial.h"

namespace reprieve::worlds {
namespace {

// A gang that waits keeps two members, and needs all of them that it needed.
bool drop_pod(World& world, std::size_t p) {
    const int gang = world.pods[p].node < 0 ? world.pods[p].gang : -1;
    if (world.pods[p].node < 0 && gang < 0) return false;
    const auto members = std::ranges::count(world.pods, gang, &WorldPod::gang);
    if (gang >= 0 && members < 3) return false;
    world.pods.erase(world.pods.begin() + static_cast<std::ptrdiff_t>(p));
    if (gang >= 0) {
        int& min = world.gangs[static_cast<std::size_t>(gang)].min;
        min = std::min(min, static_cast<int>(members) - 1);
    }
    return true;
}

void drop_demand(World& world, const WorldDemand& demand) {
    for (auto p = demand.pods.rbegin(); p != demand.pods.rend(); ++p)
        world.pods.erase(world.pods.begin() + *p);
}

bool drop_node(World& world, std::size_t n) {
    const auto here = static_cast<int>(n);
    if (std::ranges::find(world.pods, here, &WorldPod::node) != world.pods.end()) return false;
    if (std::ranges::find(world.claims, here, &WorldClaim::node) != world.claims.end()) return false;
    world.nodes.erase(world.nodes.begin() + static_cast<std::ptrdiff_t>(n));
    for (WorldPod& pod : world.pods) {
        if (pod.node > here) --pod.node;
    }
    for (WorldClaim& claim : world.claims) {
        if (claim.node > here) --claim.node;
    }
    return true;
}

// Every world that is simpler by one step.
std::vector<World> simpler(const World& world) {
    std::vector<World> out;
    const auto with = [&](auto&& change) {
        World next = world;
        change(next);
        out.push_back(std::move(next));
    };
    for (const WorldDemand& demand : demands_of(world))
        with([&](World& w) { drop_demand(w, demand); });
    for (std::size_t p = 0; p < world.pods.size(); ++p) {
        World next = world;
        if (drop_pod(next, p)) out.push_back(std::move(next));
    }
    for (std::size_t n = 0; n < world.nodes.size(); ++n) {
        World next = world;
        if (drop_node(next, n)) out.push_back(std::move(next));
    }
    for (std::size_t n = 0; n < world.nodes.size(); ++n) {
        if (world.nodes[n].units > 0) with([&](World& w) { w.nodes[n].units = 0; });
        if (world.nodes[n].large != 0) with([&](World& w) { w.nodes[n].large = 0; });
    }
    for (std::size_t b = 0; b < world.budgets.size(); ++b)
        with([&](World& w) { w.budgets.erase(w.budgets.begin() + static_cast<std::ptrdiff_t>(b)); });
    for (std::size_t p = 0; p < world.pods.size(); ++p) {
        const WorldPod& pod = world.pods[p];
        // Members that wait change together: which of them come first is told where they are alike.
        const auto change = [&](bool when, auto&& how) {
            if (!when) return;
            with([&](World& w) {
                for (WorldPod& x : w.pods) {
                    if (x.name == pod.name || (pod.node < 0 && pod.gang >= 0 && x.gang == pod.gang)) how(x);
                }
            });
        };
        change(!pod.traits.near.empty(), [](WorldPod& x) { x.traits.near.clear(); });
        change(pod.traits.near.size() > 1, [](WorldPod& x) { x.traits.near.resize(1); });
        change(!pod.traits.spreads.empty(), [](WorldPod& x) { x.traits.spreads.clear(); });
        change(pod.traits.spreads.size() > 1, [](WorldPod& x) { x.traits.spreads.resize(1); });
        const bool runs = pod.node >= 0;
        change(pod.leaves, [](WorldPod& x) { x.leaves = false; });
        change(pod.traits.pool >= 0, [](WorldPod& x) { x.traits.pool = -1; });
        change(pod.traits.port != 0, [](WorldPod& x) { x.traits.port = 0; });
        change(pod.traits.memory != 0, [](WorldPod& x) { x.traits.memory = 0; });
        change(pod.traits.claim >= 0, [](WorldPod& x) { x.traits.claim = -1; });
        change(pod.traits.same_group, [](WorldPod& x) { x.traits.same_group = false; });
        change(pod.traits.wants_device() && runs, [](WorldPod& x) {
            x.traits.gpus = x.traits.gpu_milli = x.traits.gpu_memory = 0;
            x.traits.counted = false;
            x.devices = 0;
            x.unwritten = false;
        });
        change(!pod.user_of.empty(), [](WorldPod& x) {
            x.user_of.clear();
            x.devices = 0;
        });
        change(pod.gang >= 0 && runs, [](WorldPod& x) { x.gang = -1; });
        change(pod.is_protected, [](WorldPod& x) { x.is_protected = false; });
        change(pod.traits.priority != 0 && runs, [](WorldPod& x) { x.traits.priority = 0; });
        change(pod.traits.cpu > 1, [](WorldPod& x) { x.traits.cpu = std::max(1, x.traits.cpu - 1); });
    }
    for (unsigned kind = 0; kind < static_cast<unsigned>(kForeignKinds); ++kind) {
        if ((world.foreign & (1U << kind)) != 0) with([&](World& w) { w.foreign &= ~(1U << kind); });
    }
    if (world.idle_nodes > 0) {
        with([&](World& w) { w.idle_nodes = 0; });
        if (world.idle_nodes > 68) with([&](World& w) { w.idle_nodes = 68; });
    }
    for (std::size_t n = 0; n < world.nodes.size(); ++n) {
        if (world.nodes[n].tainted) with([&](World& w) { w.nodes[n].tainted = false; });
        if (world.nodes[n].cordoned) with([&](World& w) { w.nodes[n].cordoned = false; });
    }
    for (std::size_t g = 0; g < world.gangs.size(); ++g) {
        if (world.gangs[g].priority) with([&](World& w) { w.gangs[g].priority.reset(); });
        if (world.gangs[g].together != Together::kAnywhere)
            with([&](World& w) { w.gangs[g].together = Together::kAnywhere; });
    }
    if (!world.cost.empty()) {
        with([&](World& w) { w.cost.clear(); });
        for (std::size_t t = 0; t < world.cost.size() && world.cost.size() > 1; ++t)
            with([&](World& w) { w.cost.erase(w.cost.begin() + static_cast<std::ptrdiff_t>(t)); });
    }
    for (std::size_t q = 0; q < world.queues.size(); ++q) {
        if (world.queues[q].cpu_limit > 0) with([&](World& w) { w.queues[q].cpu_limit = 0; });
    }
    return out;
}

}  // namespace

World shrink(World world, Fault fault) {
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (World& next : simpler(world)) {
            if (!find(try_world(next), fault)) continue;
            world = std::move(next);
            smaller = true;
            break;
        }
    }
    return world;
}

}  // namespace reprieve::worlds
