#include "state/device_chooser.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quantity.h"
#include "state/claim_questions.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

constexpr std::int64_t kMostSteps = 100'000;  // devices looked at in one search
constexpr std::size_t kHopesPerStep = 8;      // a look at what could be had is that much cheaper

}  // namespace

DeviceChooser::DeviceChooser(const Snapshot& snapshot,
                             NodeId node,
                             std::span<const ClaimBook* const> views,
                             Strictness strictness)
    : s_(snapshot),
      table_(snapshot.device_claims),
      words_(*snapshot.words),
      node_id_(node),
      node_(*snapshot.facts->node(node)),
      views_(views),
      pools_(snapshot.device_claims.pools.on_node(node)),
      strictness_(strictness) {}

bool DeviceChooser::end(DeviceClaimId claim, std::string_view what) {
    if (trouble_.empty()) trouble_ = fmt::format("claim {}: {}", table_.name_of(claim, words_), what);
    return false;
}

bool DeviceChooser::add(DeviceClaimId id, PodId pod) {
    const ClaimSpec& spec = *table_.row(id).spec;
    Claim claim{.id = id, .pod = pod, .spec = &spec, .requests = {}, .chosen = {}, .constraints = {}};
    if (!spec.trouble.empty()) return end(id, spec.trouble);
    std::int64_t least = 0;
    for (const DeviceRequest& request : spec.requests) {
        if (request.resource && !served_by_claim(s_, node_id_, request.resource)) continue;
        Request made{.fact = &request, .wishes = {}};
        std::int64_t fewest = INT64_MAX;
        for (const DeviceWish& wish : request.wishes) {
            if (!add_wish(id, request, wish, made)) return false;
            const Wish& added = made.wishes.back();
            fewest = std::min(fewest, added.count);
            claim.may_end = claim.may_end || (wish.mode == DeviceCount::kAll && !spec.constraints.empty()) ||
                            table_.fails_somewhere(*added.cls, wish.selectors);
        }
        least = saturating_add(least, fewest);
        claim.requests.push_back(std::move(made));
    }
    if (least > static_cast<std::int64_t>(kMostClaimedDevices))
        return end(id,
                   fmt::format("asks for {} devices, which exceeds the claim limit of {}", least, kMostClaimedDevices));
    claim.may_end = claim.may_end && strictness_ == Strictness::kUpstream;
    claim.constraints.resize(spec.constraints.size());
    if (!claim.requests.empty() || spec.requests.empty()) claims_.push_back(std::move(claim));
    return true;
}

bool DeviceChooser::add_wish(DeviceClaimId id, const DeviceRequest& request, const DeviceWish& wish, Request& out) {
    Wish made{.fact = &wish, .base = request.name, .label = request.name, .count = wish.count};
    if (wish.name)
        made.label = s_.words->string(fmt::format("{}/{}", words_.text(request.name), words_.text(wish.name)));
    const auto wrong = [&](std::string_view what) {
        return end(id, fmt::format("request {}: {}", words_.text(made.label), what));
    };
    if (!wish.trouble.empty()) return wrong(wish.trouble);
    const auto cls = table_.classes.find(wish.cls);
    if (cls == table_.classes.end()) return wrong(fmt::format("device class {} does not exist", words_.text(wish.cls)));
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
std::string DeviceChooser::beyond_64_bits(DeviceClaimId id, const Wish& wish) {
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
bool DeviceChooser::find_all(DeviceClaimId id, Wish& wish) {
    for (std::size_t p = 0; p < pools_.size(); ++p) {
        if (!pools_[p].trouble.empty())
            return end(
                id, fmt::format("request {} asks for all devices, but {}", words_.text(wish.label), pools_[p].trouble));
        for (OfferId offer : pools_[p].offers) {
            const Selected selected = select(id, wish, offer);
            if (selected == Selected::kError) return false;
            if (selected == Selected::kNo) continue;
            std::vector<ConsumedAmount> amounts;
            if (amounts_for(words_, *wish.fact, table_.pools.offer(offer), amounts)) wish.all.emplace_back(p, offer);
        }
    }
    wish.count = static_cast<std::int64_t>(wish.all.size());
    return true;
}

// Selectors of the class, then of the request, then whether this node can use the device.
Selected DeviceChooser::select(DeviceClaimId id, const Wish& wish, OfferId offer) {
    std::string what;
    for (const std::vector<DeviceSelector>* selectors : {&wish.cls->selectors, &wish.fact->selectors}) {
        const Selected selected = table_.select(*selectors, offer, &what);
        if (selected == Selected::kError && strictness_ == Strictness::kLenient) return Selected::kNo;
        if (selected == Selected::kError) end(id, fmt::format("request {}: {}", words_.text(wish.label), what));
        if (selected != Selected::kYes) return selected;
    }
    return here(offer) ? Selected::kYes : Selected::kNo;
}

bool DeviceChooser::here(OfferId offer) const {
    const DeviceOffer& o = table_.pools.offer(offer);
    return !o.slice->per_device || reaches(*o.fact->reach, node_, words_);
}

DeviceChoice DeviceChooser::run(std::vector<DeviceId> promised) {
    if (!promised.empty()) {
        promised_ = std::move(promised);
        if (run() == DeviceChoice::kFound) return DeviceChoice::kFound;
        promised_.clear();
        trouble_.clear();
        steps_ = 0;
    }
    return run();
}

DeviceChoice DeviceChooser::run() {
    const bool found = next_request(0, 0);
    if (!trouble_.empty()) return DeviceChoice::kHarmed;
    if (found) return DeviceChoice::kFound;
    return steps_ > kMostSteps ? DeviceChoice::kGaveUp : DeviceChoice::kNotMet;
}

void DeviceChooser::take(std::vector<ClaimGrant>& out) {
    for (Claim& claim : claims_) {
        GivenDevices given;
        for (const Chosen& chosen : claim.chosen)
            given.devices.push_back(chosen.given);
        std::vector<const DeviceOffer*> offers;
        for (const Chosen& chosen : claim.chosen)
            offers.push_back(&table_.pools.offer(chosen.offer));
        given.nodes = nodes_for(offers, node_.name);
        out.push_back({claim.id, std::move(given), claim.pod});
    }
}

bool DeviceChooser::next_request(std::size_t c, std::size_t r) {
    if (c == claims_.size()) return true;
    if (r == claims_[c].requests.size()) return next_request(c + 1, 0);
    for (Wish& wish : claims_[c].requests[r].wishes) {
        if (next_device(c, r, wish, 0, {})) return true;
        if (stopped()) return false;
    }
    return false;
}

bool DeviceChooser::stopped() const { return !trouble_.empty() || steps_ > kMostSteps; }

bool DeviceChooser::next_device(std::size_t c, std::size_t r, Wish& wish, std::int64_t got, Place from) {
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
            if (has_hope(c, r, wish, got + 1) && next_device(c, r, wish, got + 1, {p, i + 1})) return true;
            unchoose(c, wish);
            if (stopped()) return false;
            failed.push_back(offers[i]);
        }
    }
    return false;
}

