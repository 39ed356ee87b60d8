#include "app/pace.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/quantity.h"

namespace reprieve {
namespace {

constexpr std::int64_t kPieceUs = 50'000;
constexpr std::int64_t kLargest = 1'000'000'000;

}  // namespace

Result<std::optional<std::int64_t>> parse_speed(const std::string& text) {
    if (text == "fast") return std::nullopt;
    if (text == "real") return 1000;
    const auto wrong = [&] {
        return fail(fmt::format("--speed: \"{}\" is not fast, real or a factor such as 10x", text));
    };
    if (!text.ends_with('x')) return wrong();
    const auto factor = parse_quantity(text.substr(0, text.size() - 1), QuantityUnit::kMilli);
    if (!factor || *factor <= 0 || *factor > kLargest) return wrong();
    return *factor;
}

Pace paced(std::int64_t milli_speed, std::function<bool()> stopped) {
    // The wall's clock runs on while plans are made: what was lost there is not waited for again.
    struct State {
        std::optional<std::chrono::steady_clock::time_point> since;
        Time at;
    };
    return [milli_speed, stopped = std::move(stopped), state = State()](Time from, Time to) mutable {
        if (to <= from || (stopped && stopped())) return from;
        if (!state.since) state = {std::chrono::steady_clock::now(), from};
        const auto due = [&] {
            const auto wall =
                std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - *state.since)
                    .count();
            return state.at + Duration{wall * milli_speed / 1000};
        };
        if (const Time now = due(); now < to) {
            const std::int64_t wall_us = (to - now).us / milli_speed * 1000 + 1000;
            std::this_thread::sleep_for(std::chrono::microseconds(std::min(wall_us, kPieceUs)));
        }
        return std::clamp(due(), from, to);
    };
}

}  // namespace reprieve
