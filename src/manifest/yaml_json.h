// YAML documents as JSON texts, one after another, by the core schema: plain true, 5 and null mean what they mean in
// JSON, everything in quotes is a string. Anchors and merge keys are resolved; a document that grows out of proportion
// by them is refused. Each JSON text comes with the lines of the YAML it was made from.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprieve {

struct YamlFault {
    std::size_t line = 0;  // from 1; 0: unknown
    std::string what;
};

struct YamlDocument {
    std::string json;
    std::vector<std::pair<std::size_t, std::size_t>> lines;  // offset in `json` -> line, ascending

    // The line of what stands at an offset of `json`.
    [[nodiscard]] std::size_t line_at(std::size_t offset) const;
};

class YamlDocuments {
public:
    // `text` must outlive this.
    explicit YamlDocuments(std::string_view text);
    ~YamlDocuments();

    // The next document; false at the end.
    [[nodiscard]] std::expected<bool, YamlFault> next(YamlDocument& out);

private:
    struct Stream;
    std::unique_ptr<Stream> stream_;
};

}  // namespace reprieve
