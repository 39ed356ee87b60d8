#include "base/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>

#include "base/ascii.h"

namespace reprieve {
namespace {

constexpr std::uint64_t kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

// A number with more digits before its point than 19 does not fit; one with more zeros after it than 30 rounds to 1,
// whatever factor (at most 1000 * 2^60) is still to come.
constexpr std::int64_t kTooLarge = 19;
constexpr std::int64_t kTooSmall = -30;

// The text taken apart: sign, digits with the decimal point `point` digits from their start, and factors.
struct Parts {
    bool negative = false;
    std::string digits;  // no leading zeros; empty: the number is zero
    std::int64_t point = 0;
    int powers_of_1024 = 0;
};

// A non-negative number as integer and decimal fraction; multiplying is exact.
struct Exact {
    std::uint64_t whole = 0;
    std::string fraction;  // digits after the point

    // False if the product is beyond int64.
    bool multiply(unsigned factor) {
        if (whole > (kLargest + 1) / factor) return false;
        unsigned carry = 0;
        for (auto digit = fraction.rbegin(); digit != fraction.rend(); ++digit) {
            const unsigned value = static_cast<unsigned>(*digit - '0') * factor + carry;
            *digit = static_cast<char>('0' + value % 10);
            carry = value / 10;
        }
        whole = whole * factor + carry;
        return true;
    }
    [[nodiscard]] bool has_fraction() const {
        return std::any_of(fraction.begin(), fraction.end(), [](char c) { return c != '0'; });
    }
};

struct Suffix {
    std::string_view text;
    std::int64_t power_of_ten;
    int powers_of_1024;
};

constexpr std::array<Suffix, 16> kSuffixes{{{"", 0, 0},
                                            {"n", -9, 0},
                                            {"u", -6, 0},
                                            {"m", -3, 0},
                                            {"k", 3, 0},
                                            {"M", 6, 0},
                                            {"G", 9, 0},
                                            {"T", 12, 0},
                                            {"P", 15, 0},
                                            {"E", 18, 0},
                                            {"Ki", 0, 1},
                                            {"Mi", 0, 2},
                                            {"Gi", 0, 3},
                                            {"Ti", 0, 4},
                                            {"Pi", 0, 5},
                                            {"Ei", 0, 6}}};

// "e3", "E-2", "e+10". Absurd exponents are held at a value that overflows or rounds as they would.
bool read_exponent(std::string_view text, std::int64_t& power) {
    if (text.size() < 2 || (text.front() != 'e' && text.front() != 'E')) return false;
    text.remove_prefix(1);
    const bool negative = text.front() == '-';
    if (negative || text.front() == '+') text.remove_prefix(1);
    if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return false;
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    constexpr std::int64_t kAbsurd = 1'000'000'000'000;
    if (read.ec != std::errc{} || value > kAbsurd) value = kAbsurd;
    power = negative ? -value : value;
    return true;
}

bool read_suffix(std::string_view text, Parts& parts) {
    for (const Suffix& suffix : kSuffixes) {
        if (suffix.text != text) continue;
        parts.point += suffix.power_of_ten;
        parts.powers_of_1024 = suffix.powers_of_1024;
        return true;
    }
    std::int64_t power = 0;
    if (!read_exponent(text, power)) return false;
    parts.point += power;
    return true;
}

bool take_apart(std::string_view text, Parts& parts) {
    std::size_t at = 0;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) parts.negative = text[at++] == '-';
    const std::size_t whole_from = at;
    while (at < text.size() && is_digit(text[at]))
        ++at;
    const std::string_view whole = text.substr(whole_from, at - whole_from);
    std::string_view fraction;
    if (at < text.size() && text[at] == '.') {
        const std::size_t from = ++at;
        while (at < text.size() && is_digit(text[at]))
            ++at;
        fraction = text.substr(from, at - from);
    }
    if (whole.empty() && fraction.empty()) return false;

