#include "model/soft_eviction.h"

#include <fmt/format.h>

#include <string_view>

namespace reprieve {
namespace {

// The text of one field of a flat JSON object; names and times need no escapes.
std::string field(std::string_view object, std::string_view name) {
    const std::size_t key = object.find(fmt::format("\"{}\"", name));
    if (key == std::string_view::npos) return "";
    const std::size_t colon = object.find_first_not_of(" \t\n", key + name.size() + 2);
    if (colon == std::string_view::npos || object[colon] != ':') return "";
    const std::size_t open = object.find_first_not_of(" \t\n", colon + 1);
    if (open == std::string_view::npos || object[open] != '"') return "";
    const std::size_t close = object.find('"', open + 1);
    return close == std::string_view::npos ? "" : std::string(object.substr(open + 1, close - open - 1));
}

}  // namespace

std::optional<SoftEviction> soft_eviction_of(const Pod& pod) {
    const std::string& text = pod.more().soft_eviction;
    if (text.empty()) return std::nullopt;
    const auto since = parse_time(field(text, "timestamp"));
    return SoftEviction{
        .job = field(text, "preemptJob"), .initiator = field(text, "initiator"), .since = since ? *since : Time{}};
}

}  // namespace reprieve
