#include "kube/claim_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "kube/resource_version.h"

namespace reprieve {
namespace {

std::string claim_name(const ResourceClaim& claim, const Vocabulary& words) {
    return fmt::format("{}/{}", words.text(claim.ns), words.text(claim.name));
}

}  // namespace

void ClaimIndex::see(const ResourceClaim& claim,
                     const Vocabulary& words,
                     const std::string& api_version,
                     const std::string& version,
                     std::string_view json) {
    const std::string name = claim_name(claim, words);
    const std::lock_guard lock(mutex_);
    api_version_ = api_version;
    forget_devices(name);
    std::vector<Held>& devices = claims_[name];
    note_text(name, version_number(version), !claim.allocation && !claim.deleting, json);
    if (!claim.allocation) return;
    for (const AllocatedDevice& device : claim.allocation->devices) {
        if (device.admin) continue;
        const std::uint64_t key =
            digest_bytes(
                fmt::format("{}/{}/{}", words.text(device.driver), words.text(device.pool), words.text(device.device)))
                .low;
        devices.push_back({.device = key, .whole = !device.share});
        holders_[key].push_back(name);
    }
}

void ClaimIndex::see_gone(const ResourceClaim& like, const Vocabulary& words) {
    const std::string name = claim_name(like, words);
    const std::lock_guard lock(mutex_);
    forget_devices(name);
    claims_.erase(name);
    texts_.erase(name);
}

// Under the lock, so that whoever has been forgotten is not called any more.
void ClaimIndex::see_version(const std::string& version) {
    const std::lock_guard lock(mutex_);
    seen_ = std::max(seen_, version_number(version));
    const auto end = waiting_.upper_bound(seen_);
    for (auto at = waiting_.begin(); at != end; ++at)
        at->second.call();
    waiting_.erase(waiting_.begin(), end);
}

void ClaimIndex::see_class(const std::string& name, std::string_view json) {
    const std::lock_guard lock(mutex_);
    classes_[name] = json;
}

void ClaimIndex::see_class_gone(const std::string& name) {
    const std::lock_guard lock(mutex_);
    classes_.erase(name);
}

void ClaimIndex::note_answer(const std::string& claim,
                             const std::string& version,
                             bool is_free,
                             const std::string& json) {
    const std::lock_guard lock(mutex_);
    note_text(claim, version_number(version), is_free, json);
}

// An event may be older than the answer to a later write.
void ClaimIndex::note_text(const std::string& name, std::uint64_t version, bool is_free, std::string_view json) {
    const auto known = texts_.find(name);
    if (known != texts_.end() && known->second.version > version) return;
    if (is_free)
        texts_[name] = {.version = version, .json = std::string(json)};
    else if (known != texts_.end())
        texts_.erase(known);
}

void ClaimIndex::forget_devices(const std::string& name) {
    const auto known = claims_.find(name);
    if (known == claims_.end()) return;
    for (const Held& held : known->second) {
        const auto at = holders_.find(held.device);
        if (at == holders_.end()) continue;
        std::erase(at->second, name);
        if (at->second.empty()) holders_.erase(at);
    }
    known->second.clear();
}

std::string ClaimIndex::api_version() const {
    const std::lock_guard lock(mutex_);
    return api_version_;
}

bool ClaimIndex::knows(const std::string& claim) const {
    const std::lock_guard lock(mutex_);
    return claims_.contains(claim);
}

std::string ClaimIndex::text(const std::string& claim) const {
    const std::lock_guard lock(mutex_);
    const auto known = texts_.find(claim);
    return known == texts_.end() ? std::string() : known->second.json;
}

std::string ClaimIndex::class_text(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto known = classes_.find(name);
    return known == classes_.end() ? std::string() : known->second;
}

bool ClaimIndex::has_seen(const std::string& version, const void* owner, std::function<void()> call) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t number = version_number(version);
    if (number <= seen_) return true;
    waiting_.emplace(number, Waiting{.owner = owner, .call = std::move(call)});
    return false;
}

void ClaimIndex::forget(const void* owner) {
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [&](const auto& one) { return one.second.owner == owner; });
}

std::string ClaimIndex::shared_device(const std::string& claim) const {
    const std::lock_guard lock(mutex_);
    const auto known = claims_.find(claim);
    if (known == claims_.end()) return {};
    for (const Held& held : known->second) {
        for (const std::string& other : holders_.at(held.device)) {
            if (other == claim) continue;
            const std::vector<Held>& theirs = claims_.at(other);
            const auto same = std::ranges::find(theirs, held.device, &Held::device);
            if (same != theirs.end() && (held.whole || same->whole))
                return fmt::format("claim {} has a device of claim {} too, and had it first", other, claim);
        }
    }
    return {};
}

}  // namespace reprieve
