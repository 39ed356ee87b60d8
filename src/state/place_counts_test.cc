#include "state/place_counts.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace reprieve {
namespace {

TEST(PlaceCounts, CountsLikeAMapWhateverItsForm) {
    std::mt19937 random(7);
    for (const std::size_t places : {1U, 3U, 40U, 5000U}) {
        PlaceCounts<std::int32_t> counts;
        std::map<std::size_t, std::int32_t> expected;
        for (int step = 0; step < 4000; ++step) {
            const std::size_t place = random() % std::min<std::size_t>(places, 1 + static_cast<std::size_t>(step) / 4);
            const std::int32_t by = expected[place] > 0 && random() % 2 == 0 ? -expected[place] : 1;
            counts.add(place, by, places);
            expected[place] += by;
        }
        for (std::size_t place = 0; place < places; ++place)
            ASSERT_EQ(counts.at(place), expected.contains(place) ? expected[place] : 0) << place << " of " << places;
    }
}

TEST(PlaceCounts, TheFormDoesNotMatterForEquality) {
    constexpr std::size_t kPlaces = 100;
    PlaceCounts<std::int64_t> few;
    PlaceCounts<std::int64_t> many;
    for (std::size_t place = 0; place < kPlaces; ++place)
        many.add(place, 5, kPlaces);
    EXPECT_FALSE(few == many);
    for (std::size_t place = 0; place < kPlaces; ++place)
        many.add(place, -5, kPlaces);
    EXPECT_TRUE(few == many);
    few.add(42, -3, kPlaces);
    EXPECT_FALSE(few == many);
    EXPECT_FALSE(many == few);
    many.add(42, -3, kPlaces);
    EXPECT_TRUE(few == many);
}

TEST(PlaceCounts, PlacesMayArrive) {
    PlaceCounts<std::int32_t> counts;
    counts.add(0, 1, 1);
    EXPECT_EQ(counts.at(7), 0);
    counts.add(7, 2, 8);
    EXPECT_EQ(counts.at(0), 1);
    EXPECT_EQ(counts.at(7), 2);
}

}  // namespace
}  // namespace reprieve