// What is still to be met can be met, request by request, with what the constraints leave.
bool DeviceChooser::has_hope(std::size_t c, std::size_t r, Wish& wish, std::int64_t got) {
    Claim& claim = claims_[c];
    if (claim.constraints.empty() || claim.may_end) return true;
    if (!has_hope_for(c, wish, wish.count - got)) return false;
    for (std::size_t later = r + 1; later < claim.requests.size(); ++later) {
        const auto in_one_way = [&](Wish& way) { return has_hope_for(c, way, way.count); };
        if (std::ranges::none_of(claim.requests[later].wishes, in_one_way)) return false;
    }
    return true;
}

bool DeviceChooser::has_hope_for(std::size_t c, Wish& wish, std::int64_t wanted) {
    if (wanted <= 0 || wish.fact->mode == DeviceCount::kAll) return true;
    const Claim& claim = claims_[c];
    const std::vector<OfferId>& hopes = hopes_of(c, wish);
    steps_ += static_cast<std::int64_t>(hopes.size() / kHopesPerStep);
    std::int64_t left = 0;
    std::vector<Seen> values(claim.constraints.size());  // of distinct constraints: those that are left
    for (OfferId offer : hopes) {
        const DeviceOffer& o = table_.pools.offer(offer);
        if (wish.fact->admin ? taken_by(c, o.device) : taken(o.device)) continue;
        bool allowed = true;
        for (std::size_t i = 0; i < claim.constraints.size() && allowed; ++i) {
            const DeviceConstraint& constraint = claim.spec->constraints[i];
            if (!concerns(constraint, wish)) continue;
            const DeviceAttribute* attribute = attribute_of(*o.fact, constraint.attribute);
            allowed = attribute != nullptr && allows(constraint, claim.constraints[i], *attribute);
        }
        if (!allowed) continue;
        ++left;
        for (std::size_t i = 0; i < claim.constraints.size(); ++i) {
            const DeviceConstraint& constraint = claim.spec->constraints[i];
            if (!constraint.distinct || !concerns(constraint, wish)) continue;
            const DeviceAttribute* attribute = attribute_of(*o.fact, constraint.attribute);
            if (allows(constraint, values[i], *attribute)) values[i].push_back(attribute);
        }
    }
    for (std::size_t i = 0; i < claim.constraints.size(); ++i) {
        const DeviceConstraint& constraint = claim.spec->constraints[i];
        if (constraint.distinct && concerns(constraint, wish)) left = std::min(left, std::ssize(values[i]));
    }
    return left >= wanted;
}

const std::vector<OfferId>& DeviceChooser::hopes_of(std::size_t c, Wish& wish) {
    if (wish.hopes) return *wish.hopes;
    std::vector<OfferId>& hopes = wish.hopes.emplace();
    for (const NodePool& pool : pools_) {
        if (!pool.trouble.empty()) continue;
        for (OfferId offer : pool.offers) {
            const DeviceOffer& o = table_.pools.offer(offer);
            if (!wish.fact->admin && held_whole(o.device, o.fact->shareable)) continue;
            std::vector<ConsumedAmount> amounts;
            if (select(claims_[c].id, wish, offer) == Selected::kYes && untolerated(*wish.fact, o) == nullptr &&
                amounts_for(words_, *wish.fact, o, amounts))
                hopes.push_back(offer);
        }
    }
    return hopes;
}

std::string DeviceChooser::explain() {
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
    if (claims_.empty()) return "";
    const std::string name = table_.name_of(claims_.front().id, words_);
    if (steps_ > kMostSteps)
        return fmt::format("claim {}: not every combination of devices was tried ({} looks)", name, kMostSteps);
    return fmt::format(
        "claim {}: no combination of the devices that are free meets its requests and constraints together", name);
}

}  // namespace reprieve
