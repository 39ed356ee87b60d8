#include "search/split_order.h"

#include <algorithm>
#include <compare>
#include <numeric>

#include "base/wide.h"

namespace reprieve {
namespace {

// A sum of fractions, kept exact: shares of a need that are equal must compare as equal. Beyond any real size the
// denominator is rounded.
class Fractions {
public:
    // REQUIRES: 0 <= part, 0 < whole.
    void add(std::int64_t part, std::int64_t whole) {
        constexpr std::int64_t kMostBelow = std::int64_t{1} << 40;
        const std::int64_t common = std::gcd(part, whole);
        part /= common;
        whole /= common;
        while (static_cast<Wide>(below_ / std::gcd(below_, whole)) * whole > kMostBelow) {
            part /= 2;
            whole = std::max<std::int64_t>(whole / 2, 1);
            above_ /= 2;
            below_ = std::max<std::int64_t>(below_ / 2, 1);
        }
        const std::int64_t shared = std::lcm(below_, whole);
        above_ = above_ * (shared / below_) + static_cast<Wide>(part) * (shared / whole);
        below_ = shared;
    }

    friend std::strong_ordering operator<=>(const Fractions& a, const Fractions& b) {
        return a.above_ * b.below_ <=> b.above_ * a.below_;
    }
    friend bool operator==(const Fractions& a, const Fractions& b) { return (a <=> b) == 0; }

private:
    Wide above_ = 0;
    std::int64_t below_ = 1;
};

// How much of the need one pod covers (capped) and what it holds in all, as shares of the need summed over the
// dimensions.
struct Coverage {
    Fractions covered;
    Fractions size;
};

Coverage coverage(const PodClass& cls, std::span<const Resources::Amount> need, bool useful) {
    Coverage out;
    for (const auto& [dim, needed] : need) {
        if (dim == kPods || needed <= 0) continue;
        for (const auto& [have, value] : cls.requests) {
            if (have != dim || value <= 0) continue;
            if (useful) out.covered.add(std::min(value, needed), needed);
            out.size.add(value, needed);
        }
    }
    return out;
}

}  // namespace

void sort_for_split(const Snapshot& s, const Attack& attack, std::vector<PodId>& pods) {
    struct Item {
        PodId pod;
        Coverage coverage;
    };
    std::vector<Item> items;
    for (PodId p : pods) {
        const bool useful = attack.useful == nullptr || (*attack.useful)[s.pods[p].node.index()];
        items.push_back({p, coverage(s.class_of(p), attack.need, useful)});
    }
    std::ranges::sort(items, [&](const Item& a, const Item& b) {
        const PodRow& x = s.pods[a.pod];
        const PodRow& y = s.pods[b.pod];
        if (a.coverage.covered != b.coverage.covered) return a.coverage.covered > b.coverage.covered;
        if (x.priority != y.priority) return x.priority < y.priority;
        if (a.coverage.size != b.coverage.size) return a.coverage.size < b.coverage.size;
        if (s.started(a.pod) != s.started(b.pod)) return s.started(a.pod) > s.started(b.pod);
        return s.name_less(b.pod, a.pod);
    });
    for (std::size_t i = 0; i < items.size(); ++i)
        pods[i] = items[i].pod;
}

}  // namespace reprieve
