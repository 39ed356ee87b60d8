// Labels, label selectors and node selector terms, on interned strings.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/id.h"

namespace reprieve {

class Vocabulary;
using StringId = Id<struct StringTag>;
using LabelsId = Id<struct LabelsTag>;

// Sorted by key id; keys are unique.
class Labels {
public:
    void set(StringId key, StringId value);
    // None if the key is absent.
    [[nodiscard]] StringId get(StringId key) const;
    [[nodiscard]] bool has(StringId key) const { return get(key).valid(); }
    [[nodiscard]] bool empty() const { return pairs_.empty(); }
    [[nodiscard]] std::size_t size() const { return pairs_.size(); }
    [[nodiscard]] auto begin() const { return pairs_.begin(); }
    [[nodiscard]] auto end() const { return pairs_.end(); }
    friend auto operator<=>(const Labels&, const Labels&) = default;

private:
    std::vector<std::pair<StringId, StringId>> pairs_;
};

enum class SelectorOp : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };

// One requirement on a label. For Gt and Lt, `bound` is the integer to compare with.
struct Requirement {
    StringId key;
    SelectorOp op = SelectorOp::kExists;
    std::vector<StringId> values;  // sorted by id; In and NotIn only
    std::int64_t bound = 0;
    friend auto operator<=>(const Requirement&, const Requirement&) = default;

    // `words` gives the text of a value to Gt and Lt.
    [[nodiscard]] bool matches(const Labels& labels, const Vocabulary& words) const;
};

// metav1.LabelSelector: all requirements must hold. `null` (not written) matches nothing; written but empty
// matches everything, where the user of the selector does not say otherwise.
struct LabelSelector {
    bool null = true;
    std::vector<Requirement> requirements;  // matchLabels become In with one value; sorted
    friend auto operator<=>(const LabelSelector&, const LabelSelector&) = default;

    [[nodiscard]] bool matches(const Labels& labels, const Vocabulary& words) const;
    [[nodiscard]] bool empty() const { return requirements.empty(); }
};

// v1.NodeSelectorTerm: an empty term matches no node.
struct NodeSelectorTerm {
    std::vector<Requirement> labels;
    std::vector<Requirement> names;  // matchFields metadata.name, as requirements on the node's name (key is none)
    friend auto operator<=>(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;

    [[nodiscard]] bool matches(const Labels& node_labels, StringId node_name, const Vocabulary& words) const;
};

}  // namespace reprieve
