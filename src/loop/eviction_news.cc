#include "loop/eviction_news.h"

namespace reprieve {

std::vector<Eviction> EvictionNews::take(const Plan& plan) {
    std::vector<Eviction> news;
    std::set<std::pair<std::string, EvictionMode>> asked;
    for (const Eviction& eviction : plan.evictions) {
        const std::pair key(eviction.uid, eviction.mode);
        if (!asked_.contains(key)) news.push_back(eviction);
        if (eviction.mode == EvictionMode::kScaleDown || eviction.mode == EvictionMode::kForceDelete) asked.insert(key);
    }
    asked_ = std::move(asked);
    return news;
}

}  // namespace reprieve
