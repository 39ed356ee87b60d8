#include "manifest/decode.h"

#include "manifest/object_reader.h"

namespace reprieve {
namespace {

// What a fault means for those who depend on the object.
void be_careful(Object& object, const DecodeError& fault, Vocabulary& words) {
    const std::string sentence = fault.field.empty() ? fault.what : fault.field + ": " + fault.what;
    if (auto* pod = std::get_if<Pod>(&object)) {
        PodExtras& extras = pod->make_extras();
        extras.hold = sentence;
        extras.preemptible = false;
        extras.preemptible_marker = sentence;
    } else if (auto* gang = std::get_if<Gang>(&object)) {
        gang->hold = sentence;
    } else if (auto* claim = std::get_if<VolumeClaim>(&object)) {
        claim->hold = sentence;
    } else if (auto* budget = std::get_if<DisruptionBudget>(&object)) {
        budget->disruptions_allowed = 0;
        // Requirements that cannot be read do not narrow the selection; without any it is the whole namespace.
        std::vector<Requirement>& selected = budget->selector.requirements;
        std::erase_if(selected, [](const Requirement& one) {
            const bool lists = one.op == SelectorOp::kIn || one.op == SelectorOp::kNotIn;
            return !one.key || (lists && one.values.empty());
        });
        budget->selector.null = false;
        if (selected.empty()) {
            Requirement anybody;
            anybody.key = words.string("reprieve.dev/nobody");
            anybody.op = SelectorOp::kDoesNotExist;
            selected.push_back(std::move(anybody));
        }
    }
}

}  // namespace

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

Decoder::Lenient Decoder::decode_leniently(std::string_view json, std::string_view api_version, std::string_view kind) {
    Reading& reading = reader_->reading();
    reading.set_tolerant(true);
    auto decoded = decode(json, api_version, kind);
    reading.set_tolerant(false);
    if (!decoded) return {.object = std::nullopt, .fault = decoded.error()};
    Lenient out{.object = std::move(*decoded), .fault = reading.error()};
    if (out.object && reading.faulty()) be_careful(*out.object, out.fault, reading.words());
    return out;
}

const Counts& Decoder::ignored() const { return reader_->ignored(); }
const Counts& Decoder::warnings() const { return reader_->reading().warnings(); }

}  // namespace reprieve
