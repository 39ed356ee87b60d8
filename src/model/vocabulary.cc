#include "model/vocabulary.h"

#include "base/check.h"
#include "base/hash.h"

namespace reprieve {
namespace {

std::uint64_t hash_of(const Labels& labels) {
    std::uint64_t hash = labels.size();
    for (const auto& [key, value] : labels)
        hash = mix_hash(mix_hash(hash, key.value()), value.value());
    return hash;
}

// The id of an equal value already in `table`, else of `value` appended to it.
template <class IdType, class T>
IdType intern(IdVector<IdType, T>& table,
              std::unordered_multimap<std::uint64_t, IdType>& by_hash,
              std::uint64_t hash,
              T value) {
    const auto [from, to] = by_hash.equal_range(hash);
    for (auto at = from; at != to; ++at) {
        if (table[at->second] == value) return at->second;
    }
    const IdType id = table.push_back(std::move(value));
    by_hash.emplace(hash, id);
    return id;
}

}  // namespace

Vocabulary::Vocabulary() {
    REPRIEVE_CHECK(dimension("cpu") == kCpu);
    REPRIEVE_CHECK(dimension("memory") == kMemory);
    REPRIEVE_CHECK(dimension("pods") == kPods);
    REPRIEVE_CHECK(dimension("ephemeral-storage") == kEphemeralStorage);
}

StringId Vocabulary::find_string(std::string_view text) const {
    const std::uint32_t id = strings_.find(text);
    return id == Interner::kAbsent ? StringId() : StringId(id);
}

Dim Vocabulary::find_dimension(std::string_view resource) const {
    const std::uint32_t id = dims_.find(resource);
    return id == Interner::kAbsent ? Dim() : Dim(id);
}

LabelsId Vocabulary::labels(Labels labels) {
    const std::uint64_t hash = hash_of(labels);
    return intern(label_sets_, labels_by_hash_, hash, std::move(labels));
}

SpecId Vocabulary::spec(PodSpec spec) {
    const std::uint64_t hash = spec.hash();
    return intern(specs_, specs_by_hash_, hash, std::move(spec));
}

}  // namespace reprieve
