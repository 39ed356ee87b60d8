#include "base/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/ascii.h"

namespace reprieve {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kSecond = 1'000'000;  // in microseconds
constexpr std::int64_t kDaySeconds = 86'400;

// Reads fixed-width text from left to right; `ok` turns false at the first mismatch and stays so.
struct Cursor {
    std::string_view left;
    bool ok = true;

    int number(std::size_t digits) {
        int value = 0;
        if (left.size() < digits) ok = false;
        for (std::size_t i = 0; ok && i < digits; ++i) {
            if (!is_digit(left[i])) ok = false;
            value = value * 10 + (left[i] - '0');
        }
        if (ok) left.remove_prefix(digits);
        return value;
    }
    void expect(char c) {
        if (ok && !left.empty() && left.front() == c) {
            left.remove_prefix(1);
        } else {
            ok = false;
        }
    }
    [[nodiscard]] bool next_is(char c) const { return ok && !left.empty() && left.front() == c; }
};

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int days_in_month(int year, int month) {
    static constexpr std::array<int, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

// Days since 1970-01-01 in the proleptic Gregorian calendar; years start in March so that leap days come last.
std::int64_t days_from_date(int year, int month, int day) {
    const std::int64_t y = month <= 2 ? year - 1 : year;
    const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
    const std::int64_t year_of_era = y - era * 400;
    const std::int64_t day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    const std::int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146'097 + day_of_era - 719'468;
}

struct Date {
    std::int64_t year = 0;
    std::int64_t month = 0;
    std::int64_t day = 0;
};

Date date_from_days(std::int64_t days) {
    days += 719'468;
    const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
    const std::int64_t day_of_era = days - era * 146'097;
    const std::int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
    const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const std::int64_t shifted = (5 * day_of_year + 2) / 153;
    const std::int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
    return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day_of_year - (153 * shifted + 2) / 5 + 1};
}

// The digits after the point as microseconds; finer ones are dropped.
std::int64_t read_fraction(Cursor& cursor) {
    cursor.expect('.');
    std::int64_t us = 0;
    std::size_t digits = 0;
    while (!cursor.left.empty() && is_digit(cursor.left.front())) {
        if (digits < 6) us = us * 10 + (cursor.left.front() - '0');
        ++digits;
        cursor.left.remove_prefix(1);
    }
    if (digits == 0) cursor.ok = false;
    for (; digits < 6; ++digits)
        us *= 10;
    return us;
}

std::int64_t read_offset_seconds(Cursor& cursor) {
    if (cursor.next_is('Z')) {
        cursor.expect('Z');
        return 0;
    }
    const bool west = cursor.next_is('-');
    cursor.expect(west ? '-' : '+');
    const int hours = cursor.number(2);
    cursor.expect(':');
    const int minutes = cursor.number(2);
    if (hours > 23 || minutes > 59) cursor.ok = false;
    const std::int64_t seconds = std::int64_t{hours} * 3600 + minutes * 60;
    return west ? -seconds : seconds;
}

std::string trimmed_fraction(std::int64_t us) {
    if (us == 0) return {};
    std::string text = fmt::format(".{:06}", us);
    text.erase(text.find_last_not_of('0') + 1);
    return text;
}

struct Unit {
    std::string_view text;
    std::int64_t ns;
};

constexpr std::array<Unit, 8> kUnits{{{"ns", 1},
                                      {"us", 1'000},
                                      {"\xC2\xB5s", 1'000},  // micro sign
                                      {"\xCE\xBCs", 1'000},  // Greek mu
                                      {"ms", 1'000'000},
                                      {"s", 1'000'000'000},
                                      {"m", 60'000'000'000},
                                      {"h", 3'600'000'000'000}}};

const Unit* find_unit(std::string_view text) {
    const auto* found = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& unit) { return unit.text == text; });
    return found == kUnits.end() ? nullptr : found;
}

// Go holds durations as int64 nanoseconds, so no text of a longer one can come from a Kubernetes object.
constexpr Wide kLongest = std::numeric_limits<std::int64_t>::max();

enum class Piece : std::uint8_t { kRead, kNonsense, kTooLong };

// One "1.5h" off the front of `text`, added to `ns`.
Piece read_piece(std::string_view& text, Wide& ns) {
    Wide whole = 0;
    Wide fraction = 0;
    Wide scale = 1;
    bool any = false;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
        whole = std::min<Wide>(whole * 10 + (text.front() - '0'), kLongest + 1);
        any = true;
    }
    if (!text.empty() && text.front() == '.') {
        text.remove_prefix(1);
        for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
            any = true;
            constexpr Wide kFinest = 1'000'000'000'000'000'000;
            if (scale >= kFinest) continue;
            fraction = fraction * 10 + (text.front() - '0');
            scale *= 10;
        }
    }
    if (!any) return Piece::kNonsense;
    const auto* unit_end = std::find_if(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; });
    const Unit* unit = find_unit(text.substr(0, static_cast<std::size_t>(unit_end - text.begin())));
    if (unit == nullptr) return Piece::kNonsense;
    text.remove_prefix(unit->text.size());
    ns += whole * unit->ns + fraction * unit->ns / scale;
    return ns > kLongest ? Piece::kTooLong : Piece::kRead;
}

}  // namespace

