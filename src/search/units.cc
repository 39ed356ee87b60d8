#include "search/units.h"

#include <algorithm>
#include <numeric>

#include "search/budgets_left.h"
#include "search/split_order.h"
#include "state/claim_questions.h"

namespace reprieve {

bool UnitFinder::takeable(PodId pod, const Attack& attack) const {
    const PodRow& row = session_.snapshot.pods[pod];
    if (row.state != PodState::kRunning) return false;
    if (attack.quota != nullptr) {
        if (!attack.quota->may_take(pod)) return false;
    } else if (attack.reclaim) {
        const Queue* queue = row.queue ? session_.snapshot.queues[row.queue].fact : nullptr;
        if (row.queue == attack.queue || !row.queue || (queue != nullptr && !queue->reclaimable)) return false;
    } else if (row.unit_priority >= attack.priority || (!attack.cross_queue && row.queue != attack.queue)) {
        return false;
    }
    if (attack.claimant && frees_poison(pod, attack.claimant)) return false;
    return session_.protections.of(session_.snapshot, pod, attack.priority) == Protection::kNone;
}

// A selector of the claimant fails on a device that this pod holds. While it is held nobody asks; once it is free the
// attempt may end. A walk cannot choose sets, so it leaves such pods alone.
bool UnitFinder::frees_poison(PodId pod, PodId claimant) const {
    const ClaimTable& table = session_.snapshot.device_claims;
    return std::ranges::any_of(table.of(pod).holds, [&](DeviceClaimId claim) {
        return std::ranges::any_of(table.row(claim).given->devices, [&](const GivenDevice& given) {
            return !given.admin && is_poison(session_.snapshot, claimant, given.device);
        });
    });
}

void UnitFinder::add(UnitKind kind, std::int32_t rank, std::span<const PodId> pods, UnitList& out) const {
    add(kind, rank, pods.front(), pods, out);
}

void UnitFinder::add(UnitKind kind, std::int32_t rank, PodId like, std::span<const PodId> pods, UnitList& out) const {
    const Snapshot& s = session_.snapshot;
    Unit unit{.kind = kind,
              .gang = s.pods[like].gang,
              .priority = s.pods[like].unit_priority,
              .rank = rank,
              .first = static_cast<std::uint32_t>(out.pods.size()),
              .count = static_cast<std::uint32_t>(pods.size()),
              .start_us = INT64_MAX};
    for (PodId p : pods)
        unit.start_us = std::min(unit.start_us, s.started(p).us);
    out.pods.insert(out.pods.end(), pods.begin(), pods.end());
    out.units.push_back(unit);
}

// This plan has just given a member its place: the gang is not taken apart in the same breath.
bool UnitFinder::starting(GangId gang) const {
    return std::ranges::any_of(session_.snapshot.gangs[gang].pods, [&](PodId p) {
        const PodState state = session_.snapshot.pods[p].state;
        return state == PodState::kPlaced || state == PodState::kNominated;
    });
}

bool UnitFinder::whole_pods(GangId id, const Attack& attack, std::vector<PodId>& out) const {
    const Snapshot& s = session_.snapshot;
    out.clear();
    const auto collect = [&](GangId gang) {
        if (starting(gang)) return false;
        for (PodId p : s.gangs[gang].pods) {
            if (s.pods[p].state != PodState::kRunning) continue;
            if (!takeable(p, attack)) return false;
            out.push_back(p);
        }
        return true;
    };
    const CompositeId root = s.gangs[id].whole_root;
    if (!root) return collect(id);
    const bool takeable = std::ranges::all_of(s.composites[root].gangs, collect);
    std::ranges::sort(out, [&](PodId a, PodId b) { return s.name_less(a, b); });
    return takeable;
}

// `local_` holds the takeable pods of the gang on the node.
void UnitFinder::add_gang(GangId id, const Attack& attack, UnitList& out) {
    const Snapshot& s = session_.snapshot;
    const GangRow& gang = s.gangs[id];
    if (gang.one_unit()) {
        if (whole_pods(id, attack, scratch_)) add(UnitKind::kWhole, gang.whole_root ? 3 : 2, scratch_, out);
        return;
    }
    sort_for_split(s, attack, local_);
    const bool single = goes_pod_by_pod(s.gangs[id]);
    const Split parts = split(id, single ? attack.open_single : attack.open_split, out);
    std::int32_t whole = -1;
    if (single) {
        for (PodId p : parts.core) {
            if (!starting(id)) add(UnitKind::kWhole, 2, std::span(&p, 1), out);
        }
    } else if (parts.has_core && (attack.local_only ? !starting(id) : whole_pods(id, attack, scratch_))) {
        if (attack.local_only) scratch_ = parts.core;
        std::erase_if(scratch_, [&](PodId p) { return std::ranges::find(parts.safe, p) != parts.safe.end(); });
        whole = static_cast<std::int32_t>(out.units.size());
        add(UnitKind::kWhole, 2, local_.front(), scratch_, out);
    }
    for (PodId p : parts.safe) {
        add(UnitKind::kSafe, 2, std::span(&p, 1), out);
        out.units.back().whole = whole;
    }
}

// The surplus among `local_`, and the rest. Open: whoever the gang could spare is in the surplus.
UnitFinder::Split UnitFinder::split(GangId id, bool open, UnitList& out) const {
    const Snapshot& s = session_.snapshot;
    Split parts;
    Surplus surplus(s, id);
    for (PodId p : local_)
        (surplus.take(p) ? parts.safe : parts.core).push_back(p);
    parts.has_core = !parts.core.empty();
    if (parts.safe.empty() || parts.core.empty()) return parts;
    const auto could_spare = [&](PodId p) { return Surplus(s, id).take(p); };
    if (std::ranges::any_of(parts.core, could_spare)) out.contests.push_back({.gang = id, .pods = local_.size()});
    if (!open) return parts;
    if (goes_pod_by_pod(s.gangs[id])) out.singles.push_back({.gang = id, .surplus = Surplus(s, id)});
    std::ranges::copy_if(parts.core, std::back_inserter(parts.safe), could_spare);
    std::erase_if(parts.core, could_spare);
    return parts;
}

// A pod that is a unit by itself is added; one of a gang waits in `in_gangs_`.
void UnitFinder::add_alone(PodId pod, UnitList& out) {
    const PodRow& row = session_.snapshot.pods[pod];
    const GangRow* gang = row.gang ? &session_.snapshot.gangs[row.gang] : nullptr;
    if (gang == nullptr)
        add(UnitKind::kPod, 1, std::span(&pod, 1), out);
    else if (gang->min == 0 && !gang->one_unit())
        add(UnitKind::kPod, 2, std::span(&pod, 1), out);
    else
        in_gangs_.push_back(pod);
}

void UnitFinder::on_nodes(std::span<const NodeId> nodes, const Attack& attack, UnitList& out) {
    in_gangs_.clear();
    for (NodeId node : nodes) {
        for (PodId pod : session_.snapshot.node_pods[node]) {
            if (takeable(pod, attack)) add_alone(pod, out);
        }
    }
    add_gangs(attack, out);
}

void UnitFinder::among(std::span<const PodId> pods, const Attack& attack, UnitList& out) {
    in_gangs_.clear();
    for (PodId pod : pods) {
        if (takeable(pod, attack)) add_alone(pod, out);
    }
    add_gangs(attack, out);
}

// Splits what is in `in_gangs_`.
void UnitFinder::add_gangs(const Attack& attack, UnitList& out) {
    const Snapshot& s = session_.snapshot;
    if (in_gangs_.empty()) return;
    std::ranges::sort(in_gangs_, {}, [&](PodId p) { return std::pair(s.pods[p].gang, p); });
    std::vector<std::span<const PodId>> gangs;
    for (std::span<const PodId> rest = in_gangs_; !rest.empty(); rest = rest.subspan(gangs.back().size())) {
        const auto others =
            std::ranges::find_if(rest, [&](PodId p) { return s.pods[p].gang != s.pods[rest.front()].gang; });
        gangs.push_back(rest.first(static_cast<std::size_t>(others - rest.begin())));
    }
    std::ranges::sort(gangs, [&](const auto& a, const auto& b) {
        const GangRow& x = s.gangs[s.pods[a.front()].gang];
        const GangRow& y = s.gangs[s.pods[b.front()].gang];
        return std::pair(s.words->text(x.ns), s.words->text(x.name)) <
               std::pair(s.words->text(y.ns), s.words->text(y.name));
    });
    std::vector<CompositeId> roots;
    for (const std::span<const PodId> pods : gangs) {
        const GangId gang = s.pods[pods.front()].gang;
        local_.assign(pods.begin(), pods.end());
        // Gangs of one composite that goes as a whole are one unit.
        if (const CompositeId root = s.gangs[gang].whole_root) {
            if (std::ranges::find(roots, root) != roots.end()) continue;
            roots.push_back(root);
        }
        add_gang(gang, attack, out);
    }
}

bool more_important(const Snapshot& s, const UnitList& list, const Unit& a, const Unit& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.rank != b.rank) return a.rank > b.rank;
    if (a.count != b.count) return a.count > b.count;
    if (a.start_us != b.start_us) return a.start_us < b.start_us;
    return s.name_less(list.pods[a.first], list.pods[b.first]);
}

