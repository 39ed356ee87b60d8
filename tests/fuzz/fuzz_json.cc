// Any bytes as JSON: as a file that may hold lists, and as one object of a watch. Both must agree on single objects.
#include "base/check.h"
#include "manifest/decode.h"
#include "manifest/load.h"

using namespace reprieve;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    Vocabulary words;
    std::vector<Object> loaded;
    Loader loader(words, [&](Object&& object, const SourceRef& source) {
        REPRIEVE_CHECK(source.line() >= 1);
        loaded.push_back(std::move(object));
    });
    const auto done = loader.load_text("fuzz.json", text);
    if (!done) REPRIEVE_CHECK(!done.error().what.empty() && done.error().line >= 1);

    Decoder decoder(words);
    const auto decoded = decoder.decode(text);
    if (!decoded) REPRIEVE_CHECK(!decoded.error().what.empty());
    if (done && loaded.size() == 1 && decoded && *decoded) REPRIEVE_CHECK(**decoded == loaded.front());
    return 0;
}
