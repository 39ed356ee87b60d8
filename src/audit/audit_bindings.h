// VolumeBinding, judged anew: what a claim is bound to, and what it could be bound to.
#pragma once

#include "audit/rules.h"

namespace reprieve {

// Null: the pod uses no claim there, or one that does not exist.
[[nodiscard]] const VolumeClaim* claim_of(const Case& judged, PodId pod, const VolumeUse& use);
[[nodiscard]] const StorageClass* storage_of(const Cluster& cluster, const VolumeClaim& claim);
// One claim by itself: it is bound within reach, or can be.
void judge_binding(const Case& judged, const VolumeUse& use, const VolumeClaim* claim, const Node& node, Findings& out);

}  // namespace reprieve
