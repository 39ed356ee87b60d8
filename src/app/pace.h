// How fast the embedded cluster's time passes: as fast as it can, as on the wall, or so many times faster.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "sim/world_ends.h"

namespace reprieve {

// "fast" gives none; "real" 1000, "10x" 10000, "0.5x" 500 thousandths of the wall's time.
[[nodiscard]] Result<std::optional<std::int64_t>> parse_speed(const std::string& text);

// Sleeps in short pieces, so that whoever waits gets a word in; not at all once `stopped` says so.
[[nodiscard]] Pace paced(std::int64_t milli_speed, std::function<bool()> stopped);

}  // namespace reprieve
