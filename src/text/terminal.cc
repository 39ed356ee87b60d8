#include "text/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

namespace reprieve {
namespace {

constexpr int kUsualWidth = 80;

std::optional<std::string> variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// 0 for anything but a positive number.
int positive_number(const std::string& text) {
    int number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && stop == end && number > 0 ? number : 0;
}

int width_of(int window_width, const TerminalEnvironment& environment) {
    if (window_width > 0) return window_width;
    const int columns = environment.columns ? positive_number(*environment.columns) : 0;
    return columns > 0 ? columns : kUsualWidth;
}

bool wants_colour(bool capable, const TerminalEnvironment& environment) {
    if (environment.no_color && !environment.no_color->empty()) return false;
    const auto& force = environment.clicolor_force;
    if (force && !force->empty() && *force != "0") return true;
    return capable && environment.clicolor != "0";
}

}  // namespace

TerminalEnvironment terminal_environment() {
    return {.no_color = variable("NO_COLOR"),
            .clicolor = variable("CLICOLOR"),
            .clicolor_force = variable("CLICOLOR_FORCE"),
            .columns = variable("COLUMNS"),
            .term = variable("TERM")};
}

OutputStream describe_stream(bool terminal, int window_width, const TerminalEnvironment& environment) {
    const bool capable = terminal && environment.term != "dumb";
    return {.terminal = terminal,
            .cursor = capable,
            .colour = wants_colour(capable, environment),
            .width = terminal ? width_of(window_width, environment) : 0};
}

OutputStream look_at_stream(int descriptor) {
    winsize size{};
    const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0;
    return describe_stream(::isatty(descriptor) == 1, known ? size.ws_col : 0, terminal_environment());
}

}  // namespace reprieve
