// "did you mean": the known name nearest to a mistyped one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprieve {

// Empty if none is near. Capitals do not count; of equally near names the first wins.
[[nodiscard]] std::string_view nearest_name(std::string_view word, std::span<const std::string_view> known);

// The same; where none is near, those that begin with the word, if they are few: "highestTierAllowed or
// highestTierName".
[[nodiscard]] std::string meant_names(std::string_view word, std::span<const std::string_view> known);

// Where in `known` the nearest names stand, at most `most`, nearest first; empty if none is near.
[[nodiscard]] std::vector<std::size_t> nearest_places(std::string_view word,
                                                      std::span<const std::string_view> known,
                                                      std::size_t most);

// ", did you mean preempt?" or, where nothing is near, " (known: allocate, preempt)".
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace reprieve
