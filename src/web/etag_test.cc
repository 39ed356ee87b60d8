#include "web/etag.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

TEST(Etag, IsFoundInAList) {
    EXPECT_TRUE(names_etag("\"a\"", "\"a\""));
    EXPECT_TRUE(names_etag("\"b\", \"a\"", "\"a\""));
    EXPECT_TRUE(names_etag("\"b\",\t\"a\" ", "\"a\""));
    EXPECT_TRUE(names_etag("\"b, c\", \"a\"", "\"a\""));
    EXPECT_FALSE(names_etag("\"b\", \"aa\"", "\"a\""));
    EXPECT_FALSE(names_etag("", "\"a\""));
}

TEST(Etag, WeakOnesCountAndAStarIsAny) {
    EXPECT_TRUE(names_etag("W/\"a\"", "\"a\""));
    EXPECT_TRUE(names_etag("W/\"b\", W/\"a\"", "\"a\""));
    EXPECT_FALSE(names_etag("W/\"b\"", "\"a\""));
    EXPECT_TRUE(names_etag("*", "\"a\""));
}

TEST(Etag, WhatIsNoEtagNamesNone) {
    EXPECT_FALSE(names_etag("a", "\"a\""));
    EXPECT_FALSE(names_etag("\"a", "\"a\""));
    EXPECT_FALSE(names_etag("W/", "\"a\""));
    EXPECT_FALSE(names_etag("x, \"a\"", "\"a\"")) << "what cannot be read is not guessed";
}

}  // namespace
}  // namespace reprieve
