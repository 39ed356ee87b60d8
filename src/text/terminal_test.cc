#include "text/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace reprieve {
namespace {

OutputStream on_terminal(const TerminalEnvironment& environment) { return describe_stream(true, 100, environment); }
OutputStream on_pipe(const TerminalEnvironment& environment) { return describe_stream(false, 0, environment); }

TEST(Terminal, TerminalsGetColourAndPipesDoNot) {
    const OutputStream terminal = on_terminal({.term = "xterm"});
    EXPECT_TRUE(terminal.terminal && terminal.cursor && terminal.colour);
    EXPECT_EQ(terminal.width, 100);
    const OutputStream pipe = on_pipe({.columns = "120", .term = "xterm"});
    EXPECT_FALSE(pipe.terminal || pipe.cursor || pipe.colour);
    EXPECT_EQ(pipe.width, 0);
}

TEST(Terminal, NoColorForbids) {
    EXPECT_FALSE(on_terminal({.no_color = "1"}).colour);
    EXPECT_FALSE(on_terminal({.no_color = "0"}).colour);
    EXPECT_FALSE(on_pipe({.no_color = "1", .clicolor_force = "1"}).colour);
    EXPECT_TRUE(on_terminal({.no_color = ""}).colour);
    EXPECT_TRUE(on_terminal({.no_color = "1"}).cursor);
}

TEST(Terminal, ForceDemandsColourEvenOfAPipe) {
    EXPECT_TRUE(on_pipe({.clicolor_force = "1"}).colour);
    EXPECT_FALSE(on_pipe({.clicolor_force = "0"}).colour);
    EXPECT_FALSE(on_pipe({.clicolor_force = ""}).colour);
    EXPECT_EQ(on_pipe({.clicolor_force = "1"}).width, 0);
}

TEST(Terminal, DumbOnesGetNeitherColourNorBars) {
    EXPECT_FALSE(on_terminal({.term = "dumb"}).colour);
    EXPECT_FALSE(on_terminal({.term = "dumb"}).cursor);
    EXPECT_TRUE(on_terminal({.term = "dumb"}).terminal);
    EXPECT_FALSE(on_terminal({.clicolor = "0"}).colour);
    EXPECT_TRUE(on_terminal({.clicolor = "1"}).colour);
}

TEST(Terminal, WidthIsNeverZeroOnATerminal) {
    EXPECT_EQ(describe_stream(true, 0, {.columns = "132"}).width, 132);
    EXPECT_EQ(describe_stream(true, 0, {}).width, 80);
    for (const char* nonsense : {"", "-5", "0", "12x", "99999999999"})
        EXPECT_EQ(describe_stream(true, 0, {.columns = nonsense}).width, 80) << nonsense;
    EXPECT_EQ(describe_stream(true, 60, {.columns = "132"}).width, 60);
}

TEST(Terminal, SeesAPipe) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const OutputStream stream = look_at_stream(ends[1]);
    EXPECT_FALSE(stream.terminal);
    EXPECT_EQ(stream.width, 0);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(Terminal, SeesATerminalAndItsWidth) {
    const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
    ASSERT_GE(master, 0);
    ASSERT_EQ(::grantpt(master), 0);
    ASSERT_EQ(::unlockpt(master), 0);
    const int slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
    ASSERT_GE(slave, 0);
    const winsize size{.ws_row = 40, .ws_col = 97, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(::ioctl(slave, TIOCSWINSZ, &size), 0);
    const OutputStream stream = look_at_stream(slave);
    EXPECT_TRUE(stream.terminal);
    EXPECT_EQ(stream.width, 97);
    ::close(slave);
    ::close(master);
}

TEST(Terminal, ReadsTheEnvironment) {
    ::setenv("NO_COLOR", "", 1);
    ::setenv("COLUMNS", "77", 1);
    ::unsetenv("CLICOLOR_FORCE");
    const TerminalEnvironment environment = terminal_environment();
    EXPECT_EQ(environment.no_color, "");
    EXPECT_EQ(environment.columns, "77");
    EXPECT_EQ(environment.clicolor_force, std::nullopt);
    ::unsetenv("NO_COLOR");
    ::unsetenv("COLUMNS");
}

}  // namespace
}  // namespace reprieve
