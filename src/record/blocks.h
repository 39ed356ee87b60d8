// Blocks: lines of text, compressed together as one plain zstd frame without a dictionary.
//
// Whole objects beside each other compress as well as differences would, and a block can be read by itself, by us and
// by `zstd -d`. The frame carries a checksum: a damaged block is recognised, never misread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reprieve {

[[nodiscard]] std::string pack_block(std::string_view text);
// `raw` is how long the text is said to be; more than that is a fault.
[[nodiscard]] Result<std::string> unpack_block(std::string_view block, std::size_t raw);

// Calls `visit` with each line, without its end.
template <class Visit>
void each_line(std::string_view text, Visit&& visit) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        visit(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

}  // namespace reprieve
