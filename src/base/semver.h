// Semver: a semantic version (semver.org 2.0.0), ordered by precedence; build metadata does not count.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace reprieve {

struct Semver {
    std::uint64_t major = 0;
    std::uint64_t minor = 0;
    std::uint64_t patch = 0;
    std::vector<std::string> prerelease;  // identifiers between '-' and '+'

    // `lenient` accepts a leading v, leading zeros and missing parts: "v1.02" is 1.2.0.
    [[nodiscard]] static Result<Semver> parse(std::string_view text, bool lenient = false);

    friend std::strong_ordering operator<=>(const Semver& a, const Semver& b);
    friend bool operator==(const Semver& a, const Semver& b) { return (a <=> b) == 0; }
};

}  // namespace reprieve
