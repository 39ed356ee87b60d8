#include "strict.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace reprieve::scenario {
namespace {

std::optional<int> number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

Keys::Keys(const Json& object, std::string path, Faults& faults)
    : object_(object),
      path_(std::move(path)),
      faults_(faults) {
    if (!object_.is_object())
        faults_.push_back(fmt::format("{}: must be an object", path_.empty() ? "the document" : path_));
}

const Json* Keys::take(std::string_view key) {
    taken_.emplace(key);
    if (!object_.is_object()) return nullptr;
    const auto it = object_.find(key);
    return it == object_.end() ? nullptr : &*it;
}

std::string Keys::text(std::string_view key, std::string otherwise) {
    const Json* value = take(key);
    if (value == nullptr) return otherwise;
    if (!value->is_string()) {
        fault(key, "must be a string");
        return otherwise;
    }
    return value->get<std::string>();
}

bool Keys::flag(std::string_view key, bool otherwise) {
    const Json* value = take(key);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean()) {
        fault(key, "must be true or false");
        return otherwise;
    }
    return value->get<bool>();
}

void Keys::finish() {
    if (!object_.is_object()) return;
    for (const auto& [key, value] : object_.items()) {
        if (!taken_.contains(key)) fault(key, "unknown key");
    }
}

std::string Keys::at(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void Keys::fault(std::string_view key, std::string_view what) {
    faults_.push_back(fmt::format("{}: {}", at(key), what));
}

std::string full_name(std::string_view name) {
    return name.find('/') == std::string_view::npos ? fmt::format("default/{}", name) : std::string(name);
}

std::vector<std::string> spelled_out(std::string_view name) {
    const auto open = name.find('{');
    const auto dots = name.find("..", open == std::string_view::npos ? 0 : open);
    const auto close = name.find('}', dots == std::string_view::npos ? 0 : dots);
    if (open == std::string_view::npos || dots == std::string_view::npos || close == std::string_view::npos)
        return {std::string(name)};
    const std::string_view from_text = name.substr(open + 1, dots - open - 1);
    const auto from = number(from_text);
    const auto to = number(name.substr(dots + 2, close - dots - 2));
    if (!from || !to) return {std::string(name)};
    std::vector<std::string> out;
    for (int i = *from; i <= *to; ++i) {
        out.push_back(fmt::format("{}{:0{}}{}", name.substr(0, open), i, from_text.size(), name.substr(close + 1)));
    }
    return out;
}

std::vector<std::string> names_in(const Json& value, const std::string& path, Faults& faults) {
    const Json list = value.is_array() ? value : Json::array({value});
    std::vector<std::string> out;
    for (const Json& entry : list) {
        if (!entry.is_string()) {
            faults.push_back(fmt::format("{}: must be names", path));
            continue;
        }
        for (const std::string& name : spelled_out(entry.get_ref<const std::string&>()))
            out.push_back(full_name(name));
    }
    return out;
}

}  // namespace reprieve::scenario
