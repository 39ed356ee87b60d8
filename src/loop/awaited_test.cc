#include "loop/awaited.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

class AwaitedTest : public testing::Test {
protected:
    static Plan plan() {
        Plan plan;
        plan.placements.push_back({.pod = "default/m-0", .after_evictions = true, .owner = "default/gang"});
        plan.evictions.push_back({.pod = "default/a", .owner = "default/gang", .frees = {"default/a-gpu"}});
        plan.evictions.push_back({.pod = "default/b", .owner = "default/gang"});
        return plan;
    }
    bool gone(const std::string& pod) {
        Pod fact;
        fact.ns = words_.string("default");
        fact.name = pod;
        return awaited_.hear({.object = fact, .removed = true}, words_);
    }
    bool claim(const std::string& name, bool allocated) {
        ResourceClaim fact;
        fact.ns = words_.string("default");
        fact.name = words_.string(name);
        if (allocated) fact.allocation.emplace();
        return awaited_.hear({.object = fact}, words_);
    }

    Vocabulary words_;
    Awaited awaited_;
};

TEST_F(AwaitedTest, OnlyTheLastVictimOrClaimIsTheLast) {
    awaited_.take(plan());
    EXPECT_FALSE(gone("a"));
    EXPECT_FALSE(gone("stranger"));
    EXPECT_FALSE(gone("b"));
    EXPECT_FALSE(claim("a-gpu", true)) << "it still has its devices";
    EXPECT_TRUE(claim("a-gpu", false));
    EXPECT_FALSE(claim("a-gpu", false)) << "it is waited for no more";
}

TEST_F(AwaitedTest, APlanThatStillWaitsForgetsNothingAndOneThatDoesNotForgetsAll) {
    awaited_.take(plan());
    EXPECT_FALSE(gone("a"));
    Plan waits = plan();
    waits.evictions.clear();
    awaited_.take(waits);
    EXPECT_FALSE(claim("a-gpu", false));
    EXPECT_TRUE(gone("b"));

    awaited_.take(plan());
    awaited_.take({});
    EXPECT_FALSE(gone("a"));
    EXPECT_FALSE(claim("a-gpu", false));
    EXPECT_FALSE(gone("b"));
}

}  // namespace
}  // namespace reprieve