    parts.digits.reserve(whole.size() + fraction.size());
    parts.digits.append(whole).append(fraction);
    parts.point = static_cast<std::int64_t>(whole.size());
    const std::size_t zeros = std::min(parts.digits.find_first_not_of('0'), parts.digits.size());
    parts.digits.erase(0, zeros);
    parts.point -= static_cast<std::int64_t>(zeros);
    return read_suffix(text.substr(at), parts);
}

Exact split_at_point(const Parts& parts) {
    Exact number;
    const auto size = static_cast<std::int64_t>(parts.digits.size());
    for (std::int64_t i = 0; i < parts.point; ++i) {
        const char digit = i < size ? parts.digits[static_cast<std::size_t>(i)] : '0';
        number.whole = number.whole * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    if (parts.point < 0) number.fraction.assign(static_cast<std::size_t>(-parts.point), '0');
    if (parts.point < size)
        number.fraction.append(parts.digits, static_cast<std::size_t>(std::max<std::int64_t>(parts.point, 0)));
    return number;
}

}  // namespace

Result<std::int64_t> parse_quantity(std::string_view text, QuantityUnit unit) {
    Parts parts;
    if (!take_apart(text, parts)) {
        return fail(fmt::format("\"{}\" is not a quantity (examples: 500m, 2, 1.5Gi, 2e3)", text));
    }
    if (parts.digits.empty()) return 0;
    const auto overflow = [&] {
        return fail(fmt::format("\"{}\" is too large: the amount does not fit in 64 bits", text));
    };
    if (parts.point > kTooLarge) return overflow();
    if (parts.point < kTooSmall) return parts.negative ? -1 : 1;

    Exact number = split_at_point(parts);
    if (unit == QuantityUnit::kMilli && !number.multiply(1000)) return overflow();
    for (int i = 0; i < parts.powers_of_1024; ++i) {
        if (!number.multiply(1024)) return overflow();
    }
    // At least as large as what was asked for: a positive request never rounds to nothing.
    if (number.has_fraction()) ++number.whole;
    if (number.whole > kLargest) return overflow();
    const auto value = static_cast<std::int64_t>(number.whole);
    return parts.negative ? -value : value;
}

Result<Wide> parse_nano_quantity(std::string_view text) {
    Parts parts;
    if (!take_apart(text, parts)) return fail(fmt::format("\"{}\" is not a quantity", text));
    if (parts.digits.empty()) return Wide{0};
    constexpr Wide kCap = static_cast<Wide>(kLargest) * kNanoPerUnit;
    const auto signed_value = [&](Wide nano) { return parts.negative ? -nano : nano; };
    if (parts.point > kTooLarge) return signed_value(kCap);
    if (parts.point < kTooSmall) return signed_value(1);
    Exact number = split_at_point(parts);
    for (int i = 0; i < parts.powers_of_1024; ++i) {
        if (!number.multiply(1024)) return signed_value(kCap);
    }
    if (number.whole >= kLargest) return signed_value(kCap);
    std::int64_t part = 0;
    for (std::size_t i = 0; i < 9; ++i)
        part = part * 10 + (i < number.fraction.size() ? number.fraction[i] - '0' : 0);
    const bool rest = number.fraction.size() > 9 &&
                      std::any_of(number.fraction.begin() + 9, number.fraction.end(), [](char c) { return c != '0'; });
    return signed_value(static_cast<Wide>(number.whole) * kNanoPerUnit + part + (rest ? 1 : 0));
}

std::string format_nano_quantity(Wide nano) {
    const char* sign = nano < 0 ? "-" : "";
    const Wide size = nano < 0 ? -nano : nano;
    if (size % kNanoPerUnit == 0 && size / kNanoPerUnit <= static_cast<Wide>(kLargest)) {
        const auto whole = static_cast<std::uint64_t>(size / kNanoPerUnit);
        static constexpr std::array<std::string_view, 6> kUnits{"Ei", "Pi", "Ti", "Gi", "Mi", "Ki"};
        for (std::size_t i = 0; i < kUnits.size(); ++i) {
            const std::uint64_t factor = std::uint64_t{1} << (60U - 10U * i);
            if (whole >= factor && whole % factor == 0) return fmt::format("{}{}{}", sign, whole / factor, kUnits[i]);
        }
        return fmt::format("{}{}", sign, whole);
    }
    if (size % 1'000'000 == 0) return fmt::format("{}{}m", sign, size / 1'000'000);
    return size % 1000 == 0 ? fmt::format("{}{}u", sign, size / 1000) : fmt::format("{}{}n", sign, size);
}

std::string format_cpu(std::int64_t milli) {
    return milli % 1000 == 0 ? fmt::format("{}", milli / 1000) : fmt::format("{}m", milli);
}

namespace {

// Exact, always: the largest unit in which quarters are enough. Each unit is `base` times the one after it.
std::string in_units(std::uint64_t size, std::uint64_t base, std::span<const std::string_view> units) {
    std::uint64_t factor = 1;
    for (std::size_t i = 0; i < units.size(); ++i)
        factor *= base;
    for (const std::string_view unit : units) {
        static constexpr std::array<std::string_view, 4> kQuarters{"", ".25", ".5", ".75"};
        if (size >= factor && size % (factor / 4) == 0)
            return fmt::format("{}{}{}", size / factor, kQuarters[(size % factor) / (factor / 4)], unit);
        factor /= base;
    }
    return fmt::format("{}", size);
}

}  // namespace

std::string format_bytes(std::int64_t bytes) {
    static constexpr std::array<std::string_view, 6> kBinary{"Ei", "Pi", "Ti", "Gi", "Mi", "Ki"};
    static constexpr std::array<std::string_view, 6> kDecimal{"E", "P", "T", "G", "M", "k"};
    static constexpr std::size_t kMuchShorter = 3;  // 32G, and not 31250000Ki; but 1000Ki, and not 1024k
    const bool negative = bytes < 0;
    const std::uint64_t size = negative ? ~static_cast<std::uint64_t>(bytes) + 1 : static_cast<std::uint64_t>(bytes);
    const std::string binary = in_units(size, 1024, kBinary);
    const std::string decimal = in_units(size, 1000, kDecimal);
    return (negative ? "-" : "") + (decimal.size() + kMuchShorter <= binary.size() ? decimal : binary);
}

}  // namespace reprieve