bool goes_before(const Snapshot& s, PodId a, PodId b) {
    const PodRow& x = s.pods[a];
    const PodRow& y = s.pods[b];
    if (x.unit_priority != y.unit_priority) return x.unit_priority < y.unit_priority;
    if (s.started(a) != s.started(b)) return s.started(a) > s.started(b);
    return s.name_less(b, a);
}

bool keep_least_important(const Snapshot& s, std::size_t most, std::vector<PodId>& pods) {
    const auto before = [&](PodId a, PodId b) { return goes_before(s, a, b); };
    const bool all = pods.size() <= most;
    if (!all) {
        std::ranges::nth_element(pods, pods.begin() + static_cast<std::ptrdiff_t>(most), before);
        pods.resize(most);
    }
    std::ranges::sort(pods, before);
    return all;
}

std::int64_t room_of(const Snapshot& s, PodId pod, Dim dim) {
    std::int64_t room = 0;
    for (const auto& a : s.class_of(pod).requests)
        room += a.dim == dim ? a.value : 0;
    if (s.pods[pod].has(kResizing)) {
        for (const auto& a : s.facts->resize_delta(pod))
            room -= a.dim == dim ? a.value : 0;
    }
    return room;
}

std::vector<PodId> split_by_budget(const Snapshot& s, UnitList& list, std::span<const std::uint32_t> order) {
    std::vector<PodId> breakers;
    if (s.budgets.empty()) return breakers;
    BudgetsLeft left(s);
    for (std::uint32_t at : order) {
        Unit& unit = list.units[at];
        unit.violations = 0;
        for (PodId pod : list.pods_of(unit)) {
            if (left.take(pod)) continue;
            ++unit.violations;
            breakers.push_back(pod);
        }
    }
    return breakers;
}

