#include "state/device_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/quantity.h"
#include "state/claim_questions.h"
#include "state/cluster.h"
#include "state/device_match.h"
#include "state/device_tally.h"

namespace reprieve {
namespace {

constexpr std::int64_t kMostSteps = 100'000;  // devices looked at in one search

class Chooser {
public:
    Chooser(const Snapshot& snapshot, PodId pod, NodeId node, std::span<const ClaimBook* const> views)
        : s_(snapshot),
          pod_(pod),
          table_(snapshot.device_claims),
          words_(*snapshot.words),
          node_id_(node),
          node_(*snapshot.facts->node(node)),
          views_(views),
          pools_(snapshot.device_claims.pools.on_node(node)) {}

    // False: the attempt has ended; `trouble` says why.
    bool add(DeviceClaimId id) {
        const ClaimSpec& spec = *table_.row(id).spec;
        Claim claim{.id = id, .spec = &spec, .requests = {}, .chosen = {}, .constraints = {}};
        if (!spec.trouble.empty()) return end(id, spec.trouble);
        std::int64_t least = 0;
        for (const DeviceRequest& request : spec.requests) {
            if (request.resource && !served_by_claim(s_, node_id_, request.resource)) continue;
            Request made{.fact = &request, .wishes = {}};
            std::int64_t fewest = INT64_MAX;
            for (const DeviceWish& wish : request.wishes) {
                if (!add_wish(id, request, wish, made)) return false;
                fewest = std::min(fewest, made.wishes.back().count);
            }
            least = saturating_add(least, fewest);
            claim.requests.push_back(std::move(made));
        }
        if (least > static_cast<std::int64_t>(kMostClaimedDevices))
            return end(
                id,
                fmt::format("asks for {} devices, which exceeds the claim limit of {}", least, kMostClaimedDevices));
        claim.constraints.resize(spec.constraints.size());
        if (!claim.requests.empty() || spec.requests.empty()) claims_.push_back(std::move(claim));
        return true;
    }

    // The devices that the pod was promised, if they will do; else any.
    DeviceChoice run(std::vector<DeviceId> promised) {
        if (!promised.empty()) {
            promised_ = std::move(promised);
            if (run() == DeviceChoice::kFound) return DeviceChoice::kFound;
            promised_.clear();
            trouble_.clear();
            steps_ = 0;
        }
        return run();
    }

    DeviceChoice run() {
        const bool found = next_request(0, 0);
        if (!trouble_.empty()) return DeviceChoice::kHarmed;
        if (found) return DeviceChoice::kFound;
        return steps_ > kMostSteps ? DeviceChoice::kGaveUp : DeviceChoice::kNotMet;
    }

    void take(std::vector<ClaimGrant>& out) {
        for (Claim& claim : claims_) {
            GivenDevices given;
            for (const Chosen& chosen : claim.chosen)
                given.devices.push_back(chosen.given);
            std::vector<const DeviceOffer*> offers;
            for (const Chosen& chosen : claim.chosen)
                offers.push_back(&table_.pools.offer(chosen.offer));
            given.nodes = nodes_for(offers, node_.name);
            out.push_back({claim.id, std::move(given), pod_});
        }
    }

    [[nodiscard]] const std::string& trouble() const { return trouble_; }
    // What is in the way of the first request that cannot be met by itself.
    [[nodiscard]] std::string explain();

private:
    struct Wish {
        const DeviceWish* fact = nullptr;
        const DeviceClass* cls = nullptr;
        StringId base;   // the request
        StringId label;  // "request" or "request/alternative"
        std::int64_t count = 0;
        std::vector<std::pair<std::size_t, OfferId>> all;  // mode All: pool and device
    };
    struct Request {
        const DeviceRequest* fact = nullptr;
        std::vector<Wish> wishes;
    };
    struct Chosen {
        std::size_t pool = 0;
        OfferId offer;
        GivenDevice given;
        bool charged = false;  // its counters
    };
    // A constraint and the attributes it has seen.
    using Seen = std::vector<const DeviceAttribute*>;
    struct Claim {
        DeviceClaimId id;
        const ClaimSpec* spec = nullptr;
        std::vector<Request> requests;
        std::vector<Chosen> chosen;
        std::vector<Seen> constraints;
    };
    struct Place {
        std::size_t pool = 0;
        std::size_t offer = 0;
    };

