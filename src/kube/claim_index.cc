#include "kube/claim_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/digest.h"

namespace reprieve {
namespace {

std::string claim_name(const ResourceClaim& claim, const Vocabulary& words) {
    return fmt::format("{}/{}", words.text(claim.ns), words.text(claim.name));
}

}  // namespace

void ClaimIndex::see(const ResourceClaim& claim,
                     const Vocabulary& words,
                     const std::string& api_version,
                     const std::string& version) {
    const std::string name = claim_name(claim, words);
    const std::lock_guard lock(mutex_);
    api_version_ = api_version;
    forget(name);
    Seen& seen = claims_[name];
    seen.version = std::strtoull(version.c_str(), nullptr, 10);
    if (!claim.allocation) return;
    for (const AllocatedDevice& device : claim.allocation->devices) {
        if (device.admin) continue;
        const std::uint64_t key =
            digest_bytes(
                fmt::format("{}/{}/{}", words.text(device.driver), words.text(device.pool), words.text(device.device)))
                .low;
        seen.devices.push_back({.device = key, .whole = !device.share});
        holders_[key].push_back(name);
    }
}

void ClaimIndex::see_gone(const ResourceClaim& like, const Vocabulary& words) {
    const std::lock_guard lock(mutex_);
    forget(claim_name(like, words));
}

void ClaimIndex::forget(const std::string& name) {
    const auto known = claims_.find(name);
    if (known == claims_.end()) return;
    for (const Held& held : known->second.devices) {
        const auto at = holders_.find(held.device);
        if (at == holders_.end()) continue;
        std::erase(at->second, name);
        if (at->second.empty()) holders_.erase(at);
    }
    claims_.erase(known);
}

std::string ClaimIndex::api_version() const {
    const std::lock_guard lock(mutex_);
    return api_version_;
}

bool ClaimIndex::has_seen(const std::string& claim, const std::string& version) const {
    const std::lock_guard lock(mutex_);
    const auto known = claims_.find(claim);
    return known != claims_.end() && known->second.version >= std::strtoull(version.c_str(), nullptr, 10);
}

std::string ClaimIndex::shared_device(const std::string& claim) const {
    const std::lock_guard lock(mutex_);
    const auto known = claims_.find(claim);
    if (known == claims_.end()) return {};
    for (const Held& held : known->second.devices) {
        for (const std::string& other : holders_.at(held.device)) {
            if (other == claim) continue;
            const std::vector<Held>& theirs = claims_.at(other).devices;
            const auto same = std::ranges::find(theirs, held.device, &Held::device);
            if (same != theirs.end() && (held.whole || same->whole))
                return fmt::format("claim {} has a device of claim {} too, and had it first", other, claim);
        }
    }
    return {};
}

}  // namespace reprieve
