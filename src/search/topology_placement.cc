#include "search/topology_placement.h"

#include <algorithm>

#include "search/gang_placement.h"
#include "state/sub_groups.h"

namespace reprieve {
namespace {

// Tries the pods in the domain's children, fullest use of each first, before using the domain freely: fewer
// sub-domains.
class Packing {
public:
    Packing(Session& session, Placer& placer, View view, std::uint32_t note)
        : session_(session),
          placer_(placer),
          view_(view),
          note_(note) {}

    bool place(std::span<const PodId> pods, const SearchDomain& domain) {
        const std::vector<DomainId> children = children_of(domain);
        if (children.size() > 1 && pods.size() > 1) {
            const auto start = session_.tx.checkpoint();
            if (place_by_child(pods, children)) return true;
            session_.tx.rollback(start);
        }
        return GangPlacement(session_, placer_, view_, domain.nodes, note_).place_all(pods);
    }

private:
    std::vector<DomainId> children_of(const SearchDomain& domain) const {
        std::vector<DomainId> out;
        const auto& all = session_.snapshot.domains.domains;
        for (DomainId d : IdRange<DomainId>(all.size())) {
            if (domain.domain ? all[d].parent == domain.domain : (!all[d].parent && !all[d].label_key))
                out.push_back(d);
        }
        return out;
    }

    // Greedy: the child that takes most of the rest; among those that take all of it, the tightest.
    bool place_by_child(std::span<const PodId> pods, std::vector<DomainId> children) {
        std::vector<PodId> rest(pods.begin(), pods.end());
        const Snapshot& s = session_.snapshot;
        while (!rest.empty() && !children.empty()) {
            std::size_t best = 0;
            std::vector<PodId> best_left = rest;
            std::int64_t best_room = INT64_MAX;
            for (std::size_t i = 0; i < children.size(); ++i) {
                const Domain& child = s.domains.domains[children[i]];
                if (child.nodes.empty()) continue;
                const auto mark = session_.tx.checkpoint();
                const std::vector<PodId> left = place_some(rest, child.nodes);
                session_.tx.rollback(mark);
                std::int64_t room = 0;
                for (NodeId n : child.nodes)
                    room += std::max<std::int64_t>(view().free(n, kCpu), 0);
                const bool better = left.size() != best_left.size() ? left.size() < best_left.size() : room < best_room;
                if (left.size() == rest.size() || !better) continue;
                best = i;
                best_left = left;
                best_room = room;
            }
            if (best_left.size() == rest.size()) return false;
            rest = place_some(rest, s.domains.domains[children[best]].nodes);
            children.erase(children.begin() + static_cast<std::ptrdiff_t>(best));
        }
        return rest.empty();
    }

    // As many as fit, biggest first; returns those left over.
    std::vector<PodId> place_some(const std::vector<PodId>& pods, std::span<const NodeId> nodes) {
        std::vector<PodId> order = pods;
        std::ranges::sort(order, [&](PodId a, PodId b) { return bigger_pod(session_.snapshot, a, b); });
        std::vector<PodId> left;
        SpecId refused;
        for (PodId pod : order) {
            const SpecId spec = session_.snapshot.class_of(pod).spec;
            const NodeId node = spec == refused ? NodeId() : placer_.find(pod, view_, nodes);
            if (node) {
                placer_.put(pod, node, view_, note_);
            } else {
                if (session_.filters.node_local(session_.snapshot, session_.snapshot.class_of(pod))) refused = spec;
                left.push_back(pod);
            }
        }
        return left;
    }

    const Occupancy& view() const { return view_ == View::kNow ? session_.snapshot.now : session_.snapshot.later; }

    Session& session_;
    Placer& placer_;
    View view_;
    std::uint32_t note_;
};

}  // namespace

TopologySeat make_seat(const Snapshot& s, GangId gang, SearchDomain domain) {
    TopologySeat seat{.domain = std::move(domain), .gang = gang};
    const Gang* fact = gang ? s.gangs[gang].fact : nullptr;
    if (fact != nullptr)
        seat.sub_rules =
            std::ranges::any_of(fact->sub_groups, [](const SubGroupPolicy& p) { return p.topology.has_value(); });
    return seat;
}

bool place_in_seat(Session& session,
                   Placer& placer,
                   std::span<const PodId> pods,
                   View view,
                   const TopologySeat& seat,
                   std::uint32_t note) {
    const Snapshot& s = session.snapshot;
    Packing packing(session, placer, view, note);
    if (!seat.sub_rules) return packing.place(pods, seat.domain);
    // Sub-groups one after another, each in the first of its own domains (inside the gang's) that takes it whole.
    std::vector<std::pair<SubGroupKey, std::vector<PodId>>> groups;
    for (PodId pod : pods) {
        SubGroupKey key = sub_group_of(s, pod);
        auto at = std::ranges::find(groups, key, &std::pair<SubGroupKey, std::vector<PodId>>::first);
        if (at == groups.end()) at = groups.insert(groups.end(), {key, {}});
        at->second.push_back(pod);
    }
    std::ranges::stable_sort(groups,
                             [&](const auto& a, const auto& b) { return sub_group_before(s, a.first, b.first); });
    const auto start = session.tx.checkpoint();
    for (const auto& [key, members] : groups) {
        const SubGroupPolicy* policy =
            key ? &s.gangs[seat.gang].fact->sub_groups[static_cast<std::size_t>(key.policy)] : nullptr;
        bool placed = false;
        if (policy == nullptr || !policy->topology) {
            placed = packing.place(members, seat.domain);
        } else {
            const SearchSpace space = sub_group_space(s, seat.gang, key, *policy->topology, seat.domain);
            for (const SearchDomain& domain : space.domains) {
                placed = packing.place(members, domain);
                if (placed) break;
            }
        }
        if (!placed) {
            // Another place for a sub-group before it might have left room.
            placer.give_up();
            session.tx.rollback(start);
            return false;
        }
    }
    return true;
}

}  // namespace reprieve
