// DynamicResources: whether the claims of a placed pod are met by the devices the plan names, and whether they could
// have been met without an eviction.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "audit/claim_facts.h"
#include "audit/rules.h"

namespace reprieve {
namespace {

constexpr const char* kRule = "DynamicResources";
constexpr int kMostTries = 200'000;

const DeviceAttribute* attribute(const PooledDevice& device, const QualifiedName& name) {
    for (const DeviceAttribute& a : device.attributes) {
        if (a.name == name) return &a;
    }
    return nullptr;
}

// One device for one request of one claim.
struct GivenOffer {
    const DeviceRequest* request = nullptr;
    const DeviceWish* wish = nullptr;
    const OfferedDevice* offer = nullptr;
};

bool constraints_hold(const Case& judged, const ClaimSpec& spec, const std::vector<GivenOffer>& given) {
    return std::ranges::all_of(spec.constraints, [&](const DeviceConstraint& constraint) {
        std::vector<const DeviceAttribute*> seen;
        for (const GivenOffer& one : given) {
            const auto named = [&](StringId name) {
                return name == one.request->name ||
                       judged.words.text(name) == label_of(judged, *one.request, *one.wish);
            };
            if (!constraint.requests.empty() && std::ranges::none_of(constraint.requests, named)) continue;
            const DeviceAttribute* a = attribute(*one.offer->device, constraint.attribute);
            if (a == nullptr) return false;
            for (const DeviceAttribute* other : seen) {
                if ((other->value == a->value) == constraint.distinct) return false;
            }
            seen.push_back(a);
        }
        return true;
    });
}

bool is_free(const OfferedDevice& offer, const HeldDevices& held) {
    const auto at = held.find(offer.key);
    if (at == held.end()) return true;
    return at->second.whole == 0 && (offer.device->shareable || (at->second.shares == 0 && at->second.admin == 0));
}

bool has_room(const OfferedDevice& offer, const HeldDevices& held, const std::map<QualifiedName, Wide>& amounts) {
    if (!offer.device->shareable) return true;
    const auto at = held.find(offer.key);
    return std::ranges::all_of(offer.device->capacity, [&](const DeviceCapacity& capacity) {
        Wide used = 0;
        if (at != held.end() && at->second.amounts.contains(capacity.name)) used = at->second.amounts.at(capacity.name);
        return used + amounts.at(capacity.name) <= capacity.value;
    });
}

void hold(
    HeldDevices& held, const OfferedDevice& offer, bool admin, const std::map<QualifiedName, Wide>& amounts, int sign) {
    HeldAmounts& entry = held[offer.key];
    (offer.device->shareable ? entry.shares : admin ? entry.admin : entry.whole) += sign;
    if (!offer.device->shareable) return;
    for (const auto& [name, value] : amounts)
        entry.amounts[name] += sign * value;
}

// In which order devices are chosen: by driver, pool and slice, those with binding conditions last.
void order_by_choice(const Case& judged, NodeOffers& offers) {
    std::set<std::pair<StringId, StringId>> binding;
    for (const OfferedDevice& offer : offers.devices) {
        if (!offer.device->binding->empty()) binding.emplace(offer.slice->driver, offer.slice->pool);
    }
    std::ranges::stable_sort(offers.devices, {}, [&](const OfferedDevice& offer) {
        const ResourceSlice& slice = *offer.slice;
        const auto text = [&](StringId name) { return judged.words.text(name); };
        return std::tuple(
            binding.contains({slice.driver, slice.pool}), text(slice.driver), text(slice.pool), text(slice.name));
    });
}

// Tries every way to meet the claims of a pod, one device after the other. Pods come one after the other: those before
// keep the first way that was found for them.
class AnyWay {
public:
    AnyWay(const Case& judged, HeldDevices held) : judged_(judged), held_(std::move(held)) {}

