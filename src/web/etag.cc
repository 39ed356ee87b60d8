#include "web/etag.h"

#include <fmt/format.h>

#include "base/hash.h"

namespace reprieve {

std::string etag_of(std::string_view body) { return fmt::format("\"{:016x}\"", hash_bytes(body)); }

bool names_etag(std::string_view list, std::string_view etag) {
    constexpr std::string_view kBetween = " \t,";
    while (true) {
        const std::size_t start = list.find_first_not_of(kBetween);
        if (start == std::string_view::npos) return false;
        list.remove_prefix(start);
        if (list.front() == '*') return true;
        if (list.starts_with("W/")) list.remove_prefix(2);
        // What is between the quotes may hold commas.
        const std::size_t end = list.starts_with('"') ? list.find('"', 1) : std::string_view::npos;
        if (end == std::string_view::npos) return false;
        if (list.substr(0, end + 1) == etag) return true;
        list.remove_prefix(end + 1);
    }
}

}  // namespace reprieve
