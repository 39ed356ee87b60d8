// The volume filters: VolumeBinding, VolumeZone, VolumeRestrictions, NodeVolumeLimits.
#include <algorithm>
#include <string_view>

#include "plugins/filter.h"
#include "state/cluster.h"
#include "state/volume_choice.h"

namespace reprieve {
namespace {

enum VolumeTrouble : std::uint16_t {
    kClaimMissing,
    kClaimLost,
    kClaimDeleting,
    kVolumeMissing,
    kNodeConflict,
    kUnboundImmediate,
    kNothingToBind,
    kNoSpace,
    kDiskConflict,
    kClaimInUse,
    kTooMany,
    kZoneConflict
};

Answer never(FilterId filter, VolumeTrouble trouble) { return {Fit::kNever, filter, trouble}; }

Answer bind_claim(const Candidate& c, const ClassVolume& use, const Node& node) {
    const Cluster& facts = *c.snapshot.facts;
    const Vocabulary& words = *c.snapshot.words;
    const VolumeClaim* claim = facts.claim(use.claim);
    if (claim == nullptr) return never(FilterId::kVolumeBinding, kClaimMissing);
    if (claim->lost) return never(FilterId::kVolumeBinding, kClaimLost);
    if (claim->deleting) return never(FilterId::kVolumeBinding, kClaimDeleting);
    if (claim->volume) {
        const PersistentVolume* volume = facts.volume(claim->volume);
        if (volume == nullptr) return never(FilterId::kVolumeBinding, kVolumeMissing);
        return reaches(*volume, node, words) ? Answer{} : never(FilterId::kVolumeBinding, kNodeConflict);
    }
    if (!use.waits) return never(FilterId::kVolumeBinding, kUnboundImmediate);
    if (claim->selected_node && claim->selected_node != node.name)
        return never(FilterId::kVolumeBinding, kNodeConflict);
    return {};
}

Answer find_volumes(const Candidate& c, const Bindings& promised, NodeId node) {
    std::vector<ClaimBinding> unused;
    switch (choose_volumes(c.snapshot, c.cls, node, promised, unused)) {
        case VolumeChoice::kElsewhere:
            return never(FilterId::kVolumeBinding, kNodeConflict);
        case VolumeChoice::kNothing:
            return never(FilterId::kVolumeBinding, kNothingToBind);
        case VolumeChoice::kNoSpace:
            return never(FilterId::kVolumeBinding, kNoSpace);
        case VolumeChoice::kFound:
            break;
    }
    return {};
}

// "a__b" lists several zones.
bool zone_listed(std::string_view zones, std::string_view zone) {
    while (true) {
        const std::size_t cut = zones.find("__");
        if (zones.substr(0, cut) == zone) return true;
        if (cut == std::string_view::npos) return false;
        zones.remove_prefix(cut + 2);
    }
}

constexpr std::string_view kZoneLabels[] = {"topology.kubernetes.io/zone",
                                            "topology.kubernetes.io/region",
                                            "failure-domain.beta.kubernetes.io/zone",
                                            "failure-domain.beta.kubernetes.io/region"};

}  // namespace

Answer filter_volume_binding(const Candidate& c, NodeId node) {
    for (const ClassVolume& use : c.cls.volumes) {
        if (use.kind != VolumeKind::kClaim) continue;
        if (const Answer answer = bind_claim(c, use, *c.snapshot.facts->node(node)); !answer.fits()) return answer;
    }
    return c.cls.has_waiting_claims ? find_volumes(c, Bindings(), node) : Answer{};
}

Answer filter_promised_volumes(const Candidate& c, const Occupancy& later, NodeId node) {
    return later.bindings().empty() ? Answer{} : find_volumes(c, later.bindings(), node);
}

Answer filter_volume_zone(const Candidate& c, NodeId node) {
    if (c.cls.volumes.empty()) return {};
    const Vocabulary& words = *c.snapshot.words;
    const Node& on = *c.snapshot.facts->node(node);
    const auto label_of = [&](const Labels& labels, std::string_view key) {
        const StringId id = words.find_string(key);
        return id ? labels.get(id) : StringId();
    };
    if (std::ranges::none_of(kZoneLabels, [&](std::string_view key) { return label_of(on.labels, key).valid(); }))
        return {};
    for (const ClassVolume& use : c.cls.volumes) {
        const VolumeClaim* claim = use.kind == VolumeKind::kClaim ? c.snapshot.facts->claim(use.claim) : nullptr;
        const PersistentVolume* volume =
            claim != nullptr && claim->volume ? c.snapshot.facts->volume(claim->volume) : nullptr;
        if (volume == nullptr) continue;
        for (std::string_view key : kZoneLabels) {
            const StringId zones = label_of(volume->labels, key);
            if (zones && !zone_listed(words.text(zones), words.text(label_of(on.labels, key))))
                return never(FilterId::kVolumeZone, kZoneConflict);
        }
    }
    return {};
}

Answer filter_volume_restrictions(const Candidate& c, const Occupancy& view, NodeId node) {
    for (const ClassVolume& use : c.cls.volumes) {
        if (use.kind == VolumeKind::kClaim) {
            if (!use.claim) return never(FilterId::kVolumeRestrictions, kClaimMissing);
            if (use.single_pod && view.claim_users(use.claim) > 0)
                return {Fit::kNotNow, FilterId::kVolumeRestrictions, kClaimInUse};
            continue;
        }
        for (const DiskUse& disk : view.use(node).disks) {
            if (disk.kind != use.kind || disk.id != use.id) continue;
            // An EBS volume has one user; the others may be shared by readers.
            if (use.kind == VolumeKind::kAwsElasticBlockStore || !use.read_only || disk.writers > 0)
                return {Fit::kNotNow, FilterId::kVolumeRestrictions, kDiskConflict};
        }
    }
    return {};
}

Answer filter_node_volume_limits(const Candidate& c, const Occupancy& view, NodeId node) {
    if (c.cls.volumes.empty()) return {};
    const CsiNode* csi = c.snapshot.facts->csi_node(c.snapshot.facts->node(node)->name);
    if (csi == nullptr) return {};
    for (const auto& [driver, limit] : csi->limits) {
        if (!limit) continue;
        const std::vector<ClaimUse>& attached = view.use(node).claims;
        std::int64_t count = std::ranges::count(attached, driver, &ClaimUse::driver);
        std::int64_t fresh = 0;
        for (const ClassVolume& use : c.cls.volumes) {
            if (use.kind != VolumeKind::kClaim || !use.claim || use.driver != driver) continue;
            if (std::ranges::find(attached, use.claim, &ClaimUse::claim) == attached.end()) ++fresh;
        }
        if (fresh > 0 && count + fresh > *limit)
            return {fresh > *limit ? Fit::kNever : Fit::kNotNow, FilterId::kNodeVolumeLimits, kTooMany};
    }
    return {};
}

std::string describe_volumes(FilterId /*filter*/, std::uint32_t detail) {
    switch (detail) {
        case kClaimMissing:
            return "persistentvolumeclaim not found";
        case kClaimLost:
            return "persistentvolumeclaim lost its volume";
        case kClaimDeleting:
            return "persistentvolumeclaim is being deleted";
        case kVolumeMissing:
            return "the claim's volume does not exist";
        case kNodeConflict:
            return "node(s) the claim's volume is not reachable from";
        case kUnboundImmediate:
            return "unbound claims that bind immediately";
        case kNothingToBind:
            return "node(s) without a volume to bind or provision";
        case kNoSpace:
            return "node(s) did not have enough free storage";
        case kDiskConflict:
            return "node(s) with a pod that uses the same disk";
        case kClaimInUse:
            return "a ReadWriteOncePod claim is in use by another pod";
        case kTooMany:
            return "node(s) at their limit of attached volumes";
        default:
            return "node(s) in another zone than the volume";
    }
}

}  // namespace reprieve
