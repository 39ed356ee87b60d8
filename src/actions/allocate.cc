#include "actions/allocate.h"

#include <fmt/format.h>

#include <algorithm>

#include "actions/demands.h"
#include "actions/nominations.h"
#include "plugins/limits.h"
#include "plugins/network_topology.h"
#include "plugins/score.h"
#include "search/domain_fit.h"
#include "search/topology_placement.h"

namespace reprieve {
namespace {

bool inside(const SearchDomain& domain, NodeId node) {
    return domain.nodes.empty() || std::ranges::find(domain.nodes, node) != domain.nodes.end();
}

Served allocate_pod(Desk& desk, const Demand& demand, ActionKind as) {
    const PodId pod = demand.first();
    const auto start = desk.session.tx.checkpoint();
    const std::int64_t gave_up = desk.placer.gave_up();
    // A set of single pods may be bound to one domain all the same.
    const SearchSpace space = network_search_space(desk.snapshot(), home_of(desk.snapshot(), demand));
    if (!space.missing.empty()) return {.why_not = space.missing, .never = true, .proof = Proof::nobody()};
    for (View view : {View::kNow, View::kLater}) {
        for (const SearchDomain& domain : space.domains) {
            // A nomination of an earlier plan is tried first.
            NodeId node = nominated_node(desk.snapshot(), pod);
            if (!node || !inside(domain, node) || !desk.placer.fits(pod, node, view))
                node = desk.placer.find(pod, view, domain.nodes);
            if (!node) continue;
            desk.placer.put(pod, node, view, desk.plan.note({.action = as, .domain = domain.name}));
            desk.session.commit(start);
            return {.done = true};
        }
    }
    return desk.placer.gave_up() == gave_up ? Served::not_mine() : Served{};
}

// Members that hold a nomination stay where they are nominated, if they still fit there.
void keep_nominated(Desk& desk,
                    std::span<const PodId> pods,
                    View view,
                    const TopologySeat& seat,
                    std::uint32_t note,
                    std::vector<PodId>& rest) {
    for (PodId pod : pods) {
        const NodeId node = seat.plain() ? nominated_node(desk.snapshot(), pod) : NodeId();
        if (node && inside(seat.domain, node) && desk.placer.fits(pod, node, view)) {
            desk.placer.put(pod, node, view, note);
        } else {
            rest.push_back(pod);
        }
    }
}

bool place_members(Desk& desk, const Mandatory& members, View view, const TopologySeat& seat, std::uint32_t note) {
    const auto start = desk.session.tx.checkpoint();
    std::vector<PodId> rest;
    keep_nominated(desk, members.pods, view, seat, note, rest);
    if (!rest.empty() && !place_in_seat(desk.session, desk.placer, rest, view, seat, note)) {
        desk.session.tx.rollback(start);
        // Where a member stands that kept its place, others may have none.
        const bool kept = rest.size() < members.pods.size();
        if (!kept || !place_in_seat(desk.session, desk.placer, members.pods, view, seat, note)) {
            desk.session.tx.rollback(start);
            return false;
        }
    }
    if (desk.surplus_waits) return true;
    for (const std::vector<PodId>& batch : members.surplus) {
        // A batch that does not fit stays pending; the gang runs without it.
        static_cast<void>(place_in_seat(desk.session, desk.placer, batch, view, seat, note));
    }
    return true;
}

// A gang that has its minimum: each batch by itself, where the rules still allow it beside the members that run.
Served place_surplus(Desk& desk, const Demand& demand, const Mandatory& members, ActionKind as) {
    const Snapshot& s = desk.snapshot();
    const auto start = desk.session.tx.checkpoint();
    bool any = false;
    // All members of a plan share one time.
    const auto some_are = [&](PodState state) {
        return std::ranges::any_of(s.gangs[demand.gang].pods, [&](PodId pod) { return s.pods[pod].state == state; });
    };
    const bool now = !some_are(PodState::kNominated);
    const bool later = !some_are(PodState::kPlaced);
    for (View view : {View::kNow, View::kLater}) {
        if (any || !(view == View::kNow ? now : later)) continue;
        for (const std::vector<PodId>& batch : members.surplus) {
            for (const SearchDomain& domain : network_search_space(s, demand.gang).domains) {
                const std::uint32_t note =
                    desk.plan.note({.action = as, .owner = owner_name(s, demand), .domain = domain.name});
                if (!place_in_seat(desk.session, desk.placer, batch, view, make_seat(s, demand.gang, domain), note))
                    continue;
                any = true;
                break;
            }
        }
    }
    if (!any) return Served::surplus();
    desk.session.commit(start);
    return {.done = true};
}

// Whether the domain's free room adds up to the need at all.
bool may_fit(const Snapshot& s, View view, const SearchDomain& domain, std::span<const Resources::Amount> need) {
    if (!domain.domain) return true;
    const Occupancy& there = view == View::kNow ? s.now : s.later;
    return std::ranges::all_of(need, [&](const auto& a) {
        if (s.device_claims.class_of_resource.contains(a.dim)) return true;  // claims may serve it, node by node
        std::int64_t free = there.domain_free(domain.domain, a.dim);
        return free >= a.value;
    });
}

// What the members think of the nodes they are on, by their preferences alone.
std::int64_t preference_of(const Snapshot& s, std::span<const PodId> pods) {
    constexpr std::int64_t kSoftTaint = 100;  // as much as one preference may weigh
    std::int64_t sum = 0;
    for (PodId pod : pods) {
        const Candidate candidate(s, pod);
        const NodeId node = s.pods[pod].node;
        sum += score_node_preference(candidate, node) + score_pod_preference(candidate, s.later, node) -
               kSoftTaint * score_untolerated_preferences(candidate, node);
    }
    return sum;
}

// Tries domains that nothing else tells apart, all of them where members have preferences: the domain that they like
// best wins, of equals the first. Else the first that takes them.
class DomainChoice {
public:
    DomainChoice(Desk& desk, const Demand& demand, const Mandatory& members, ActionKind as)
        : desk_(desk),
          demand_(demand),
          members_(members),
          as_(as),
          need_(sum_requests(desk.snapshot(), members.pods)),
          prefer_(std::ranges::any_of(members.pods, [&](PodId p) {
              return desk.session.scores.compares(desk.snapshot(), desk.snapshot().class_of(p));
          })) {}

