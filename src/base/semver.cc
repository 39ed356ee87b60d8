#include "base/semver.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace reprieve {
namespace {

bool all_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_identifier(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    });
}

std::vector<std::string_view> split(std::string_view text, char by) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t cut = text.find(by);
        parts.push_back(text.substr(0, cut));
        if (cut == std::string_view::npos) return parts;
        text.remove_prefix(cut + 1);
    }
}

bool read_number(std::string_view text, bool lenient, std::uint64_t& out) {
    if (!all_digits(text) || (!lenient && text.size() > 1 && text.front() == '0')) return false;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    return read.ec == std::errc{};
}

// Numbers come before words, and are compared as numbers.
std::strong_ordering compare_identifiers(const std::string& a, const std::string& b) {
    const bool a_number = all_digits(a);
    const bool b_number = all_digits(b);
    if (a_number != b_number) return a_number ? std::strong_ordering::less : std::strong_ordering::greater;
    if (a_number && a.size() != b.size()) return a.size() <=> b.size();
    return a.compare(b) <=> 0;
}

}  // namespace

Result<Semver> Semver::parse(std::string_view text, bool lenient) {
    const auto wrong = [&] { return fail(fmt::format("\"{}\" is not a semantic version", text)); };
    std::string_view rest = text;
    if (lenient && !rest.empty() && (rest.front() == 'v' || rest.front() == 'V')) rest.remove_prefix(1);
    Semver version;
    if (const std::size_t plus = rest.find('+'); plus != std::string_view::npos) {
        for (std::string_view part : split(rest.substr(plus + 1), '.')) {
            if (!is_identifier(part)) return wrong();
        }
        rest = rest.substr(0, plus);
    }
    if (const std::size_t dash = rest.find('-'); dash != std::string_view::npos) {
        for (std::string_view part : split(rest.substr(dash + 1), '.')) {
            if (!is_identifier(part) || (part.size() > 1 && part.front() == '0' && all_digits(part))) return wrong();
            version.prerelease.emplace_back(part);
        }
        rest = rest.substr(0, dash);
    }
    std::vector<std::string_view> numbers = split(rest, '.');
    if (lenient && version.prerelease.empty()) {
        while (numbers.size() < 3)
            numbers.emplace_back("0");
    }
    if (numbers.size() != 3) return wrong();
    if (!read_number(numbers[0], lenient, version.major) || !read_number(numbers[1], lenient, version.minor) ||
        !read_number(numbers[2], lenient, version.patch))
        return wrong();
    return version;
}

std::strong_ordering operator<=>(const Semver& a, const Semver& b) {
    if (a.major != b.major) return a.major <=> b.major;
    if (a.minor != b.minor) return a.minor <=> b.minor;
    if (a.patch != b.patch) return a.patch <=> b.patch;
    // A version comes after its prereleases.
    if (a.prerelease.empty() != b.prerelease.empty())
        return a.prerelease.empty() ? std::strong_ordering::greater : std::strong_ordering::less;
    const std::size_t common = std::min(a.prerelease.size(), b.prerelease.size());
    for (std::size_t i = 0; i < common; ++i) {
        if (const auto order = compare_identifiers(a.prerelease[i], b.prerelease[i]); order != 0) return order;
    }
    return a.prerelease.size() <=> b.prerelease.size();
}

}  // namespace reprieve
