#include "text/view_frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/wide.h"
#include "text/display_text.h"
#include "text/paint.h"

namespace reprieve {
namespace {

constexpr std::size_t kBarCells = 16;
constexpr std::size_t kNameCells = 14;
constexpr std::size_t kResourceCells = 6;
constexpr std::size_t kAmountCells = 12;
// name, space, resource, space, bar, space, amounts, gap to the next column
constexpr std::size_t kColumnCells = kNameCells + 1 + kResourceCells + 1 + kBarCells + 1 + kAmountCells + 2;

std::string padded(const std::string& text, std::size_t width) {
    std::string out = shortened(text, width);
    const std::size_t cells = display_width(out);
    if (cells < width) out.append(width - cells, ' ');
    return out;
}

std::string repeated(const char* what, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i)
        out += what;
    return out;
}

// Whatever is used at all shows, and so does whatever is free.
std::size_t cells_of(std::int64_t amount, std::int64_t total, std::size_t cells) {
    if (total <= 0 || amount <= 0) return 0;
    const auto whole =
        static_cast<std::size_t>(multiply_divide(std::min(amount, total), static_cast<std::int64_t>(cells), total));
    return std::clamp<std::size_t>(whole, 1, amount < total ? cells - 1 : cells);
}

std::string bar_of(const NodeBar& node, bool colour) {
    const std::size_t taken = cells_of(node.used + node.leaving, node.total, kBarCells);
    const std::size_t staying =
        node.leaving > 0 ? std::min(cells_of(node.used, node.total, kBarCells), taken - 1) : taken;
    const bool full = node.used >= node.total;
    return painted(repeated("█", staying), node.open ? (full ? Paint::kYellow : Paint::kGreen) : Paint::kDim, colour) +
           painted(repeated("▒", taken - staying), Paint::kRed, colour) +
           painted(repeated("·", kBarCells - taken), Paint::kDim, colour);
}

std::string node_text(const NodeBar& node, bool colour) {
    const std::string name = padded(neutral(node.name) + (node.open ? "" : " ✕"), kNameCells);
    return fmt::format("{} {} {} {}",
                       painted(name, node.open ? Paint::kPlain : Paint::kDim, colour),
                       padded(node.resource, kResourceCells),
                       bar_of(node, colour),
                       padded(node.amounts, kAmountCells));
}

std::vector<std::string> node_lines(const ViewFrame& frame, const ScreenSize& size, std::size_t most) {
    const auto width = static_cast<std::size_t>(size.width);
    const std::size_t columns = std::max<std::size_t>(1, width / kColumnCells);
    const std::size_t rows = std::min((frame.nodes.size() + columns - 1) / columns, most);
    std::vector<std::string> out(rows);
    std::size_t shown = 0;
    for (std::size_t column = 0; column < columns; ++column) {
        for (std::size_t row = 0; row < rows && shown < frame.nodes.size(); ++row, ++shown) {
            out[row] += (column > 0 ? "  " : "") + node_text(frame.nodes[shown], size.colour);
        }
    }
    if (shown < frame.nodes.size())
        out.push_back(painted(fmt::format("and {} more nodes", frame.nodes.size() - shown), Paint::kDim, size.colour));
    return out;
}

// The text in its cells; what comes after it in dim where there is room.
std::string with_reason(const std::string& text, const std::string& why, const ScreenSize& size, Paint paint) {
    const auto width = static_cast<std::size_t>(size.width);
    const std::string front = shortened(neutral(text), width);
    const std::size_t used = display_width(front) + 2;
    std::string out = painted(front, paint, size.colour);
    if (!why.empty() && used + 10 < width)
        out += "  " + painted(shortened(neutral(why), width - used), Paint::kDim, size.colour);
    return out;
}

std::string heading(const std::string& text, const ScreenSize& size) {
    return painted(shortened(text, static_cast<std::size_t>(size.width)), Paint::kBold, size.colour);
}

}  // namespace

std::vector<std::string> render(const ViewFrame& frame, const ScreenSize& size) {
    const auto height = static_cast<std::size_t>(std::max(size.height, 1));
    std::vector<std::string> out{heading(neutral(frame.title), size), ""};
    for (std::string& line : node_lines(frame, size, std::max<std::size_t>(1, height / 2)))
        out.push_back(std::move(line));

    out.push_back("");
    out.push_back(heading(fmt::format("WAITING {}", frame.waiting.size()), size));
    const std::size_t room = height > out.size() ? height - out.size() : 0;
    const std::size_t waiting = std::min(frame.waiting.size(), std::max<std::size_t>(room / 3, 1));
    for (std::size_t i = 0; i < waiting; ++i) {
        const WaitLine& line = frame.waiting[i];
        out.push_back(with_reason(fmt::format("{}  {}", line.pod, line.since),
                                  line.why,
                                  size,
                                  line.promised ? Paint::kYellow : Paint::kPlain));
    }
    if (waiting < frame.waiting.size())
        out.push_back(painted(fmt::format("and {} more", frame.waiting.size() - waiting), Paint::kDim, size.colour));

    out.push_back("");
    out.push_back(heading("EVENTS", size));
    const std::size_t left = height > out.size() ? height - out.size() : 0;
    const std::size_t first = frame.events.size() > left ? frame.events.size() - left : 0;
    for (std::size_t i = first; i < frame.events.size(); ++i) {
        const EventLine& line = frame.events[i];
        out.push_back(with_reason(fmt::format("{:>8}  {}", line.when, line.text),
                                  line.why,
                                  size,
                                  line.eviction ? Paint::kRed : Paint::kPlain));
    }
    if (out.size() > height) out.resize(height);
    return out;
}

}  // namespace reprieve
