// Kubernetes quantities, exactly: "100m", "1.5Gi", "2e3", "12E", "-1".
//
// A quantity becomes an integer in the unit of its dimension: milli for cpu, whole units for all else.
// What does not divide evenly is rounded away from zero, as upstream does. Overflow is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reprieve {

enum class QuantityUnit : std::uint8_t { kWhole, kMilli };

[[nodiscard]] Result<std::int64_t> parse_quantity(std::string_view text, QuantityUnit unit);

// For people: "1500m" or "4" of cpu, "1.5Gi", "37".
[[nodiscard]] std::string format_cpu(std::int64_t milli);
[[nodiscard]] std::string format_bytes(std::int64_t bytes);

}  // namespace reprieve
