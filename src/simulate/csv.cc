#include "simulate/csv.h"

#include <fmt/format.h>

#include <algorithm>

namespace reprieve {
namespace {

std::string_view without_blanks(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

}  // namespace

Result<CsvTable> CsvTable::open(std::string file, std::string_view text, std::span<const std::string_view> columns) {
    CsvTable table;
    table.file_ = std::move(file);
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    table.rest_ = text;
    table.names_.assign(columns.begin(), columns.end());
    table.place_.resize(columns.size());
    const auto header = table.read_record();
    if (!header) return std::unexpected(header.error());
    if (!*header)
        return fail(fmt::format("{}: is empty; a header with the names of the columns is missing", table.file_));
    table.width_ = table.count_;
    for (std::size_t i = 0; i < table.count_; ++i) {
        const std::string_view name = without_blanks(table.fields_[i]);
        const auto known = std::ranges::find(columns, name);
        if (known == columns.end())
            return fail(fmt::format("{}:{}: column {}: there is no column '{}'; there are {}",
                                    table.file_,
                                    table.line_,
                                    i + 1,
                                    name,
                                    fmt::join(columns, ", ")));
        auto& place = table.place_[static_cast<std::size_t>(known - columns.begin())];
        if (place)
            return fail(fmt::format("{}:{}: column {}: '{}' is given twice", table.file_, table.line_, i + 1, name));
        place = i;
    }
    return table;
}

Result<bool> CsvTable::next() {
    auto read = read_record();
    if (!read || !*read) return read;
    if (count_ != width_)
        return wrong_row(fmt::format("has {} field{}, the header has {}", count_, count_ == 1 ? "" : "s", width_));
    return true;
}

// A record may go over several lines where a quoted field does.
Result<bool> CsvTable::read_record() {
    count_ = 0;
    const auto add = [&]() -> std::string& {
        if (count_ == fields_.size()) fields_.emplace_back();
        std::string& field = fields_[count_++];
        field.clear();
        return field;
    };
    while (!rest_.empty() && (rest_.front() == '\n' || rest_.front() == '\r')) {
        if (rest_.front() == '\n') ++next_line_;
        rest_.remove_prefix(1);
    }
    line_ = next_line_;
    if (rest_.empty()) return false;
    while (true) {
        std::string& field = add();
        if (!rest_.empty() && rest_.front() == '"') {
            rest_.remove_prefix(1);
            while (true) {
                const std::size_t quote = rest_.find('"');
                if (quote == std::string_view::npos)
                    return fail(fmt::format("{}:{}: column {}: a quote is not closed", file_, line_, count_));
                next_line_ += static_cast<std::size_t>(std::ranges::count(rest_.substr(0, quote), '\n'));
                field.append(rest_.substr(0, quote));
                rest_.remove_prefix(quote + 1);
                if (rest_.empty() || rest_.front() != '"') break;
                field.push_back('"');
                rest_.remove_prefix(1);
            }
            if (!rest_.empty() && rest_.front() == '\r') rest_.remove_prefix(1);
            if (!rest_.empty() && rest_.front() != ',' && rest_.front() != '\n')
                return fail(fmt::format("{}:{}: column {}: text after a closing quote", file_, line_, count_));
        } else {
            const std::size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
            std::string_view text = rest_.substr(0, end);
            if (text.ends_with('\r')) text.remove_suffix(1);
            field = without_blanks(text);
            rest_.remove_prefix(end);
        }
        if (rest_.empty()) return true;
        const char stop = rest_.front();
        rest_.remove_prefix(1);
        if (stop == '\n') {
            ++next_line_;
            return true;
        }
    }
}

std::string_view CsvTable::field(std::size_t column) const {
    return place_[column] ? std::string_view(fields_[*place_[column]]) : std::string_view();
}

std::unexpected<Error> CsvTable::wrong(std::size_t column, std::string_view what) const {
    if (!place_[column]) return fail(fmt::format("{}:{}: column {}: {}", file_, line_, names_[column], what));
    return fail(fmt::format("{}:{}: column {} ({}): {}", file_, line_, *place_[column] + 1, names_[column], what));
}

std::unexpected<Error> CsvTable::wrong_row(std::string_view what) const {
    return fail(fmt::format("{}:{}: column {}: the row {}", file_, line_, std::min(count_, width_) + 1, what));
}

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out.push_back('"');
        out.push_back(c);
    }
    return out + '"';
}

}  // namespace reprieve
