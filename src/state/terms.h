// Terms: which pods each affinity term or spread constraint speaks of, and in which topology domain each node lies.
//
// A Term is a set of pods (all its matches must hold) counted per domain of one topology key; the key "none" counts
// per node (that is what spread constraints use). Counts live in Occupancy; this table only knows who matches.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "model/pod_spec.h"
#include "state/ids.h"

namespace reprieve {

class Vocabulary;
class WordMarks;

struct PodMatch {
    LabelSelector selector;
    std::vector<StringId> namespaces;
    LabelSelector namespace_selector;
    friend auto operator<=>(const PodMatch&, const PodMatch&) = default;
};

struct Term {
    TopologyKeyId key;  // none: per node
    std::vector<PodMatch> matches;
    friend bool operator==(const Term&, const Term&) = default;
};

// Labels of namespaces; a namespace without an object has only its name label.
class NamespaceLabels {
public:
    void set(StringId ns, Labels labels);
    void erase(StringId ns);
    [[nodiscard]] Labels get(StringId ns, Vocabulary& words) const;

private:
    std::unordered_map<StringId, Labels> labels_;
};

class TermTable {
public:
    // The term's id; `is_new` tells whether it was not there before (then counts must be filled).
    TermId add(Term term, bool& is_new);
    [[nodiscard]] std::size_t size() const { return terms_.size(); }
    // No class asks for it any more; its id is given again.
    void forget(TermId id);
    [[nodiscard]] bool forgotten(TermId id) const { return terms_[id].matches.empty(); }
    void mark(WordMarks& marks) const;
    [[nodiscard]] const Term& operator[](TermId id) const { return terms_[id]; }
    [[nodiscard]] bool matches(
        TermId id, StringId ns, const Labels& labels, const NamespaceLabels& namespaces, Vocabulary& words) const;
    // Whether any term selects namespaces by their labels.
    [[nodiscard]] bool asks_for_namespace_labels() const { return asks_for_namespace_labels_; }
    // Terms that could match a pod with these labels: those whose first plain label the pod has, and those without one.
    void candidates(const Labels& labels, std::vector<TermId>& out) const;

private:
    IdVector<TermId, Term> terms_;
    std::unordered_map<std::uint64_t, std::vector<TermId>> by_hash_;
    std::unordered_map<std::uint64_t, std::vector<TermId>> by_label_;  // (key, value) every match of the term demands
    std::vector<TermId> without_label_;
    std::vector<TermId> unused_;
    bool asks_for_namespace_labels_ = false;
};

// Node -> domain index per topology key; domains of a key are numbered from 0 in order of arrival.
class TopologyIndex {
public:
    static constexpr std::int32_t kNoDomain = -1;

    TopologyKeyId key(StringId label, bool& is_new);
    [[nodiscard]] TopologyKeyId find(StringId label) const;
    [[nodiscard]] std::size_t key_count() const { return keys_.size(); }
    [[nodiscard]] StringId label(TopologyKeyId key) const { return keys_[key].label; }
    // Numbers of domains that were ever in use; one whose last node has left is given to the next that appears.
    [[nodiscard]] std::size_t domain_count(TopologyKeyId key) const { return keys_[key].nodes.size(); }
    [[nodiscard]] std::int32_t domain(TopologyKeyId key, std::size_t node) const {
        return keys_[key].domain_of_node[node];
    }
    void set_node(TopologyKeyId key, std::size_t node, StringId value);
    void set_node_count(std::size_t nodes);
    void mark(WordMarks& marks) const;

private:
    struct Key {
        StringId label;
        std::vector<std::int32_t> domain_of_node;
        std::unordered_map<StringId, std::int32_t> values;
        std::vector<std::pair<StringId, std::int32_t>> nodes;  // of each domain: its value, and how many nodes it has
        std::vector<std::int32_t> unused;
    };
    IdVector<TopologyKeyId, Key> keys_;
    std::size_t node_count_ = 0;
};

}  // namespace reprieve
