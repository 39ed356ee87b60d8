#include "manifest/reading.h"

#include <fmt/format.h>

#include "base/check.h"
#include "manifest/json_syntax.h"
#include "manifest/text_scan.h"

namespace reprieve {

std::string DecodeError::text() const {
    std::string line;
    for (const std::string* part : {&object, &field}) {
        if (!part->empty()) line += *part + ": ";
    }
    return line + what;
}

Reading::Reading(Vocabulary& words) : words_(&words) {
    constexpr std::size_t kSmall = 64;
    REPRIEVE_CHECK(unescaper_.allocate(kSmall) == simdjson::SUCCESS);
}

void Reading::open(std::string_view document) {
    document_ = document;
    failed_ = false;
    faulty_ = false;
    error_ = {};
    texts_.clear();
    inner_where_ = nullptr;
}

void Reading::fail(std::string field, std::string what, const char* where, bool syntax) {
    if (failed_) return;
    const bool is_broken = syntax && inner_where_ == nullptr;
    failed_ = is_broken || !tolerant_;
    if (!failed_ && faulty_) return;
    faulty_ = true;
    error_.field = std::move(field);
    error_.what = std::move(what);
    error_.offset = offset_of(where);
    error_.syntax = is_broken;
}

std::size_t Reading::offset_of(const char* where) const {
    if (inner_where_ != nullptr) where = inner_where_;
    if (where < document_.data()) return 0;
    return std::min(static_cast<std::size_t>(where - document_.data()), document_.size());
}

void Reading::about(std::string_view kind, std::string_view ns, std::string_view name) {
    kind_ = kind;
    ns_ = ns;
    name_ = name;
}

std::string Reading::subject() const {
    return ns_.empty() ? fmt::format("{} {}", kind_, name_) : fmt::format("{} {}/{}", kind_, ns_, name_);
}

bool Reading::text(const char* raw, std::string_view& out) {
    const ScannedText scanned = scan_text(raw);
    if (!scanned.escapes) {
        out = {raw, scanned.size};
        return true;
    }
    // The unescaper writes whole blocks, at most SIMDJSON_PADDING beyond the end.
    std::string& text = texts_.emplace_back();
    text.resize(whole_text_size(raw) + simdjson::SIMDJSON_PADDING);
    auto* to = reinterpret_cast<std::uint8_t*>(text.data());
    const auto* from = reinterpret_cast<const std::uint8_t*>(raw);
    return unescaper_.unescape(simdjson::ondemand::raw_json_string(from), to).get(out) == simdjson::SUCCESS;
}

bool Reading::open_inner(std::string_view json,
                         std::string_view path,
                         const char* where,
                         simdjson::ondemand::value& root) {
    REPRIEVE_CHECK(inner_where_ == nullptr);
    inner_where_ = where;
    JsonSpan span = scan_json(json);
    if (json.find_first_not_of(" \t\r\n", span.end) != std::string_view::npos && span.fault.empty())
        span.fault = "text after the value";
    if (!span.fault.empty()) {
        fail(std::string(path), fmt::format("is not valid JSON: {}", span.fault), where);
        return false;
    }
    std::string& copy = texts_.emplace_back();
    copy.reserve(json.size() + simdjson::SIMDJSON_PADDING);
    copy.assign(json);
    const simdjson::padded_string_view padded(copy.data(), copy.size(), copy.capacity());
    simdjson::error_code code = inner_parser_.iterate(padded).get(inner_document_);
    if (code == simdjson::SUCCESS) code = inner_document_.get_value().get(root);
    if (code == simdjson::SUCCESS) return true;
    fail(std::string(path), "must be a JSON object or list", where);
    return false;
}

}  // namespace reprieve
