#include "kube/token.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace reprieve {
namespace {

using std::chrono::seconds;

TEST(BearerToken, FixedTokenStays) {
    BearerToken token({.token = "fixed"});
    EXPECT_EQ(token.at({}), "fixed");
}

TEST(BearerToken, FileIsReadAgainAfterAMinuteOrARefusal) {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("reprieve-token-" + std::to_string(::getpid()));
    const auto write = [&](const char* text) { std::ofstream(file) << text; };
    const BearerToken::Instant start{seconds(1000)};
    BearerToken token({.token_file = file.string()});

    write("one\n");
    EXPECT_EQ(token.at(start), "one");
    write("two\n");
    EXPECT_EQ(token.at(start + seconds(59)), "one");
    EXPECT_EQ(token.at(start + seconds(60)), "two");
    write("three\n");
    token.distrust();
    EXPECT_EQ(token.at(start + seconds(61)), "three");
    std::filesystem::remove(file);
    EXPECT_EQ(token.at(start + seconds(200)), "three") << "a token that cannot be read leaves the last one in use";
}

}  // namespace
}  // namespace reprieve
