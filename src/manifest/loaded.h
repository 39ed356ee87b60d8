// For tests: what a text loads into.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "manifest/load.h"
#include "model/vocabulary.h"

namespace reprieve {

struct Loaded {
    std::unique_ptr<Vocabulary> words = std::make_unique<Vocabulary>();
    std::vector<Object> objects;
    std::vector<std::size_t> lines;
    std::vector<std::string> own;  // "Kind: json"
    LoadReport report;
    std::string error;  // empty: none

    // The only object.
    template <class T>
    [[nodiscard]] const T& one() const {
        REPRIEVE_CHECK(error.empty(), "{}", error);
        REPRIEVE_CHECK(objects.size() == 1, "{} objects", objects.size());
        return std::get<T>(objects.front());
    }
    [[nodiscard]] const PodSpec& shape() const { return words->spec(one<Pod>().spec); }
    [[nodiscard]] std::string text(StringId id) const { return words->str(id); }
    [[nodiscard]] std::int64_t amount(const Resources& resources, std::string_view dim) const {
        return resources.get(words->dimension(dim));
    }
};

inline Loaded load_text(std::string_view text, const std::string& name = "in.yaml") {
    Loaded loaded;
    Loader loader(*loaded.words, [&](Object&& object, const SourceRef& source) {
        loaded.objects.push_back(std::move(object));
        loaded.lines.push_back(source.line());
    });
    loader.on_document("Expect", [&](std::string_view kind, std::string_view json, const SourceRef&) {
        loaded.own.push_back(std::string(kind) + ": " + std::string(json));
    });
    const auto done = loader.load_text(name, text);
    if (!done) loaded.error = done.error().text();
    loaded.report = loader.report();
    return loaded;
}

// A pod with these lines in its spec, indented by two.
inline Loaded load_pod(std::string_view spec, std::string_view metadata = "") {
    std::string text = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  namespace: ns\n";
    return load_text(text.append(metadata).append("spec:\n  nodeName: n1\n").append(spec));
}

}  // namespace reprieve
