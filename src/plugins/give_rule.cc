#include "plugins/give_rule.h"

#include <algorithm>

namespace reprieve {

void sort_by_names(const Snapshot& s, std::vector<GiveRule>& rules) {
    std::ranges::stable_sort(rules, [&](const GiveRule& a, const GiveRule& b) {
        if (a.queue != b.queue) return s.words->text(s.queues[a.queue].name) < s.words->text(s.queues[b.queue].name);
        return a.dim != b.dim && s.words->comes_before(a.dim, b.dim);
    });
}

}  // namespace reprieve
