#include "app/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/display_text.h"
#include "base/check.h"

namespace reprieve {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;
constexpr std::size_t kNoteIndent = 4;
constexpr std::size_t kLeastColumn = 12;  // what a shortened name keeps at least
constexpr std::size_t kLeastNote = 20;    // narrower than this, the terminal may break lines itself
// The longest "namespace/name" that Kubernetes allows is 317; nothing longer pads its neighbours.
constexpr std::size_t kMostPadding = 320;
constexpr std::size_t kCutAbove = 40;
constexpr std::size_t kCutTo = 30;

void make_neutral(Row& row) {
    for (Cell& cell : row.cells)
        cell.text = neutral(cell.text);
    for (Note& note : row.notes) {
        note.label = neutral(note.label);
        for (std::string& piece : note.pieces)
            piece = neutral(piece);
    }
}

// Caps the widest columns at one common width, the largest that fits.
void fit(std::vector<std::size_t>& widths, const std::vector<std::size_t>& least, std::size_t room) {
    const auto capped = [&](std::size_t i, std::size_t cap) { return std::min(widths[i], std::max(cap, least[i])); };
    const auto fits = [&](std::size_t cap) {
        std::size_t sum = 0;
        for (std::size_t i = 0; i < widths.size(); ++i)
            sum += capped(i, cap);
        return sum <= room;
    };
    std::size_t cap = std::ranges::max(widths);
    while (cap > kLeastColumn && !fits(cap))
        --cap;
    for (std::size_t i = 0; i < widths.size(); ++i)
        widths[i] = capped(i, cap);
}

class Line {
public:
    void add(const Cell& cell, std::size_t width, Align align, const TableStyle& style) {
        const std::string text = style.width > 0 ? shortened(cell.text, width) : cell.text;
        const std::size_t cells = display_width(text);
        const std::size_t fill = cells < width ? width - cells : 0;
        if (align == Align::kRight) spaces_ += fill;
        if (!text.empty()) {
            text_.append(spaces_, ' ');
            text_ += painted(text, cell.paint, style.colour);
            spaces_ = 0;
        }
        spaces_ += (align == Align::kLeft ? fill : 0) + (text.empty() ? cells : 0) + kGap;
    }

    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
    std::size_t spaces_ = kIndent;  // written only before more text: lines have no blanks at their end
};

}  // namespace

Note sentence(const std::string& text) { return {.label = "", .pieces = words_of(text)}; }

Table::Table(std::string title, std::vector<Column> columns, bool shared_notes)
    : title_(std::move(title)), columns_(std::move(columns)), shared_notes_(shared_notes) {
    for (Column& column : columns_)
        column.title = neutral(column.title);
}

void Table::add(Row row) {
    REPRIEVE_CHECK(row.cells.size() == columns_.size());
    rows_.push_back(std::move(row));
    make_neutral(rows_.back());
}

void Table::print(std::string& out, const TableStyle& style) const {
    const bool cut = style.width > 0 && rows_.size() > kCutAbove;
    const std::size_t count = cut ? kCutTo : rows_.size();
    out += painted(title_, Paint::kBold, style.colour) + fmt::format(" ({})\n", rows_.size());
    print_rows(out, count, style);
    if (cut) out += fmt::format("  … {} more (use -o json for all)\n", rows_.size() - count);
}

// 0 for a column that says nothing.
std::vector<std::size_t> Table::column_widths(std::size_t count, const TableStyle& style) const {
    std::vector<std::size_t> widths(columns_.size());
    std::vector<std::size_t> least(columns_.size());
    std::size_t gaps = kIndent;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        for (std::size_t r = 0; r < count; ++r)
            widths[c] = std::max(widths[c], display_width(rows_[r].cells[c].text));
        if (widths[c] == 0) continue;
        gaps += gaps == kIndent ? 0 : kGap;
        const std::size_t title = display_width(columns_[c].title);
        widths[c] = std::max(std::min(widths[c], kMostPadding), title);
        least[c] = columns_[c].align == Align::kRight ? widths[c] : std::max(title, kLeastColumn);
    }
    const auto room = static_cast<std::size_t>(style.width);
    if (room > 0 && !widths.empty()) fit(widths, least, room > gaps ? room - gaps : 0);
    return widths;
}

void Table::print_rows(std::string& out, std::size_t count, const TableStyle& style) const {
    const std::vector<std::size_t> widths = column_widths(count, style);
    const auto print_line = [&](const auto& cell_of) {
        Line line;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            if (widths[c] > 0) line.add(cell_of(c), widths[c], columns_[c].align, style);
        }
        out += line.text() + "\n";
    };
    if (!columns_.empty()) {
        print_line([&](std::size_t c) { return Cell{columns_[c].title, Paint::kDim}; });
    }
    std::size_t sharing = 1;
    for (std::size_t r = 0; r < count; ++r) {
        const Row& row = rows_[r];
        if (!columns_.empty()) print_line([&](std::size_t c) -> const Cell& { return row.cells[c]; });
        if (shared_notes_ && !row.notes.empty() && r + 1 < count && rows_[r + 1].notes == row.notes) {
            ++sharing;
            continue;
        }
        print_notes(out, row, sharing, style);
        sharing = 1;
    }
}

void Table::print_notes(std::string& out, const Row& row, std::size_t sharing, const TableStyle& style) const {
    std::size_t label_width = 0;
    for (const Note& note : row.notes)
        label_width = std::max(label_width, display_width(note.label));
    const std::size_t indent = columns_.empty() ? kIndent : kNoteIndent;
    const std::size_t start = indent + (label_width > 0 ? label_width + kGap : 0);
    const auto width = static_cast<std::size_t>(style.width);
    const std::size_t room = width == 0 ? 0 : std::max(kLeastNote, width > start ? width - start : 0);
    const Paint paint = columns_.empty() ? Paint::kPlain : Paint::kDim;
    for (const Note& note : row.notes) {
        std::vector<std::string> pieces = note.pieces;
        if (sharing > 1) pieces.insert(pieces.begin(), {"these", fmt::format("{}:", sharing)});
        const std::string label = note.label + std::string(start - indent - display_width(note.label), ' ');
        std::string lead = std::string(indent, ' ') + painted(label, paint, style.colour);
        for (const std::string& line : wrapped(pieces, room)) {
            out += lead + painted(line, paint, style.colour) + "\n";
            lead = std::string(start, ' ');
        }
    }
}

}  // namespace reprieve
