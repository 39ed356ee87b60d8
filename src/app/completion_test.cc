#include "app/completion.h"

#include <gtest/gtest.h>

#include <string>

namespace reprieve {
namespace {

TEST(Completion, EveryShellKnowsEveryCommand) {
    for (const std::string shell : {"bash", "zsh", "fish"}) {
        const auto script = completion_script(shell);
        ASSERT_TRUE(script.has_value()) << shell;
        for (const std::string command : {"plan",
                                          "explain",
                                          "run",
                                          "history",
                                          "replay",
                                          "export",
                                          "referee",
                                          "simulate",
                                          "check",
                                          "version",
                                          "schema",
                                          "completion"}) {
            EXPECT_NE(script->find(command), std::string_view::npos) << shell << ": " << command;
        }
    }
}

TEST(Completion, TextsAreEmbeddedUnchanged) {
    EXPECT_TRUE(completion_script("bash")->starts_with("# bash completion"));
    EXPECT_TRUE(completion_script("bash")->ends_with("complete -F _reprieve reprieve\n"));
    // What CMake could take for its own syntax: variables, semicolons, brackets.
    EXPECT_NE(completion_script("bash")->find("${COMP_WORDS[@]:1:COMP_CWORD-1}"), std::string_view::npos);
    EXPECT_NE(completion_script("bash")->find("            return\n            ;;\n"), std::string_view::npos);
    EXPECT_TRUE(completion_script("zsh")->starts_with("#compdef reprieve\n"));
}

TEST(Completion, UnknownShellHasNone) {
    EXPECT_FALSE(completion_script("tcsh").has_value());
    EXPECT_FALSE(completion_script("").has_value());
}

}  // namespace
}  // namespace reprieve
