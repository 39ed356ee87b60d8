#include "manifest/decode.h"

#include "manifest/object_reader.h"

namespace reprieve {

Decoder::Decoder(Vocabulary& words) : reader_(std::make_unique<ObjectReader>(words)) {}

Decoder::~Decoder() = default;

std::expected<std::optional<Object>, DecodeError> Decoder::decode(std::string_view json,
                                                                  std::string_view api_version,
                                                                  std::string_view kind) {
    padded_.reserve(json.size() + simdjson::SIMDJSON_PADDING);
    padded_.assign(json);
    Reading& reading = reader_->reading();
    reading.open(padded_);

    simdjson::ondemand::document document;
    simdjson::ondemand::value root;
    auto code = parser_.iterate(padded_.data(), padded_.size(), padded_.capacity()).get(document);
    if (code == simdjson::SUCCESS) code = document.get_value().get(root);
    if (code != simdjson::SUCCESS) {
        return std::unexpected(DecodeError{.object = {},
                                           .field = {},
                                           .what = std::string("not a JSON object: ") + simdjson::error_message(code),
                                           .offset = 0,
                                           .syntax = true});
    }
    Cursor cursor(reading, root);
    Object object;
    Fields fields(cursor);
    switch (reader_->read(cursor, fields, {api_version, kind}, object)) {
        case ObjectReader::Outcome::kObject:
            return object;
        case ObjectReader::Outcome::kFailed:
            return std::unexpected(reading.error());
        case ObjectReader::Outcome::kIgnored:
        case ObjectReader::Outcome::kOwn:
            break;
    }
    return std::nullopt;
}

const Counts& Decoder::ignored() const { return reader_->ignored(); }
const Counts& Decoder::warnings() const { return reader_->reading().warnings(); }

}  // namespace reprieve
