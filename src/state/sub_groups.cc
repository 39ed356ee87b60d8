#include "state/sub_groups.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "state/cluster.h"

namespace reprieve {
namespace {

std::optional<std::int64_t> number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

SubGroupKey sub_group_of(const Snapshot& s, PodId pod) {
    const GangId gang = s.pods[pod].gang;
    const Gang* fact = gang ? s.gangs[gang].fact : nullptr;
    if (fact == nullptr) return {};
    const Labels& labels = s.words->labels(s.facts->pod(pod).labels);
    for (std::size_t i = 0; i < fact->sub_groups.size(); ++i) {
        const SubGroupPolicy& policy = fact->sub_groups[i];
        if (!policy.selector.null && !policy.selector.matches(labels, *s.words)) continue;
        SubGroupKey key{.policy = static_cast<std::int32_t>(i)};
        for (StringId label : policy.match_label_keys)
            key.values.push_back(labels.get(label));
        if (std::ranges::all_of(key.values, [](StringId v) { return v.valid(); })) return key;
    }
    return {};
}

bool sub_group_before(const Snapshot& s, const SubGroupKey& a, const SubGroupKey& b) {
    if (a.policy != b.policy) return a.policy < b.policy;
    for (std::size_t i = 0; i < a.values.size() && i < b.values.size(); ++i) {
        if (a.values[i] == b.values[i]) continue;
        const auto x = number(s.words->text(a.values[i]));
        const auto y = number(s.words->text(b.values[i]));
        if (x && y && *x != *y) return *x < *y;
        if (x.has_value() != y.has_value()) return x.has_value();
        return s.words->text(a.values[i]) < s.words->text(b.values[i]);
    }
    return false;
}

}  // namespace reprieve
