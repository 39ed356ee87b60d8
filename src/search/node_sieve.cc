#include "search/node_sieve.h"

#include <algorithm>

#include "search/device_gifts.h"
#include "search/domain_fit.h"
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
    const std::size_t kinds = claims_ == nullptr ? 0 : claims_->kinds().size();
    for (std::uint32_t k = 0; k < kinds; ++k) {
        std::int64_t idle = claims_->idle(node, k, s.later.claim_book(), 1);
        for (std::size_t i = k; i < freed_.size(); i += kinds)
            idle += freed_[i];
        if (idle < claims_->kinds()[k].count) return false;
    }
    return std::ranges::all_of(s.class_of(like).requests, [&](const Resources::Amount& ask) {
        if (claims_ != nullptr && claims_->serve(node, ask.dim)) return true;
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
        if (rules.order->has(CostTerm::kLatestStart)) description_.push_back(s.started(pod).us);
        for (DeviceClaimId id : s.device_claims.of(pod).holds) {
            if (s.device_claims.row(id).pods.size() > 1) return false;  // users may be elsewhere
        }
        if (!rules.order->has(CostTerm::kResources) || need_.devices.empty()) continue;
        const std::size_t first = description_.size();
        description_.resize(first + need_.devices.size());
        add_devices_of(s, std::span(&pod, 1), need_, {}, std::span(description_).subspan(first));
    }
    return true;
}

bool NodeSieve::describe_devices(NodeId node) {
    const Snapshot& s = session_.snapshot;
    if (!claims_->counts_on(node)) return false;
    const std::size_t kinds = claims_->kinds().size();
    for (std::uint32_t k = 0; k < kinds; ++k)
        description_.push_back(claims_->idle(node, k, s.later.claim_book(), 1));
    freed_.assign(list_.units.size() * kinds, 0);
    description_.push_back(static_cast<std::int64_t>(list_.units.size()));
    // Units of pods that also run elsewhere are told by describe_unit.
    const auto unit_of = [&](PodId pod) {
        for (std::size_t u = 0; u < list_.units.size(); ++u) {
            if (std::ranges::find(list_.pods_of(list_.units[u]), pod) != list_.pods_of(list_.units[u]).end())
                return static_cast<std::int32_t>(u);
        }
        return std::int32_t{-1};
    };
    bool adds_up = true;
    add_device_gifts(s, *claims_, node, unit_of, [&](std::uint32_t unit, std::uint32_t kind, bool alone) {
        ++freed_[unit * kinds + kind];
        adds_up = adds_up && alone;
    });
    description_.insert(description_.end(), freed_.begin(), freed_.end());
    return adds_up;
}

std::uint32_t NodeSieve::kind_of(Table& table, NodeId node, const GangRules& rules, PodId like) {
    const Snapshot& s = session_.snapshot;
    list_.clear();
    UnitFinder(session_).on_node(node, rules.attack, list_);
    const bool accepts = placer_.facts(like)[node.index()].fits();
    description_.clear();
    description_.push_back(accepts ? 1 : 0);
    if (accepts) {
        for (const auto& [dim, value] : s.class_of(like).requests) {
            const bool served = claims_ != nullptr && claims_->serve(node, dim);
            description_.push_back(served ? -1 : s.later.free(node, dim));
        }
    }
    const DeviceAsk& devices = s.spec_of(like).devices;
    bool alone = list_.contests.empty() && ((claims_ != nullptr && claims_->serve(node, devices.whole_dim)) ||
                                            devices_by_amounts(session_, devices, node));
    if (claims_ != nullptr && accepts) alone = describe_devices(node) && alone;
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
    need_ = need_of(s, members, sum_requests(s, members));
    claims_ = s.class_of(like).has_claims ? placer_.counted_claims(members) : nullptr;
    const Key key{s.class_of(like).spec,
                  members.size(),
                  rules.attack.priority,
                  rules.attack.queue,
                  claims_ == nullptr ? 0 : claims_->number()};
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
