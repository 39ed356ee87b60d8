#include "manifest/load_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "manifest/bracket_scan.h"
#include "manifest/json_syntax.h"
#include "manifest/known_fields.h"

namespace reprieve {
namespace {

// simdjson counts bytes in 32 bits.
constexpr std::size_t kLargestObject = 0xFFFFFFFFU - simdjson::SIMDJSON_PADDING;

bool ends_scalar(char c) { return c == ',' || c == '}' || c == ']' || c == '\0' || is_json_space(c); }

}  // namespace

ObjectReader::Header JsonLoad::ListHead::of_items() const {
    constexpr std::string_view kSuffix = "List";
    if (kind.size() <= kSuffix.size() || !kind.ends_with(kSuffix)) return {};
    return {api_version, std::string_view(kind).substr(0, kind.size() - kSuffix.size())};
}

std::expected<void, DecodeError> JsonLoad::run(TextWindow& window) {
    window_ = &window;
    error_.reset();
    while (!failed()) {
        window.drop(skip_spaces(0));
        if (window.text().starts_with("---")) {
            window.drop(3);
        } else if (window.text().empty()) {
            break;
        } else if (window.text().front() == '{') {
            read_document();
        } else {
            JsonSpan span = scan_json(window.text());
            if (span.fault.empty()) span = {0, "must be an object with apiVersion and kind"};
            fail(span.end, std::move(span.fault));
        }
    }
    if (failed()) return std::unexpected(std::move(*error_));
    return {};
}

void JsonLoad::fail(std::size_t at, std::string what) {
    if (failed()) return;
    if (!window_->fault().empty()) what = window_->fault();
    error_ = DecodeError{
        .object = {}, .field = {}, .what = std::move(what), .offset = window_->offset() + at, .syntax = true};
}

char JsonLoad::peek(std::size_t at) {
    while (at >= window_->text().size()) {
        if (!window_->grow()) return '\0';
    }
    return window_->text()[at];
}

std::size_t JsonLoad::skip_spaces(std::size_t at) {
    while (is_json_space(peek(at)))
        ++at;
    return at;
}

std::size_t JsonLoad::end_of_string(std::size_t at) {
    for (++at;; ++at) {
        const char c = peek(at);
        if (c == '"') return at + 1;
        if (c == '\\') ++at;
        if (c != '\0') continue;
        fail(at,
             at < window_->text().size() ? "not valid JSON: a control character in a string"
                                         : "not valid JSON: the text ends in a string");
        return at;
    }
}

std::size_t JsonLoad::end_of_value(std::size_t at) {
    const char first = peek(at);
    if (first == '"') return end_of_string(at);
    if (first != '{' && first != '[') {
        while (!ends_scalar(peek(at)))
            ++at;
        return at;
    }
    BracketScan scan;
    while (true) {
        if (const auto end = scan.find_end(window_->text().substr(at))) return at + *end;
        if (window_->grow()) continue;
        // A strict walk knows better than "at the very end" where the brackets went wrong.
        const JsonSpan span = scan_json(window_->text(), at);
        fail(span.end, fmt::format("not valid JSON: {}", span.fault));
        return at;
    }
}

// An object is handed on whole; the items of a list are handed on, and dropped, one by one.
void JsonLoad::read_document() {
    ListHead head;
    std::size_t at = skip_spaces(1);
    while (!failed() && peek(at) != '}') {
        at = skip_spaces(read_field(at, head));
        if (failed()) return;
        const char c = peek(at);
        if (c == '}') break;
        if (c != ',')
            return fail(at, c == '\0' ? "not valid JSON: the text ends too early" : "not valid JSON: expected , or }");
        at = skip_spaces(at + 1);
        if (peek(at) == '}') return fail(at, "not valid JSON: expected a key in quotes");
    }
    if (failed()) return;
    if (!head.has_items && head.kind != "List") read_object(window_->text().substr(0, at + 1), {});
    if (!failed()) window_->drop(at + 1);
}

std::size_t JsonLoad::read_field(std::size_t at, ListHead& head) {
    if (peek(at) != '"') {
        fail(at,
             peek(at) == '\0' ? "not valid JSON: the text ends too early" : "not valid JSON: expected a key in quotes");
        return at;
    }
    const std::size_t key_end = end_of_string(at);
    const std::size_t colon = skip_spaces(key_end);
    if (peek(colon) != ':') fail(colon, "not valid JSON: expected : after the key");
    const std::size_t value = skip_spaces(colon + 1);
    if (failed()) return at;
    const std::string key(window_->text().substr(at + 1, key_end - at - 2));

    // kubectl writes `items` before `kind`; with another kind before them they are a field like others.
    const bool may_be_list = head.kind.empty() || head.kind.ends_with("List");
    if (key == "items" && may_be_list && peek(value) == '[') {
        head.has_items = true;
        window_->drop(value + 1);
        read_items(head);
        return 0;
    }
    const std::size_t end = end_of_value(value);
    if (failed()) return at;
    const std::string_view text = window_->text().substr(value, end - value);
    if (key == "items" && head.kind.ends_with("List") && text != "null") fail(value, "items: must be a list");
    if (key == "items" && may_be_list && text == "null") head.has_items = true;  // an empty list, as Go writes it
    const bool is_text = text.size() >= 2 && text.front() == '"';
    if (key == "kind" && is_text) head.kind = text.substr(1, text.size() - 2);
    if (key == "apiVersion" && is_text) head.api_version = text.substr(1, text.size() - 2);
    if (key == "metadata" && (head.has_items || head.kind.ends_with("List"))) read_list_metadata(text);
    return end;
}

// REQUIRES: the window starts behind the opening bracket.
void JsonLoad::read_items(const ListHead& head) {
    const ObjectReader::Header defaults = head.of_items();
    window_->drop(skip_spaces(0));
    if (peek(0) == ']') return window_->drop(1);
    while (!failed()) {
        const std::size_t end = end_of_value(0);
        if (failed()) return;
        read_object(window_->text().substr(0, end), defaults);
        if (failed()) return;
        window_->drop(skip_spaces(end));
        const char c = peek(0);
        if (c != ',' && c != ']')
            return fail(0, c == '\0' ? "not valid JSON: the text ends too early" : "not valid JSON: expected , or ]");
        window_->drop(1);
        if (c == ']') return;
        window_->drop(skip_spaces(0));
    }
}

bool JsonLoad::parse(std::string_view text, simdjson::ondemand::document& document, simdjson::ondemand::value& root) {
    if (text.size() > kLargestObject) {
        fail(0, "an object of 4 GiB or more");
        return false;
    }
    auto code = simdjson::SUCCESS;
    if (parser_.capacity() < text.size()) code = parser_.allocate(std::min(std::bit_ceil(text.size()), kLargestObject));
    if (code == simdjson::SUCCESS)
        code = parser_.iterate(text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING).get(document);
    if (code == simdjson::SUCCESS) code = document.get_value().get(root);
    if (code == simdjson::SUCCESS) return true;
    JsonSpan span = scan_json(text);
    if (span.fault.empty()) span = {0, simdjson::error_message(code)};
    const auto base = static_cast<std::size_t>(text.data() - window_->text().data());
    fail(base + span.end, fmt::format("not valid JSON: {}", span.fault));
    return false;
}

// REQUIRES: `text` is at the front of the window.
void JsonLoad::read_object(std::string_view text, const ObjectReader::Header& defaults) {
    if (!text.starts_with('{')) return fail(0, "must be an object with apiVersion and kind");
    Reading& reading = reader_->reading();
    reading.open(text);
    simdjson::ondemand::document document;
    simdjson::ondemand::value root;
    if (!parse(text, document, root)) return;
    Cursor cursor(reading, root);
    Fields fields(cursor);
    Object object;
    switch (reader_->read(cursor, fields, defaults, object)) {
        case ObjectReader::Outcome::kObject:
            if (field_check_ != FieldCheck::kOff) check_fields(text);
            if (failed()) return;
            deliver_(std::move(object), text, window_->offset());
            return;
        case ObjectReader::Outcome::kOwn:
            if (field_check_ != FieldCheck::kOff) check_fields(text);
            if (failed()) return;
            deliver_own_(reader_->header().kind, text, window_->offset());
            return;
        case ObjectReader::Outcome::kIgnored:
            return;
        case ObjectReader::Outcome::kFailed:
            break;
    }
    // That a text is no JSON at all is a more useful thing to hear than what was made of it.
    JsonSpan span = scan_json(text);
    if (!span.fault.empty()) return fail(span.end, fmt::format("not valid JSON: {}", span.fault));
    error_ = reading.error();
    error_->offset += window_->offset();
}

void JsonLoad::check_fields(std::string_view text) {
    Reading& reading = reader_->reading();
    const auto tell = [&](const std::string& path, const std::string& what, const char* where) {
        const std::string fault = fmt::format("{}: {}", path, what);
        if (field_check_ == FieldCheck::kWarn) {
            const std::string kind(reader_->header().kind);
            const auto first =
                unknown_fields_.try_emplace(kind + fault, fmt::format("{}: {}", reading.subject(), fault));
            reading.warn(first.first->second);
        } else if (!failed()) {
            error_ = DecodeError{.object = reading.subject(),
                                 .field = path,
                                 .what = what,
                                 .offset = window_->offset() + static_cast<std::size_t>(where - text.data())};
        }
    };
    KnownFields::check(text, reader_->header().kind, reader_->header().api_version, tell);
}

void JsonLoad::read_list_metadata(std::string_view json) {
    if (!json.starts_with('{')) return;
    Reading& reading = reader_->reading();
    reading.open(json);
    simdjson::ondemand::document document;
    simdjson::ondemand::value root;
    if (!parse(json, document, root)) return;
    Cursor cursor(reading, root, "metadata");
    for (Fields f(cursor); f.next();) {
        if (f.id() == "resourceVersion"_key) f->read(list_version_);
        if (f.id() == "continue"_key) f->read(list_continue_);
    }
    if (reading.failed()) fail(static_cast<std::size_t>(json.data() - window_->text().data()), reading.error().text());
}

}  // namespace reprieve
