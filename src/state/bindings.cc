#include "state/bindings.h"

#include <algorithm>

#include "base/check.h"

namespace reprieve {
namespace {

constexpr auto kClaimOf = [](const auto& held) { return held.binding.claim; };

}  // namespace

void Bindings::hold(std::span<const ClaimBinding> claims, int sign) {
    for (const ClaimBinding& binding : claims) {
        auto at = std::ranges::lower_bound(held_, binding.claim, {}, kClaimOf);
        if (at == held_.end() || at->binding.claim != binding.claim) {
            REPRIEVE_CHECK(sign > 0, "a claim is given back that nobody holds");
            at = held_.insert(at, {binding, 0});
            if (binding.volume) taken_.insert(std::ranges::lower_bound(taken_, binding.volume), binding.volume);
        }
        REPRIEVE_CHECK(at->binding == binding, "one claim cannot have two volumes");
        at->users += sign;
        if (at->users > 0) continue;
        if (binding.volume) taken_.erase(std::ranges::lower_bound(taken_, binding.volume));
        held_.erase(at);
    }
}

const ClaimBinding* Bindings::find(ClaimId claim) const {
    const auto at = std::ranges::lower_bound(held_, claim, {}, kClaimOf);
    return at == held_.end() || at->binding.claim != claim ? nullptr : &at->binding;
}

bool Bindings::taken(VolumeId volume) const { return std::ranges::binary_search(taken_, volume); }

void Bindings::list(const PodClass& cls, std::vector<ClaimBinding>& out) const {
    const std::size_t start = out.size();
    for (const ClassVolume& use : cls.volumes) {
        const ClaimBinding* binding = use.waits ? find(use.claim) : nullptr;
        if (binding == nullptr) continue;
        // A pod may mount one claim twice.
        if (std::ranges::find(out.begin() + static_cast<std::ptrdiff_t>(start), out.end(), *binding) == out.end())
            out.push_back(*binding);
    }
}

}  // namespace reprieve
