#include "loop/eviction_news.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Plan evicting(EvictionMode mode, std::vector<std::string> uids) {
    Plan plan;
    for (std::string& uid : uids)
        plan.evictions.push_back({.pod = "ns/" + uid, .uid = std::move(uid), .mode = mode});
    return plan;
}

class EvictionNewsTest : public testing::Test {
protected:
    std::vector<std::string> take(EvictionMode mode, std::vector<std::string> uids) {
        std::vector<std::string> out;
        for (const Eviction& eviction : news_.take(evicting(mode, std::move(uids))))
            out.push_back(eviction.uid);
        return out;
    }
    EvictionNews news_;
};

TEST_F(EvictionNewsTest, WhatAControllerHasToDoIsNewsOnce) {
    EXPECT_THAT(take(EvictionMode::kScaleDown, {"a"}), ElementsAre("a"));
    EXPECT_THAT(take(EvictionMode::kScaleDown, {"a", "b"}), ElementsAre("b"));
    EXPECT_THAT(take(EvictionMode::kForceDelete, {"a"}), ElementsAre("a"));
    EXPECT_THAT(take(EvictionMode::kForceDelete, {"a"}), IsEmpty());
}

TEST_F(EvictionNewsTest, WhatWasNotAskedForMeanwhileIsNewsAgain) {
    EXPECT_THAT(take(EvictionMode::kScaleDown, {"a"}), ElementsAre("a"));
    EXPECT_THAT(take(EvictionMode::kScaleDown, {}), IsEmpty());
    EXPECT_THAT(take(EvictionMode::kScaleDown, {"a"}), ElementsAre("a"));
}

TEST_F(EvictionNewsTest, AnEvictionThatIsAskedForAgainFailedBefore) {
    EXPECT_THAT(take(EvictionMode::kDelete, {"a"}), ElementsAre("a"));
    EXPECT_THAT(take(EvictionMode::kDelete, {"a"}), ElementsAre("a"));
}

}  // namespace
}  // namespace reprieve
