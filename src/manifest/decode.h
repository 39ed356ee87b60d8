// Decoder: one Kubernetes object from its JSON text, as a watch delivers it.
//
// Kinds that no decision depends on are nothing, and counted. A malformed or contradictory field is an error that names
// object and field. Words are interned into the vocabulary given, which must outlive the decoder.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string_view>

#include "manifest/reading.h"
#include "model/objects.h"

namespace reprieve {

class ObjectReader;

class Decoder {
public:
    explicit Decoder(Vocabulary& words);
    ~Decoder();

    // `api_version` and `kind` are what the object is where it does not say so itself, as an item of a list.
    [[nodiscard]] std::expected<std::optional<Object>, DecodeError> decode(std::string_view json,
                                                                           std::string_view api_version = {},
                                                                           std::string_view kind = {});

    // An object as far as it can be read, for one that is there and must not be overlooked.
    struct Lenient {
        std::optional<Object> object;  // none: a kind that no decision depends on, or not even a name
        DecodeError fault;             // the first value that was passed over
    };
    // Values that are wrong are passed over. What is left speaks for caution: a pod that runs is not preemptible, one
    // that waits goes on waiting, and so do the members of a group and the users of a claim; a budget allows nothing.
    [[nodiscard]] Lenient decode_leniently(std::string_view json,
                                           std::string_view api_version = {},
                                           std::string_view kind = {});

    // "Service" or "Workflow.argoproj.io" -> how many objects of that kind were passed over.
    [[nodiscard]] const Counts& ignored() const;
    [[nodiscard]] const Counts& warnings() const;

private:
    std::unique_ptr<ObjectReader> reader_;
    simdjson::ondemand::parser parser_;
    std::string padded_;
};

}  // namespace reprieve
