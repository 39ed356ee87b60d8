#include "manifest/load_json.h"

#include <fmt/format.h>

#include "manifest/json_syntax.h"

namespace reprieve {
namespace {

DecodeError syntax_error(std::size_t offset, std::string what) {
    return {.object = {}, .field = {}, .what = fmt::format("not valid JSON: {}", what), .offset = offset, .syntax = true};
}

// simdjson seldom knows where: a strict walk finds the place.
DecodeError explain(std::string_view text, simdjson::error_code code) {
    if (code == simdjson::MEMALLOC) return {.object = {}, .field = {}, .what = "not enough memory for a file of this size", .offset = 0};
    JsonSpan span = scan_json(text);
    if (span.fault.empty()) span = {0, simdjson::error_message(code)};
    return syntax_error(span.end, std::move(span.fault));
}

}  // namespace

std::expected<void, DecodeError> JsonLoad::run(std::string_view text) {
    std::size_t from = next_json_document(text, 0);
    if (from >= text.size()) return {};
    auto more = run_one(text.substr(from), from);
    if (!more) return std::unexpected(std::move(more.error()));
    if (!*more) return {};

    // Several documents: each is cut out, so that simdjson does not look at the rest again and again.
    from = next_json_document(text, scan_json(text, from).end);
    while (from < text.size()) {
        JsonSpan span = scan_json(text, from);
        if (!span.fault.empty()) return std::unexpected(syntax_error(span.end, std::move(span.fault)));
        more = run_one(text.substr(from, span.end - from), from);
        if (!more) return std::unexpected(std::move(more.error()));
        from = next_json_document(text, span.end);
    }
    return {};
}

std::expected<bool, DecodeError> JsonLoad::run_one(std::string_view text, std::size_t base) {
    document_ = text;
    base_ = base;
    Reading& reading = reader_->reading();
    reading.open(text);

    simdjson::ondemand::document document;
    simdjson::ondemand::value root;
    auto code = parser_.iterate(text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING).get(document);
    if (code == simdjson::SUCCESS) code = document.get_value().get(root);
    bool more = false;
    if (code == simdjson::SUCCESS) {
        Cursor cursor(reading, root);
        read_root(cursor);
        more = !reading.failed() && document.current_location().error() == simdjson::SUCCESS;
    }
    if (code != simdjson::SUCCESS || reading.failed()) {
        DecodeError error = code != simdjson::SUCCESS ? explain(text, code) : reading.error();
        // A text that is no JSON at all is a more useful thing to hear about than what was made of it.
        if (code == simdjson::SUCCESS) {
            if (JsonSpan span = scan_json(text); !span.fault.empty()) error = syntax_error(span.end, std::move(span.fault));
        }
        error.offset += base;
        return std::unexpected(std::move(error));
    }
    return more;
}

void JsonLoad::read_root(Cursor& root) {
    if (!root.is_object()) return root.wrong("must be an object with apiVersion and kind");
    Fields fields(root);
    ObjectReader::Header items;
    const bool list = is_list(fields, items);
    fields.rewind();
    if (list) {
        read_list(fields, items);
    } else {
        read_object(root, fields, {});
    }
    while (fields.next()) {
        // Up to the end, of objects that nobody wanted to read: something may follow.
    }
}

// Looks at the fields until it is sure; kubectl writes `items` before `kind`.
bool JsonLoad::is_list(Fields& fields, ObjectReader::Header& items) {
    std::string_view api_version;
    std::string_view kind;
    bool has_items = false;
    while (kind.empty() && !has_items && fields.next()) {
        switch (fields.id()) {
            case "apiVersion"_key: fields->read(api_version); break;
            case "kind"_key: fields->read(kind); break;
            case "items"_key: has_items = true; break;
            default: break;
        }
    }
    if (!kind.ends_with("List")) return has_items;
    // The items of a PodList need not say that they are pods.
    constexpr std::size_t kSuffix = 4;
    while (api_version.empty() && fields.next()) {
        if (fields.id() == "apiVersion"_key) fields->read(api_version);
    }
    if (kind.size() > kSuffix) items = {api_version, kind.substr(0, kind.size() - kSuffix)};
    return true;
}

void JsonLoad::read_list(Fields& fields, const ObjectReader::Header& items) {
    while (fields.next()) {
        switch (fields.id()) {
            case "items"_key:
                for (Items item(*fields); item.next();) {
                    Fields of_item(*item);
                    read_object(*item, of_item, items);
                }
                break;
            case "metadata"_key: {
                Metadata metadata;
                decode_metadata(*fields, metadata);
                list_version_ = metadata.list_version;
                list_continue_ = metadata.list_continue;
                break;
            }
            default: break;
        }
    }
}

void JsonLoad::read_object(Cursor& at, Fields& fields, const ObjectReader::Header& defaults) {
    const auto offset = base_ + static_cast<std::size_t>(at.location() - document_.data());
    Object object;
    switch (reader_->read(at, fields, defaults, object)) {
        case ObjectReader::Outcome::kObject: deliver_(std::move(object), offset); break;
        case ObjectReader::Outcome::kOwn: deliver_own_(reader_->header().kind, reader_->raw(), offset); break;
        case ObjectReader::Outcome::kIgnored:
        case ObjectReader::Outcome::kFailed: break;
    }
}

}  // namespace reprieve
