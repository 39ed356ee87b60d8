// Reading: what all cursors over one document share: the vocabulary, the first error, and the texts that had escapes.
//
// Owned by whoever decodes; reused from object to object.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "base/quantity.h"
#include "base/time.h"
#include "model/vocabulary.h"

namespace reprieve {

// What is wrong with an object, and where. `offset` counts bytes from the start of the document.
struct DecodeError {
    std::string object;  // "Pod default/web-0", as far as it is known
    std::string field;   // "spec.containers[0].resources.requests.cpu"
    std::string what;
    std::size_t offset = 0;
    bool syntax = false;  // the document is no JSON: `offset` is where it was noticed
    [[nodiscard]] std::string text() const;
    friend bool operator==(const DecodeError&, const DecodeError&) = default;
};

using Counts = std::map<std::string, std::size_t>;

class Reading {
public:
    explicit Reading(Vocabulary& words);
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    [[nodiscard]] Vocabulary& words() { return *words_; }

    // From now on a value that is wrong (in JSON that is well-formed) is passed over, as if it were not written, and
    // the rest of the object is read all the same; the first such fault is kept.
    void set_tolerant(bool tolerant) { tolerant_ = tolerant; }
    // Of the object read last: a value was passed over, and `error` says which.
    [[nodiscard]] bool faulty() const { return faulty_; }

    // A new document, which is one object: forgets error and texts.
    void open(std::string_view document);
    [[nodiscard]] std::string_view document() const { return document_; }

    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] const DecodeError& error() const { return error_; }
    [[nodiscard]] DecodeError& error() { return error_; }
    void fail(std::string field, std::string what, const char* where, bool syntax = false);

    // The text that starts after an opening quote. False: it has a bad escape.
    bool text(const char* raw, std::string_view& out);

    // JSON inside a string (annotations): a document of its own, errors of which stand where the string stands.
    // False: it is no JSON, and the error says so. At most one at a time.
    bool open_inner(std::string_view json, std::string_view path, const char* where, simdjson::ondemand::value& root);
    void close_inner() { inner_where_ = nullptr; }

    void warn(std::string text) { ++warnings_[std::move(text)]; }
    // The object that is being read, for warnings: "Pod default/web-0".
    void about(std::string_view kind, std::string_view ns, std::string_view name);
    [[nodiscard]] std::string subject() const;
    [[nodiscard]] const Counts& warnings() const { return warnings_; }

private:
    [[nodiscard]] std::size_t offset_of(const char* where) const;

    Vocabulary* words_;
    std::string_view document_;
    bool failed_ = false;
    bool tolerant_ = false;
    bool faulty_ = false;
    DecodeError error_;
    std::deque<std::string> texts_;
    simdjson::ondemand::parser unescaper_;
    simdjson::ondemand::parser inner_parser_;
    simdjson::ondemand::document inner_document_;
    const char* inner_where_ = nullptr;
    Counts warnings_;
    std::string_view kind_;
    std::string_view ns_;
    std::string_view name_;
};

}  // namespace reprieve
