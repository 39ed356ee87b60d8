#include "state/device_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "model/vocabulary.h"
#include "model/word_marks.h"

namespace reprieve {
namespace {

std::uint64_t hash_of(const std::tuple<StringId, StringId, StringId>& key) {
    return mix_hash(mix_hash(std::get<0>(key).value(), std::get<1>(key).value()), std::get<2>(key).value());
}

bool has_reach(const DeviceReach& reach) { return reach.node.valid() || reach.all_nodes || reach.terms.has_value(); }

bool applies(const DeviceTaintRule& rule, const ResourceSlice& slice, const PooledDevice& device) {
    const auto same = [](StringId wanted, StringId is) { return !wanted || wanted == is; };
    return rule.selects && same(rule.driver, slice.driver) && same(rule.pool, slice.pool) &&
           same(rule.device, device.name);
}

bool relevant(const ResourceSlice& slice, const Node& node, const Vocabulary& words) {
    if (has_reach(slice.reach)) return reaches(slice.reach, node, words);
    return slice.per_device &&
           std::ranges::any_of(slice.devices, [&](const PooledDevice& d) { return reaches(*d.reach, node, words); });
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
    const DeviceId known = find(driver, pool, name);
    if (known) return known;
    if (index_.needs_room()) index_.make_room([&](DeviceId id) { return hash_of(keys_[id]); });
    const DeviceId fresh = keys_.push_back({driver, pool, name});
    index_.insert(hash_of(keys_[fresh]), fresh);
    return fresh;
}

DeviceId DevicePools::find(StringId driver, StringId pool, StringId name) const {
    const DeviceKey key{driver, pool, name};
    return index_.find(hash_of(key), [&](DeviceId id) { return keys_[id] == key; });
}

std::span<const NodePool> DevicePools::on_node(NodeId node) const {
    return on_node_.contains(node) ? std::span<const NodePool>(on_node_[node]) : std::span<const NodePool>();
}

void DevicePools::enter(std::vector<std::uint32_t>& slots, std::uint32_t slot, const Vocabulary& words) const {
    const auto name_of = [&](std::uint32_t at) { return words.text(slices_[at].fact->name); };
    slots.insert(std::ranges::lower_bound(slots, name_of(slot), {}, name_of), slot);
}

// Whoever sees one slice of a pool asks for the others.
void DevicePools::note_pool(const PoolKey& key) {
    const auto pool = of_pool_.find(key);
    if (pool == of_pool_.end()) return;
    for (std::uint32_t at : pool->second) {
        if (const StringId node = slices_[at].fact->reach.node)
            stale_.insert(node);
        else
            all_stale_ = true;
    }
}

bool DevicePools::is_spread(const PoolKey& key) const {
    const auto pool = of_pool_.find(key);
    return pool != of_pool_.end() && std::ranges::any_of(pool->second, [&](std::uint32_t at) {
               return slices_[at].fact->reach.node != slices_[pool->second.front()].fact->reach.node;
           });
}

void DevicePools::add_slice(std::uint32_t slot,
                            const ResourceSlice& slice,
                            std::span<const DeviceTaintRule* const> rules,
                            const Vocabulary& words) {
    if (slot >= slices_.size()) slices_.resize(slot + 1);
    Slice& made = slices_[slot];
    made.fact = &slice;
    for (const PooledDevice& fact : slice.devices) {
        DeviceOffer offer{.device = device(slice.driver, slice.pool, fact.name),
                          .fact = &fact,
                          .slice = &slice,
                          .taints = fact.taints};
        for (const DeviceTaintRule* rule : rules) {
            if (applies(*rule, slice, fact)) offer.taints.make().push_back(rule->taint);
        }
        const DeviceId of = offer.device;
        OfferId id;
        if (unused_offers_.empty()) {
            id = offers_.push_back(std::move(offer));
        } else {
            id = unused_offers_.back();
            unused_offers_.pop_back();
            offers_[id] = std::move(offer);
        }
        made.offers.push_back(id);
        // In the order of the slices' names.
        const std::span<const OfferId> known = offers_of_.of(of);
        const auto later = std::ranges::find_if(
            known, [&](OfferId o) { return words.text(offers_[o].slice->name) > words.text(slice.name); });
        offers_of_.insert(of, static_cast<std::size_t>(later - known.begin()), id);
    }
    const PoolKey key{slice.driver, slice.pool};
    const bool was_spread = is_spread(key);
    enter(of_pool_[key], slot, words);
    enter(slice.reach.node ? of_node_[slice.reach.node] : shared_, slot, words);
    if (is_spread(key) && !was_spread) ++spread_pools_;
    note_pool(key);
}

void DevicePools::remove_slice(std::uint32_t slot) {
    if (slot >= slices_.size() || slices_[slot].fact == nullptr) return;
    const ResourceSlice& slice = *slices_[slot].fact;
    const PoolKey key{slice.driver, slice.pool};
    note_pool(key);
    for (OfferId id : slices_[slot].offers) {
        offers_of_.remove(offers_[id].device, id);
        offers_[id] = DeviceOffer();
        unused_offers_.push_back(id);
    }
    const bool was_spread = is_spread(key);
    std::erase(of_pool_[key], slot);
    if (of_pool_[key].empty()) of_pool_.erase(key);
    if (was_spread && !is_spread(key)) --spread_pools_;
    if (slice.reach.node) {
        std::erase(of_node_[slice.reach.node], slot);
        if (of_node_[slice.reach.node].empty()) of_node_.erase(slice.reach.node);
    } else {
        std::erase(shared_, slot);
    }
    slices_[slot] = Slice();
}

void DevicePools::gather(NodeId id, const Node* node, const Vocabulary& words) {
    if (!on_node_.contains(id)) {
        if (node == nullptr) return;
        on_node_.resize(id.index() + 1);
    }
    on_node_[id] = node == nullptr ? std::vector<NodePool>() : pools_of(*node, words);
}

void DevicePools::settle() {
    // After a start, or as large a change, tables that have grown entry by entry are copied into their size.
    if (all_stale_ || stale_.size() * 2 > of_node_.size()) {
        offers_ = IdVector(offers_);
        keys_ = IdVector(keys_);
        offers_of_ = OneOrFew(offers_of_);
        slices_ = std::vector(slices_);
    }
    stale_.clear();
    all_stale_ = false;
}

// Devices outlive the slices that named them.
void DevicePools::mark(WordMarks& marks) const {
    for (const auto& [driver, pool, name] : keys_)
        marks.all(driver, pool, name);
    for (StringId node : stale_)
        marks.all(node);
}

std::vector<NodePool> DevicePools::pools_of(const Node& node, const Vocabulary& words) const {
    std::vector<std::uint32_t> candidates;
    if (const auto own = of_node_.find(node.name); own != of_node_.end()) candidates = own->second;
    candidates.insert(candidates.end(), shared_.begin(), shared_.end());
    const auto name_of = [&](std::uint32_t at) { return words.text(slices_[at].fact->name); };
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
        std::ranges::sort(mine, {}, name_of);
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
            std::ranges::any_of(pool.offers, [&](OfferId id) { return !offers_[id].fact->binding->empty(); });
        (binds ? last : pools).push_back(std::move(pool));
    }
    std::ranges::move(last, std::back_inserter(pools));
    return pools;
}

// Upstream refuses the whole pool for one contradiction; which slice has it does not matter.
NodePool DevicePools::make_pool(const std::vector<std::uint32_t>& mine,
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
            for (const CounterSet& use : *offers_[id].fact->consumes) {
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
