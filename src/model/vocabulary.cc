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
template <class IdType, class T, class HashOf>
IdType intern(IdVector<IdType, T>& table, FlatIndex<IdType>& index, T value, HashOf hash_of_value) {
    const std::uint64_t hash = hash_of_value(value);
    if (const IdType known = index.find(hash, [&](IdType id) { return table[id] == value; })) return known;
    const IdType id = table.push_back(std::move(value));
    index.insert(hash, id);
    if (index.needs_room()) index.make_room([&](IdType each) { return hash_of_value(table[each]); });
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
    return intern(label_sets_, label_index_, std::move(labels), [](const Labels& each) { return hash_of(each); });
}

SpecId Vocabulary::spec(PodSpec spec) {
    return intern(specs_, spec_index_, std::move(spec), [](const PodSpec& each) { return each.hash(); });
}

}  // namespace reprieve
