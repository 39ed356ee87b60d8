// How much of a capacity one share of a device takes.
#pragma once

#include <optional>

#include "base/wide.h"
#include "model/device_claims.h"

namespace reprieve {

// `wish`: what the request names; nothing: it names none. Rounded up by the policy of the device; the policy's usual
// amount where there is no wish, the whole capacity where there is no policy. Nothing: the policy forbids the amount.
[[nodiscard]] std::optional<Wide> share_of_capacity(const DeviceCapacity& capacity, std::optional<Wide> wish);

// The device's policy rounds the wish up to an amount that the API server cannot represent.
[[nodiscard]] bool rounds_out_of_range(const DeviceCapacity& capacity, Wide wish);

}  // namespace reprieve
