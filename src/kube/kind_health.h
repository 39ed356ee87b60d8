// How it goes with one kind of object that is followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/time.h"

namespace reprieve {

// So long, at most, does a watch wait after trouble before it is begun again. Other schedulers wait as long.
inline constexpr Duration kLongestWatchBackoff{30'000'000};

struct KindHealth {
    std::string kind;
    Duration silent;  // since the last byte
    std::uint64_t restarts = 0;
    std::size_t left_out = 0;  // objects that cannot be read as they are
};

}  // namespace reprieve
