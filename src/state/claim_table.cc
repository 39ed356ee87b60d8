#include "state/claim_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/vocabulary.h"

namespace reprieve {

DeviceClaimId ClaimTable::add(ClaimRow row) {
    if (unused_rows_.empty()) return rows_.push_back(std::move(row));
    const DeviceClaimId id = unused_rows_.back();
    unused_rows_.pop_back();
    rows_[id] = std::move(row);
    return id;
}

DeviceClaimId ClaimTable::add_with_spec(ClaimRow row, ClaimSpec spec) {
    if (unused_specs_.empty()) {
        row.made_spec = static_cast<std::int32_t>(made_specs_.size());
        made_specs_.emplace_back();
    } else {
        row.made_spec = unused_specs_.back();
        unused_specs_.pop_back();
    }
    ClaimSpec& made = made_specs_[static_cast<std::size_t>(row.made_spec)];
    made = std::move(spec);
    row.spec = &made;
    return add(std::move(row));
}

void ClaimTable::remove(DeviceClaimId id) {
    if (rows_[id].made_spec >= 0) unused_specs_.push_back(rows_[id].made_spec);
    rows_[id] = ClaimRow();
    unused_rows_.push_back(id);
}

PodClaims& ClaimTable::make(PodId pod) {
    if (pod.index() >= of_pod_.size()) of_pod_.resize(pod.index() + 1);
    std::uint32_t& at = of_pod_[pod.index()];
    if (at == 0 && unused_pod_claims_.empty()) {
        pod_claims_.emplace_back();
        at = static_cast<std::uint32_t>(pod_claims_.size());
    } else if (at == 0) {
        at = unused_pod_claims_.back();
        unused_pod_claims_.pop_back();
    }
    return pod_claims_[at - 1];
}

void ClaimTable::forget(PodId pod) {
    if (!knows(pod)) return;
    std::uint32_t& at = of_pod_[pod.index()];
    pod_claims_[at - 1] = PodClaims();
    unused_pod_claims_.push_back(at);
    at = 0;
}

void ClaimTable::hold(PodId pod, DeviceClaimId id, bool enter) {
    std::vector<DeviceClaimId>& holds = make(pod).holds;
    if (!enter) {
        std::erase(holds, id);
        return;
    }
    const auto name_of = [&](DeviceClaimId claim) { return std::string_view(rows_[claim].name); };  // of its namespace
    holds.insert(std::ranges::upper_bound(holds, name_of(id), {}, name_of), id);
}

std::span<const DeviceClaimId> ClaimTable::holders(DeviceId device) const { return holders_.of(device); }

void ClaimTable::index_holder(DeviceClaimId id, bool enter) {
    if (!rows_[id].given) return;
    for (const GivenDevice& given : rows_[id].given->devices) {
        if (given.admin) continue;
        if (enter)
            holders_.add(given.device, id);
        else
            holders_.remove(given.device, id);
    }
}

std::string ClaimTable::name_of(DeviceClaimId id, const Vocabulary& words) const {
    return fmt::format("{}/{}", words.text(rows_[id].ns), rows_[id].name);
}

ClaimTable::KnownSelector& ClaimTable::known(const std::string& text) const {
    const auto at = selectors_.find(text);
    if (at != selectors_.end()) return at->second;
    return selectors_.emplace(text, KnownSelector{cel::Expression::parse(text), {}}).first->second;
}

void ClaimTable::forget_answers(std::span<const OfferId> offers) {
    fails_.clear();
    for (auto& [text, selector] : selectors_) {
        for (OfferId offer : offers) {
            if (offer.index() < selector.answers.size()) selector.answers[offer.index()] = -1;
        }
    }
}

void ClaimTable::limit_selectors() {
    constexpr std::size_t kMost = 1'000;
    if (selectors_.size() > kMost) selectors_.clear();
    if (fails_.size() > kMost) fails_.clear();
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
        if (const auto* version = std::get_if<VersionText>(&attribute.value)) seen.value = &*version->value;
        device.attributes.push_back(seen);
    }
    for (const DeviceCapacity& capacity : offer.fact->capacity)
        device.capacity.push_back({words_->text(capacity.name.domain), words_->text(capacity.name.id), capacity.value});
    return device;
}

Selected ClaimTable::select(std::span<const DeviceSelector> selectors, OfferId offer, std::string* what) const {
    for (const DeviceSelector& selector : selectors) {
        KnownSelector& entry = known(selector.expression);
        if (offer.index() >= entry.answers.size()) entry.answers.resize(pools.offer_count(), -1);
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

bool ClaimTable::fails_somewhere(const DeviceClass& cls, std::span<const DeviceSelector> selectors) const {
    if (cls.selectors.empty() && selectors.empty()) return false;
    std::string& key = fails_key_;
    key.clear();
    for (std::span<const DeviceSelector> list : {std::span<const DeviceSelector>(cls.selectors), selectors}) {
        for (const DeviceSelector& selector : list)
            key += selector.expression + '\0';
        key += '\0';
    }
    const auto [at, fresh] = fails_.try_emplace(key);
    if (fresh) {
        at->second = pools.any_offer([&](OfferId offer) {
            const Selected selected = select(cls.selectors, offer, nullptr);
            return selected == Selected::kError ||
                   (selected == Selected::kYes && select(selectors, offer, nullptr) == Selected::kError);
        });
    }
    return at->second;
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
