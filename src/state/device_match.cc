#include "state/device_match.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quantity.h"
#include "model/vocabulary.h"
#include "state/share_policy.h"

namespace reprieve {
namespace {

bool is_tolerated(const DeviceWish& wish, const DeviceTaint& taint) {
    return std::ranges::any_of(wish.tolerations, [&](const DeviceToleration& t) {
        if (t.effect && *t.effect != taint.effect) return false;
        if (t.key && t.key != taint.key) return false;
        return t.exists || t.value == taint.value;
    });
}

bool is_called(std::string_view written, const DeviceCapacity& capacity, StringId driver, const Vocabulary& words) {
    const std::size_t slash = written.find('/');
    if (slash == std::string_view::npos)
        return capacity.name.domain == driver && words.text(capacity.name.id) == written;
    return words.text(capacity.name.domain) == written.substr(0, slash) &&
           words.text(capacity.name.id) == written.substr(slash + 1);
}

std::optional<Wide> asked_of(const DeviceCapacity& capacity,
                             const DeviceWish& wish,
                             StringId driver,
                             const Vocabulary& words) {
    const auto asked =
        std::ranges::find_if(wish.amounts, [&](const auto& a) { return is_called(a.first, capacity, driver, words); });
    return asked == wish.amounts.end() ? std::nullopt : std::optional(asked->second);
}

}  // namespace

const DeviceTaint* untolerated(const DeviceWish& wish, const DeviceOffer& offer) {
    const auto at = std::ranges::find_if(*offer.taints, [&](const DeviceTaint& taint) {
        return taint.effect != DeviceTaintEffect::kOther && !is_tolerated(wish, taint);
    });
    return at == offer.taints->end() ? nullptr : &*at;
}

const DeviceAttribute* attribute_of(const PooledDevice& device, const QualifiedName& name) {
    const auto at = std::ranges::find(device.attributes, name, &DeviceAttribute::name);
    return at == device.attributes.end() ? nullptr : &*at;
}

bool matches_any(const std::vector<NodeSelectorTerm>& terms, const Node& node, const Vocabulary& words) {
    return std::ranges::any_of(terms,
                               [&](const NodeSelectorTerm& t) { return t.matches(node.labels, node.name, words); });
}

std::optional<std::vector<NodeSelectorTerm>> nodes_for(std::span<const DeviceOffer* const> offers, StringId node) {
    NodeSelectorTerm together;
    const auto add = [](const std::vector<Requirement>& more, std::vector<Requirement>& to) {
        for (const Requirement& r : more) {
            if (std::ranges::find(to, r) == to.end()) to.push_back(r);
        }
    };
    for (const DeviceOffer* offer : offers) {
        const DeviceReach& reach = offer->slice->per_device ? *offer->fact->reach : offer->slice->reach;
        if (reach.node || offer->fact->binds_to_node) {
            const Requirement named{.key = {}, .op = SelectorOp::kIn, .values = {node}};
            return std::vector<NodeSelectorTerm>{NodeSelectorTerm{.labels = {}, .names = {named}}};
        }
        if (!reach.terms) continue;
        for (const NodeSelectorTerm& term : *reach.terms) {
            add(term.labels, together.labels);
            add(term.names, together.names);
        }
    }
    if (together.labels.empty() && together.names.empty()) return std::nullopt;
    return std::vector<NodeSelectorTerm>{together};
}

bool amounts_for(const Vocabulary& words,
                 const DeviceWish& wish,
                 const DeviceOffer& offer,
                 std::vector<ConsumedAmount>& out) {
    const StringId driver = offer.slice->driver;
    const auto is_there = [&](const auto& asked) {
        return std::ranges::any_of(offer.fact->capacity,
                                   [&](const DeviceCapacity& c) { return is_called(asked.first, c, driver, words); });
    };
    if (!std::ranges::all_of(wish.amounts, is_there)) return false;
    for (const DeviceCapacity& capacity : offer.fact->capacity) {
        const std::optional<Wide> amount = share_of_capacity(capacity, asked_of(capacity, wish, driver, words));
        if (!amount || *amount > capacity.value) return false;
        out.push_back({capacity.name, *amount});
    }
    return true;
}

bool asks_for_much(const DeviceWish& wish) {
    constexpr Wide kMuch = (Wide{1} << 62) * kNanoPerUnit;
    return std::ranges::any_of(wish.amounts, [](const auto& asked) { return asked.second > kMuch; });
}

std::string out_of_range(const Vocabulary& words, const DeviceWish& wish, const DeviceOffer& offer) {
    for (const DeviceCapacity& capacity : offer.fact->capacity) {
        const std::optional<Wide> asked = asked_of(capacity, wish, offer.slice->driver, words);
        if (asked && rounds_out_of_range(capacity, *asked))
            return fmt::format("device {} rounds capacity {} up to what cannot be represented in 64 bits",
                               words.text(offer.fact->name),
                               words.text(capacity.name.id));
    }
    return {};
}

Wide amount_in(std::span<const ConsumedAmount> amounts, const QualifiedName& name) {
    const auto at = std::ranges::find(amounts, name, &ConsumedAmount::name);
    return at == amounts.end() ? Wide{0} : at->value;
}

void charge(const PooledDevice& device, std::map<CounterKey, Wide>& used) {
    for (const CounterSet& set : *device.consumes) {
        for (const NamedCounter& counter : set.counters)
            used[{set.name, counter.name}] += counter.value;
    }
}

bool allows(const DeviceConstraint& constraint,
            std::span<const DeviceAttribute* const> seen,
            const DeviceAttribute& attribute) {
    const auto same = [&](const DeviceAttribute* a) { return a->value == attribute.value; };
    if (seen.empty()) return true;
    return constraint.distinct ? std::ranges::none_of(seen, same) : same(seen.front());
}

}  // namespace reprieve
