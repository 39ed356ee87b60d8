// Table: a titled section of aligned rows, with notes below a row where it needs more words.
//
// Everything that goes in is made harmless here, so no other place has to think of it. Columns in which no row says
// anything are left out. On a terminal the table fits its width if it can (names shortened in the middle, notes
// wrapped) and a long one is cut; elsewhere everything is printed, whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "text/paint.h"

namespace reprieve {

struct TableStyle {
    bool colour = false;
    int width = 0;  // cells of the terminal; 0: no terminal
};

// Names may be shortened, our own words and numbers never; numbers stand to the right.
enum class ColumnKind : std::uint8_t { kName, kWord, kNumber };

struct Column {
    std::string title;
    ColumnKind kind = ColumnKind::kName;
};

struct Cell {
    std::string text;
    Paint paint = Paint::kPlain;
};

struct RowNote {
    std::string label;
    std::vector<std::string> pieces;  // a line is broken between them only
    Paint paint = Paint::kDim;
    friend bool operator==(const RowNote&, const RowNote&) = default;
};

// A note of plain words.
[[nodiscard]] RowNote sentence(const std::string& text, Paint paint = Paint::kDim);

struct Row {
    std::vector<Cell> cells;
    std::vector<RowNote> notes;
    bool continues = false;  // says more about what the row above is about, and is not counted
};

class Table {
public:
    // Without columns the rows are their notes. With `shared_notes`, neighbours that say the same say it once.
    Table(std::string title, std::vector<Column> columns, bool shared_notes = false);

    // REQUIRES: a cell for each column.
    void add(Row row);
    [[nodiscard]] bool empty() const { return rows_.empty(); }
    void print(std::string& out, const TableStyle& style) const;

private:
    [[nodiscard]] std::vector<std::size_t> column_widths(std::size_t count, const TableStyle& style) const;
    [[nodiscard]] bool confuses(std::size_t column, std::size_t width, std::size_t count) const;
    void print_rows(std::string& out, std::size_t count, const TableStyle& style) const;
    void print_notes(std::string& out, const Row& row, std::size_t sharing, const TableStyle& style) const;

    std::string title_;
    std::vector<Column> columns_;
    bool shared_notes_;
    std::vector<Row> rows_;
};

}  // namespace reprieve
