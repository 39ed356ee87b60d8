#include "kube/frames.h"

#include <fmt/format.h>

namespace reprieve {
namespace {

using simdjson::ondemand::document;
using simdjson::ondemand::object;

WatchEvent event_of(std::string_view type) {
    if (type == "ADDED") return WatchEvent::kAdded;
    if (type == "MODIFIED") return WatchEvent::kModified;
    if (type == "DELETED") return WatchEvent::kDeleted;
    if (type == "BOOKMARK") return WatchEvent::kBookmark;
    return type == "ERROR" ? WatchEvent::kError : WatchEvent::kUnknown;
}

std::string string_at(object& from, std::string_view key) {
    std::string_view text;
    if (from[key].get_string().get(text) != simdjson::SUCCESS) return {};
    return std::string(text);
}

}  // namespace

bool FrameReader::open(std::string_view json, document& out) {
    padded_.reserve(json.size() + simdjson::SIMDJSON_PADDING);
    padded_.assign(json);
    return parser_.iterate(padded_.data(), padded_.size(), padded_.capacity()).get(out) == simdjson::SUCCESS;
}

Result<PageHead> FrameReader::page_head(std::string_view page) {
    document page_json;
    object metadata;
    if (!open(page, page_json) || page_json["metadata"].get_object().get(metadata) != simdjson::SUCCESS)
        return fail("not a list");
    PageHead head;
    head.version = string_at(metadata, "resourceVersion");
    head.continued = string_at(metadata, "continue");
    if (head.version.empty()) return fail("a list without resourceVersion");
    return head;
}

Result<void> FrameReader::each_item(std::string_view page, const std::function<void(std::string_view)>& visit) {
    document page_json;
    if (!open(page, page_json)) return fail("not a list");
    simdjson::ondemand::value items;
    if (page_json["items"].get(items) != simdjson::SUCCESS) return fail("a list without items");
    if (items.is_null()) return {};
    simdjson::ondemand::array array;
    if (items.get_array().get(array) != simdjson::SUCCESS) return fail("items: not a list");
    for (auto item : array) {
        object one;
        std::string_view text;
        if (item.get_object().get(one) != simdjson::SUCCESS || one.raw_json().get(text) != simdjson::SUCCESS)
            return fail("items: not a list of objects");
        visit(text);
    }
    return {};
}

WatchFrame FrameReader::frame(std::string_view line) {
    // The API server writes every event in this one way; anything else is looked at more slowly.
    constexpr std::string_view kType = R"({"type":")";
    constexpr std::string_view kObject = R"(","object":)";
    if (line.starts_with(kType) && line.ends_with('}')) {
        const std::size_t end = line.find('"', kType.size());
        if (end != std::string_view::npos && line.substr(end).starts_with(kObject)) {
            const std::size_t start = end + kObject.size();
            return {event_of(line.substr(kType.size(), end - kType.size())),
                    line.substr(start, line.size() - 1 - start)};
        }
    }
    document event;
    object body;
    std::string_view type;
    std::string_view text;
    if (!open(line, event)) return {};
    if (event["object"].get_object().get(body) != simdjson::SUCCESS || body.raw_json().get(text) != simdjson::SUCCESS)
        return {};
    frame_.assign(text);
    event.rewind();
    if (event["type"].get_string().get(type) != simdjson::SUCCESS) return {};
    return {event_of(type), frame_};
}

std::string FrameReader::version_of(std::string_view json) {
    document whole;
    object metadata;
    if (!open(json, whole) || whole["metadata"].get_object().get(metadata) != simdjson::SUCCESS) return {};
    return string_at(metadata, "resourceVersion");
}

FrameReader::Name FrameReader::name_of(std::string_view json) {
    document whole;
    object metadata;
    if (!open(json, whole) || whole["metadata"].get_object().get(metadata) != simdjson::SUCCESS) return {};
    return {string_at(metadata, "namespace"), string_at(metadata, "name")};
}

int FrameReader::status_code(std::string_view json) {
    document whole;
    std::int64_t code = 0;
    if (!open(json, whole) || whole["code"].get_int64().get(code) != simdjson::SUCCESS) return 0;
    return static_cast<int>(code);
}

}  // namespace reprieve
