// Finds where a text stops being JSON.
//
// simdjson says that a document is broken, seldom where: this slow and strict walk runs only after it has said so.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace reprieve {

[[nodiscard]] constexpr bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

struct JsonSpan {
    std::size_t end = 0;  // after the value, or where the fault is
    std::string fault;    // empty: well formed
};

// The value that starts at `from`; spaces before it are allowed.
[[nodiscard]] JsonSpan scan_json(std::string_view text, std::size_t from = 0);

}  // namespace reprieve
