#include "model/labels.h"

#include <algorithm>
#include <charconv>

#include "model/vocabulary.h"

namespace reprieve {
namespace {

bool key_before(const std::pair<StringId, StringId>& pair, StringId key) { return pair.first < key; }

// A label's value as a number, as upstream reads it: an optional sign and decimal digits.
std::optional<std::int64_t> number_in(std::string_view text) {
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

// `value` is none where the key is absent.
bool holds(const Requirement& requirement, StringId value, const Vocabulary& words) {
    const auto listed = [&] { return std::binary_search(requirement.values.begin(), requirement.values.end(), value); };
    switch (requirement.op) {
        case SelectorOp::kIn:
            return value.valid() && listed();
        case SelectorOp::kNotIn:
            return !value.valid() || !listed();
        case SelectorOp::kExists:
            return value.valid();
        case SelectorOp::kDoesNotExist:
            return !value.valid();
        case SelectorOp::kGt:
        case SelectorOp::kLt:
            break;
    }
    if (!value.valid()) return false;
    const std::optional<std::int64_t> number = number_in(words.text(value));
    if (!number) return false;
    return requirement.op == SelectorOp::kGt ? *number > requirement.bound : *number < requirement.bound;
}

}  // namespace

void Labels::set(StringId key, StringId value) {
    const auto at = std::lower_bound(pairs_.begin(), pairs_.end(), key, key_before);
    if (at != pairs_.end() && at->first == key) {
        at->second = value;
    } else {
        pairs_.insert(at, {key, value});
    }
}

StringId Labels::get(StringId key) const {
    const auto at = std::lower_bound(pairs_.begin(), pairs_.end(), key, key_before);
    return at != pairs_.end() && at->first == key ? at->second : StringId();
}

bool Requirement::matches(const Labels& labels, const Vocabulary& words) const {
    return holds(*this, labels.get(key), words);
}

bool LabelSelector::matches(const Labels& labels, const Vocabulary& words) const {
    if (null) return false;
    return std::all_of(requirements.begin(), requirements.end(), [&](const Requirement& requirement) {
        return requirement.matches(labels, words);
    });
}

bool NodeSelectorTerm::matches(const Labels& node_labels, StringId node_name, const Vocabulary& words) const {
    if (labels.empty() && names.empty()) return false;
    return std::all_of(labels.begin(),
                       labels.end(),
                       [&](const Requirement& requirement) { return requirement.matches(node_labels, words); }) &&
           std::all_of(names.begin(), names.end(), [&](const Requirement& requirement) {
               return holds(requirement, node_name, words);
           });
}

}  // namespace reprieve
