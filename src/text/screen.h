// Screen: a terminal that is drawn on in place and is afterwards as it was.
//
// Uses the alternate screen, so nothing scrolls away and a change of size does no harm: the next frame fits again.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "text/view_frame.h"

namespace reprieve {

class Screen {
public:
    // `file` must be a terminal on which the cursor can be moved, and outlive the screen.
    Screen(std::FILE* file, bool colour);
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    // As it is now.
    [[nodiscard]] ScreenSize size() const;
    void draw(const std::vector<std::string>& lines);
    // Gives the terminal back; once is enough.
    void close();

private:
    void write(const std::string& text);

    std::FILE* file_;
    bool colour_;
    bool open_ = true;
};

// The bytes that put these lines on the screen, whatever was there before.
[[nodiscard]] std::string screen_bytes(const std::vector<std::string>& lines);

}  // namespace reprieve
