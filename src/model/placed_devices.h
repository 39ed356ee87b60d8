// The devices of a placement as plans write them, and back: "0", "1:4Gi", "1:500m", "1:4Gi:500m".
#pragma once

#include <string>
#include <vector>

#include "model/device_claims.h"
#include "model/plan.h"
#include "model/pod.h"
#include "model/vocabulary.h"

namespace reprieve {

[[nodiscard]] std::string device_text(const DeviceHold& hold);

// Sorted by index. REQUIRES: the texts are a plan's own.
[[nodiscard]] std::vector<DeviceHold> placed_devices(const std::vector<std::string>& texts);

// What a claim says of its devices once the plan has been carried out.
[[nodiscard]] ClaimAllocation placed_allocation(const PlacedClaim& placed, Vocabulary& words);

// The pod of a placement, as a user of its claims.
[[nodiscard]] ClaimConsumer placed_consumer(const Placement& placement);

}  // namespace reprieve
