#include "changes.h"

#include <algorithm>

#include "draw.h"

namespace reprieve::worlds {
namespace {

// The world as it may have been before: every object has the same kind and name, some have other contents.
World earlier(World world, oracle::Draw& draw) {
    for (WorldNode& node : world.nodes) {
        if (draw.chance(50)) node.cpu = draw.number(1, 8);
        if (node.devices > 0 && draw.chance(20)) node.devices = draw.number(1, 4);
        if (draw.chance(10)) node.zone = draw.number(0, 1);
        if (!world.drawn_with(Rule::kPools)) continue;
        if (draw.chance(20)) node.pool = 1 - node.pool;
        if (draw.chance(20)) node.tainted = !node.tainted;
        if (draw.chance(20)) node.cordoned = !node.cordoned;
    }
    for (WorldGang& gang : world.gangs) {
        if (draw.chance(50)) gang.min = draw.number(1, 4);
        if (draw.chance(30)) gang.priority = gang.priority ? std::nullopt : std::optional(draw.one_of({0, 50, 200}));
        if (gang.together != Together::kAnywhere && draw.chance(50)) gang.together = Together::kAnywhere;
    }
    for (WorldPod& pod : world.pods) {
        if (draw.chance(10)) pod.traits.priority = draw.one_of({0, 10, 200});
        if (draw.chance(10)) pod.traits.app = draw.number(0, 2);
        if (draw.chance(10)) pod.is_protected = !pod.is_protected;
        if (pod.leaves && draw.chance(60)) pod.leaves = false;
        if (!world.queues.empty() && pod.gang >= 0 && draw.chance(30)) pod.traits.queue = -1;
        if (pod.node < 0 || pod.traits.claim >= 0 || !draw.chance(10)) continue;
        pod.node = -1;
        pod.devices = 0;
    }
    return world;
}

Batch some_of(const std::vector<Json>& documents, int percent, oracle::Draw& draw) {
    Batch out;
    for (const Json& document : documents) {
        if (draw.chance(percent)) out.push_back(document);
    }
    return out;
}

// Classes and racks of a world that no longer names them stay known; worlds that never named them must not differ.
void add_missing(const std::vector<Json>& known, Batch& to) {
    const auto same = [](const Json& a, const Json& b) {
        return a["kind"] == b["kind"] && a["metadata"]["name"] == b["metadata"]["name"];
    };
    for (const Json& document : known) {
        if (std::ranges::none_of(to, [&](const Json& other) { return same(document, other); })) to.push_back(document);
    }
}

}  // namespace

std::vector<Batch> another_past(const World& world) {
    oracle::Draw draw(world.number ^ 0xC4A76EU);
    const std::vector<Json> now = documents(world);
    Batch first = documents(earlier(world, draw));
    // What is there only once gangs need it is there from the start.
    add_missing(now, first);
    // In the last batch objects change more than once.
    Batch last = some_of(documents(earlier(world, draw)), 40, draw);
    const Batch between = some_of(documents(earlier(world, draw)), 30, draw);
    last.insert(last.end(), between.begin(), between.end());
    last.insert(last.end(), now.begin(), now.end());
    return {std::move(first), std::move(last)};
}

}  // namespace reprieve::worlds
