#include "state/share_policy.h"

#include <algorithm>
#include <limits>

#include "base/quantity.h"

namespace reprieve {
namespace {

Wide round_up(const SharePolicy& policy, Wide wish) {
    if (policy.has_range) {
        if (!policy.least) return wish;
        if (wish < *policy.least) return *policy.least;
        if (!policy.step || *policy.step <= 0) return wish;
        const Wide above = wish - *policy.least;
        const Wide steps = above / *policy.step + (above % *policy.step != 0 ? 1 : 0);
        return *policy.least + steps * *policy.step;
    }
    const auto at = std::ranges::lower_bound(policy.valid, wish);
    return at == policy.valid.end() ? wish : *at;
}

bool forbids(const SharePolicy& policy, Wide amount) {
    if (policy.usual && amount == *policy.usual) return false;
    if (policy.has_range) {
        if (policy.most && amount > *policy.most) return true;
        return policy.step && *policy.step > 0 && (amount - policy.least.value_or(0)) % *policy.step != 0;
    }
    return !policy.valid.empty() && std::ranges::find(policy.valid, amount) == policy.valid.end();
}

}  // namespace

std::optional<Wide> share_of_capacity(const DeviceCapacity& capacity, std::optional<Wide> wish) {
    Wide amount = capacity.value;
    if (wish)
        amount = capacity.policy.made() ? round_up(*capacity.policy, *wish) : *wish;
    else if (capacity.policy->usual)
        amount = *capacity.policy->usual;
    if (capacity.policy.made() && forbids(*capacity.policy, amount)) return std::nullopt;
    return amount;
}

bool rounds_out_of_range(const DeviceCapacity& capacity, Wide wish) {
    constexpr Wide kMost = Wide{std::numeric_limits<std::int64_t>::max()} * kNanoPerUnit;
    const SharePolicy& policy = *capacity.policy;
    return policy.has_range && policy.least && policy.step && round_up(policy, wish) > kMost;
}

}  // namespace reprieve
