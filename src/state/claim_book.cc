#include "state/claim_book.h"

#include <algorithm>

#include "base/check.h"

namespace reprieve {

void ClaimBook::resize(std::size_t claims, std::size_t devices) {
    claims_.resize(claims);
    devices_.resize(devices);
}

const GivenDevices* ClaimBook::allocation(DeviceClaimId claim, const std::optional<GivenDevices>& fact) const {
    if (claims_[claim].users == 0) return nullptr;
    if (!claims_[claim].promised_to) return fact ? &*fact : nullptr;
    return &promised_.at(claim);
}

std::span<const ConsumedAmount> ClaimBook::amounts(DeviceId device) const {
    if (devices_[device].shares == 0) return {};
    const auto at = amounts_.find(device);
    return at == amounts_.end() ? std::span<const ConsumedAmount>() : std::span<const ConsumedAmount>(at->second);
}

void ClaimBook::use(DeviceClaimId claim, const GivenDevices& given, int sign, PodId promised_to) {
    UsedClaim& used = claims_[claim];
    if (sign > 0 && used.users == 0) {
        used.promised_to = promised_to;
        if (promised_to) promised_[claim] = given;
        for (const GivenDevice& device : given.devices)
            hold(device, +1);
    }
    used.users += sign;
    REPRIEVE_CHECK(used.users >= 0, "a claim is left that nobody uses");
    if (used.users > 0) return;
    // Whoever leaves last need not be who came first: what was promised to that one is what is given back.
    const auto promised = used.promised_to ? promised_.find(claim) : promised_.end();
    for (const GivenDevice& device : promised == promised_.end() ? given.devices : promised->second.devices)
        hold(device, -1);
    if (promised != promised_.end()) promised_.erase(promised);
    used = {};
}

void ClaimBook::hold(const GivenDevice& given, int sign) {
    if (given.admin) return;
    HeldDevice& held = devices_[given.device];
    (given.share ? held.shares : held.whole) += sign;
    if (given.amounts.empty()) return;
    std::vector<ConsumedAmount>& amounts = amounts_[given.device];
    for (const ConsumedAmount& amount : given.amounts) {
        auto at = std::ranges::lower_bound(amounts, amount.name, {}, &ConsumedAmount::name);
        if (at == amounts.end() || at->name != amount.name) at = amounts.insert(at, {amount.name, 0});
        at->value += sign * amount.value;
        if (at->value == 0) amounts.erase(at);  // equal use has equal bytes
    }
    if (amounts.empty()) amounts_.erase(given.device);
}

}  // namespace reprieve
