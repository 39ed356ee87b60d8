#include "state/claim_questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "state/cluster.h"
#include "state/device_match.h"

namespace reprieve {

bool served_by_claim(const Snapshot& s, NodeId node, Dim resource) {
    return s.device_claims.class_of_resource.contains(resource) && s.facts->node(node)->allocatable.get(resource) == 0;
}

std::vector<std::size_t> alternatives_taken(const Snapshot& s, PodId pod, std::span<const ClaimGrant> grants) {
    std::vector<std::size_t> out;
    for (DeviceClaimId id : s.device_claims.of(pod).wants) {
        const auto grant = std::ranges::find(grants, id, &ClaimGrant::claim);
        if (grant == grants.end()) continue;
        for (const DeviceRequest& request : s.device_claims.row(id).spec->requests) {
            if (request.wishes.size() < 2) continue;
            const auto taken = std::ranges::find_if(request.wishes, [&](const DeviceWish& wish) {
                const std::string label = fmt::format("{}/{}", s.words->text(request.name), s.words->text(wish.name));
                return std::ranges::any_of(grant->given.devices, [&](const GivenDevice& given) {
                    return s.words->text(given.request) == label;
                });
            });
            out.push_back(static_cast<std::size_t>(taken - request.wishes.begin()));
        }
    }
    return out;
}

namespace {

using UsedCounters = std::map<std::pair<StringId, StringId>, Wide>;  // set, counter

void charge_to(UsedCounters& used, const PooledDevice& device) {
    for (const CounterSet& set : *device.consumes) {
        for (const NamedCounter& counter : set.counters)
            used[{set.name, counter.name}] += counter.value;
    }
}

// Whether the counters of a pool cover what is held of it, as far as the devices of these claims pay with them: a share
// of a device that others share is paid for already. Admin access holds nothing, and had to be covered all the same.
bool counters_stand(const Snapshot& s, const NodePool& pool, std::span<const DeviceClaimId> claims) {
    const ClaimBook& later = s.later.claim_book();
    const ClaimTable& table = s.device_claims;
    UsedCounters used;
    bool pays = false;
    for (DeviceClaimId id : claims) {
        const GivenDevices* given = later.allocation(id, table.row(id).given);
        if (given == nullptr) continue;
        for (const GivenDevice& one : given->devices) {
            const auto offer =
                std::ranges::find_if(pool.offers, [&](OfferId o) { return table.pools.offer(o).device == one.device; });
            if (offer == pool.offers.end() || (one.share && later.held(one.device).shares > 1)) continue;
            const PooledDevice& device = *table.pools.offer(*offer).fact;
            pays = pays || !device.consumes->empty();
            if (one.admin && !one.share) charge_to(used, device);
        }
    }
    if (!pays) return true;
    for (const std::vector<OfferId>* list : {&pool.offers, &pool.elsewhere}) {
        for (OfferId offer : *list) {
            if (!later.held(table.pools.offer(offer).device).idle()) charge_to(used, *table.pools.offer(offer).fact);
        }
    }
    return std::ranges::all_of(pool.counters, [&](const CounterSet* set) {
        return std::ranges::all_of(set->counters, [&](const NamedCounter& counter) {
            const auto at = used.find({set->name, counter.name});
            return at == used.end() || at->second <= counter.value;
        });
    });
}

}  // namespace

bool given_devices_stand(const Snapshot& s, PodId pod) {
    const ClaimBook& later = s.later.claim_book();
    const ClaimTable& table = s.device_claims;
    const auto covered = [&](const NodePool& pool) {
        return pool.counters.empty() || counters_stand(s, pool, table.of(pod).wants);
    };
    const NodeId node = s.pods[pod].node;
    if (node && !std::ranges::all_of(table.pools.on_node(node), covered)) return false;
    const auto over = [&](const GivenDevices& all, const GivenDevice& given) {
        const HeldDevice& held = later.held(given.device);
        // Admin access looks through who holds a device. It holds no share either, and has to find room for it all the
        // same.
        if (given.admin && !given.share) return false;
        if (!given.admin && (held.whole > 1 || (held.whole == 1 && held.shares > 0))) return true;
        return std::ranges::any_of(table.pools.offers_of(given.device), [&](OfferId offer) {
            const std::span<const ConsumedAmount> amounts = later.amounts(given.device);
            return std::ranges::any_of(table.pools.offer(offer).fact->capacity, [&](const DeviceCapacity& capacity) {
                Wide used = amount_in(amounts, capacity.name);
                for (const GivenDevice& other : all.devices) {
                    if (other.admin && other.device == given.device) used += amount_in(other.amounts, capacity.name);
                }
                return used > capacity.value;
            });
        });
    };
    return std::ranges::none_of(table.of(pod).wants, [&](DeviceClaimId id) {
        const GivenDevices* given = later.allocation(id, table.row(id).given);
        return given != nullptr &&
               std::ranges::any_of(given->devices, [&](const GivenDevice& one) { return over(*given, one); });
    });
}

bool free_devices_can_harm(const Snapshot& s, PodId pod) {
    const ClaimTable& table = s.device_claims;
    return std::ranges::any_of(table.of(pod).wants, [&](DeviceClaimId id) {
        const ClaimSpec& spec = *table.row(id).spec;
        const auto harmed = [&](const DeviceWish& wish) {
            if (wish.mode == DeviceCount::kAll && !spec.constraints.empty()) return true;
            const auto cls = table.classes.find(wish.cls);
            return cls != table.classes.end() && table.fails_somewhere(*cls->second, wish.selectors);
        };
        return std::ranges::any_of(
            spec.requests, [&](const DeviceRequest& request) { return std::ranges::any_of(request.wishes, harmed); });
    });
}

bool is_poison(const Snapshot& s, PodId pod, DeviceId device) {
    const ClaimTable& table = s.device_claims;
    for (DeviceClaimId id : table.of(pod).wants) {
        for (const DeviceRequest& request : table.row(id).spec->requests) {
            for (const DeviceWish& wish : request.wishes) {
                const auto cls = table.classes.find(wish.cls);
                if (cls == table.classes.end()) continue;
                for (OfferId offer : table.pools.offers_of(device)) {
                    const Selected selected = table.select(cls->second->selectors, offer, nullptr);
                    if (selected == Selected::kError) return true;
                    if (selected == Selected::kYes && table.select(wish.selectors, offer, nullptr) == Selected::kError)
                        return true;
                }
            }
        }
    }
    return false;
}

std::vector<PodId> device_holders_elsewhere(const Snapshot& s, std::span<const NodeId> nodes) {
    const ClaimTable& table = s.device_claims;
    std::vector<PodId> found;
    if (table.pools.all_local()) return found;
    std::vector<bool> inside(s.nodes.size());
    for (NodeId node : nodes)
        inside[node.index()] = true;
    const auto add = [&](OfferId offer) {
        for (DeviceClaimId claim : table.holders(table.pools.offer(offer).device)) {
            for (PodId pod : table.row(claim).pods) {
                const NodeId node = s.pods[pod].node;
                if (node && !inside[node.index()]) found.push_back(pod);
            }
        }
    };
    for (NodeId node : nodes) {
        for (const NodePool& pool : table.pools.on_node(node)) {
            for (OfferId offer : pool.offers)
                add(offer);
            if (pool.counters.empty()) continue;
            for (OfferId offer : pool.elsewhere)
                add(offer);
        }
    }
    std::ranges::sort(found, [&](PodId a, PodId b) { return s.name_less(a, b); });
    const auto repeated = std::ranges::unique(found);
    found.erase(repeated.begin(), repeated.end());
    return found;
}

std::vector<DeviceId> devices_promised(const Snapshot& s, PodId pod, NodeId node) {
    const std::optional<PlanNote>& note = s.facts->pod(pod).more().plan;
    std::vector<DeviceId> out;
    if (!note || note->node != s.facts->node(node)->name) return out;
    for (const std::string& text : note->devices) {
        const std::size_t first = text.find('/');
        const std::size_t last = text.rfind('/');
        if (first == std::string::npos || first == last) continue;
        const std::string_view all = text;
        const DeviceId device =
            s.device_claims.pools.find(s.words->find_string(all.substr(0, first)),
                                       s.words->find_string(all.substr(first + 1, last - first - 1)),
                                       s.words->find_string(all.substr(last + 1)));
        if (device) out.push_back(device);
    }
    return out;
}

DeviceChoice could_ever_be_given(const Snapshot& s, PodId pod, NodeId node, std::string* why) {
    std::vector<ClaimGrant> unused;
    const ClaimBook* const fixed[] = {&s.fixed_claims};
    return choose_claimed_devices(s, pod, node, fixed, unused, why);
}

}  // namespace reprieve
