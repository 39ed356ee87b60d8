#include "kube/server_clock.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdlib>

namespace reprieve {
namespace {

// Whole seconds, slow networks and busy machines make so much of a difference and mean nothing.
constexpr std::int64_t kToleranceUs = 5'000'000;

}  // namespace

Time machine_clock() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

void ServerClock::hear(Duration ahead) {
    if (std::abs(ahead.us - ahead_us_) <= kToleranceUs) return;
    ahead_us_ = std::abs(ahead.us) <= kToleranceUs ? 0 : ahead.us;
    spdlog::warn("the clock of this machine is {} {} the API server's: the latter counts",
                 format_duration({std::abs(ahead.us)}),
                 ahead.us > 0 ? "behind" : "ahead of");
}

}  // namespace reprieve
