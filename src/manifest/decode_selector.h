// Selectors of labels and nodes. What comes out is sorted and free of repetition, so that equal selectors are equal.
#pragma once

#include <algorithm>
#include <vector>

#include "manifest/cursor.h"
#include "model/labels.h"

namespace reprieve {

void decode_selector(Cursor& at, LabelSelector& out);
// One term of a node selector: matchExpressions and matchFields.
void decode_node_term(Cursor& at, NodeSelectorTerm& out);
// nodeSelectorTerms.
void decode_node_terms(Cursor& at, std::vector<NodeSelectorTerm>& out);

// key In (value)
[[nodiscard]] Requirement equals(StringId key, StringId value);

template <class T>
void sort_unique(std::vector<T>& items) {
    if (items.size() < 2) return;
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
}

// Drops what stands there twice and leaves the rest in the order of the manifest: where the first of several faults is
// named, an order of ids would depend on which words came first.
template <class T>
void drop_repeated(std::vector<T>& items) {
    std::vector<T> kept;
    for (T& item : items) {
        if (std::find(kept.begin(), kept.end(), item) == kept.end()) kept.push_back(std::move(item));
    }
    items = std::move(kept);
}

}  // namespace reprieve
