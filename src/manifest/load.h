// Loader: objects out of files: YAML with many documents, JSON, single objects, lists, standard input, directories.
//
// Objects are handed on one by one in the order written. The first error ends the load: what was handed on before it is
// the caller's to discard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "manifest/reading.h"
#include "model/objects.h"

namespace reprieve {

struct LoadError {
    std::string file;
    std::size_t line = 0;  // from 1; 0: unknown
    std::string object;    // "Pod default/web-0"
    std::string field;     // "spec.containers[0].resources.requests.cpu"
    std::string what;
    // "file:line: object: field: what", without the parts that are not known.
    [[nodiscard]] std::string text() const;
    friend bool operator==(const LoadError&, const LoadError&) = default;
};

// Where an object stands and how it was written. Valid during the call that hands the object on.
class SourceRef {
public:
    struct Text {
        std::string_view api_version;  // also where only the list says it
        std::string_view kind;
        std::string_view json;
    };
    SourceRef(const std::string& file,
              std::size_t offset,
              const std::function<std::size_t(std::size_t)>& line_at,
              Text text)
        : file_(&file),
          offset_(offset),
          line_at_(&line_at),
          text_(text) {}

    [[nodiscard]] const std::string& file() const { return *file_; }
    // Bytes from the start of the file (JSON) or of the document (YAML).
    [[nodiscard]] std::size_t offset() const { return offset_; }
    // Counted when asked for.
    [[nodiscard]] std::size_t line() const { return (*line_at_)(offset_); }
    [[nodiscard]] const Text& text() const { return text_; }

private:
    const std::string* file_;
    std::size_t offset_;
    const std::function<std::size_t(std::size_t)>* line_at_;
    Text text_;
};

struct LoadReport {
    std::size_t files = 0;
    std::size_t bytes = 0;
    std::size_t objects = 0;
    Counts ignored;             // "Service" or "Workflow.argoproj.io" -> how many objects of that kind were passed over
    Counts warnings;            // what was understood but is not followed -> how often
    std::string list_version;   // metadata.resourceVersion of the last list
    std::string list_continue;  // metadata.continue of the last list
};

// What is done about fields that a kind does not have.
enum class FieldCheck : std::uint8_t { kOff, kWarn, kStrict };

class Loader {
public:
    using Sink = std::function<void(Object&&, const SourceRef&)>;
    // A document of a kind that is no object of a cluster, as JSON text.
    using OwnSink = std::function<void(std::string_view kind, std::string_view json, const SourceRef&)>;

    // `words` must outlive the loader.
    Loader(Vocabulary& words, Sink sink);
    ~Loader();

    // Documents of this kind (Expect, SchedulerConfig) go to `sink`; without one they are ignored and counted.
    void on_document(std::string kind, OwnSink sink);

    void set_field_check(FieldCheck check);

    // A file, a directory (its *.yaml, *.yml and *.json, recursively, in the order of their names), or "-".
    [[nodiscard]] std::expected<void, LoadError> load(const std::string& path);
    // `name` stands for the file in errors.
    [[nodiscard]] std::expected<void, LoadError> load_text(const std::string& name, std::string_view text);

    [[nodiscard]] LoadReport report() const;

private:
    class Work;
    std::unique_ptr<Work> work_;
};

}  // namespace reprieve
