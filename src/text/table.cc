#include "text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/check.h"
#include "text/display_text.h"

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
    for (RowNote& note : row.notes) {
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
    void add(const Cell& cell, std::size_t width, ColumnKind kind, const TableStyle& style) {
        const std::string text = style.width > 0 ? shortened(cell.text, width) : cell.text;
        const std::size_t cells = display_width(text);
        const std::size_t fill = cells < width ? width - cells : 0;
        if (kind == ColumnKind::kNumber) spaces_ += fill;
        if (!text.empty()) {
            text_.append(spaces_, ' ');
            text_ += painted(text, cell.paint, style.colour);
            spaces_ = 0;
        }
        spaces_ += (kind != ColumnKind::kNumber ? fill : 0) + kGap;
    }

    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
    std::size_t spaces_ = kIndent;  // written only before more text: lines have no blanks at their end
};

}  // namespace

RowNote sentence(const std::string& text, Paint paint) {
    return {.label = "", .pieces = words_of(text), .paint = paint};
}

Table::Table(std::string title, std::vector<Column> columns, bool shared_notes)
    : title_(std::move(title)),
      columns_(std::move(columns)),
      shared_notes_(shared_notes) {
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
    const auto subjects = std::ranges::count(rows_, false, &Row::continues);
    out += painted(title_, Paint::kBold, style.colour) + fmt::format(" ({})\n", subjects);
    print_rows(out, count, style);
    if (cut) out += fmt::format("  … {} more (use -o json for all)\n", rows_.size() - count);
}

// 0 for a column that says nothing.
std::vector<std::size_t> Table::column_widths(std::size_t count, const TableStyle& style) const {
    std::vector<std::size_t> widths(columns_.size());
    std::vector<std::size_t> least(columns_.size());
    std::size_t blanks = kIndent - kGap;  // no gap before the first column
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        for (std::size_t r = 0; r < count; ++r)
            widths[c] = std::max(widths[c], display_width(rows_[r].cells[c].text));
        if (widths[c] == 0) continue;
        blanks += kGap;
        const std::size_t title = display_width(columns_[c].title);
        widths[c] = std::max(std::min(widths[c], kMostPadding), title);
        least[c] = columns_[c].kind == ColumnKind::kName ? std::max(title, kLeastColumn) : widths[c];
    }
    const auto room = static_cast<std::size_t>(style.width);
    if (room == 0 || widths.empty()) return widths;
    const std::vector<std::size_t> natural = widths;
    fit(widths, least, room > blanks ? room - blanks : 0);
    // Better a line too long than two pods or nodes that look like one.
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        while (widths[c] < natural[c] && confuses(c, widths[c], count))
            widths[c] = std::min(2 * widths[c], natural[c]);
    }
    return widths;
}

// Whether two different texts of the column become the same at that width.
bool Table::confuses(std::size_t column, std::size_t width, std::size_t count) const {
    std::map<std::string, std::string_view> full_texts;
    for (std::size_t r = 0; r < count; ++r) {
        const std::string& text = rows_[r].cells[column].text;
        if (full_texts.emplace(shortened(text, width), text).first->second != text) return true;
    }
    return false;
}

void Table::print_rows(std::string& out, std::size_t count, const TableStyle& style) const {
    const std::vector<std::size_t> widths = column_widths(count, style);
    const auto print_line = [&](const auto& cell_of) {
        Line line;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            if (widths[c] > 0) line.add(cell_of(c), widths[c], columns_[c].kind, style);
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
    for (const RowNote& note : row.notes)
        label_width = std::max(label_width, display_width(note.label));
    const std::size_t indent = columns_.empty() ? kIndent : kNoteIndent;
    const std::size_t start = indent + (label_width > 0 ? label_width + kGap : 0);
    const auto width = static_cast<std::size_t>(style.width);
    const std::size_t room = width == 0 ? 0 : std::max(kLeastNote, width > start ? width - start : 0);
    for (const RowNote& note : row.notes) {
        std::vector<std::string> pieces = note.pieces;
        if (sharing > 1 && &note == &row.notes.front()) {
            pieces.insert(pieces.begin(), fmt::format("these {}:", sharing));
        }
        const std::string label = note.label + std::string(start - indent - display_width(note.label), ' ');
        std::string lead = std::string(indent, ' ') + painted(label, Paint::kDim, style.colour);
        for (const std::string& line : wrapped(pieces, room)) {
            out += lead + painted(line, note.paint, style.colour) + "\n";
            lead = std::string(start, ' ');
        }
    }
}

}  // namespace reprieve