    bool end(DeviceClaimId claim, std::string_view what) {
        if (trouble_.empty()) trouble_ = fmt::format("claim {}: {}", table_.name_of(claim, words_), what);
        return false;
    }

    bool add_wish(DeviceClaimId id, const DeviceRequest& request, const DeviceWish& wish, Request& out) {
        Wish made{.fact = &wish, .base = request.name, .label = request.name, .count = wish.count};
        if (wish.name)
            made.label = s_.words->string(fmt::format("{}/{}", words_.text(request.name), words_.text(wish.name)));
        const auto wrong = [&](std::string_view what) {
            return end(id, fmt::format("request {}: {}", words_.text(made.label), what));
        };
        if (!wish.trouble.empty()) return wrong(wish.trouble);
        const auto cls = table_.classes.find(wish.cls);
        if (cls == table_.classes.end())
            return wrong(fmt::format("device class {} does not exist", words_.text(wish.cls)));
        made.cls = cls->second;
        if (std::string fault = table_.fault_of(made.cls->selectors); !fault.empty())
            return wrong(fmt::format("class {}: {}", words_.text(wish.cls), fault));
        if (std::string fault = table_.fault_of(wish.selectors); !fault.empty()) return wrong(fault);
        if (std::string fault = beyond_64_bits(id, made); !fault.empty()) return wrong(fault);
        if (wish.mode == DeviceCount::kAll && !find_all(id, made)) return false;
        out.wishes.push_back(std::move(made));
        return true;
    }

    // A device rounds an amount up to more than 64 bits hold.
    std::string beyond_64_bits(DeviceClaimId id, const Wish& wish) {
        if (!asks_for_much(*wish.fact)) return {};
        for (const NodePool& pool : pools_) {
            for (OfferId offer : pool.offers) {
                std::string fault = out_of_range(words_, *wish.fact, table_.pools.offer(offer));
                if (!fault.empty() && select(id, wish, offer) == Selected::kYes) return fault;
            }
        }
        return {};
    }

    // All: the set is fixed beforehand, by selectors and whole capacities.
    bool find_all(DeviceClaimId id, Wish& wish) {
        for (std::size_t p = 0; p < pools_.size(); ++p) {
            if (!pools_[p].trouble.empty())
                return end(
                    id,
                    fmt::format("request {} asks for all devices, but {}", words_.text(wish.label), pools_[p].trouble));
            for (OfferId offer : pools_[p].offers) {
                const Selected selected = select(id, wish, offer);
                if (selected == Selected::kError) return false;
                if (selected == Selected::kNo) continue;
                std::vector<ConsumedAmount> amounts;
                if (amounts_for(words_, *wish.fact, table_.pools.offer(offer), amounts))
                    wish.all.emplace_back(p, offer);
            }
        }
        wish.count = static_cast<std::int64_t>(wish.all.size());
        return true;
    }

    // Selectors of the class, then of the request, then whether this node can use the device.
    Selected select(DeviceClaimId id, const Wish& wish, OfferId offer) {
        std::string what;
        for (const std::vector<DeviceSelector>* selectors : {&wish.cls->selectors, &wish.fact->selectors}) {
            const Selected selected = table_.select(*selectors, offer, &what);
            if (selected == Selected::kError) end(id, fmt::format("request {}: {}", words_.text(wish.label), what));
            if (selected != Selected::kYes) return selected;
        }
        return here(offer) ? Selected::kYes : Selected::kNo;
    }
    [[nodiscard]] bool here(OfferId offer) const {
        const DeviceOffer& o = table_.pools.offer(offer);
        return !o.slice->per_device || reaches(*o.fact->reach, node_, words_);
    }

    // --- the search

    bool next_request(std::size_t c, std::size_t r) {
        if (c == claims_.size()) return true;
        if (r == claims_[c].requests.size()) return next_request(c + 1, 0);
        for (const Wish& wish : claims_[c].requests[r].wishes) {
            if (next_device(c, r, wish, 0, {})) return true;
            if (stopped()) return false;
        }
        return false;
    }

    [[nodiscard]] bool stopped() const { return !trouble_.empty() || steps_ > kMostSteps; }

