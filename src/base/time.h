// Points in time and durations as integers (microseconds), RFC 3339 and Go durations as text.
//
// The clock is an input: nothing outside `app` asks the machine what time it is.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reprieve {

struct Duration {
    std::int64_t us = 0;
    friend constexpr auto operator<=>(Duration, Duration) = default;
    [[nodiscard]] static constexpr Duration of_seconds(std::int64_t count) { return {count * 1'000'000}; }
    [[nodiscard]] constexpr std::int64_t seconds() const { return us / 1'000'000; }
};

// Since the Unix epoch; Time{} is "not set".
struct Time {
    std::int64_t us = 0;
    [[nodiscard]] constexpr bool is_set() const { return us != 0; }
    friend constexpr auto operator<=>(Time, Time) = default;
    friend constexpr Duration operator-(Time a, Time b) { return {a.us - b.us}; }
    friend constexpr Time operator+(Time a, Duration d) { return {a.us + d.us}; }
};

// "2026-01-01T12:00:00Z", fractions of a second and offsets allowed.
[[nodiscard]] Result<Time> parse_time(std::string_view text);
[[nodiscard]] std::string format_time(Time time);

// Go's time.ParseDuration: "30m", "1h30m", "1.5s", "250ms", "0".
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);
[[nodiscard]] std::string format_duration(Duration duration);

}  // namespace reprieve
