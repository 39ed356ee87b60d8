// A resourceVersion as a number: of two changes of one kind the later one has the larger.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

namespace reprieve {

// 0: it is not a number.
[[nodiscard]] inline std::uint64_t version_number(const std::string& text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace reprieve
