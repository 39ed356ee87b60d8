// VolumeZone, VolumeRestrictions, NodeVolumeLimits: what volumes say about nodes and about each other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "audit/audit_bindings.h"
#include "audit/rules.h"

namespace reprieve {
namespace {

using ClaimName = std::pair<StringId, StringId>;

const PersistentVolume* volume_of(const Case& judged, const VolumeClaim* claim) {
    return claim != nullptr && claim->volume ? judged.cluster.volume(claim->volume) : nullptr;
}

constexpr std::array<std::string_view, 4> kZoneLabels = {"topology.kubernetes.io/zone",
                                                         "topology.kubernetes.io/region",
                                                         "failure-domain.beta.kubernetes.io/zone",
                                                         "failure-domain.beta.kubernetes.io/region"};

std::string_view label_text(const Labels& labels, std::string_view key, const Vocabulary& words) {
    const StringId id = words.find_string(key);
    return id ? words.text(labels.get(id)) : std::string_view();
}

// "a__b" lists several zones.
bool lists_zone(const std::string& zones, std::string_view zone) {
    return ("__" + zones + "__").find(fmt::format("__{}__", zone)) != std::string::npos;
}

bool in_zone_of(const PersistentVolume& volume, const Node& node, const Vocabulary& words) {
    // A node without any zone is in a cluster without zones.
    const bool zoned =
        std::ranges::any_of(kZoneLabels, [&](auto key) { return !label_text(node.labels, key, words).empty(); });
    if (!zoned) return true;
    return std::ranges::all_of(kZoneLabels, [&](std::string_view key) {
        const std::string zones(label_text(volume.labels, key, words));
        return zones.empty() || lists_zone(zones, label_text(node.labels, key, words));
    });
}

bool disks_clash(const VolumeUse& a, const VolumeUse& b) {
    if (a.kind != b.kind || a.id != b.id || a.kind == VolumeKind::kClaim || a.kind == VolumeKind::kCsiInline)
        return false;
    return a.kind == VolumeKind::kAwsElasticBlockStore || !a.read_only || !b.read_only;
}

void judge_restrictions(const Scene& scene, const PlacedPod& placed, Findings& out) {
    const Case& judged = scene.judged();
    for (const VolumeUse& use : judged.spec(placed.pod).volumes) {
        const VolumeClaim* claim = claim_of(judged, placed.pod, use);
        if (claim != nullptr && std::ranges::find(claim->modes, AccessMode::kReadWriteOncePod) != claim->modes.end()) {
            for (const PodId other : judged.users_of(claim->ns, claim->name)) {
                if (other == placed.pod || !scene.has(other)) continue;
                out.push_back(
                    {"VolumeRestrictions",
                     fmt::format(
                         "claim {} is for one pod and {} has it", judged.words.text(claim->name), judged.name(other))});
            }
        }
        for (const PodId other : scene.on(placed.node)) {
            if (other == placed.pod) continue;
            for (const VolumeUse& theirs : judged.spec(other).volumes) {
                if (!disks_clash(use, theirs)) continue;
                out.push_back({"VolumeRestrictions",
                               fmt::format("{} uses disk {}", judged.name(other), judged.words.text(use.id))});
            }
        }
    }
}

// The claims of a pod that the driver attaches.
std::set<ClaimName> claims_of_driver(const Case& judged, PodId pod, StringId driver) {
    std::set<ClaimName> found;
    for (const VolumeUse& use : judged.spec(pod).volumes) {
        const VolumeClaim* claim = claim_of(judged, pod, use);
        if (claim == nullptr) continue;
        const PersistentVolume* volume = volume_of(judged, claim);
        const StorageClass* storage = storage_of(judged.cluster, *claim);
        const StringId by = volume != nullptr    ? volume->csi_driver
                            : storage != nullptr ? storage->provisioner
                                                 : StringId();
        if (by == driver) found.emplace(claim->ns, claim->name);
    }
    return found;
}

void judge_limit(const Scene& scene, const PlacedPod& placed, StringId driver, std::int32_t limit, Findings& out) {
    const Case& judged = scene.judged();
    const std::set<ClaimName> own = claims_of_driver(judged, placed.pod, driver);
    std::set<ClaimName> attached = own;
    std::set<ClaimName> before;  // by pods that the plan did not bring
    for (const PodId other : scene.on(placed.node)) {
        const std::set<ClaimName> theirs = claims_of_driver(judged, other, driver);
        attached.insert(theirs.begin(), theirs.end());
        if (scene.seat(other).placed == nullptr) before.insert(theirs.begin(), theirs.end());
    }
    const bool brings = std::ranges::any_of(own, [&](const ClaimName& claim) { return !before.contains(claim); });
    if (!brings || std::cmp_less_equal(attached.size(), limit)) return;
    out.push_back(
        {"NodeVolumeLimits",
         fmt::format("{} volumes of {} on the node, it takes {}", attached.size(), judged.words.text(driver), limit)});
}

}  // namespace

void judge_volume_facts(const Case& judged, const PlacedPod& placed, Findings& out) {
    const Node& node = *judged.cluster.node(placed.node);
    for (const VolumeUse& use : judged.spec(placed.pod).volumes) {
        if (use.kind != VolumeKind::kClaim) continue;
        const VolumeClaim* claim = claim_of(judged, placed.pod, use);
        if (judged.filters_by("VolumeBinding")) judge_binding(judged, use, claim, node, out);
        const PersistentVolume* volume = volume_of(judged, claim);
        if (judged.filters_by("VolumeZone") && volume != nullptr && !in_zone_of(*volume, node, judged.words)) {
            out.push_back({"VolumeZone", fmt::format("volume {} is in another zone", judged.words.text(volume->name))});
        }
        if (judged.filters_by("VolumeRestrictions") && claim == nullptr) {
            out.push_back({"VolumeRestrictions", fmt::format("claim {} does not exist", judged.words.text(use.id))});
        }
    }
}

void judge_volumes(const Scene& scene, const PlacedPod& placed, Findings& out) {
    const Case& judged = scene.judged();
    if (judged.spec(placed.pod).volumes.empty()) return;
    if (judged.filters_by("VolumeRestrictions")) judge_restrictions(scene, placed, out);
    const CsiNode* csi = judged.cluster.csi_node(judged.cluster.node(placed.node)->name);
    if (csi == nullptr || !judged.filters_by("NodeVolumeLimits")) return;
    for (const auto& [driver, limit] : csi->limits) {
        if (limit) judge_limit(scene, placed, driver, *limit, out);
    }
}

}  // namespace reprieve
