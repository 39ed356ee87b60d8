#include "state/claim_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/vocabulary.h"

namespace reprieve {

PodClaims& ClaimTable::make(PodId pod) {
    if (pod.index() >= of_pod_.size()) of_pod_.resize(pod.index() + 1);
    if (of_pod_[pod.index()] == 0) {
        pod_claims_.emplace_back();
        of_pod_[pod.index()] = static_cast<std::uint32_t>(pod_claims_.size());
    }
    return pod_claims_[of_pod_[pod.index()] - 1];
}

std::span<const DeviceClaimId> ClaimTable::holders(DeviceId device) const {
    return holders_.contains(device) ? std::span<const DeviceClaimId>(holders_[device])
                                     : std::span<const DeviceClaimId>();
}

void ClaimTable::index_holders() {
    holders_.clear();
    holders_.resize(pools.device_count());
    for (DeviceClaimId id : IdRange<DeviceClaimId>(rows_.size())) {
        if (!rows_[id].given) continue;
        for (const GivenDevice& given : rows_[id].given->devices) {
            if (!given.admin) holders_[given.device].push_back(id);
        }
    }
}

std::string ClaimTable::name_of(DeviceClaimId id, const Vocabulary& words) const {
    return fmt::format("{}/{}", words.text(rows_[id].ns), rows_[id].name);
}

ClaimTable::KnownSelector& ClaimTable::known(const std::string& text) const {
    const auto at = selectors_.find(text);
    if (at != selectors_.end()) return at->second;
    return selectors_
        .emplace(text, KnownSelector{cel::Expression::parse(text), std::vector<std::int8_t>(pools.offer_count(), -1)})
        .first->second;
}

cel::Device ClaimTable::seen_by_selectors(OfferId id) const {
    const DeviceOffer& offer = pools.offer(id);
    cel::Device device{.driver = words_->text(offer.slice->driver),
                       .allow_multiple_allocations = offer.fact->shareable};
    for (const DeviceAttribute& attribute : offer.fact->attributes) {
        cel::Attribute seen{words_->text(attribute.name.domain), words_->text(attribute.name.id), false};
        if (const bool* truth = std::get_if<bool>(&attribute.value)) seen.value = *truth;
        if (const auto* number = std::get_if<std::int64_t>(&attribute.value)) seen.value = *number;
        if (const auto* text = std::get_if<std::string>(&attribute.value)) seen.value = std::string_view(*text);
        if (const auto* version = std::get_if<VersionText>(&attribute.value)) seen.value = &version->value;
        device.attributes.push_back(seen);
    }
    for (const DeviceCapacity& capacity : offer.fact->capacity)
        device.capacity.push_back({words_->text(capacity.name.domain), words_->text(capacity.name.id), capacity.value});
    return device;
}

Selected ClaimTable::select(std::span<const DeviceSelector> selectors, OfferId offer, std::string* what) const {
    for (const DeviceSelector& selector : selectors) {
        KnownSelector& entry = known(selector.expression);
        std::int8_t& answer = entry.answers[offer.index()];
        if (answer < 0 || (answer == 2 && what != nullptr)) {
            const Result<bool> matches =
                entry.expression ? entry.expression->matches(seen_by_selectors(offer)) : fail("it cannot be read");
            answer = !matches ? 2 : *matches ? 1 : 0;
            if (!matches && what != nullptr)
                *what = fmt::format("selector `{}` fails on device {}: {}",
                                    selector.expression,
                                    words_->text(pools.offer(offer).fact->name),
                                    matches.error().message);
        }
        if (answer == 2) return Selected::kError;
        if (answer == 0) return Selected::kNo;
    }
    return Selected::kYes;
}

std::string ClaimTable::fault_of(std::span<const DeviceSelector> selectors) const {
    for (const DeviceSelector& selector : selectors) {
        if (selector.expression.empty()) return "a selector has no CEL expression (an unknown kind of selector?)";
        const KnownSelector& entry = known(selector.expression);
        if (!entry.expression)
            return fmt::format(
                "selector `{}` cannot be used: {}", selector.expression, entry.expression.error().message);
    }
    return "";
}

}  // namespace reprieve
