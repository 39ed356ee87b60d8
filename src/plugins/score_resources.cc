// Scores by resources: least allocated, balance of cpu and memory, and GPUs packed together.
#include <algorithm>
#include <cstdlib>

#include "base/wide.h"
#include "plugins/score.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

struct Part {
    std::int64_t total = 0;
    std::int64_t before = 0;
    std::int64_t after = 0;
};

Part part_of(const Candidate& c, const Occupancy& view, NodeId node, Dim dim, std::int64_t asked) {
    const std::int64_t total = c.snapshot.facts->node(node)->allocatable.get(dim);
    const std::int64_t used = total - view.free(node, dim);
    return {total, used, used + asked};
}

// How far apart the fractions of cpu and memory are, in millionths of half the distance.
std::int64_t imbalance(std::int64_t cpu, std::int64_t cpu_total, std::int64_t memory, std::int64_t memory_total) {
    const auto fraction = [](std::int64_t used, std::int64_t total) {
        return std::min<std::int64_t>(kMillion, multiply_divide(used, kMillion, total));
    };
    return std::abs(fraction(cpu, cpu_total) - fraction(memory, memory_total)) / 2;
}

}  // namespace

std::int64_t score_least_allocated(const Candidate& c, const Occupancy& view, NodeId node) {
    std::int64_t sum = 0;
    std::int64_t dims = 0;
    for (const auto& [dim, asked] : {std::pair(kCpu, c.spec.score_cpu), std::pair(kMemory, c.spec.score_memory)}) {
        const Part p = part_of(c, view, node, dim, asked);
        if (p.total == 0) continue;
        ++dims;
        if (p.after <= p.total) sum += multiply_divide(p.total - p.after, kTopScore, p.total);
    }
    return dims == 0 ? 0 : sum / dims;
}

std::int64_t score_balanced_allocation(const Candidate& c, const Occupancy& view, NodeId node) {
    const Part cpu = part_of(c, view, node, kCpu, c.spec.score_cpu);
    const Part memory = part_of(c, view, node, kMemory, c.spec.score_memory);
    if (cpu.total == 0 || memory.total == 0) return kTopScore / 2;
    const std::int64_t before = imbalance(cpu.before, cpu.total, memory.before, memory.total);
    const std::int64_t after = imbalance(cpu.after, cpu.total, memory.after, memory.total);
    return kTopScore / 2 + (before - after) * kTopScore / 2 / kMillion;
}

std::int64_t score_gpu_bin_packing(const Candidate& c, const Occupancy& view, NodeId node) {
    const DeviceAsk& ask = c.spec.devices;
    if (ask.whole > 0) {
        const Part p = part_of(c, view, node, ask.whole_dim, ask.whole);
        return p.total == 0 ? 0 : std::clamp<std::int64_t>(p.after * kTopScore / p.total, 0, kTopScore);
    }
    // Shares: nodes whose devices are already in use come first.
    const std::vector<DeviceUse>& use = view.use(node).devices;
    if (use.empty()) return 0;
    const auto busy = std::ranges::count_if(use, [](const DeviceUse& u) { return !u.idle(); });
    return static_cast<std::int64_t>(busy) * kTopScore / static_cast<std::int64_t>(use.size());
}

}  // namespace reprieve