    [[nodiscard]] bool place(View view, std::span<const SearchDomain> equals) {
        if (!prefer_ || equals.size() == 1)
            return std::ranges::any_of(equals, [&](const SearchDomain& domain) { return put(view, domain); });
        const SearchDomain* best = nullptr;
        std::int64_t most = 0;
        for (const SearchDomain& domain : equals) {
            const auto start = desk_.session.tx.checkpoint();
            if (!put(view, domain)) continue;
            const std::int64_t liked = preference_of(desk_.snapshot(), members_.pods);
            desk_.session.rollback(start);
            if (best != nullptr && liked <= most) continue;
            best = &domain;
            most = liked;
        }
        return best != nullptr && put(view, *best);
    }

private:
    bool put(View view, const SearchDomain& domain) {
        const Snapshot& s = desk_.snapshot();
        if (!may_fit(s, view, domain, need_)) return false;
        const std::uint32_t note =
            desk_.plan.note({.action = as_, .owner = owner_name(s, demand_), .domain = domain.name});
        return place_members(desk_, members_, view, make_seat(s, demand_.gang, domain), note);
    }

    Desk& desk_;
    const Demand& demand_;
    const Mandatory& members_;
    ActionKind as_;
    std::vector<Resources::Amount> need_;
    bool prefer_;
};

Served allocate_gang(Desk& desk, const Demand& demand, ActionKind as) {
    const Snapshot& s = desk.snapshot();
    const Mandatory members = desk.members_of(demand);
    if (members.missing > 0) {
        const std::int32_t min = s.gangs[members.lacking].min;
        return Served::not_mine(
            fmt::format("{} needs {} member{} and lacks {} that could run",
                        demand.partners.empty() ? "the gang" : "gang " + s.gang_name(members.lacking),
                        min,
                        min == 1 ? "" : "s",
                        members.missing_of_lacking));
    }
    const SearchSpace space = network_search_space(s, demand.gang);
    if (!space.missing.empty()) return {.why_not = space.missing, .never = true, .proof = Proof::nobody()};
    if (members.pods.empty()) return place_surplus(desk, demand, members, as);
    const auto start = desk.session.tx.checkpoint();
    const std::int64_t gave_up = desk.placer.gave_up();
    DomainChoice choice(desk, demand, members, as);
    const std::span<const SearchDomain> all(space.domains);
    for (View view : {View::kNow, View::kLater}) {
        for (std::size_t first = 0; first < all.size();) {
            std::size_t last = first + 1;
            while (last < all.size() && all[last].tier == all[first].tier && all[last].promised == all[first].promised)
                ++last;
            if (choice.place(view, all.subspan(first, last - first))) {
                desk.session.commit(start);
                return {.done = true};
            }
            first = last;
        }
    }
    // Not every way of placing the members was tried.
    return desk.placer.gave_up() == gave_up ? Served::not_mine() : Served{};
}

}  // namespace

Served allocate(Desk& desk, const Demand& demand, ActionKind as) {
    return demand.gang ? allocate_gang(desk, demand, as) : allocate_pod(desk, demand, as);
}

GangId home_of(const Snapshot& snapshot, const Demand& demand) {
    return demand.gang ? demand.gang : snapshot.pods[demand.first()].gang;
}

std::string owner_name(const Snapshot& snapshot, const Demand& demand) {
    return demand.gang ? snapshot.gang_name(demand.gang) : snapshot.pod_name(demand.first());
}

}  // namespace reprieve