    bool next_device(std::size_t c, std::size_t r, const Wish& wish, std::int64_t got, Place from) {
        const bool all = wish.fact->mode == DeviceCount::kAll;
        if (all && wish.all.empty()) return false;
        if (got == wish.count) return next_request(c, r + 1);
        if (static_cast<std::int64_t>(claims_[c].chosen.size()) + wish.count - got >
            static_cast<std::int64_t>(kMostClaimedDevices))
            return false;
        if (all) {
            const auto [pool, offer] = wish.all[static_cast<std::size_t>(got)];
            if (!choose(c, wish, pool, offer, true)) return false;
            if (next_device(c, r, wish, got + 1, {})) return true;
            unchoose(c, wish);
            return false;
        }
        std::vector<OfferId> failed;  // one of each kind that led nowhere
        for (std::size_t p = from.pool; p < pools_.size(); ++p) {
            if (!pools_[p].trouble.empty()) continue;
            const std::vector<OfferId>& offers = pools_[p].offers;
            for (std::size_t i = p == from.pool ? from.offer : 0; i < offers.size(); ++i) {
                if (++steps_ > kMostSteps) return false;
                if (is_barred(offers[i]) || in_use(c, wish, offers[i])) continue;
                const Selected selected = select(claims_[c].id, wish, offers[i]);
                if (selected == Selected::kError) return false;
                if (selected == Selected::kNo) continue;
                if (std::ranges::any_of(failed, [&](OfferId f) { return alike(f, offers[i]); })) continue;
                if (!choose(c, wish, p, offers[i], false)) {
                    if (stopped()) return false;
                    continue;
                }
                if (next_device(c, r, wish, got + 1, {p, i + 1})) return true;
                unchoose(c, wish);
                if (stopped()) return false;
                failed.push_back(offers[i]);
            }
        }
        return false;
    }

    [[nodiscard]] bool is_barred(OfferId offer) const {
        return !promised_.empty() && std::ranges::find(promised_, table_.pools.offer(offer).device) == promised_.end();
    }
    [[nodiscard]] bool taken_by(std::size_t c, DeviceId device) const {
        return std::ranges::any_of(claims_[c].chosen, [&](const Chosen& chosen) {
            return chosen.given.device == device && !chosen.given.share;
        });
    }
    [[nodiscard]] bool taken(DeviceId device) const {
        for (std::size_t c = 0; c < claims_.size(); ++c) {
            if (taken_by(c, device)) return true;
        }
        return false;
    }
    [[nodiscard]] bool held_whole(DeviceId device, bool shareable) const {
        return std::ranges::any_of(views_, [&](const ClaimBook* view) {
            const HeldDevice& held = view->held(device);
            return held.whole > 0 || (!shareable && held.shares > 0);
        });
    }
    // Admin access looks through other claims, but takes no device twice.
    [[nodiscard]] bool in_use(std::size_t c, const Wish& wish, OfferId offer) const {
        const DeviceOffer& o = table_.pools.offer(offer);
        if (wish.fact->admin) return taken_by(c, o.device);
        return held_whole(o.device, o.fact->shareable) || taken(o.device);
    }

