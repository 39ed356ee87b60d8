#include "text/fact_sheet.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/display_text.h"

namespace reprieve {
namespace {

constexpr std::size_t kMargin = 2;
constexpr std::size_t kNarrowest = 20;

std::vector<std::string> lines_of(const std::string& text, std::size_t indent, const TableStyle& style) {
    const auto width = static_cast<std::size_t>(style.width);
    if (width == 0) return wrapped(words_of(neutral(text)), 0);
    return wrapped(words_of(neutral(text)), std::max(kNarrowest, width - std::min(width, indent)));
}

}  // namespace

void FactSheet::add(const std::string& label, const std::string& text, Paint paint) {
    if (!text.empty()) facts_.push_back({.label = label, .text = text, .paint = paint});
}

std::string FactSheet::print(const TableStyle& style) const {
    std::string out;
    for (const std::string& line : lines_of(headline_, 0, style))
        out += painted(line, paint_, style.colour) + "\n";
    std::size_t widest = 0;
    for (const Fact& fact : facts_)
        widest = std::max(widest, display_width(fact.label));
    const std::size_t indent = kMargin + widest + kMargin;
    if (!facts_.empty()) out += "\n";
    std::string last;
    for (const Fact& fact : facts_) {
        std::string label = fact.label == last ? "" : fact.label;
        last = fact.label;
        for (const std::string& line : lines_of(fact.text, indent, style)) {
            const std::string padding(widest - display_width(label) + kMargin, ' ');
            out += std::string(kMargin, ' ') + painted(label, Paint::kDim, style.colour) + padding +
                   painted(line, fact.paint, style.colour) + "\n";
            label.clear();
        }
    }
    return out;
}

}  // namespace reprieve
