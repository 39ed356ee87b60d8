#include "loop/awaited.h"

#include <fmt/format.h>

namespace reprieve {
namespace {

// What is out of the way with this change; empty: nothing.
std::string thing_gone(const Change& change, const Vocabulary& words) {
    if (const auto* pod = std::get_if<Pod>(&change.object)) {
        return change.removed || pod->finished() ? fmt::format("pod {}/{}", words.text(pod->ns), pod->name)
                                                 : std::string();
    }
    if (const auto* claim = std::get_if<ResourceClaim>(&change.object)) {
        return change.removed || !claim->allocation
                   ? fmt::format("claim {}/{}", words.text(claim->ns), words.text(claim->name))
                   : std::string();
    }
    return {};
}

}  // namespace

void Awaited::take(const Plan& plan) {
    std::set<std::string> waiting;
    for (const Placement& placement : plan.placements) {
        if (placement.after_evictions) waiting.insert(placement.owner.empty() ? placement.pod : placement.owner);
    }
    std::erase_if(left_, [&](const auto& one) { return !waiting.contains(one.first); });
    for (const Eviction& eviction : plan.evictions) {
        if (!waiting.contains(eviction.owner)) continue;
        add("pod " + eviction.pod, eviction.owner);
        for (const std::string& claim : eviction.frees)
            add("claim " + claim, eviction.owner);
    }
    for (auto at = demands_.begin(); at != demands_.end();) {
        std::erase_if(at->second, [&](const std::string& demand) { return !left_.contains(demand); });
        at = at->second.empty() ? demands_.erase(at) : std::next(at);
    }
}

void Awaited::add(const std::string& thing, const std::string& demand) {
    if (demands_[thing].insert(demand).second) ++left_[demand];
}

bool Awaited::hear(const Change& change, const Vocabulary& words) {
    if (demands_.empty()) return false;
    const auto found = demands_.find(thing_gone(change, words));
    if (found == demands_.end()) return false;
    bool last = false;
    for (const std::string& demand : found->second) {
        const auto left = left_.find(demand);
        if (--left->second > 0) continue;
        left_.erase(left);
        last = true;
    }
    demands_.erase(found);
    return last;
}

}  // namespace reprieve
