// The devices of a placement, back from the texts that plans write: "0", "1:4Gi", "1:500m".
#pragma once

#include <string>
#include <vector>

#include "model/pod.h"

namespace reprieve {

// Sorted by index. REQUIRES: the texts are a plan's own.
[[nodiscard]] std::vector<DeviceHold> placed_devices(const std::vector<std::string>& texts);

}  // namespace reprieve