Result<Time> parse_time(std::string_view text) {
    Cursor cursor{text};
    const int year = cursor.number(4);
    cursor.expect('-');
    const int month = cursor.number(2);
    cursor.expect('-');
    const int day = cursor.number(2);
    cursor.expect('T');
    const int hour = cursor.number(2);
    cursor.expect(':');
    const int minute = cursor.number(2);
    cursor.expect(':');
    const int second = cursor.number(2);
    const std::int64_t us = cursor.next_is('.') ? read_fraction(cursor) : 0;
    const std::int64_t offset = read_offset_seconds(cursor);
    if (!cursor.ok || !cursor.left.empty()) {
        return fail(fmt::format("\"{}\" is not an RFC 3339 time (example: 2026-01-01T12:00:00Z)", text));
    }
    if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) || hour > 23 || minute > 59 ||
        second > 59) {
        return fail(fmt::format("\"{}\" is not a time: there is no such date or time of day", text));
    }
    const std::int64_t seconds =
        days_from_date(year, month, day) * kDaySeconds + hour * 3600 + minute * 60 + second - offset;
    return Time{seconds * kSecond + us};
}

std::string format_time(Time time) {
    std::int64_t seconds = time.us / kSecond;
    std::int64_t us = time.us % kSecond;
    if (us < 0) {
        us += kSecond;
        --seconds;
    }
    std::int64_t days = seconds / kDaySeconds;
    std::int64_t rest = seconds % kDaySeconds;
    if (rest < 0) {
        rest += kDaySeconds;
        --days;
    }
    const Date date = date_from_days(days);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z",
                       date.year,
                       date.month,
                       date.day,
                       rest / 3600,
                       rest / 60 % 60,
                       rest % 60,
                       trimmed_fraction(us));
}

Result<Duration> parse_duration(std::string_view text) {
    std::string_view left = text;
    const bool negative = !left.empty() && left.front() == '-';
    if (negative || (!left.empty() && left.front() == '+')) left.remove_prefix(1);
    if (left == "0") return Duration{};
    Wide ns = 0;
    Piece piece = left.empty() ? Piece::kNonsense : Piece::kRead;
    while (!left.empty() && piece == Piece::kRead)
        piece = read_piece(left, ns);
    if (piece == Piece::kTooLong) return fail(fmt::format("\"{}\" is too long for a duration", text));
    if (piece == Piece::kNonsense)
        return fail(fmt::format("\"{}\" is not a duration (examples: 30m, 1h30m, 1.5s, 250ms)", text));
    const auto us = static_cast<std::int64_t>(ns / 1000);
    return Duration{negative ? -us : us};
}

std::string format_duration(Duration duration) {
    if (duration.us == 0) return "0s";
    const bool negative = duration.us < 0;
    const std::uint64_t us =
        negative ? ~static_cast<std::uint64_t>(duration.us) + 1 : static_cast<std::uint64_t>(duration.us);
    std::string text = negative ? "-" : "";
    if (us < 1'000) return text + fmt::format("{}us", us);
    if (us < 1'000'000) {
        const std::string fraction = trimmed_fraction(static_cast<std::int64_t>(us % 1'000 * 1'000));
        return text + fmt::format("{}{}ms", us / 1'000, fraction);
    }
    const std::uint64_t seconds = us / 1'000'000;
    if (seconds >= 3600) text += fmt::format("{}h", seconds / 3600);
    if (seconds / 60 % 60 != 0) text += fmt::format("{}m", seconds / 60 % 60);
    const std::string fraction = trimmed_fraction(static_cast<std::int64_t>(us % 1'000'000));
    if (seconds % 60 != 0 || !fraction.empty()) text += fmt::format("{}{}s", seconds % 60, fraction);
    return text;
}

}  // namespace reprieve
