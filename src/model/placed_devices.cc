#include "model/placed_devices.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/check.h"
#include "base/quantity.h"

namespace reprieve {
namespace {

SelectorOp placed_op(const std::string& text) {
    if (text == "In") return SelectorOp::kIn;
    if (text == "NotIn") return SelectorOp::kNotIn;
    if (text == "Exists") return SelectorOp::kExists;
    if (text == "DoesNotExist") return SelectorOp::kDoesNotExist;
    return text == "Gt" ? SelectorOp::kGt : SelectorOp::kLt;
}

NodeSelectorTerm placed_term(const std::vector<NodeRule>& rules, Vocabulary& words) {
    NodeSelectorTerm term;
    for (const NodeRule& rule : rules) {
        Requirement& made = (rule.key.empty() ? term.names : term.labels).emplace_back();
        if (!rule.key.empty()) made.key = words.string(rule.key);
        made.op = placed_op(rule.op);
        if (made.op == SelectorOp::kGt || made.op == SelectorOp::kLt) {
            made.bound = std::strtoll(rule.values.front().c_str(), nullptr, 10);
            continue;
        }
        for (const std::string& value : rule.values)
            made.values.push_back(words.string(value));
        std::ranges::sort(made.values);
    }
    return term;
}

}  // namespace

std::string device_text(const DeviceHold& hold) {
    std::string text = std::to_string(hold.index);
    if (hold.memory > 0) text += ":" + format_bytes(hold.memory);
    if (hold.milli > 0) text += ":" + std::to_string(hold.milli) + "m";
    return text;
}

std::vector<DeviceHold> placed_devices(const std::vector<std::string>& texts) {
    std::vector<DeviceHold> out;
    for (const std::string& text : texts) {
        DeviceHold hold;
        std::size_t colon = text.find(':');
        std::from_chars(text.data(), text.data() + std::min(colon, text.size()), hold.index);
        while (colon != std::string::npos) {
            const std::size_t next = text.find(':', colon + 1);
            const std::string_view share = std::string_view(text).substr(colon + 1, next - colon - 1);
            if (share.ends_with('m'))
                std::from_chars(share.data(), share.data() + share.size(), hold.milli);
            else if (const auto bytes = parse_quantity(share, QuantityUnit::kWhole))
                hold.memory = *bytes;
            colon = next;
        }
        out.push_back(hold);
    }
    std::ranges::sort(out);
    return out;
}

ClaimAllocation placed_allocation(const PlacedClaim& placed, Vocabulary& words) {
    ClaimAllocation out;
    if (placed.nodes) {
        out.nodes.emplace();
        for (const std::vector<NodeRule>& rules : *placed.nodes)
            out.nodes->push_back(placed_term(rules, words));
    }
    for (const ClaimedDevice& device : placed.results) {
        AllocatedDevice& made = out.devices.emplace_back();
        made.request = words.string(device.request);
        made.driver = words.string(device.driver);
        made.pool = words.string(device.pool);
        made.device = words.string(device.device);
        made.admin = device.admin;
        made.share = !device.share.empty();
        for (const auto& [name, amount] : device.share) {
            const std::size_t slash = name.find('/');
            const QualifiedName full = slash == std::string::npos ? QualifiedName{made.driver, words.string(name)}
                                                                  : QualifiedName{words.string(name.substr(0, slash)),
                                                                                  words.string(name.substr(slash + 1))};
            const auto value = parse_nano_quantity(amount);
            REPRIEVE_CHECK(value.has_value(), "an amount of a plan: {}", amount);
            made.consumed.push_back({full, *value});
        }
        std::ranges::sort(made.consumed, {}, &ConsumedAmount::name);
    }
    return out;
}

ClaimConsumer placed_consumer(const Placement& placement) {
    return {.is_pod = true,
            .resource = "pods",
            .name = placement.pod.substr(placement.pod.find('/') + 1),
            .uid = placement.uid};
}

}  // namespace reprieve
