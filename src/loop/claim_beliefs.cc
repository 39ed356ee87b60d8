#include "loop/claim_beliefs.h"

#include <algorithm>

#include "model/placed_devices.h"
#include "model/word_marks.h"
#include "state/pod_named.h"

namespace reprieve {
namespace {

std::string name_of(const ResourceClaim& claim, const Vocabulary& words) {
    return words.str(claim.ns) + "/" + words.str(claim.name);
}

bool lists(const ResourceClaim& claim, const std::string& uid) {
    return std::ranges::find(claim.consumers, uid, &ClaimConsumer::uid) != claim.consumers.end();
}

}  // namespace

bool ClaimBeliefs::take(ResourceClaim claim, Digest digest) {
    const auto known = entries_.find(name_of(claim, cluster_.words()));
    if (known == entries_.end()) return cluster_.apply(std::move(claim), digest);
    Entry& entry = known->second;
    const bool another = entry.watched && entry.watched->uid != claim.uid;
    std::erase_if(entry.pending, [&](const auto& one) { return another || lists(claim, one.first); });
    entry.watched = std::move(claim);
    entry.digest = digest;
    const bool changed = believe(entry);
    if (entry.pending.empty()) entries_.erase(known);
    return changed;
}

bool ClaimBeliefs::take_gone(const ResourceClaim& like) {
    entries_.erase(name_of(like, cluster_.words()));
    return cluster_.remove(like);
}

bool ClaimBeliefs::believe(const Entry& entry) {
    if (!entry.watched && entry.pending.empty()) return cluster_.remove(entry.assumed);
    ResourceClaim claim = entry.watched ? *entry.watched : entry.assumed;
    if (!entry.pending.empty() && !claim.allocation) claim.allocation = entry.assumed.allocation;
    for (const auto& [uid, consumer] : entry.pending)
        claim.consumers.push_back(consumer);
    return cluster_.apply(std::move(claim), entry.digest);
}

void ClaimBeliefs::assume(const Placement& placement) {
    Vocabulary& words = cluster_.words();
    for (const PlacedClaim& placed : placement.claims) {
        const std::size_t slash = placed.claim.find('/');
        const StringId ns = words.string(placed.claim.substr(0, slash));
        const StringId name = words.string(placed.claim.substr(slash + 1));
        const ResourceClaim* fact = cluster_.resource_claims().get(ns, name);
        if (fact == nullptr && !placed.extended) continue;  // gone since the plan was made
        const auto [at, fresh] = entries_.try_emplace(placed.claim);
        Entry& entry = at->second;
        if (fresh && fact != nullptr) entry.watched = *fact;
        entry.assumed.ns = ns;
        entry.assumed.name = name;
        entry.assumed.for_extended_resources = placed.extended;
        entry.assumed.allocation = placed_allocation(placed, words);
        if (!entry.watched || !lists(*entry.watched, placement.uid))
            entry.pending[placement.uid] = placed_consumer(placement);
        believe(entry);
        if (entry.pending.empty()) entries_.erase(at);
    }
}

bool ClaimBeliefs::forget(const std::string& pod_uid) {
    bool changed = false;
    for (auto at = entries_.begin(); at != entries_.end();) {
        Entry& entry = at->second;
        if (entry.pending.erase(pod_uid) > 0) changed = believe(entry) || changed;
        at = entry.pending.empty() ? entries_.erase(at) : std::next(at);
    }
    return changed;
}

void ClaimBeliefs::mark(WordMarks& marks) const {
    for (const auto& [name, entry] : entries_)
        marks.all(entry.watched, entry.assumed);
}

}  // namespace reprieve