    bool choose(std::size_t c, const Wish& wish, std::size_t pool, OfferId offer, bool must) {
        const DeviceOffer& o = table_.pools.offer(offer);
        Claim& claim = claims_[c];
        if (in_use(c, wish, offer)) return false;
        Chosen chosen{.pool = pool, .offer = offer};
        chosen.given = {
            .device = o.device, .request = wish.label, .admin = wish.fact->admin, .share = o.fact->shareable};
        if (!amounts_for(words_, *wish.fact, table_.pools.offer(offer), chosen.given.amounts)) return false;
        // Where all must be had, a constraint that excludes one of them is looked at before the room that is left.
        const bool room = has_room(offer, chosen.given.amounts);
        if (!room && !must) return false;
        if (!o.fact->shareable) chosen.given.amounts.clear();
        // The counters of a device that has shares already are paid for.
        chosen.charged = !o.fact->consumes->empty() && !(o.fact->shareable && has_shares(o.device));
        if (chosen.charged && !counters_allow(pool, offer)) return false;
        if (untolerated(*wish.fact, o) != nullptr) return false;
        if (!constrain(claim, wish, *o.fact)) {
            if (must)
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

    void unchoose(std::size_t c, const Wish& wish) {
        Claim& claim = claims_[c];
        claim.chosen.pop_back();
        for (std::size_t i = 0; i < claim.constraints.size(); ++i) {
            if (concerns(claim.spec->constraints[i], wish)) claim.constraints[i].pop_back();
        }
    }

    // --- constraints

    static bool concerns(const DeviceConstraint& constraint, const Wish& wish) {
        const auto& listed = constraint.requests;
        return listed.empty() || std::ranges::find(listed, wish.base) != listed.end() ||
               std::ranges::find(listed, wish.label) != listed.end();
    }

    // Adds the device to the constraints that speak of the request; false: one of them does not allow it.
    static bool constrain(Claim& claim, const Wish& wish, const PooledDevice& device) {
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

    // --- shares

    // Whether the amounts fit beside what others hold and what this attempt has taken.
    [[nodiscard]] bool has_room(OfferId offer, std::span<const ConsumedAmount> amounts) const {
        const DeviceOffer& o = table_.pools.offer(offer);
        for (std::size_t i = 0; i < amounts.size(); ++i) {
            Wide mine = amounts[i].value;
            for (const Claim& claim : claims_) {
                for (const Chosen& chosen : claim.chosen) {
                    if (chosen.given.device == o.device) mine += amount_in(chosen.given.amounts, amounts[i].name);
                }
            }
            for (const ClaimBook* view : views_) {
                if (mine + amount_in(view->amounts(o.device), amounts[i].name) > o.fact->capacity[i].value)
                    return false;
            }
            if (mine > o.fact->capacity[i].value) return false;
        }
        return true;
    }

    [[nodiscard]] bool has_shares(DeviceId device) const {
        const bool held = !views_.empty() && std::ranges::all_of(views_, [&](const ClaimBook* view) {
            return view->held(device).shares > 0;
        });
        return held || std::ranges::any_of(claims_, [&](const Claim& claim) {
                   return std::ranges::any_of(claim.chosen,
                                              [&](const Chosen& chosen) { return chosen.given.device == device; });
               });
    }

    // --- counters

    // What the holders of a pool's devices use of its counters, wherever they run. Held devices are charged once.
    const std::map<CounterKey, Wide>& held_counters(std::size_t pool, std::size_t view) {
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
    [[nodiscard]] bool overdrawn(std::size_t pool, const std::map<CounterKey, Wide>& held) const {
        return std::ranges::any_of(pools_[pool].counters, [&](const CounterSet* set) {
            return std::ranges::any_of(set->counters, [&](const NamedCounter& counter) {
                const auto used = held.find({set->name, counter.name});
                return used != held.end() && used->second > counter.value;
            });
        });
    }

    bool counters_allow(std::size_t pool, OfferId offer) {
        std::map<CounterKey, Wide> mine;
        charge(*table_.pools.offer(offer).fact, mine);
        for (const Claim& claim : claims_) {
            for (const Chosen& chosen : claim.chosen) {
                if (chosen.pool == pool && chosen.charged) charge(*table_.pools.offer(chosen.offer).fact, mine);
            }
        }
        const auto fits = [&](const std::map<CounterKey, Wide>* held) {
            if (held != nullptr && overdrawn(pool, *held)) return false;
            for (const CounterSet& set : *table_.pools.offer(offer).fact->consumes) {
                const auto whole = std::ranges::find(pools_[pool].counters, set.name, &CounterSet::name);
                for (const NamedCounter& counter : set.counters) {
                    const auto has = std::ranges::find((*whole)->counters, counter.name, &NamedCounter::name);
                    const auto others = held == nullptr ? std::map<CounterKey, Wide>::const_iterator()
                                                        : held->find({set.name, counter.name});
                    const Wide used = held == nullptr || others == held->end() ? Wide{0} : others->second;
                    if (used + mine[{set.name, counter.name}] > has->value) return false;
                }
            }
            return true;
        };
        if (!fits(nullptr)) return false;
        for (std::size_t v = 0; v < views_.size(); ++v) {
            if (!fits(&held_counters(pool, v))) return false;
        }
        return true;
    }

    // --- likeness

    // The two devices can be exchanged in everything that this search looks at.
    [[nodiscard]] bool alike(OfferId a, OfferId b) const {
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
                    if (table_.select(wish.cls->selectors, a, nullptr) !=
                            table_.select(wish.cls->selectors, b, nullptr) ||
                        table_.select(wish.fact->selectors, a, nullptr) !=
                            table_.select(wish.fact->selectors, b, nullptr))
                        return false;
                }
            }
        }
        return true;
    }

    // --- the result

    DeviceTally count(std::size_t c, const Wish& wish);

    const Snapshot& s_;
    PodId pod_;
    const ClaimTable& table_;
    const Vocabulary& words_;
    NodeId node_id_;
    const Node& node_;
    std::span<const ClaimBook* const> views_;
    std::span<const NodePool> pools_;
    std::vector<Claim> claims_;
    std::map<std::pair<std::size_t, std::size_t>, std::map<CounterKey, Wide>> counters_;  // by pool and view
    std::vector<DeviceId> promised_;                                                      // if any: no others
    std::string trouble_;
    std::int64_t steps_ = 0;
};

DeviceTally Chooser::count(std::size_t c, const Wish& wish) {
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

std::string Chooser::explain() {
    for (const NodePool& pool : pools_) {
        if (!pool.trouble.empty() && !claims_.empty())
            return fmt::format("claim {}: {}", table_.name_of(claims_.front().id, words_), pool.trouble);
    }
    for (std::size_t c = 0; c < claims_.size(); ++c) {
        for (const Request& request : claims_[c].requests) {
            std::string parts;
            for (const Wish& wish : request.wishes) {
                const DeviceTally tally = count(c, wish);
                const std::int64_t wanted = std::max<std::int64_t>(wish.count, 1);
                if (tally.usable >= wanted) {
                    parts.clear();
                    break;
                }
                if (!parts.empty()) parts += "; or ";
                parts += shortage_text(tally, wanted, words_.text(wish.fact->cls), words_.text(tally.taint));
            }
            if (!parts.empty())
                return fmt::format("claim {}: request {}: {}",
                                   table_.name_of(claims_[c].id, words_),
                                   words_.text(request.fact->name),
                                   parts);
        }
    }
    return claims_.empty() ? ""
                           : fmt::format(
                                 "claim {}: no combination of the devices that are free meets its requests and "
                                 "constraints together",
                                 table_.name_of(claims_.front().id, words_));
}

}  // namespace

DeviceChoice choose_claimed_devices(const Snapshot& s,
                                    PodId pod,
                                    NodeId node,
                                    std::span<const ClaimBook* const> views,
                                    std::vector<ClaimGrant>& out,
                                    std::string* why) {
    const ClaimTable& table = s.device_claims;
    const PodClaims& claims = table.of(pod);
    const auto tell = [&](DeviceChoice choice, std::string_view what) {
        if (why != nullptr) *why = what;
        return choice;
    };
    if (!claims.trouble.empty()) return tell(DeviceChoice::kTrouble, claims.trouble);
    const Node& on = *s.facts->node(node);
    Chooser chooser(s, pod, node, views);
    for (DeviceClaimId id : claims.wants) {
        const ClaimRow& row = table.row(id);
        const auto name = [&] { return table.name_of(id, *s.words); };
        const bool in_use = !row.pods.empty() || row.strangers > 0;
        if (row.given && in_use && row.given->nodes && !matches_any(*row.given->nodes, on, *s.words))
            return tell(DeviceChoice::kElsewhere, fmt::format("claim {} is allocated for other nodes", name()));
        const GivenDevices* given = nullptr;
        std::size_t allocated = 0;
        for (const ClaimBook* view : views) {
            const GivenDevices* held = view->allocation(id, row.given);
            if (held == nullptr) continue;
            given = held;
            ++allocated;
        }
        if (allocated == 0) {
            if (!chooser.add(id)) return tell(DeviceChoice::kTrouble, chooser.trouble());
            continue;
        }
        if (allocated < views.size())
            return tell(DeviceChoice::kBusy, fmt::format("claim {} is being freed or allocated", name()));
        const PodId promised = views.back()->promised_to(id);
        const GangId gang = s.pods[pod].gang;
        if (promised && promised != pod && !(gang && s.pods[promised].gang == gang))
            return tell(DeviceChoice::kBusy, fmt::format("claim {} is being allocated for another pod", name()));
        if (given->nodes && !matches_any(*given->nodes, on, *s.words))
            return tell(DeviceChoice::kElsewhere, fmt::format("claim {} is allocated for other nodes", name()));
        out.push_back({id, *given, promised});
    }
    const DeviceChoice answer = chooser.run(devices_promised(s, pod, node));
    if (answer == DeviceChoice::kFound) {
        chooser.take(out);
    } else if (why != nullptr) {
        *why = answer == DeviceChoice::kHarmed ? chooser.trouble() : chooser.explain();
    }
    return answer;
}

}  // namespace reprieve
