// Kubernetes quantities, exactly: "100m", "1.5Gi", "2e3", "12E", "-1".
//
// A quantity becomes an integer in the unit of its dimension: milli for cpu, whole units for all else.
// What does not divide evenly is rounded away from zero, as upstream does. Overflow is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/wide.h"

namespace reprieve {

enum class QuantityUnit : std::uint8_t { kWhole, kMilli };

[[nodiscard]] Result<std::int64_t> parse_quantity(std::string_view text, QuantityUnit unit);

// In billionths of a unit, for amounts that are compared and summed but never counted by the node: rounded away from
// zero to a billionth and held at the largest int64, as upstream's own quantity does.
inline constexpr std::int64_t kNanoPerUnit = 1'000'000'000;
[[nodiscard]] Result<Wide> parse_nano_quantity(std::string_view text);
// The shortest exact spelling: "10Gi", "3", "250m".
[[nodiscard]] std::string format_nano_quantity(Wide nano);

// For people: "1500m" or "4" of cpu, "1.5Gi", "37".
[[nodiscard]] std::string format_cpu(std::int64_t milli);
[[nodiscard]] std::string format_bytes(std::int64_t bytes);

}  // namespace reprieve
