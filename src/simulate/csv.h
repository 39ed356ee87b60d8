// CsvTable: the rows of a CSV file with a header, as RFC 4180 has them (quotes, CRLF), read one at a time.
//
// Columns are found by name, in any order. Whatever is wrong is an error that names file, line and column: a column
// that nobody knows, a row with too many or too few fields, a value that is none.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace reprieve {

class CsvTable {
public:
    // `columns`: those that the file may have. The text must outlive the table.
    [[nodiscard]] static Result<CsvTable> open(std::string file,
                                               std::string_view text,
                                               std::span<const std::string_view> columns);

    // The next row that is not blank; false at the end. Fields are good until the next call.
    [[nodiscard]] Result<bool> next();

    // "" where the file does not have the column.
    [[nodiscard]] std::string_view field(std::size_t column) const;
    [[nodiscard]] bool has(std::size_t column) const { return place_[column].has_value(); }
    [[nodiscard]] std::size_t line() const { return line_; }
    // "jobs.csv:7: column 3 (duration): what"
    [[nodiscard]] std::unexpected<Error> wrong(std::size_t column, std::string_view what) const;
    [[nodiscard]] std::unexpected<Error> wrong_row(std::string_view what) const;

private:
    [[nodiscard]] Result<bool> read_record();

    std::string file_;
    std::string_view rest_;
    std::vector<std::string> names_;                 // of the columns that are known
    std::vector<std::optional<std::size_t>> place_;  // of each known column, in the file
    std::size_t width_ = 0;
    std::size_t line_ = 0;
    std::size_t next_line_ = 1;
    std::vector<std::string> fields_;
    std::size_t count_ = 0;  // of fields_ that are in use
};

// Quoted where it must be.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace reprieve
