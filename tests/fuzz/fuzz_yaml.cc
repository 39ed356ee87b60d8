// Any bytes as YAML. What loads once loads again, and is the same.
#include "base/check.h"
#include "manifest/load.h"

using namespace reprieve;

namespace {

bool load(Vocabulary& words, std::string_view text, std::vector<Object>& out) {
    Loader loader(words, [&](Object&& object, const SourceRef& source) {
        REPRIEVE_CHECK(source.line() >= 1);
        out.push_back(std::move(object));
    });
    loader.on_document("Expect", [](std::string_view, std::string_view json, const SourceRef&) {
        REPRIEVE_CHECK(json.starts_with('{'));
    });
    const auto done = loader.load_text("fuzz.yaml", text);
    if (!done) REPRIEVE_CHECK(!done.error().what.empty());
    return done.has_value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    Vocabulary words;
    std::vector<Object> first;
    std::vector<Object> second;
    const bool loaded = load(words, text, first);
    REPRIEVE_CHECK(load(words, text, second) == loaded);
    REPRIEVE_CHECK(first == second);
    return 0;
}
