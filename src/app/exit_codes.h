// Exit codes; scripts depend on them.
#pragma once

namespace reprieve {

inline constexpr int kExitOk = 0;        // planned and everything placed, or nothing to do
inline constexpr int kExitFailure = 1;   // bad input or failure; nothing on stdout
inline constexpr int kExitUsage = 2;     // bad usage
inline constexpr int kExitUnplaced = 3;  // planned, but something stays unplaced

}  // namespace reprieve
