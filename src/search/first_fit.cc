#include "search/first_fit.h"

#include <algorithm>
#include <set>
#include <vector>

namespace reprieve {
namespace {

constexpr std::size_t kMostOffers = 4096;

bool ask_alike(const DeviceWish& a, const DeviceWish& b) {
    return a.cls == b.cls && a.selectors == b.selectors && a.mode == b.mode && a.admin == b.admin &&
           a.tolerations == b.tolerations && a.amounts == b.amounts;
}

bool use_up_alike(const PooledDevice& a, const PooledDevice& b) {
    return std::ranges::equal(*a.consumes, *b.consumes, {}, &CounterSet::counters, &CounterSet::counters);
}

// Everything that the wish suits on these nodes uses up the same of its counters.
bool suits_alike(const Snapshot& s, const DeviceWish& wish, std::span<const NodeId> nodes) {
    const ClaimTable& table = s.device_claims;
    const auto cls = table.classes.find(wish.cls);
    if (cls == table.classes.end()) return true;
    const PooledDevice* first = nullptr;
    std::size_t looked_at = 0;
    for (NodeId node : nodes) {
        for (const NodePool& pool : table.pools.on_node(node)) {
            if (pool.counters.empty()) continue;
            for (OfferId id : pool.offers) {
                if (++looked_at > kMostOffers) return false;
                if (table.select(cls->second->selectors, id, nullptr) != Selected::kYes ||
                    table.select(wish.selectors, id, nullptr) != Selected::kYes)
                    continue;
                const PooledDevice* fact = table.pools.offer(id).fact;
                if (first == nullptr) first = fact;
                if (!use_up_alike(*first, *fact)) return false;
            }
        }
    }
    return true;
}

}  // namespace

bool first_fit_decides(const Snapshot& s, std::span<const PodId> pods, std::span<const NodeId> nodes) {
    std::set<DeviceClaimId> claims;
    for (PodId pod : pods) {
        for (DeviceClaimId id : s.device_claims.of(pod).wants)
            claims.insert(id);
    }
    if (claims.size() < 2) return true;  // one claim is given every way there is
    const DeviceWish* first = nullptr;
    for (DeviceClaimId id : claims) {
        const ClaimSpec& spec = *s.device_claims.row(id).spec;
        if (!spec.constraints.empty()) return false;
        for (const DeviceRequest& request : spec.requests) {
            if (request.wishes.size() != 1) return false;
            if (first == nullptr) first = &request.wishes.front();
            if (!ask_alike(*first, request.wishes.front())) return false;
        }
    }
    return first == nullptr || suits_alike(s, *first, nodes);
}

}  // namespace reprieve
