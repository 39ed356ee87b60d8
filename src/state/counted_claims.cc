#include "state/counted_claims.h"

#include <algorithm>

#include "state/claim_questions.h"
#include "state/cluster.h"
#include "state/device_choice.h"
#include "state/device_match.h"

namespace reprieve {
namespace {

constexpr std::size_t kMostKinds = 4;
constexpr std::size_t kMostOffers =
    1'000;  // of a node: one pass over them for each request is far from a limit of work

bool says_the_same(const CountedClaims::Kind& kind, const DeviceWish& wish, Dim resource) {
    return kind.resource == resource && kind.wish->cls == wish.cls && kind.wish->selectors == wish.selectors &&
           kind.wish->tolerations == wish.tolerations && kind.wish->amounts == wish.amounts;
}

}  // namespace

std::optional<CountedClaims> CountedClaims::of(const Snapshot& s, std::span<const PodId> pods) {
    CountedClaims made(s);
    made.like_ = pods.front();
    if (!made.speaks_of(pods)) return std::nullopt;
    for (DeviceClaimId id : s.device_claims.of(made.like_).wants) {
        if (!made.add(*s.device_claims.row(id).spec)) return std::nullopt;
    }
    if (made.kinds_.empty()) return std::nullopt;
    made.has_extended_ = std::ranges::any_of(s.class_of(made.like_).requests, [&](const Resources::Amount& ask) {
        return s.device_claims.class_of_resource.contains(ask.dim);
    });
    made.on_node_.resize(s.nodes.size());
    return made;
}

bool CountedClaims::add(const ClaimSpec& spec) {
    if (!spec.trouble.empty() || !spec.constraints.empty()) return false;
    std::int64_t devices = 0;
    for (const DeviceRequest& request : spec.requests) {
        if (request.wishes.size() != 1) return false;
        const DeviceWish& wish = request.wishes.front();
        const auto cls = s_.device_claims.classes.find(wish.cls);
        if (!wish.trouble.empty() || wish.mode != DeviceCount::kExact || wish.admin || wish.count <= 0 ||
            cls == s_.device_claims.classes.end() || !s_.device_claims.fault_of(cls->second->selectors).empty() ||
            !s_.device_claims.fault_of(wish.selectors).empty())
            return false;
        devices = saturating_add(devices, wish.count);
        const auto same =
            std::ranges::find_if(kinds_, [&](const Kind& k) { return says_the_same(k, wish, request.resource); });
        if (same != kinds_.end())
            same->count += wish.count;
        else
            kinds_.push_back({.wish = &wish, .cls = cls->second, .resource = request.resource, .count = wish.count});
    }
    return devices <= static_cast<std::int64_t>(kMostClaimedDevices) && kinds_.size() <= kMostKinds;
}

bool CountedClaims::asks_alike(PodId a, PodId b) const {
    const ClaimTable& table = s_.device_claims;
    return std::ranges::equal(table.of(a).wants, table.of(b).wants, [&](DeviceClaimId x, DeviceClaimId y) {
        const ClaimSpec* of_x = table.row(x).spec;
        const ClaimSpec* of_y = table.row(y).spec;
        return of_x == of_y || *of_x == *of_y;
    });
}

bool CountedClaims::speaks_of(std::span<const PodId> pods) const {
    return std::ranges::all_of(pods, [&](PodId pod) {
        // Allocated, shared, in trouble or with alternatives: then the class is not local.
        const PodClass& cls = s_.class_of(pod);
        return cls.has_claims && cls.claims_local && cls.spec == s_.class_of(like_).spec && asks_alike(pod, like_);
    });
}

bool CountedClaims::serve(NodeId node, Dim resource) const {
    return has_extended_ && served_by_claim(s_, node, resource);
}

bool CountedClaims::asked_on(NodeId node, const Kind& kind) const {
    return !kind.resource || served_by_claim(s_, node, kind.resource);
}

const CountedClaims::OnNode& CountedClaims::known(NodeId node) {
    OnNode& there = on_node_[node.index()];
    if (!there.known) {
        there.known = true;
        there.countable = look_at(node, there.suiting);
    }
    return there;
}

// Whoever holds it runs here, so that whoever looks at a node's pods sees all that can free it.
bool CountedClaims::held_here(NodeId node, DeviceId device) const {
    return std::ranges::all_of(s_.device_claims.holders(device), [&](DeviceClaimId claim) {
        return std::ranges::all_of(s_.device_claims.row(claim).pods,
                                   [&](PodId pod) { return s_.pods[pod].node == node; });
    });
}

bool CountedClaims::look_at(NodeId node, std::vector<Suiting>& out) const {
    const ClaimTable& table = s_.device_claims;
    std::size_t looked_at = 0;
    std::vector<ConsumedAmount> amounts;
    for (const NodePool& pool : table.pools.on_node(node)) {
        if (!pool.trouble.empty()) continue;  // it gives nothing
        for (OfferId id : pool.offers) {
            if (++looked_at > kMostOffers) return false;
            const DeviceOffer& offer = table.pools.offer(id);
            std::size_t suits = 0;
            for (std::uint32_t k = 0; k < kinds_.size(); ++k) {
                const Kind& kind = kinds_[k];
                if (!asked_on(node, kind)) continue;
                Selected selected = table.select(kind.cls->selectors, id, nullptr);
                if (selected == Selected::kYes) selected = table.select(kind.wish->selectors, id, nullptr);
                if (selected == Selected::kError) return false;
                amounts.clear();
                if (selected == Selected::kNo || untolerated(*kind.wish, offer) != nullptr ||
                    !amounts_for(*s_.words, *kind.wish, offer, amounts))
                    continue;
                out.push_back({.device = offer.device, .kind = k});
                ++suits;
            }
            if (suits == 0) continue;
            if (suits > 1 || offer.slice->per_device || offer.fact->shareable || !offer.fact->consumes->empty() ||
                table.pools.offers_of(offer.device).size() != 1 || !held_here(node, offer.device))
                return false;
        }
    }
    return true;
}

std::int64_t CountedClaims::idle(NodeId node, std::uint32_t kind, const ClaimBook& view, std::int64_t pods) {
    if (!asked_on(node, kinds_[kind])) return pods * kinds_[kind].count;
    return std::ranges::count_if(known(node).suiting,
                                 [&](const Suiting& s) { return s.kind == kind && view.held(s.device).idle(); });
}

std::int64_t CountedClaims::fit(NodeId node, const ClaimBook& view, std::int64_t most) {
    for (std::uint32_t k = 0; k < kinds_.size() && most > 0; ++k)
        most = std::min(most, idle(node, k, view, most) / kinds_[k].count);
    return most;
}

std::int64_t CountedClaims::fit_if_empty(NodeId node, std::int64_t most) {
    for (std::uint32_t k = 0; k < kinds_.size(); ++k) {
        if (!asked_on(node, kinds_[k])) continue;
        const auto all = std::ranges::count(known(node).suiting, k, &Suiting::kind);
        most = std::min<std::int64_t>(most, all / kinds_[k].count);
    }
    return most;
}

}  // namespace reprieve
