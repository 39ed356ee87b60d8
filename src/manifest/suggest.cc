#include "manifest/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace reprieve {
namespace {

constexpr std::size_t kLongestWord = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before_last.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            const bool swapped =
                i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
    }
    return row[b.size()];
}

// The names that begin with the word, where that is long enough to mean something.
std::vector<std::string_view> completed_names(std::string_view word, std::span<const std::string_view> known) {
    constexpr std::size_t kShortestWord = 3;
    std::vector<std::string_view> out;
    if (word.size() < kShortestWord) return out;
    for (const std::string_view name : known) {
        if (name.size() > word.size() && std::ranges::equal(word, name.substr(0, word.size()), {}, lower, lower))
            out.push_back(name);
    }
    return out;
}

}  // namespace

std::vector<std::size_t> nearest_places(std::string_view word,
                                        std::span<const std::string_view> known,
                                        std::size_t most) {
    const std::size_t bound = std::max<std::size_t>(1, word.size() / 3);
    std::vector<std::pair<std::size_t, std::size_t>> near;  // steps, place
    if (word.empty() || word.size() > kLongestWord) return {};
    for (std::size_t i = 0; i < known.size(); ++i) {
        if (known[i].size() > word.size() + bound || word.size() > known[i].size() + bound) continue;
        const std::size_t steps = distance(word, known[i]);
        if (steps <= bound) near.emplace_back(steps, i);
    }
    std::sort(near.begin(), near.end());
    std::vector<std::size_t> places;
    for (const auto& [steps, place] : near) {
        if (places.size() < most) places.push_back(place);
    }
    return places;
}

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> known) {
    if (word.empty() || word.size() > kLongestWord) return {};
    std::string_view nearest;
    std::size_t smallest = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string_view name : known) {
        const std::size_t steps = distance(word, name);
        if (steps >= smallest) continue;
        smallest = steps;
        nearest = name;
    }
    return nearest;
}

std::string meant_names(std::string_view word, std::span<const std::string_view> known) {
    constexpr std::size_t kMostNames = 3;
    const std::string_view near = nearest_name(word, known);
    if (!near.empty()) return std::string(near);
    const std::vector<std::string_view> longer = completed_names(word, known);
    return longer.size() > kMostNames ? "" : fmt::format("{}", fmt::join(longer, " or "));
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
    const std::string name = meant_names(word, known);
    if (!name.empty()) return fmt::format(", did you mean {}?", name);
    return fmt::format(" (known: {})", fmt::join(known, ", "));
}

}  // namespace reprieve
