// ProgressBar: how far the reading of big files has come, on one line of a terminal that it leaves as it was.
//
// Silent where the stream is no terminal, and while the work is too small to be worth a look. Draws only when what it
// shows changes, so it may be told as often as one likes.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "text/terminal.h"

namespace reprieve {

class ProgressBar {
public:
    // `file` (stderr) must outlive the bar; `stream` says what is at its other end.
    ProgressBar(std::FILE* file, OutputStream stream, const std::string& label);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    // `total` 0: not known. Done beyond the total (a file that grows) shows as all of it.
    void update(std::uint64_t done_bytes, std::uint64_t total_bytes);
    // Erases what was drawn. To be called before anything else is written to the terminal.
    void erase();

private:
    void write(const std::string& text);
    [[nodiscard]] std::string line(std::uint64_t done, std::uint64_t total) const;

    std::FILE* file_;
    OutputStream stream_;
    std::string label_;
    std::string shown_;
};

}  // namespace reprieve
