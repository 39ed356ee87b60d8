// DeviceChooser: who has a device, what the constraints, amounts and counters allow, and which devices are alike.
#include <algorithm>

#include "state/cluster.h"
#include "state/device_chooser.h"

namespace reprieve {

bool DeviceChooser::is_barred(OfferId offer) const {
    return !promised_.empty() && std::ranges::find(promised_, table_.pools.offer(offer).device) == promised_.end();
}

bool DeviceChooser::taken_by(std::size_t c, DeviceId device) const {
    return std::ranges::any_of(
        claims_[c].chosen, [&](const Chosen& chosen) { return chosen.given.device == device && !chosen.given.share; });
}

bool DeviceChooser::taken(DeviceId device) const {
    for (std::size_t c = 0; c < claims_.size(); ++c) {
        if (taken_by(c, device)) return true;
    }
    return false;
}

bool DeviceChooser::held_whole(DeviceId device, bool shareable) const {
    return std::ranges::any_of(views_, [&](const ClaimBook* view) {
        const HeldDevice& held = view->held(device);
        return held.whole > 0 || (!shareable && held.shares > 0);
    });
}

// Admin access looks through other claims, but takes no device twice.
bool DeviceChooser::in_use(std::size_t c, const Wish& wish, OfferId offer) const {
    const DeviceOffer& o = table_.pools.offer(offer);
    if (wish.fact->admin) return taken_by(c, o.device);
    return held_whole(o.device, o.fact->shareable) || taken(o.device);
}

bool DeviceChooser::choose(std::size_t c, const Wish& wish, std::size_t pool, OfferId offer, bool must) {
    const DeviceOffer& o = table_.pools.offer(offer);
    Claim& claim = claims_[c];
    if (in_use(c, wish, offer)) return false;
    Chosen chosen{.pool = pool, .offer = offer};
    chosen.given = {.device = o.device, .request = wish.label, .admin = wish.fact->admin, .share = o.fact->shareable};
    if (!amounts_for(words_, *wish.fact, table_.pools.offer(offer), chosen.given.amounts)) return false;
    // Where all must be had, a constraint that excludes one of them is looked at before the room that is left.
    const bool room = has_room(offer, chosen.given.amounts);
    if (!room && !must) return false;
    if (!o.fact->shareable) chosen.given.amounts.clear();
    chosen.charged = pays(offer);
    if (chosen.charged && !counters_allow(pool, offer)) return false;
    if (untolerated(*wish.fact, o) != nullptr) return false;
    if (!constrain(claim, wish, *o.fact)) {
        if (must && strictness_ == Strictness::kUpstream)
            end(claim.id,
                fmt::format("request {} asks for all devices, but a constraint of the claim excludes {}",
                            words_.text(wish.label),
                            words_.text(o.fact->name)));
        return false;
    }
    claim.chosen.push_back(std::move(chosen));
    if (!room) unchoose(c, wish);
    return room;
}

void DeviceChooser::unchoose(std::size_t c, const Wish& wish) {
    Claim& claim = claims_[c];
    claim.chosen.pop_back();
    for (std::size_t i = 0; i < claim.constraints.size(); ++i) {
        if (concerns(claim.spec->constraints[i], wish)) claim.constraints[i].pop_back();
    }
}

bool DeviceChooser::concerns(const DeviceConstraint& constraint, const Wish& wish) {
    const auto& listed = constraint.requests;
    return listed.empty() || std::ranges::find(listed, wish.base) != listed.end() ||
           std::ranges::find(listed, wish.label) != listed.end();
}

// Adds the device to the constraints that speak of the request; false: one of them does not allow it.
bool DeviceChooser::constrain(Claim& claim, const Wish& wish, const PooledDevice& device) {
    const std::vector<DeviceConstraint>& all = claim.spec->constraints;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!concerns(all[i], wish)) continue;
        const DeviceAttribute* attribute = attribute_of(device, all[i].attribute);
        if (attribute == nullptr || !allows(all[i], claim.constraints[i], *attribute)) {
            for (std::size_t before = 0; before < i; ++before) {
                if (concerns(all[before], wish)) claim.constraints[before].pop_back();
            }
            return false;
        }
        claim.constraints[i].push_back(attribute);
    }
    return true;
}

// Whether the amounts fit beside what others hold and what this attempt has taken.
bool DeviceChooser::has_room(OfferId offer, std::span<const ConsumedAmount> amounts) const {
    const DeviceOffer& o = table_.pools.offer(offer);
    for (std::size_t i = 0; i < amounts.size(); ++i) {
        Wide mine = amounts[i].value;
        for (const Claim& claim : claims_) {
            for (const Chosen& chosen : claim.chosen) {
                if (chosen.given.device == o.device) mine += amount_in(chosen.given.amounts, amounts[i].name);
            }
        }
        for (const ClaimBook* view : views_) {
            if (mine + amount_in(view->amounts(o.device), amounts[i].name) > o.fact->capacity[i].value) return false;
        }
        if (mine > o.fact->capacity[i].value) return false;
    }
    return true;
}

bool DeviceChooser::is_chosen(DeviceId device) const {
    return std::ranges::any_of(claims_, [&](const Claim& claim) {
        return std::ranges::any_of(claim.chosen, [&](const Chosen& chosen) { return chosen.given.device == device; });
    });
}

bool DeviceChooser::pays_in(const ClaimBook& view, OfferId offer) const {
    const DeviceOffer& o = table_.pools.offer(offer);
    return !o.fact->consumes->empty() && !(o.fact->shareable && view.held(o.device).shares > 0);
}

