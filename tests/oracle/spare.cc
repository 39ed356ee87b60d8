#include "spare.h"

#include <numeric>

namespace reprieve::oracle {

Spare::Spare(const Instance& instance, int gang) {
    const RunningGang& rules = instance.gangs[static_cast<std::size_t>(gang)];
    std::vector<int> live(rules.role_minimums.size());
    for (const RunningPod& pod : instance.pods) {
        if (pod.gang != gang) continue;
        ++left_;
        if (pod.role >= 0 && static_cast<std::size_t>(pod.role) < live.size())
            ++live[static_cast<std::size_t>(pod.role)];
    }
    left_ -= rules.min;
    broken_ = left_ < 0;
    const int sum = std::accumulate(rules.role_minimums.begin(), rules.role_minimums.end(), 0);
    if (rules.min < sum) return;
    for (std::size_t role = 0; role < live.size(); ++role)
        by_role_[static_cast<int>(role)] = live[role] - rules.role_minimums[role];
}

bool Spare::take(const RunningPod& pod) {
    if (broken_) return true;
    const auto role = by_role_.find(pod.role);
    if (left_ <= 0 || (role != by_role_.end() && role->second <= 0)) return false;
    --left_;
    if (role != by_role_.end()) --role->second;
    return true;
}

}  // namespace reprieve::oracle