    void next_pod() { requests_.clear(); }
    void add(NodeId node, const WantedClaim& claim) {
        const std::size_t number = claims_.size();
        claims_.push_back({.spec = claim.spec, .node = node, .offers = offers_on(judged_, node), .given = {}});
        order_by_choice(judged_, claims_.back().offers);
        for (std::size_t r = 0; r < claim.spec.requests.size(); ++r)
            requests_.push_back({number, r});
    }
    // A search that was cut short has found nothing: the eviction gets the benefit of the doubt.
    [[nodiscard]] bool exists() { return meet(0); }

private:
    struct Claim {
        ClaimSpec spec;
        NodeId node;
        NodeOffers offers;
        std::vector<GivenOffer> given;
    };
    bool meet(std::size_t at) {
        if (at == requests_.size()) return true;
        const DeviceRequest& request = claims_[requests_[at].first].spec.requests[requests_[at].second];
        return std::ranges::any_of(request.wishes,
                                   [&](const DeviceWish& wish) { return give(at, request, wish, 0, 0); });
    }
    bool give(
        std::size_t at, const DeviceRequest& request, const DeviceWish& wish, std::int64_t got, std::size_t from) {
        Claim& claim = claims_[requests_[at].first];
        const Node& node = *judged_.cluster.node(claim.node);
        std::int64_t wanted = wish.count;
        if (wish.mode == DeviceCount::kAll) {
            wanted = std::ranges::count_if(claim.offers.devices, [&](const OfferedDevice& offer) {
                return amounts_of(judged_, offer, wish).has_value() && suits(judged_, offer, untainted(wish), node);
            });
            if (wanted == 0) return false;
        }
        if (got == wanted) return meet(at + 1);
        for (std::size_t i = from; i < claim.offers.devices.size(); ++i) {
            if (++tries_ > kMostTries) return false;
            const OfferedDevice& offer = claim.offers.devices[i];
            // Admin access looks through other claims; what it takes it takes like everybody, while the attempt lasts.
            if (wish.admin ? takes_twice(claim, offer) : !is_free(offer, held_)) continue;
            if (!suits(judged_, offer, wish, node)) continue;
            const auto amounts = amounts_of(judged_, offer, wish);
            if (!amounts || !has_room(offer, held_, *amounts)) continue;
            PoolNames paying;
            if (pays_counters(offer, held_)) paying.emplace(offer.slice->driver, offer.slice->pool);
            claim.given.push_back({&request, &wish, &offer});
            hold(held_, offer, wish.admin, *amounts, +1);
            const bool allowed = constraints_hold(judged_, claim.spec, claim.given) &&
                                 counters_short(judged_, claim.offers, held_, paying).empty();
            if (allowed && give(at, request, wish, got + 1, i + 1)) return true;
            hold(held_, offer, wish.admin, *amounts, -1);
            claim.given.pop_back();
        }
        return false;
    }
    static bool takes_twice(const Claim& claim, const OfferedDevice& offer) {
        return !offer.device->shareable &&
               std::ranges::any_of(claim.given, [&](const GivenOffer& given) { return given.offer->key == offer.key; });
    }
    // All means all that match, tainted or not.
    static DeviceWish untainted(DeviceWish wish) {
        wish.tolerations = {DeviceToleration{.key = {}, .exists = true, .value = {}, .effect = {}}};
        return wish;
    }