bool DeviceChooser::pays(OfferId offer) const {
    const DeviceOffer& o = table_.pools.offer(offer);
    if (o.fact->consumes->empty() || (o.fact->shareable && is_chosen(o.device))) return false;
    return views_.empty() || std::ranges::any_of(views_, [&](const ClaimBook* view) { return pays_in(*view, offer); });
}

// What the holders of a pool's devices use of its counters, wherever they run. Held devices are charged once.
const std::map<CounterKey, Wide>& DeviceChooser::held_counters(std::size_t pool, std::size_t view) {
    const auto [at, fresh] = counters_.try_emplace({pool, view});
    if (!fresh) return at->second;
    for (const std::vector<OfferId>* list : {&pools_[pool].offers, &pools_[pool].elsewhere}) {
        for (OfferId id : *list) {
            const DeviceOffer& o = table_.pools.offer(id);
            if (!views_[view]->held(o.device).idle()) charge(*o.fact, at->second);
        }
    }
    return at->second;
}

// The driver has taken counters back since they were given: upstream then gives no partition of the pool at all.
bool DeviceChooser::overdrawn(std::size_t pool, const std::map<CounterKey, Wide>& held) const {
    return std::ranges::any_of(pools_[pool].counters, [&](const CounterSet* set) {
        return std::ranges::any_of(set->counters, [&](const NamedCounter& counter) {
            const auto used = held.find({set->name, counter.name});
            return used != held.end() && used->second > counter.value;
        });
    });
}

bool DeviceChooser::counters_allow(std::size_t pool, OfferId offer) {
    // In a view, or for this attempt alone.
    const auto fits = [&](const ClaimBook* view, const std::map<CounterKey, Wide>* held) {
        if (held != nullptr && overdrawn(pool, *held)) return false;
        std::map<CounterKey, Wide> used;
        if (held != nullptr) used = *held;
        charge(*table_.pools.offer(offer).fact, used);
        for (const Claim& claim : claims_) {
            for (const Chosen& chosen : claim.chosen) {
                if (chosen.pool == pool && chosen.charged && (view == nullptr || pays_in(*view, chosen.offer)))
                    charge(*table_.pools.offer(chosen.offer).fact, used);
            }
        }
        return std::ranges::all_of(*table_.pools.offer(offer).fact->consumes, [&](const CounterSet& set) {
            const auto whole = std::ranges::find(pools_[pool].counters, set.name, &CounterSet::name);
            return std::ranges::all_of(set.counters, [&](const NamedCounter& counter) {
                const auto has = std::ranges::find((*whole)->counters, counter.name, &NamedCounter::name);
                return used[{set.name, counter.name}] <= has->value;
            });
        });
    };
    if (!fits(nullptr, nullptr)) return false;
    for (std::size_t v = 0; v < views_.size(); ++v) {
        if (pays_in(*views_[v], offer) && !fits(views_[v], &held_counters(pool, v))) return false;
    }
    return true;
}

// The two devices can be exchanged in everything that this search looks at.
bool DeviceChooser::alike(OfferId a, OfferId b) const {
    const DeviceOffer& x = table_.pools.offer(a);
    const DeviceOffer& y = table_.pools.offer(b);
    if (x.fact->shareable || y.fact->shareable) return false;  // amounts taken in this attempt tell them apart
    if (x.slice->driver != y.slice->driver || x.taints != y.taints || x.fact->capacity != y.fact->capacity ||
        x.fact->consumes != y.fact->consumes || here(a) != here(b))
        return false;
    if (!x.fact->consumes->empty() && x.slice->pool != y.slice->pool) return false;
    for (const ClaimBook* view : views_) {
        if (view->held(x.device) != view->held(y.device) ||
            !std::ranges::equal(view->amounts(x.device), view->amounts(y.device)))
            return false;
    }
    for (const Claim& claim : claims_) {
        for (const DeviceConstraint& constraint : claim.spec->constraints) {
            const DeviceAttribute* of_x = attribute_of(*x.fact, constraint.attribute);
            const DeviceAttribute* of_y = attribute_of(*y.fact, constraint.attribute);
            if ((of_x == nullptr) != (of_y == nullptr)) return false;
            if (of_x != nullptr && of_x->value != of_y->value) return false;
        }
        for (const Request& request : claim.requests) {
            for (const Wish& wish : request.wishes) {
                if (table_.select(wish.cls->selectors, a, nullptr) != table_.select(wish.cls->selectors, b, nullptr) ||
                    table_.select(wish.fact->selectors, a, nullptr) != table_.select(wish.fact->selectors, b, nullptr))
                    return false;
            }
        }
    }
    return true;
}

DeviceTally DeviceChooser::count(std::size_t c, const Wish& wish) {
    DeviceTally tally;
    for (std::size_t p = 0; p < pools_.size(); ++p) {
        if (!pools_[p].trouble.empty()) continue;
        for (OfferId offer : pools_[p].offers) {
            const DeviceOffer& o = table_.pools.offer(offer);
            if (table_.select(wish.cls->selectors, offer, nullptr) != Selected::kYes ||
                table_.select(wish.fact->selectors, offer, nullptr) != Selected::kYes || !here(offer))
                continue;
            std::vector<ConsumedAmount> amounts;
            if (const DeviceTaint* taint = untolerated(*wish.fact, o)) {
                ++tally.tainted;
                tally.taint = taint->key;
            } else if (in_use(c, wish, offer)) {
                ++tally.held;
            } else if (!amounts_for(words_, *wish.fact, table_.pools.offer(offer), amounts) ||
                       !has_room(offer, amounts)) {
                ++tally.small;
            } else if (!o.fact->consumes->empty() && !counters_allow(p, offer)) {
                ++tally.without_counters;
            } else {
                ++tally.usable;
            }
        }
    }
    return tally;
}

}  // namespace reprieve
