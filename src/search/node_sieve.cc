#include "search/node_sieve.h"

#include <algorithm>

#include "search/whole_devices.h"

namespace reprieve {
namespace {

constexpr std::size_t kMostTables = 16;
// A runner-up leaves out one of the nodes that the best set uses; ties are settled among a few more.
constexpr std::size_t kSpareNodes = 2;

}  // namespace

// Whether a member fits there once every unit is gone.
bool NodeSieve::has_room_for_one(NodeId node, PodId like) const {
    const Snapshot& s = session_.snapshot;
    return std::ranges::all_of(s.class_of(like).requests, [&](const Resources::Amount& ask) {
        std::int64_t free = s.later.free(node, ask.dim);
        for (const Unit& unit : list_.units) {
            for (PodId pod : list_.pods_of(unit))
                free += s.pods[pod].node == node ? room_of(s, pod, ask.dim) : 0;
        }
        return ask.value <= free;
    });
}

bool NodeSieve::describe_unit(const Unit& unit, NodeId node, const GangRules& rules) {
    const Snapshot& s = session_.snapshot;
    if (unit.gang && unit.kind != UnitKind::kPod) {
        const GangRow& gang = s.gangs[unit.gang];
        const auto elsewhere = [&](PodId p) { return s.pods[p].node && s.pods[p].node != node; };
        if (gang.whole_root || std::ranges::any_of(gang.pods, elsewhere)) return false;
    }
    description_.push_back(static_cast<std::int64_t>(unit.kind));
    description_.push_back(unit.priority);
    description_.push_back(unit.rank);
    description_.push_back(unit.whole);
    description_.push_back(unit.count);
    for (PodId pod : list_.pods_of(unit)) {
        const PodRow& row = s.pods[pod];
        if (!s.class_of(pod).budgets.empty() || row.has(kResizing)) return false;
        description_.push_back(s.class_of(pod).spec.value());
        description_.push_back(row.priority);
        if (rules.order->has(CostTerm::kLostWork) && rules.work) description_.push_back(lost_work(s, pod, rules.work));
        if (rules.order->has(CostTerm::kLatestStart)) description_.push_back(row.started.us);
    }
    return true;
}

std::uint32_t NodeSieve::kind_of(Table& table, NodeId node, const GangRules& rules, PodId like) {
    const Snapshot& s = session_.snapshot;
    list_.clear();
    UnitFinder(session_).on_node(node, rules.attack, list_);
    const bool accepts = placer_.facts(like)[node.index()].fits();
    description_.clear();
    description_.push_back(accepts ? 1 : 0);
    if (accepts) {
        for (const auto& [dim, value] : s.class_of(like).requests)
            description_.push_back(s.later.free(node, dim));
    }
    bool alone = devices_by_amounts(session_, s.spec_of(like).devices, node) && list_.contests.empty();
    // A pod is read as a unit of its own order; where one must always be looked at, so must its node.
    for (const Unit& unit : list_.units)
        alone = alone && describe_unit(unit, node, rules);
    if (!alone) return kAlways;
    if (!accepts || !has_room_for_one(node, like)) return kUseless;
    const auto [at, fresh] = table.numbers.try_emplace(description_, static_cast<std::uint32_t>(table.ranks.size()));
    if (fresh) table.ranks.emplace_back();
    return at->second;
}

void NodeSieve::describe_again(Table& table, NodeId node, const GangRules& rules, PodId like) {
    const std::uint32_t rank = session_.snapshot.nodes[node].rank;
    table.ranks[table.kind_of[rank]].erase(rank);
    const std::uint32_t kind = kind_of(table, node, rules, like);
    table.kind_of[rank] = kind;
    if (kind != kUseless) table.ranks[kind].insert(rank);
}

std::vector<NodeId> NodeSieve::nodes_for(const GangRules& rules, std::span<const PodId> members) {
    const Snapshot& s = session_.snapshot;
    const PodId like = members.front();
    const Key key{s.class_of(like).spec, members.size(), rules.attack.priority, rules.attack.queue};
    auto at = tables_.find(key);
    if (at == tables_.end()) {
        if (tables_.size() >= kMostTables)
            tables_.erase(std::ranges::min_element(tables_, {}, [](const auto& t) { return t.second.used; }));
        at = tables_.emplace(key, Table()).first;
        at->second.ranks.resize(2);
        at->second.kind_of.assign(s.nodes_by_name.size(), kUseless);
        touched_ = s.nodes_by_name;
    } else {
        touched_.clear();
        session_.tx.touches().since(at->second.seen, touched_);
    }
    Table& table = at->second;
    for (NodeId node : touched_)
        describe_again(table, node, rules, like);
    table.seen = session_.tx.touches().now();
    table.used = ++uses_;
    const std::size_t most = members.size() * kSpareNodes;
    std::vector<std::uint32_t> ranks(table.ranks[kAlways].begin(), table.ranks[kAlways].end());
    for (std::size_t kind = kAlways + 1; kind < table.ranks.size(); ++kind) {
        std::size_t taken = 0;
        for (auto rank = table.ranks[kind].begin(); rank != table.ranks[kind].end() && taken < most; ++rank, ++taken)
            ranks.push_back(*rank);
    }
    if (ranks.size() * 2 > s.nodes_by_name.size()) return {};
    std::ranges::sort(ranks);
    std::vector<NodeId> out;
    for (std::uint32_t rank : ranks)
        out.push_back(s.nodes_by_name[rank]);
    return out;
}

}  // namespace reprieve
