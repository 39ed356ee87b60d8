// In what shares of devices are written, and how many devices a node or a pod may have.
#pragma once

#include <cstdint>

namespace reprieve {

inline constexpr std::int64_t kWholePercent = 100;
inline constexpr std::int64_t kMilliPerPercent = 10;
inline constexpr std::int64_t kMostDevices = 65536;
inline constexpr std::int64_t kMebi = std::int64_t{1024} * 1024;

}  // namespace reprieve
