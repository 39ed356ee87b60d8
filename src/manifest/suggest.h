// "did you mean": the known name nearest to a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace reprieve {

// Empty if none is near. Capitals do not count; of equally near names the first wins.
[[nodiscard]] std::string_view nearest_name(std::string_view word, std::span<const std::string_view> known);

// ", did you mean preempt?" or, where nothing is near, " (known: allocate, preempt)".
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace reprieve
