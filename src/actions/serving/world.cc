#include "actions/serving/world.h"

#include <algorithm>

namespace reprieve::serving {

bool covers(const Amounts& have, const Amounts& need) {
    return std::ranges::equal(have, need, [](std::int64_t a, std::int64_t b) { return b == 0 || a >= b; });
}

void add(Amounts& to, const Amounts& more) {
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] += more[i];
}

void subtract(Amounts& from, const Amounts& less) {
    for (std::size_t i = 0; i < from.size(); ++i)
        from[i] -= less[i];
}

Amounts smaller(const Amounts& a, const Amounts& b) {
    Amounts out(a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        out[i] = std::min(a[i], b[i]);
    return out;
}

}  // namespace reprieve::serving
