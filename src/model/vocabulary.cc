#include "model/vocabulary.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "model/word_marks.h"

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
IdType intern(
    IdVector<IdType, T>& table, FlatIndex<IdType>& index, std::vector<IdType>& unused, T value, HashOf hash_of_value) {
    const std::uint64_t hash = hash_of_value(value);
    if (const IdType known = index.find(hash, [&](IdType id) { return table[id] == value; })) return known;
    IdType id;
    if (unused.empty()) {
        id = table.push_back(std::move(value));
    } else {
        id = unused.back();
        unused.pop_back();
        table[id] = std::move(value);
    }
    index.insert(hash, id);
    if (index.needs_room()) index.make_room([&](IdType each) { return hash_of_value(table[each]); });
    return id;
}

template <class IdType, class T, class HashOf>
void forget(IdVector<IdType, T>& table,
            FlatIndex<IdType>& index,
            std::vector<IdType>& unused,
            const std::vector<bool>& in_use,
            HashOf hash_of_value) {
    std::vector<bool> is_unused(table.size());
    for (IdType id : unused)
        is_unused[id.index()] = true;
    for (std::size_t i = in_use.size(); i-- > 0;) {
        const IdType id(i);
        if (in_use[i] || is_unused[i]) continue;
        index.erase(hash_of_value(table[id]), [&](IdType each) { return each == id; });
        table[id] = T();
        unused.push_back(id);
    }
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

bool Vocabulary::comes_before(Dim a, Dim b) const {
    const std::uint32_t first_of_others = kPods.value() + 1;
    return std::min(a.value(), b.value()) < first_of_others ? a < b : text(a) < text(b);
}

LabelsId Vocabulary::labels(Labels labels) {
    return intern(
        label_sets_, label_index_, unused_labels_, std::move(labels), [](const Labels& each) { return hash_of(each); });
}

SpecId Vocabulary::spec(PodSpec spec) {
    return intern(specs_, spec_index_, unused_specs_, std::move(spec), [](const PodSpec& each) { return each.hash(); });
}

void Vocabulary::sweep(const WordMarks& marks) {
    forget(label_sets_, label_index_, unused_labels_, marks.labels(), [](const Labels& each) { return hash_of(each); });
    forget(specs_, spec_index_, unused_specs_, marks.specs(), [](const PodSpec& each) { return each.hash(); });
    strings_.sweep(marks.strings());
}

}  // namespace reprieve
