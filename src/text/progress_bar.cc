#include "text/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/amounts.h"
#include "text/display_text.h"

namespace reprieve {
namespace {

constexpr std::uint64_t kWorthALook = std::uint64_t{16} << 20U;  // read in less than it takes to notice
constexpr std::uint64_t kUnknownStep = std::uint64_t{16} << 20U;
constexpr std::size_t kMostBar = 40;
constexpr std::size_t kLeastBar = 8;
constexpr std::size_t kFrame = 3;  // " [" and "]"
constexpr std::size_t kLeastLabel = 12;

std::uint64_t percent_of(std::uint64_t done, std::uint64_t total) {
    return static_cast<std::uint64_t>(100.0L * static_cast<long double>(done) / static_cast<long double>(total));
}

std::string size_text(std::uint64_t bytes) {
    return human_bytes(static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, INT64_MAX)));
}

std::string bar_text(std::uint64_t percent, std::size_t cells) {
    const std::size_t full = static_cast<std::size_t>(percent) * cells / 100;
    return "[" + std::string(full, '#') + std::string(cells - full, '.') + "]";
}

}  // namespace

ProgressBar::ProgressBar(std::FILE* file, OutputStream stream, const std::string& label)
    : file_(file),
      stream_(stream),
      label_(neutral(label)) {}

ProgressBar::~ProgressBar() { erase(); }

void ProgressBar::update(std::uint64_t done_bytes, std::uint64_t total_bytes) {
    if (!stream_.cursor || std::max(done_bytes, total_bytes) < kWorthALook) return;
    std::string text = line(done_bytes, total_bytes);
    if (text == shown_) return;
    write(text);
    shown_ = std::move(text);
}

void ProgressBar::erase() {
    if (shown_.empty()) return;
    write("");
    shown_.clear();
}

// A bar that cannot be drawn is no failure: nobody looks at it.
void ProgressBar::write(const std::string& text) {
    std::fputs(("\r" + text + "\x1b[K").c_str(), file_);
    std::fflush(file_);
}

// Changes at most a hundred times, or once per step where the total is not known.
std::string ProgressBar::line(std::uint64_t done, std::uint64_t total) const {
    std::string tail = " " + size_text(done / kUnknownStep * kUnknownStep);
    std::uint64_t percent = 0;
    if (total > 0) {
        percent = percent_of(std::min(done, total), total);
        tail = fmt::format(" {:3}% of {}", percent, size_text(total));
    }
    // The last cell stays free: some terminals go to the next line with it.
    const std::size_t width = stream_.width > 1 ? static_cast<std::size_t>(stream_.width) - 1 : 1;
    const std::size_t tail_width = display_width(tail);
    if (width < tail_width + kLeastLabel) return shortened(label_ + tail, width);
    const std::size_t room = width - tail_width;
    const std::size_t bar_room = total > 0 ? std::min(room, kLeastBar + kFrame) : 0;
    const std::string label = shortened(label_, std::max(kLeastLabel, room - bar_room));
    const std::size_t left = room - std::min(room, display_width(label) + kFrame);
    if (total == 0 || left < kLeastBar) return label + tail;
    return label + " " + bar_text(percent, std::min(left, kMostBar)) + tail;
}

}  // namespace reprieve
