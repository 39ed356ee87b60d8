#include "audit/claim_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cel/expression.h"

namespace reprieve {
namespace {

template <class Table, class Visit>
void each(const Table& table, Visit visit) {
    using TableId = decltype(table.find({}, {}));
    for (TableId id : IdRange<TableId>(table.slots())) {
        if (const auto* fact = table.get(id)) visit(*fact);
    }
}

bool reached(const DeviceReach& reach, const Node& node, const Vocabulary& words) {
    if (reach.node) return reach.node == node.name;
    if (reach.all_nodes) return true;
    if (!reach.terms) return false;
    for (const NodeSelectorTerm& term : *reach.terms) {
        if (term.matches(node.labels, node.name, words)) return true;
    }
    return false;
}

bool slice_reaches(const ResourceSlice& slice, const Node& node, const Vocabulary& words) {
    if (!slice.per_device) return reached(slice.reach, node, words);
    return std::ranges::any_of(slice.devices, [&](const PooledDevice& d) { return reached(*d.reach, node, words); });
}

}  // namespace

bool reaches_device(const OfferedDevice& offer, const Node& node, const Vocabulary& words) {
    return reached(offer.slice->per_device ? *offer.device->reach : offer.slice->reach, node, words);
}

namespace {

enum class Selects { kNo, kYes, kFails };

Selects ask(const std::vector<DeviceSelector>& selectors, const OfferedDevice& offer, const Vocabulary& words) {
    cel::Device seen{.driver = words.text(offer.slice->driver), .allow_multiple_allocations = offer.device->shareable};
    for (const DeviceAttribute& a : offer.device->attributes) {
        cel::Attribute& out =
            seen.attributes.emplace_back(cel::Attribute{words.text(a.name.domain), words.text(a.name.id), false});
        if (std::holds_alternative<bool>(a.value)) out.value = std::get<bool>(a.value);
        if (std::holds_alternative<std::int64_t>(a.value)) out.value = std::get<std::int64_t>(a.value);
        if (std::holds_alternative<std::string>(a.value)) out.value = std::string_view(std::get<std::string>(a.value));
        if (std::holds_alternative<VersionText>(a.value)) out.value = &*std::get<VersionText>(a.value).value;
    }
    for (const DeviceCapacity& c : offer.device->capacity)
        seen.capacity.push_back({words.text(c.name.domain), words.text(c.name.id), c.value});
    for (const DeviceSelector& selector : selectors) {
        const auto expression = cel::Expression::parse(selector.expression);
        if (!expression) return Selects::kFails;
        const auto answer = expression->matches(seen);
        if (!answer) return Selects::kFails;
        if (!*answer) return Selects::kNo;
    }
    return Selects::kYes;
}

bool in_the_way(const DeviceTaint& taint, const DeviceWish& wish) {
    if (taint.effect == DeviceTaintEffect::kOther) return false;
    for (const DeviceToleration& t : wish.tolerations) {
        const bool effect = !t.effect || *t.effect == taint.effect;
        const bool key = !t.key || t.key == taint.key;
        if (effect && key && (t.exists || t.value == taint.value)) return false;
    }
    return true;
}

std::string full_name(const Vocabulary& words, StringId ns, std::string_view name) {
    return fmt::format("{}/{}", words.text(ns), name);
}

}  // namespace

namespace {

std::int64_t newest_anywhere(const Case& judged, const std::pair<StringId, StringId>& pool) {
    std::int64_t newest = 0;
    each(judged.cluster.resource_slices(), [&](const ResourceSlice& slice) {
        if (std::pair(slice.driver, slice.pool) == pool) newest = std::max(newest, slice.generation);
    });
    return newest;
}

using Slices = std::vector<const ResourceSlice*>;

// One contradiction makes the whole pool invalid: a name used twice where the node can see it, or counters that nobody
// has, wherever.
bool contradicts_itself(const Slices& mine, const Slices& all) {
    std::set<StringId> names;
    for (const ResourceSlice* slice : mine) {
        for (const PooledDevice& device : slice->devices) {
            if (!names.insert(device.name).second) return true;
        }
    }
    std::map<StringId, std::set<StringId>> counters;  // by set
    for (const ResourceSlice* slice : all) {
        if (!slice->trouble.empty()) return true;
        for (const CounterSet& set : slice->counters) {
            const auto [at, fresh] = counters.try_emplace(set.name);
            if (!fresh) return true;
            for (const NamedCounter& counter : set.counters)
                at->second.insert(counter.name);
        }
    }
    const auto is_known = [&](const CounterSet& set) {
        const auto known = counters.find(set.name);
        return known != counters.end() && std::ranges::all_of(set.counters, [&](const NamedCounter& counter) {
                   return known->second.contains(counter.name);
               });
    };
    return std::ranges::any_of(all, [&](const ResourceSlice* slice) {
        return std::ranges::any_of(slice->devices, [&](const PooledDevice& device) {
            return !std::ranges::all_of(*device.consumes, is_known);
        });
    });
}

}  // namespace

NodeOffers offers_on(const Case& judged, NodeId node) {
    const Node& fact = *judged.cluster.node(node);
    std::map<std::pair<StringId, StringId>, std::int64_t> newest;  // among the slices that the node sees
    each(judged.cluster.resource_slices(), [&](const ResourceSlice& slice) {
        if (!slice_reaches(slice, fact, judged.words)) return;
        auto [at, fresh] = newest.try_emplace({slice.driver, slice.pool}, slice.generation);
        at->second = std::max(at->second, slice.generation);
    });
    NodeOffers out;
    for (const auto& [pool, generation] : newest) {
        std::vector<const ResourceSlice*> mine;
        std::vector<const ResourceSlice*> all;
        each(judged.cluster.resource_slices(), [&](const ResourceSlice& slice) {
            if (std::pair(slice.driver, slice.pool) != pool || slice.generation != generation) return;
            all.push_back(&slice);
            if (slice_reaches(slice, fact, judged.words)) mine.push_back(&slice);
        });
        const auto complete = [](const std::vector<const ResourceSlice*>& slices) {
            return std::cmp_equal(slices.size(), slices.front()->slice_count);
        };
        if (!complete(mine) && (!complete(all) || newest_anywhere(judged, pool) > generation)) continue;
        if (contradicts_itself(mine, complete(mine) ? mine : all)) continue;
        out.slices.insert(out.slices.end(), all.begin(), all.end());
        for (const ResourceSlice* slice : mine) {
            for (const PooledDevice& device : slice->devices)
                out.devices.push_back({{slice->driver, slice->pool, device.name}, &device, slice});
        }
    }
    return out;
}

bool is_kept(const Scene& scene, const ResourceClaim& claim) {
    const Case& judged = scene.judged();
    if (claim.consumers.empty()) return true;
    return std::ranges::any_of(claim.consumers, [&](const ClaimConsumer& consumer) {
        if (!consumer.is_pod) return true;
        const PodId pod = judged.cluster.find_pod(claim.ns, consumer.name);
        const bool same =
            pod && (consumer.uid.empty() || judged.fact(pod).uid.empty() || judged.fact(pod).uid == consumer.uid);
        // The entry of a pod that is gone or has finished goes with the next pass of the claim's controller.
        if (!same || judged.fact(pod).finished()) return scene.view() == Moment::kNow;
        if (judged.waits(pod)) return true;
        return scene.has(pod) || (scene.view() == Moment::kNow && judged.leaves(pod));
    });
}

void add_pools(const NodeOffers& offers, PoolNames& out) {
    for (const ResourceSlice* slice : offers.slices)
        out.emplace(slice->driver, slice->pool);
}

HeldDevices held_in(const Scene& scene, const PoolNames& pools, const std::vector<std::string>& without) {
    const Case& judged = scene.judged();
    HeldDevices held;
    std::set<std::string> counted(without.begin(), without.end());
    each(judged.cluster.resource_claims(), [&](const ResourceClaim& claim) {
        const auto concerns = [&](const AllocatedDevice& d) { return pools.contains({d.driver, d.pool}); };
        if (!claim.allocation || std::ranges::none_of(claim.allocation->devices, concerns)) return;
        const std::string name = full_name(judged.words, claim.ns, judged.words.text(claim.name));
        if (!claim.allocation || !is_kept(scene, claim) || !counted.insert(name).second) return;
        for (const AllocatedDevice& given : claim.allocation->devices) {
            if (given.admin) continue;
            HeldAmounts& entry = held[{given.driver, given.pool, given.device}];
            ++(given.share ? entry.shares : entry.whole);
            for (const ConsumedAmount& amount : given.consumed)
                entry.amounts[amount.name] += amount.value;
        }
    });
    scene.each([&](const Seat& seat) {
        if (seat.placed == nullptr) return;
        const std::vector<WantedClaim> wanted = wanted_by(judged, seat.pod, seat.node);
        for (const PlacedClaim& claim : seat.placed->entry->claims) {
            if (!counted.insert(claim.claim).second) continue;
            const NodeOffers offers = offers_on(judged, seat.node);
            const auto want = std::ranges::find(wanted, claim.claim, &WantedClaim::name);
            for (const ClaimedDevice& given : claim.results) {
                if (given.admin || want == wanted.end()) continue;
                const DeviceKey key{judged.words.find_string(given.driver),
                                    judged.words.find_string(given.pool),
                                    judged.words.find_string(given.device)};
                HeldAmounts& entry = held[key];
                const auto offer = std::ranges::find(offers.devices, key, &OfferedDevice::key);
                const bool share = offer != offers.devices.end() && offer->device->shareable;
                ++(share ? entry.shares : entry.whole);
                if (!share) continue;
                const auto alike = std::ranges::count(claim.results, given.request, &ClaimedDevice::request);
                const DeviceWish* wish = asked_by(judged, want->spec, given.request, alike, *offer).wish;
                if (wish == nullptr) continue;
                for (const auto& [name, value] :
                     amounts_of(judged, *offer, *wish).value_or(std::map<QualifiedName, Wide>()))
                    entry.amounts[name] += value;
            }
        }
    });
    return held;
}

const DeviceClass* device_class(const Case& judged, StringId name) {
    const DeviceClass* found = nullptr;
    each(judged.cluster.device_classes(), [&](const DeviceClass& cls) {
        if (cls.name == name) found = &cls;
    });
    return found;
}

namespace {

const DeviceClass* class_behind(const Case& judged, Dim resource) {
    const std::string_view asked = judged.words.text(resource);
    const DeviceClass* found = nullptr;
    each(judged.cluster.device_classes(), [&](const DeviceClass& cls) {
        const std::string_view name = judged.words.text(cls.name);
        const bool stands = judged.words.text(cls.extended_resource) == asked ||
                            asked == fmt::format("deviceclass.resource.kubernetes.io/{}", name);
        if (!stands) return;
        const bool better = found == nullptr || found->created < cls.created ||
                            (found->created == cls.created && name < judged.words.text(found->name));
        if (better) found = &cls;
    });
    return found;
}

}  // namespace

bool claims_serve(const Case& judged, NodeId node, Dim resource) {
    return judged.cluster.node(node)->allocatable.get(resource) == 0 && class_behind(judged, resource) != nullptr;
}

std::vector<WantedClaim> wanted_by(const Case& judged, PodId pod, NodeId node) {
    std::vector<WantedClaim> out;
    const Pod& fact = judged.fact(pod);
    const PodSpec& spec = judged.spec(pod);
    const auto existing = [&](StringId name) {
        const auto& claims = judged.cluster.resource_claims();
        const ResourceClaim* claim = claims.get(claims.find(fact.ns, name));
        if (claim != nullptr && std::ranges::find(out, claim, &WantedClaim::fact) == out.end())
            out.push_back({full_name(judged.words, fact.ns, judged.words.text(name)), claim->spec, claim});
    };
    for (const ClaimEntry& entry : spec.claims) {
        const auto& statuses = fact.more().claim_statuses;
        const auto status = std::ranges::find(statuses, entry.name, [](const auto& s) { return s.first; });
        if (entry.claim) {
            existing(entry.claim);
        } else if (status != statuses.end()) {
            if (status->second) existing(status->second);
        } else {
            const auto& templates = judged.cluster.claim_templates();
            const ResourceClaimTemplate* made_from = templates.get(templates.find(fact.ns, entry.from_template));
            if (made_from == nullptr) continue;
            const std::string name = fmt::format("{}-{}", fact.name, judged.words.text(entry.name));
            out.push_back({full_name(judged.words, fact.ns, name), made_from->spec, nullptr});
        }
    }
    ClaimSpec special;
    for (const ExtendedAsk& ask : spec.extended) {
        if (!node || !claims_serve(judged, node, ask.resource)) continue;
        DeviceRequest& request = special.requests.emplace_back();
        request.name = ask.request;
        request.wishes.push_back({.cls = class_behind(judged, ask.resource)->name, .count = ask.count});
    }
    if (special.requests.empty()) return out;
    if (fact.more().extended_claim) {
        existing(fact.more().extended_claim);
    } else {
        out.push_back({full_name(judged.words, fact.ns, fact.name + "-extended-resources"), special, nullptr});
    }
    return out;
}

std::string label_of(const Case& judged, const DeviceRequest& request, const DeviceWish& wish) {
    std::string label(judged.words.text(request.name));
    return wish.name ? fmt::format("{}/{}", label, judged.words.text(wish.name)) : label;
}

AskedDevice asked_by(
    const Case& judged, const ClaimSpec& spec, std::string_view label, std::int64_t count, const OfferedDevice& offer) {
    AskedDevice found;
    for (const DeviceRequest& request : spec.requests) {
        for (const DeviceWish& wish : request.wishes) {
            if (label_of(judged, request, wish) != label) continue;
            if (found.wish == nullptr) found = {&request, &wish};
            if (wish.mode == DeviceCount::kExact && wish.count != count) continue;
            if (amounts_of(judged, offer, wish)) return {&request, &wish};
        }
    }
    return found;
}

bool suits(const Case& judged, const OfferedDevice& offer, const DeviceWish& wish, const Node& node) {
    const DeviceClass* cls = device_class(judged, wish.cls);
    if (cls == nullptr) return false;
    if (offer.slice->per_device && !reached(*offer.device->reach, node, judged.words)) return false;
    std::vector<DeviceTaint> taints = *offer.device->taints;
    each(judged.cluster.taint_rules(), [&](const DeviceTaintRule& rule) {
        const bool fits = rule.selects && (!rule.driver || rule.driver == std::get<0>(offer.key)) &&
                          (!rule.pool || rule.pool == std::get<1>(offer.key)) &&
                          (!rule.device || rule.device == std::get<2>(offer.key));
        if (fits) taints.push_back(rule.taint);
    });
    if (std::ranges::any_of(taints, [&](const DeviceTaint& t) { return in_the_way(t, wish); })) return false;
    return ask(cls->selectors, offer, judged.words) == Selects::kYes &&
           ask(wish.selectors, offer, judged.words) == Selects::kYes;
}

bool may_end_in_an_error(const Case& judged, const WantedClaim& claim, NodeId node) {
    const NodeOffers offers = offers_on(judged, node);
    const auto fails = [&](const DeviceWish& wish) {
        if (wish.mode == DeviceCount::kAll && !claim.spec.constraints.empty()) return true;
        const DeviceClass* cls = device_class(judged, wish.cls);
        return cls != nullptr && std::ranges::any_of(offers.devices, [&](const OfferedDevice& offer) {
                   const Selects of_class = ask(cls->selectors, offer, judged.words);
                   return of_class == Selects::kFails ||
                          (of_class == Selects::kYes && ask(wish.selectors, offer, judged.words) == Selects::kFails);
               });
    };
    return std::ranges::any_of(
        claim.spec.requests, [&](const DeviceRequest& request) { return std::ranges::any_of(request.wishes, fails); });
}

std::optional<std::map<QualifiedName, Wide>> amounts_of(const Case& judged,
                                                        const OfferedDevice& offer,
                                                        const DeviceWish& wish) {
    std::map<QualifiedName, Wide> out;
    std::size_t met = 0;
    for (const DeviceCapacity& capacity : offer.device->capacity) {
        const std::string_view domain = judged.words.text(capacity.name.domain);
        const std::string_view id = judged.words.text(capacity.name.id);
        std::optional<Wide> asked;
        for (const auto& [name, value] : wish.amounts) {
            const bool short_name = capacity.name.domain == offer.slice->driver && name == id;
            if (short_name || name == fmt::format("{}/{}", domain, id)) asked = value;
        }
        met += asked ? 1U : 0U;
        Wide amount = asked.value_or(capacity.value);
        if (const auto& policy = capacity.policy; policy.made()) {
            if (!asked) amount = policy->usual.value_or(capacity.value);
            if (asked && policy->has_range && policy->least) {
                amount = std::max(amount, *policy->least);
                while (policy->step && *policy->step > 0 && (amount - *policy->least) % *policy->step != 0)
                    amount += *policy->step - (amount - *policy->least) % *policy->step;
            } else if (asked && !policy->has_range) {
                for (auto at = policy->valid.rbegin(); at != policy->valid.rend(); ++at) {
                    if (*at >= *asked) amount = *at;
                }
            }
            const bool usual = policy->usual && amount == *policy->usual;
            if (!usual && policy->has_range && policy->most && amount > *policy->most) return std::nullopt;
            if (!usual && !policy->has_range && !policy->valid.empty() &&
                std::ranges::find(policy->valid, amount) == policy->valid.end())
                return std::nullopt;
        }
        if (amount > capacity.value) return std::nullopt;
        out[capacity.name] = amount;
    }
    if (met < wish.amounts.size()) return std::nullopt;
    return out;
}

bool pays_counters(const OfferedDevice& offer, const HeldDevices& held) {
    if (offer.device->consumes->empty()) return false;
    const auto at = held.find(offer.key);
    return !offer.device->shareable || at == held.end() || at->second.shares == 0;
}

std::string counters_short(const Case& judged,
                           const NodeOffers& offers,
                           const HeldDevices& held,
                           const PoolNames& pools) {
    std::map<std::tuple<StringId, StringId, StringId, StringId>, Wide> left;  // driver, pool, set, counter
    for (const ResourceSlice* slice : offers.slices) {
        if (!pools.contains({slice->driver, slice->pool})) continue;
        for (const CounterSet& set : slice->counters) {
            for (const NamedCounter& counter : set.counters)
                left[{slice->driver, slice->pool, set.name, counter.name}] += counter.value;
        }
    }
    for (const ResourceSlice* slice : offers.slices) {
        if (!pools.contains({slice->driver, slice->pool})) continue;
        for (const PooledDevice& device : slice->devices) {
            const auto at = held.find({slice->driver, slice->pool, device.name});
            if (at == held.end()) continue;
            const int times = (at->second.whole > 0 || at->second.shares > 0 ? 1 : 0) + at->second.admin;
            for (const CounterSet& set : *device.consumes) {
                for (const NamedCounter& counter : set.counters)
                    left[{slice->driver, slice->pool, set.name, counter.name}] -= times * counter.value;
            }
        }
    }
    for (const auto& [key, value] : left) {
        if (value < 0)
            return fmt::format("counter {} of set {} in pool {} is overdrawn",
                               judged.words.text(std::get<3>(key)),
                               judged.words.text(std::get<2>(key)),
                               judged.words.text(std::get<1>(key)));
    }
    return "";
}

}  // namespace reprieve