    const Case& judged_;
    HeldDevices held_;
    std::vector<Claim> claims_;
    std::vector<std::pair<std::size_t, std::size_t>> requests_;  // claim, request
    int tries_ = 0;
};

struct AskingPod {
    PodId pod;
    NodeId node;
    std::vector<WantedClaim> claims;
};

// Pods that are not alike, or whose nodes see devices of one pool.
bool first_come_matters(const Case& judged, const std::vector<AskingPod>& asking) {
    std::map<NodeId, PoolNames> seen;
    for (const AskingPod& one : asking) {
        if (judged.fact(one.pod).spec != judged.fact(asking.front().pod).spec) return true;
        if (const auto [at, fresh] = seen.try_emplace(one.node); fresh)
            add_pools(offers_on(judged, one.node), at->second);
    }
    std::size_t sum = 0;
    PoolNames all;
    for (const auto& [node, pools] : seen) {
        sum += pools.size();
        all.insert(pools.begin(), pools.end());
    }
    return all.size() < sum;
}

void judge_results(
    const Scene& scene, const PlacedPod& placed, const WantedClaim& want, const PlacedClaim& claim, Findings& out) {
    const Case& judged = scene.judged();
    const auto complain = [&](std::string what) {
        out.push_back({kRule, fmt::format("claim {}: {}", want.name, what)});
    };
    const NodeOffers offers = offers_on(judged, placed.node);
    const Node& node = *judged.cluster.node(placed.node);
    PoolNames pools;
    add_pools(offers, pools);
    const HeldDevices others = held_in(scene, pools, {want.name});
    const HeldDevices all = held_in(scene, pools, {});
    std::vector<GivenOffer> given;
    PoolNames paying;
    std::map<std::string, std::int64_t> count;
    for (const ClaimedDevice& result : claim.results)
        ++count[result.request];
    for (const ClaimedDevice& result : claim.results) {
        const DeviceKey key{judged.words.find_string(result.driver),
                            judged.words.find_string(result.pool),
                            judged.words.find_string(result.device)};
        const auto offer = std::ranges::find(offers.devices, key, &OfferedDevice::key);
        if (offer == offers.devices.end()) {
            complain(fmt::format("no pool of the node offers device {}", result.device));
            continue;
        }
        const auto [request, wish] = asked_by(judged, want.spec, result.request, count[result.request], *offer);
        if (wish == nullptr) {
            complain(fmt::format("there is no request {}", result.request));
            continue;
        }
        given.push_back({request, wish, &*offer});
        if (!suits(judged, *offer, *wish, node))
            complain(fmt::format("device {} is not what request {} asks for", result.device, result.request));
        if (wish->admin != result.admin) complain(fmt::format("device {}: admin access as asked for", result.device));
        if (result.admin) continue;
        if (pays_counters(*offer, others)) paying.emplace(offer->slice->driver, offer->slice->pool);
        if (!is_free(*offer, others)) complain(fmt::format("device {} is held by another claim", result.device));
        const auto at = all.find(key);
        for (const DeviceCapacity& capacity : offer->device->capacity) {
            if (at == all.end() || !offer->device->shareable || !at->second.amounts.contains(capacity.name)) continue;
            if (at->second.amounts.at(capacity.name) > capacity.value)
                complain(fmt::format(
                    "device {} gives more of {} than it has", result.device, judged.words.text(capacity.name.id)));
        }
    }
    for (const DeviceRequest& request : want.spec.requests) {
        std::map<std::string, bool> met_by_label;
        for (const DeviceWish& wish : request.wishes) {
            const std::string label = label_of(judged, request, wish);
            if (count[label] > 0) met_by_label[label] |= wish.mode == DeviceCount::kAll || count[label] == wish.count;
        }
        const auto met = std::ssize(met_by_label);
        for (const auto& [label, in_number] : met_by_label) {
            if (!in_number)
                complain(fmt::format("request {}: {} devices are not what is asked for", label, count[label]));
        }
        if (met != 1) complain(fmt::format("request {} is met {} times", judged.words.text(request.name), met));
    }
    if (!constraints_hold(judged, want.spec, given)) complain("its constraints do not hold");
    if (const std::string what = counters_short(judged, offers, all, paying); !what.empty()) complain(what);
}

bool terms_match(const std::vector<NodeSelectorTerm>& terms, const Node& node, const Vocabulary& words) {
    return std::ranges::any_of(
        terms, [&](const NodeSelectorTerm& term) { return term.matches(node.labels, node.name, words); });
}

bool same_results(const PlacedClaim& a, const PlacedClaim& b) {
    return a.claim == b.claim &&
           std::ranges::equal(a.results, b.results, [](const ClaimedDevice& x, const ClaimedDevice& y) {
               return std::tie(x.request, x.driver, x.pool, x.device) ==
                      std::tie(y.request, y.driver, y.pool, y.device);
           });
}

// A claim that members share is given where the first of them goes; the others need not see its devices the same way (a
// newer generation of the pool, say), only reach them.
bool was_given_elsewhere(const Scene& scene,
                         const PlacedPod& placed,
                         const WantedClaim& want,
                         const PlacedClaim& claim) {
    const Case& judged = scene.judged();
    const Node& here = *judged.cluster.node(placed.node);
    bool found = false;
    scene.each([&](const Seat& seat) {
        if (found || seat.placed == nullptr || seat.pod == placed.pod || seat.placed->owner() != placed.owner()) return;
        const auto& claims = seat.placed->entry->claims;
        if (std::ranges::none_of(claims, [&](const PlacedClaim& other) { return same_results(other, claim); })) return;
        Findings there;
        judge_results(scene, *seat.placed, want, claim, there);
        if (!there.empty()) return;
        const NodeOffers offers = offers_on(judged, seat.placed->node);
        found = std::ranges::all_of(claim.results, [&](const ClaimedDevice& result) {
            return std::ranges::any_of(offers.devices, [&](const OfferedDevice& offer) {
                return judged.words.text(offer.device->name) == result.device &&
                       judged.words.text(offer.slice->pool) == result.pool &&
                       judged.words.text(offer.slice->driver) == result.driver && !offer.device->binds_to_node &&
                       reaches_device(offer, here, judged.words);
            });
        });
    });
    return found;
}

// Whether the claims of everything that this owner places can be met, all of them chosen again.
void judge_fit_of_claims(const Scene& scene, const PlacedPod& placed, Findings& out) {
    const Case& judged = scene.judged();
    std::vector<std::string> own;
    std::vector<AskingPod> asking;
    scene.each([&](const Seat& seat) {
        if (seat.placed == nullptr || seat.placed->owner() != placed.owner()) return;
        AskingPod pod{.pod = seat.pod, .node = seat.node, .claims = {}};
        for (WantedClaim& claim : wanted_by(judged, seat.pod, seat.node)) {
            const bool kept = claim.fact != nullptr && claim.fact->allocation && is_kept(scene, *claim.fact);
            if (kept || std::ranges::find(own, claim.name) != own.end()) continue;
            own.push_back(claim.name);
            pod.claims.push_back(std::move(claim));
        }
        if (!pod.claims.empty()) asking.push_back(std::move(pod));
    });
    PoolNames pools;
    bool may_end = false;
    for (const AskingPod& pod : asking) {
        add_pools(offers_on(judged, pod.node), pools);
        may_end = may_end || std::ranges::any_of(pod.claims, [&](const WantedClaim& claim) {
                      return may_end_in_an_error(judged, claim, pod.node);
                  });
    }
    // Then it matters which devices are free, and in which order they are asked, or which pod is first: the eviction
    // gets the benefit of the doubt.
    if (may_end) return out.push_back({kRule, "a free device may end its attempt"});
    if (first_come_matters(judged, asking)) return out.push_back({kRule, "who comes first matters"});
    AnyWay any(judged, held_in(scene, pools, own));
    for (const AskingPod& pod : asking) {
        any.next_pod();
        for (const WantedClaim& claim : pod.claims)
            any.add(pod.node, claim);
        if (!any.exists()) return out.push_back({kRule, "its claims cannot be met"});
    }
}

// A claim is reserved for 256 users at most.
bool takes_one_more(const Case& judged, const ResourceClaim& claim, PodId pod) {
    constexpr std::size_t kMostUsers = 256;
    return claim.consumers.size() < kMostUsers ||
           std::ranges::any_of(
               claim.consumers,
               [&](const ClaimConsumer& c) { return c.is_pod && judged.cluster.find_pod(claim.ns, c.name) == pod; });
}

}  // namespace

void judge_device_claims(const Scene& scene, const PlacedPod& placed, Certainty certainty, Findings& out) {
    const Case& judged = scene.judged();
    const PodSpec& spec = judged.spec(placed.pod);
    if ((spec.claims.empty() && spec.extended.empty()) || !judged.filters_by(kRule)) return;
    const std::vector<WantedClaim> wanted = wanted_by(judged, placed.pod, placed.node);
    if (wanted.empty()) return;
    const Node& node = *judged.cluster.node(placed.node);
    if (certainty == Certainty::kOfFit) {
        judge_fit_of_claims(scene, placed, out);
        return;
    }
    for (const WantedClaim& want : wanted) {
        const auto claim = std::ranges::find(placed.entry->claims, want.name, &PlacedClaim::claim);
        if (claim == placed.entry->claims.end()) {
            out.push_back({kRule, fmt::format("claim {} is given nothing", want.name)});
            continue;
        }
        if (want.fact != nullptr && want.fact->allocation && is_kept(scene, *want.fact)) {
            if (want.fact->allocation->nodes && !terms_match(*want.fact->allocation->nodes, node, judged.words))
                out.push_back({kRule, fmt::format("claim {} is allocated for other nodes", want.name)});
            if (!want.fact->allocation->not_ready.empty())
                out.push_back({kRule, fmt::format("claim {} {}", want.name, want.fact->allocation->not_ready)});
            if (!takes_one_more(judged, *want.fact, placed.pod))
                out.push_back({kRule, fmt::format("claim {} has as many users as it may have", want.name)});
            continue;
        }
        Findings found;
        judge_results(scene, placed, want, *claim, found);
        if (!found.empty() && was_given_elsewhere(scene, placed, want, *claim)) continue;
        out.insert(out.end(), found.begin(), found.end());
    }
}

// A claim is said to be freed exactly where nobody is left who keeps it.
void judge_freed_claims(const Scene& later, Report& report) {
    const Case& judged = later.judged();
    for (const EvictedPod& item : judged.evicted) {
        for (const std::string& name : item.entry->frees) {
            const std::size_t slash = name.find('/');
            const auto& claims = judged.cluster.resource_claims();
            const ResourceClaim* claim =
                slash == std::string::npos ? nullptr
                                           : claims.get(claims.find(judged.words.find_string(name.substr(0, slash)),
                                                                    judged.words.find_string(name.substr(slash + 1))));
            if (claim == nullptr || !claim->allocation)
                report.add(kRule, item.entry->pod, fmt::format("frees claim {}, which is not allocated", name));
            else if (is_kept(later, *claim))
                report.add(kRule, item.entry->pod, fmt::format("frees claim {}, which others still use", name));
        }
    }
}

}  // namespace reprieve
