#include "state/device_match.h"

#include <algorithm>

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
        const auto asked = std::ranges::find_if(
            wish.amounts, [&](const auto& a) { return is_called(a.first, capacity, driver, words); });
        const std::optional<Wide> amount =
            share_of_capacity(capacity, asked == wish.amounts.end() ? std::nullopt : std::optional(asked->second));
        if (!amount || *amount > capacity.value) return false;
        out.push_back({capacity.name, *amount});
    }
    return true;
}

}  // namespace reprieve
