// Threshold: where an answer changes, found with few questions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace reprieve {

// Whether it holds at this value; nullopt: no more questions are answered.
using Question = std::function<std::optional<bool>(std::int64_t)>;

// A value in (below, above] at which it holds and at whose predecessor it does not. REQUIRES: it does not hold at
// `below` and holds at `above`. `hints` are values where the answer is likely to change: they are asked about first.
// Nullopt: the questions ran out.
[[nodiscard]] std::optional<std::int64_t> find_threshold(std::int64_t below,
                                                         std::int64_t above,
                                                         std::vector<std::int64_t> hints,
                                                         const Question& holds);

}  // namespace reprieve
