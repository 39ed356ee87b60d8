#include "search/tournament.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace reprieve {
namespace {

// Whoever has the least value, of equals the first.
std::uint32_t least_of(const std::vector<int>& values) {
    return static_cast<std::uint32_t>(std::ranges::min_element(values) - values.begin());
}

TEST(TournamentTest, EntriesThatChangeTogetherAreAsIfTheyChangedOneByOne) {
    std::mt19937 random(7);
    for (std::size_t entries : {1U, 2U, 5U, 64U, 100U}) {
        std::vector<int> values(entries);
        for (int& value : values)
            value = static_cast<int>(random() % 20);
        const auto better = [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; };
        Tournament together;
        together.build(entries, better);
        for (int round = 0; round < 300; ++round) {
            std::vector<std::uint32_t> changed;
            for (std::size_t i = 0; i < 1 + random() % 9; ++i) {
                changed.push_back(static_cast<std::uint32_t>(random() % entries));
                values[changed.back()] = static_cast<int>(random() % 20);
            }
            together.update_all(changed, better);
            Tournament anew;
            anew.build(entries, better);
            ASSERT_EQ(together.winner(), least_of(values));
            ASSERT_EQ(together.runner_up(better), anew.runner_up(better));
            for (std::size_t first = 0; first < entries; ++first)
                ASSERT_EQ(together.winner_among(first, entries, better), anew.winner_among(first, entries, better));
        }
    }
}

}  // namespace
}  // namespace reprieve
