// What is at the other end of an output stream: a terminal or not, how wide, and whether colour is wanted.
#pragma once

#include <optional>
#include <string>

namespace reprieve {

// Of the environment; unset is not the same as empty.
struct TerminalEnvironment {
    std::optional<std::string> no_color;
    std::optional<std::string> clicolor;
    std::optional<std::string> clicolor_force;
    std::optional<std::string> columns;
    std::optional<std::string> term;
};

[[nodiscard]] TerminalEnvironment terminal_environment();

struct OutputStream {
    bool terminal = false;
    bool cursor = false;  // a terminal on which a line can be written again
    bool colour = false;
    int width = 0;  // cells; 0 where there is no terminal, never 0 where there is one
};

// A non-empty NO_COLOR forbids colour; else CLICOLOR_FORCE (other than "0") demands it; else terminals get it, but for
// TERM=dumb and CLICOLOR=0. `window_width` is what the terminal says, 0 if nothing: then COLUMNS, then 80.
[[nodiscard]] OutputStream describe_stream(bool terminal, int window_width, const TerminalEnvironment& environment);

// Asks the system about the file descriptor, e.g. STDOUT_FILENO.
[[nodiscard]] OutputStream look_at_stream(int descriptor);

}  // namespace reprieve
