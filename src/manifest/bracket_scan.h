// BracketScan: finds the end of a JSON object or list by its brackets, 64 bytes at a time.
//
// It knows strings and escapes and nothing else: whether what lies between is JSON is for others to say. It can stop
// where the text stops and go on when there is more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace reprieve {

class BracketScan {
public:
    // Where the value ends whose first bracket is at the front of `text`; nothing: not within `text`. Each call gets
    // the same text or a longer one. REQUIRES: 64 readable bytes behind `text`.
    [[nodiscard]] std::optional<std::size_t> find_end(std::string_view text);

private:
    std::optional<std::size_t> scan_block(const char* block, std::size_t count);
    std::uint64_t unescaped(std::uint64_t quotes, std::uint64_t backslashes, std::size_t count);

    std::size_t scanned_ = 0;
    std::uint64_t depth_ = 0;
    bool in_string_ = false;
    bool escaped_ = false;  // the first byte to come is
};

}  // namespace reprieve
