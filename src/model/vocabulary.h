// Vocabulary: the words of one cluster as dense ids: strings, resource dimensions, label sets, pod shapes.
//
// Owned by whoever owns the facts (state::Cluster, or a test). Decoders intern into it; everybody else
// reads. Ids are given in order of arrival and never decide a tie that a user can see.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/flat_index.h"
#include "base/id.h"
#include "base/interner.h"
#include "model/labels.h"
#include "model/pod_spec.h"
#include "model/resources.h"

namespace reprieve {

class WordMarks;

class Vocabulary {
public:
    Vocabulary();
    Vocabulary(const Vocabulary&) = delete;
    Vocabulary& operator=(const Vocabulary&) = delete;

    StringId string(std::string_view text) { return StringId(strings_.intern(text)); }
    // None if the string was never interned: then nothing can be equal to it.
    [[nodiscard]] StringId find_string(std::string_view text) const;
    [[nodiscard]] std::string_view text(StringId id) const {
        return id ? strings_.view(id.value()) : std::string_view();
    }
    [[nodiscard]] std::string str(StringId id) const { return std::string(text(id)); }

    Dim dimension(std::string_view resource) { return Dim(dims_.intern(resource)); }
    [[nodiscard]] Dim find_dimension(std::string_view resource) const;
    [[nodiscard]] std::string_view text(Dim dim) const { return dims_.view(dim.value()); }
    // cpu, memory and pods, then the others by name: an order that does not depend on what was heard of first.
    [[nodiscard]] bool comes_before(Dim a, Dim b) const;
    [[nodiscard]] std::size_t dimension_count() const { return dims_.size(); }

    LabelsId labels(Labels labels);
    [[nodiscard]] const Labels& labels(LabelsId id) const { return label_sets_[id]; }

    SpecId spec(PodSpec spec);
    [[nodiscard]] const PodSpec& spec(SpecId id) const { return specs_[id]; }
    [[nodiscard]] std::size_t spec_count() const { return specs_.size() - unused_specs_.size(); }

    [[nodiscard]] std::size_t string_bytes() const { return strings_.bytes(); }
    // Ids in use are below these.
    [[nodiscard]] std::size_t string_slots() const { return strings_.slots(); }
    [[nodiscard]] std::size_t labels_slots() const { return label_sets_.size(); }
    [[nodiscard]] std::size_t spec_slots() const { return specs_.size(); }
    // Strings, label sets and specs together.
    [[nodiscard]] std::size_t word_count() const {
        return strings_.size() + label_sets_.size() - unused_labels_.size() + spec_count();
    }
    // Forgets what is not marked; ids of forgotten words are given again, and views of texts must be asked for anew.
    void sweep(const WordMarks& marks);

private:
    Interner strings_;
    Interner dims_;
    IdVector<LabelsId, Labels> label_sets_;
    FlatIndex<LabelsId> label_index_;
    std::vector<LabelsId> unused_labels_;
    IdVector<SpecId, PodSpec> specs_;
    FlatIndex<SpecId> spec_index_;
    std::vector<SpecId> unused_specs_;
};

}  // namespace reprieve
