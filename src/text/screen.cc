#include "text/screen.h"

#include <sys/ioctl.h>

namespace reprieve {
namespace {

constexpr const char* kOpen = "\x1b[?1049h\x1b[?25l";   // alternate screen, no cursor
constexpr const char* kClose = "\x1b[?25h\x1b[?1049l";  // and back

}  // namespace

std::string screen_bytes(const std::vector<std::string>& lines) {
    // Over what was there, line by line, instead of clearing first: nothing flickers.
    std::string out = "\x1b[H";
    for (std::size_t i = 0; i < lines.size(); ++i)
        out += (i > 0 ? "\r\n" : "") + lines[i] + "\x1b[0m\x1b[K";
    return out + "\x1b[J";
}

Screen::Screen(std::FILE* file, bool colour) : file_(file), colour_(colour) { write(kOpen); }

Screen::~Screen() { close(); }

void Screen::close() {
    if (open_) write(kClose);
    open_ = false;
}

ScreenSize Screen::size() const {
    ScreenSize size;
    size.colour = colour_;
    winsize window{};
    if (::ioctl(::fileno(file_), TIOCGWINSZ, &window) != 0) return size;
    if (window.ws_col > 0) size.width = window.ws_col;
    if (window.ws_row > 0) size.height = window.ws_row;
    return size;
}

void Screen::draw(const std::vector<std::string>& lines) {
    if (open_) write(screen_bytes(lines));
}

void Screen::write(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), file_);
    std::fflush(file_);
}

}  // namespace reprieve
