// All rules about one pod among others, cheapest first.
#include "audit/rules.h"

namespace reprieve {

void judge_fit(const Scene& scene, const PlacedPod& placed, Proof proof, Findings& out) {
    const std::size_t before = out.size();
    // Who only wants to know whether it fits need not hear all the reasons why not.
    const auto done = [&] { return proof == Proof::kOfFit && out.size() > before; };
    judge_capacity(scene, placed, out);
    if (done()) return;
    judge_ports(scene, placed, out);
    if (done()) return;
    judge_devices(scene, placed, proof, out);
    if (done()) return;
    judge_queue_limits(scene, placed.pod, proof, out);
    if (done()) return;
    judge_volumes(scene, placed, out);
    if (done()) return;
    judge_affinity(scene, placed, proof, out);
    if (done()) return;
    judge_spread(scene, placed, proof, out);
}

}  // namespace reprieve
