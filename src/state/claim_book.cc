#include "state/claim_book.h"

#include <algorithm>

#include "base/check.h"

namespace reprieve {

void ClaimBook::resize(std::size_t claims, std::size_t devices) {
    claims_.resize(claims);
    devices_.resize(devices);
}

void ClaimBook::use(DeviceClaimId claim, const GivenDevices& given, int sign, PodId promised_to) {
    UsedClaim& used = claims_[claim];
    if (sign > 0 && used.users == 0) {
        used.given = given;
        used.promised_to = promised_to;
        for (const GivenDevice& device : given.devices)
            hold(device, +1);
    }
    used.users += sign;
    REPRIEVE_CHECK(used.users >= 0, "a claim is left that nobody uses");
    if (used.users > 0) return;
    for (const GivenDevice& device : used.given.devices)
        hold(device, -1);
    used = {};
}

void ClaimBook::hold(const GivenDevice& given, int sign) {
    if (given.admin) return;
    HeldDevice& held = devices_[given.device];
    (given.share ? held.shares : held.whole) += sign;
    for (const ConsumedAmount& amount : given.amounts) {
        auto at = std::ranges::lower_bound(held.amounts, amount.name, {}, &ConsumedAmount::name);
        if (at == held.amounts.end() || at->name != amount.name) at = held.amounts.insert(at, {amount.name, 0});
        at->value += sign * amount.value;
        if (at->value == 0) held.amounts.erase(at);  // equal use has equal bytes
    }
}

}  // namespace reprieve
