// All rules about one pod among others, cheapest first.
#include "audit/rules.h"

namespace reprieve {
namespace {

// Who only wants to know whether it fits need not hear all the reasons why not.
bool suffices(Certainty certainty, std::size_t before, const Findings& out) {
    return certainty == Certainty::kOfFit && out.size() > before;
}

}  // namespace

void judge_fit_on_node(const Scene& scene, const PlacedPod& placed, Certainty certainty, Findings& out) {
    const std::size_t before = out.size();
    judge_capacity(scene, placed, out);
    if (suffices(certainty, before, out)) return;
    judge_ports(scene, placed, out);
    if (suffices(certainty, before, out)) return;
    judge_devices(scene, placed, certainty, out);
    if (suffices(certainty, before, out)) return;
    judge_volumes(scene, placed, out);
}

void judge_fit(const Scene& scene, const PlacedPod& placed, Certainty certainty, Findings& out) {
    const std::size_t before = out.size();
    judge_fit_on_node(scene, placed, certainty, out);
    if (suffices(certainty, before, out)) return;
    judge_queue_limits(scene, placed.pod, certainty, out);
    if (suffices(certainty, before, out)) return;
    judge_device_claims(scene, placed, certainty, out);
    if (suffices(certainty, before, out)) return;
    judge_affinity(scene, placed, certainty, out);
    if (suffices(certainty, before, out)) return;
    judge_spread(scene, placed, certainty, out);
}

}  // namespace reprieve
