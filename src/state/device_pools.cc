#include "state/device_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/vocabulary.h"

namespace reprieve {
namespace {

bool has_reach(const DeviceReach& reach) { return reach.node.valid() || reach.all_nodes || reach.terms.has_value(); }

bool applies(const DeviceTaintRule& rule, const ResourceSlice& slice, const PooledDevice& device) {
    const auto same = [](StringId wanted, StringId is) { return !wanted || wanted == is; };
    return rule.selects && same(rule.driver, slice.driver) && same(rule.pool, slice.pool) &&
           same(rule.device, device.name);
}

bool relevant(const ResourceSlice& slice, const Node& node, const Vocabulary& words) {
    if (has_reach(slice.reach)) return reaches(slice.reach, node, words);
    return slice.per_device &&
           std::ranges::any_of(slice.devices, [&](const PooledDevice& d) { return reaches(d.reach, node, words); });
}

}  // namespace

bool reaches(const DeviceReach& reach, const Node& node, const Vocabulary& words) {
    if (reach.node) return reach.node == node.name;
    if (reach.all_nodes) return true;
    return reach.terms && std::ranges::any_of(*reach.terms, [&](const NodeSelectorTerm& t) {
               return t.matches(node.labels, node.name, words);
           });
}

DeviceId DevicePools::device(StringId driver, StringId pool, StringId name) {
    const auto [at, fresh] = devices_.try_emplace({driver, pool, name});
    if (fresh) {
        at->second = keys_.push_back(at->first);
        offers_of_.push_back({});
    }
    return at->second;
}

DeviceId DevicePools::find(StringId driver, StringId pool, StringId name) const {
    const auto at = devices_.find({driver, pool, name});
    return at == devices_.end() ? DeviceId() : at->second;
}

std::span<const NodePool> DevicePools::on_node(NodeId node) const {
    return on_node_.contains(node) ? std::span<const NodePool>(on_node_[node]) : std::span<const NodePool>();
}

void DevicePools::add_slice(const ResourceSlice& slice, std::span<const DeviceTaintRule* const> rules) {
    Slice& made = slices_.emplace_back(Slice{&slice, {}});
    for (const PooledDevice& fact : slice.devices) {
        DeviceOffer offer{.device = device(slice.driver, slice.pool, fact.name),
                          .fact = &fact,
                          .slice = &slice,
                          .taints = fact.taints};
        for (const DeviceTaintRule* rule : rules) {
            if (applies(*rule, slice, fact)) offer.taints.push_back(rule->taint);
        }
        const DeviceId id = offer.device;
        made.offers.push_back(offers_.push_back(std::move(offer)));
        offers_of_[id].push_back(made.offers.back());
    }
    of_pool_[{slice.driver, slice.pool}].push_back(static_cast<std::uint32_t>(slices_.size() - 1));
}

void DevicePools::build(std::vector<const ResourceSlice*> slices,
                        std::span<const DeviceTaintRule* const> rules,
                        const Nodes& nodes,
                        const Vocabulary& words) {
    *this = {};
    if (slices.empty()) return;
    std::ranges::sort(slices, {}, [&](const ResourceSlice* s) { return words.text(s->name); });
    for (const ResourceSlice* slice : slices)
        add_slice(*slice, rules);
    std::map<StringId, std::vector<std::uint32_t>> by_node;
    std::vector<std::uint32_t> shared;
    for (std::uint32_t i = 0; i < slices_.size(); ++i)
        (slices_[i].fact->reach.node ? by_node[slices_[i].fact->reach.node] : shared).push_back(i);
    all_local_ = shared.empty() && std::ranges::all_of(of_pool_, [&](const auto& pool) {
                     return std::ranges::all_of(pool.second, [&](std::uint32_t at) {
                         return slices_[at].fact->reach.node == slices_[pool.second.front()].fact->reach.node;
                     });
                 });
    std::size_t slots = 0;
    for (const auto& [id, node] : nodes)
        slots = std::max(slots, id.index() + 1);
    on_node_.resize(slots);
    for (const auto& [id, node] : nodes) {
        std::vector<std::uint32_t> candidates = by_node[node->name];
        candidates.insert(candidates.end(), shared.begin(), shared.end());
        if (!candidates.empty()) on_node_[id] = gather(*node, candidates, words);
    }
}

std::vector<NodePool> DevicePools::gather(const Node& node,
                                          std::span<const std::uint32_t> candidates,
                                          const Vocabulary& words) const {
    std::map<std::pair<std::string_view, std::string_view>, std::vector<std::uint32_t>> by_pool;
    for (std::uint32_t at : candidates) {
        const ResourceSlice& slice = *slices_[at].fact;
        if (!relevant(slice, node, words)) continue;
        std::vector<std::uint32_t>& mine = by_pool[{words.text(slice.driver), words.text(slice.pool)}];
        // Of several generations only the newest that this node can see.
        if (!mine.empty() && slices_[mine.front()].fact->generation < slice.generation) mine.clear();
        if (mine.empty() || slices_[mine.front()].fact->generation == slice.generation) mine.push_back(at);
    }
    std::vector<NodePool> pools;
    std::vector<NodePool> last;
    for (auto& [key, mine] : by_pool) {
        const ResourceSlice& first = *slices_[mine.front()].fact;
        std::ranges::sort(mine);
        std::vector<std::uint32_t> all = mine;
        if (static_cast<std::int64_t>(mine.size()) != first.slice_count) {
            all.clear();
            bool obsolete = false;
            for (std::uint32_t at : of_pool_.at({first.driver, first.pool})) {
                obsolete = obsolete || slices_[at].fact->generation > first.generation;
                if (slices_[at].fact->generation == first.generation) all.push_back(at);
            }
            if (obsolete) continue;
            if (static_cast<std::int64_t>(all.size()) != first.slice_count) {
                pools.push_back({.driver = first.driver,
                                 .name = first.pool,
                                 .trouble = fmt::format("pool {} of {} is incomplete (being updated): {} of {} slices",
                                                        words.text(first.pool),
                                                        words.text(first.driver),
                                                        all.size(),
                                                        first.slice_count),
                                 .incomplete = true});
                continue;
            }
        }
        NodePool pool = make_pool(mine, all, words);
        const bool binds =
            std::ranges::any_of(pool.offers, [&](OfferId id) { return offers_[id].fact->has_binding_conditions; });
        (binds ? last : pools).push_back(std::move(pool));
    }
    std::ranges::move(last, std::back_inserter(pools));
    return pools;
}

// Upstream refuses the whole pool for one contradiction; which slice has it does not matter.
NodePool DevicePools::make_pool(std::vector<std::uint32_t> mine,
                                std::span<const std::uint32_t> all,
                                const Vocabulary& words) const {
    const ResourceSlice& first = *slices_[mine.front()].fact;
    NodePool pool{.driver = first.driver, .name = first.pool};
    const auto wrong = [&](std::string_view what) {
        if (pool.trouble.empty())
            pool.trouble =
                fmt::format("pool {} of {} is invalid: {}", words.text(first.pool), words.text(first.driver), what);
    };
    std::set<StringId> names;
    for (std::uint32_t at : all) {
        const Slice& slice = slices_[at];
        const bool is_mine = std::ranges::find(mine, at) != mine.end();
        if (!slice.fact->trouble.empty()) wrong(slice.fact->trouble);
        for (const CounterSet& set : slice.fact->counters) {
            if (std::ranges::any_of(pool.counters, [&](const CounterSet* c) { return c->name == set.name; }))
                wrong(fmt::format("two counter sets are called {}", words.text(set.name)));
            pool.counters.push_back(&set);
        }
        for (OfferId id : slice.offers) {
            (is_mine ? pool.offers : pool.elsewhere).push_back(id);
            if (is_mine && !names.insert(offers_[id].fact->name).second)
                wrong(fmt::format("two devices are called {}", words.text(offers_[id].fact->name)));
        }
    }
    for (const std::vector<OfferId>* list : {&pool.offers, &pool.elsewhere}) {
        for (OfferId id : *list) {
            for (const CounterSet& use : offers_[id].fact->consumes) {
                const auto set = std::ranges::find(pool.counters, use.name, &CounterSet::name);
                if (set == pool.counters.end()) {
                    wrong(fmt::format("there is no counter set {}", words.text(use.name)));
                    continue;
                }
                for (const NamedCounter& counter : use.counters) {
                    if (std::ranges::find((*set)->counters, counter.name, &NamedCounter::name) ==
                        (*set)->counters.end())
                        wrong(fmt::format(
                            "counter set {} has no counter {}", words.text(use.name), words.text(counter.name)));
                }
            }
        }
    }
    return pool;
}

}  // namespace reprieve
