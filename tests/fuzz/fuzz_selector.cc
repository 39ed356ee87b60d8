// Any bytes as a label selector and as the terms of a node selector, then matched against labels.
#include <algorithm>

#include "base/check.h"
#include "manifest/decode.h"

using namespace reprieve;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    Vocabulary words;
    Labels labels;
    for (const char* word : {"app", "zone", "1", "-5", ""})
        labels.set(words.string(word), words.string(word));

    Decoder decoder(words);
    const auto budget = decoder.decode(
        R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{"selector":)" + text +
        "}}");
    if (budget && *budget) {
        const LabelSelector& selector = std::get<DisruptionBudget>(**budget).selector;
        REPRIEVE_CHECK(std::is_sorted(selector.requirements.begin(), selector.requirements.end()));
        if (selector.null) REPRIEVE_CHECK(!selector.matches(labels, words));
        if (!selector.null && selector.empty()) REPRIEVE_CHECK(selector.matches(labels, words));
    }
    const auto volume = decoder.decode(
        R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"v"},"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":)" +
        text + "}}}}");
    if (volume && *volume) {
        for (const NodeSelectorTerm& term : std::get<PersistentVolume>(**volume).node_terms) {
            const bool matches = term.matches(labels, words.string("n1"), words);
            if (term.labels.empty() && term.names.empty()) REPRIEVE_CHECK(!matches);
        }
    }
    return 0;
}
