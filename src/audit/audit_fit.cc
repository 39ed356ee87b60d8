// All rules about one pod among others, cheapest first.
#include "audit/rules.h"

namespace reprieve {
namespace {

// Who only wants to know whether it fits need not hear all the reasons why not.
bool suffices(Proof proof, std::size_t before, const Findings& out) {
    return proof == Proof::kOfFit && out.size() > before;
}

}  // namespace

void judge_fit_on_node(const Scene& scene, const PlacedPod& placed, Proof proof, Findings& out) {
    const std::size_t before = out.size();
    judge_capacity(scene, placed, out);
    if (suffices(proof, before, out)) return;
    judge_ports(scene, placed, out);
    if (suffices(proof, before, out)) return;
    judge_devices(scene, placed, proof, out);
    if (suffices(proof, before, out)) return;
    judge_volumes(scene, placed, out);
}

void judge_fit(const Scene& scene, const PlacedPod& placed, Proof proof, Findings& out) {
    const std::size_t before = out.size();
    judge_fit_on_node(scene, placed, proof, out);
    if (suffices(proof, before, out)) return;
    judge_queue_limits(scene, placed.pod, proof, out);
    if (suffices(proof, before, out)) return;
    judge_device_claims(scene, placed, proof, out);
    if (suffices(proof, before, out)) return;
    judge_affinity(scene, placed, proof, out);
    if (suffices(proof, before, out)) return;
    judge_spread(scene, placed, proof, out);
}

}  // namespace reprieve
