#include "state/terms.h"

#include <algorithm>

#include "base/hash.h"
#include "model/vocabulary.h"
#include "model/word_marks.h"

namespace reprieve {
namespace {

std::uint64_t label_hash(StringId key, StringId value) { return mix_hash(key.value(), value.value()); }

std::uint64_t hash_selector(std::uint64_t h, const LabelSelector& selector) {
    h = mix_hash(h, selector.null ? 1 : 2);
    for (const Requirement& r : selector.requirements) {
        h = mix_hash(mix_hash(h, r.key.value()), static_cast<std::uint64_t>(r.op));
        for (StringId v : r.values)
            h = mix_hash(h, v.value());
    }
    return h;
}

std::uint64_t hash_term(const Term& term) {
    std::uint64_t h = term.key.value();
    for (const PodMatch& m : term.matches) {
        h = hash_selector(h, m.selector);
        for (StringId ns : m.namespaces)
            h = mix_hash(h, ns.value());
        h = hash_selector(h, m.namespace_selector);
    }
    return h;
}

// A (key, value) pair that every matching pod must carry, if there is one.
const Requirement* plain_label(const Term& term) {
    for (const PodMatch& m : term.matches) {
        for (const Requirement& r : m.selector.requirements) {
            if (r.op == SelectorOp::kIn && r.values.size() == 1) return &r;
        }
    }
    return nullptr;
}

}  // namespace

void NamespaceLabels::set(StringId ns, Labels labels) { labels_[ns] = std::move(labels); }
void NamespaceLabels::erase(StringId ns) { labels_.erase(ns); }

Labels NamespaceLabels::get(StringId ns, Vocabulary& words) const {
    Labels labels;
    if (const auto it = labels_.find(ns); it != labels_.end()) labels = it->second;
    labels.set(words.string("kubernetes.io/metadata.name"), ns);
    return labels;
}

TermId TermTable::add(Term term, bool& is_new) {
    std::vector<TermId>& same_hash = by_hash_[hash_term(term)];
    for (TermId id : same_hash) {
        if (terms_[id] == term) {
            is_new = false;
            return id;
        }
    }
    is_new = true;
    for (const PodMatch& match : term.matches)
        asks_for_namespace_labels_ = asks_for_namespace_labels_ || !match.namespace_selector.null;
    TermId id;
    if (unused_.empty()) {
        id = terms_.push_back(std::move(term));
    } else {
        id = unused_.back();
        unused_.pop_back();
        terms_[id] = std::move(term);
    }
    same_hash.push_back(id);
    if (const Requirement* r = plain_label(terms_[id])) {
        by_label_[label_hash(r->key, r->values.front())].push_back(id);
    } else {
        without_label_.push_back(id);
    }
    return id;
}

void TermTable::forget(TermId id) {
    const auto leave = [&](auto& index, std::uint64_t key) {
        const auto found = index.find(key);
        std::erase(found->second, id);
        if (found->second.empty()) index.erase(found);
    };
    leave(by_hash_, hash_term(terms_[id]));
    if (const Requirement* r = plain_label(terms_[id]))
        leave(by_label_, label_hash(r->key, r->values.front()));
    else
        std::erase(without_label_, id);
    terms_[id] = Term();
    unused_.push_back(id);
}

void TermTable::mark(WordMarks& marks) const {
    for (const Term& term : terms_) {
        for (const PodMatch& match : term.matches)
            marks.all(match.selector, match.namespaces, match.namespace_selector);
    }
}

bool TermTable::matches(
    TermId id, StringId ns, const Labels& labels, const NamespaceLabels& namespaces, Vocabulary& words) const {
    return std::ranges::all_of(terms_[id].matches, [&](const PodMatch& m) {
        if (!m.selector.matches(labels, words)) return false;
        if (std::ranges::binary_search(m.namespaces, ns)) return true;
        return !m.namespace_selector.null && m.namespace_selector.matches(namespaces.get(ns, words), words);
    });
}

void TermTable::candidates(const Labels& labels, std::vector<TermId>& out) const {
    out = without_label_;
    for (const auto& [key, value] : labels) {
        if (const auto it = by_label_.find(label_hash(key, value)); it != by_label_.end()) {
            out.insert(out.end(), it->second.begin(), it->second.end());
        }
    }
}

TopologyKeyId TopologyIndex::key(StringId label, bool& is_new) {
    const TopologyKeyId known = find(label);
    is_new = !known.valid();
    if (known) return known;
    return keys_.push_back({label, std::vector<std::int32_t>(node_count_, kNoDomain), {}, {}, {}});
}

TopologyKeyId TopologyIndex::find(StringId label) const {
    for (TopologyKeyId id : IdRange<TopologyKeyId>(keys_.size())) {
        if (keys_[id].label == label) return id;
    }
    return {};
}

void TopologyIndex::set_node(TopologyKeyId key, std::size_t node, StringId value) {
    Key& k = keys_[key];
    std::int32_t& domain = k.domain_of_node[node];
    if (domain != kNoDomain) {
        auto& [before, nodes] = k.nodes[static_cast<std::size_t>(domain)];
        if (before == value) return;
        if (--nodes == 0) {
            k.values.erase(before);
            k.unused.push_back(domain);
        }
    }
    domain = kNoDomain;
    if (!value) return;
    const auto [it, fresh] = k.values.try_emplace(value);
    if (fresh && !k.unused.empty()) {
        it->second = k.unused.back();
        k.unused.pop_back();
        k.nodes[static_cast<std::size_t>(it->second)] = {value, 0};
    } else if (fresh) {
        it->second = static_cast<std::int32_t>(k.nodes.size());
        k.nodes.emplace_back(value, 0);
    }
    domain = it->second;
    ++k.nodes[static_cast<std::size_t>(domain)].second;
}

void TopologyIndex::mark(WordMarks& marks) const {
    for (const Key& key : keys_) {
        marks.all(key.label);
        for (const auto& [value, domain] : key.values)
            marks.all(value);
    }
}

void TopologyIndex::set_node_count(std::size_t nodes) {
    node_count_ = nodes;
    for (Key& k : keys_)
        k.domain_of_node.resize(nodes, kNoDomain);
}

}  // namespace reprieve