std::vector<std::uint32_t> order_for_return(const Snapshot& s, UnitList& list) {
    std::vector<PodId> breakers;
    return order_for_return(s, list, breakers);
}

std::vector<std::uint32_t> order_for_return(const Snapshot& s, UnitList& list, std::vector<PodId>& breakers) {
    std::vector<std::uint32_t> order(list.units.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(
        order, [&](std::uint32_t a, std::uint32_t b) { return more_important(s, list, list.units[a], list.units[b]); });
    breakers = split_by_budget(s, list, order);
    std::ranges::stable_partition(order, [&](std::uint32_t u) { return list.units[u].violations > 0; });
    return order;
}

std::vector<std::int32_t> keep_allowed(UnitList& list, std::vector<bool> allowed) {
    for (std::size_t i = 0; i < list.units.size(); ++i) {
        if (!allowed[i] && list.units[i].whole >= 0) allowed[static_cast<std::size_t>(list.units[i].whole)] = false;
    }
    std::vector<std::int32_t> moved(list.units.size(), -1);
    std::vector<Unit> kept;
    for (std::size_t i = 0; i < list.units.size(); ++i) {
        if (!allowed[i]) continue;
        moved[i] = static_cast<std::int32_t>(kept.size());
        kept.push_back(list.units[i]);
    }
    for (Unit& unit : kept) {
        if (unit.whole >= 0) unit.whole = moved[static_cast<std::size_t>(unit.whole)];
    }
    list.units = std::move(kept);
    return moved;
}

std::vector<bool> over_budget(const Snapshot& s, const UnitList& list) {
    std::vector<bool> over(list.units.size());
    if (s.budgets.empty()) return over;
    std::vector<std::uint32_t> order(list.units.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(
        order, [&](std::uint32_t a, std::uint32_t b) { return more_important(s, list, list.units[b], list.units[a]); });
    BudgetsLeft left(s);
    for (std::uint32_t at : order)
        over[at] = !left.take_together(list.pods_of(list.units[at]));
    // A gang goes whole only together with its surplus here.
    for (std::size_t u = 0; u < list.units.size(); ++u) {
        if (over[u] && list.units[u].whole >= 0) over[static_cast<std::size_t>(list.units[u].whole)] = true;
    }
    return over;
}

}  // namespace reprieve
