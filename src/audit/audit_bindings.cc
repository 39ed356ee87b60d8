#include "audit/audit_bindings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace reprieve {
namespace {

bool any_term(const std::vector<NodeSelectorTerm>& terms, const Node& node, const Vocabulary& words) {
    return std::ranges::any_of(terms,
                               [&](const NodeSelectorTerm& t) { return t.matches(node.labels, node.name, words); });
}

bool reachable(const PersistentVolume& volume, const Node& node, const Vocabulary& words) {
    return !volume.node_affinity_required || any_term(volume.node_terms, node, words);
}

bool could_bind(const PersistentVolume& volume, const VolumeClaim& claim, const Node& node, const Vocabulary& words) {
    if (claim.selected_node) return false;  // it is being provisioned
    if (volume.deleting) return false;
    if (volume.filesystem != claim.filesystem || volume.capacity < claim.request) return false;
    if (!reachable(volume, node, words)) return false;
    if (volume.claim_name) return volume.claim_name == claim.name && volume.claim_ns == claim.ns;
    if (!volume.available || volume.storage_class != claim.storage_class) return false;
    if (!claim.selector.null && !claim.selector.matches(volume.labels, words)) return false;
    const auto offered = [&](AccessMode mode) { return std::ranges::find(volume.modes, mode) != volume.modes.end(); };
    return std::ranges::all_of(claim.modes, offered);
}

bool could_provision(const Case& judged, const VolumeClaim& claim, const Node& node) {
    const StorageClass* storage = storage_of(judged.cluster, claim);
    if (storage == nullptr) return false;
    if (claim.selected_node && claim.selected_node != node.name) return false;
    const std::string_view provisioner = judged.words.text(storage->provisioner);
    if (provisioner.empty() || provisioner == "kubernetes.io/no-provisioner") return false;
    const auto& where = storage->allowed_topologies;
    return where.empty() || any_term(where, node, judged.words);
}

template <class Visit>
void each_volume(const Case& judged, Visit visit) {
    const auto& volumes = judged.cluster.volumes();
    for (const VolumeId id : IdRange<VolumeId>(volumes.slots())) {
        if (const PersistentVolume* volume = volumes.get(id)) visit(*volume);
    }
}

bool waits(const Case& judged, const VolumeClaim& claim) {
    const StorageClass* storage = storage_of(judged.cluster, claim);
    return !claim.volume && storage != nullptr && storage->wait_for_first_consumer;
}

// Empty: the claim is bound within reach, or can be.
std::string binding_trouble(const Case& judged, const VolumeClaim* claim, const Node& node) {
    if (claim == nullptr) return "does not exist";
    if (claim->lost) return "lost its volume";
    if (claim->deleting) return "is being deleted";
    if (claim->volume) {
        const PersistentVolume* volume = judged.cluster.volume(claim->volume);
        if (volume == nullptr) return "names a volume that does not exist";
        return reachable(*volume, node, judged.words) ? "" : "has a volume out of the node's reach";
    }
    if (!waits(judged, *claim)) return "is not bound yet";
    if (claim->selected_node && claim->selected_node != node.name) return "is being provisioned for another node";
    bool found = could_provision(judged, *claim, node);
    each_volume(judged, [&](const PersistentVolume& v) { found = found || could_bind(v, *claim, node, judged.words); });
    return found ? "" : "finds no volume";
}

// A claim that is bound when the plan is carried out.
struct Waiting {
    const VolumeClaim* claim = nullptr;
    std::vector<const PlacedPod*> users;
    std::vector<const PersistentVolume*> choices;  // that all users can reach
};

using Waitings = std::map<std::string, Waiting>;  // by "ns/name"

// Those that depend on a volume that is there already.
Waitings claims_to_bind(const Case& judged) {
    Waitings found;
    for (const PlacedPod& placed : judged.placed) {
        if (placed.in_flight) continue;
        for (const VolumeUse& use : judged.spec(placed.pod).volumes) {
            const VolumeClaim* claim = claim_of(judged, placed.pod, use);
            if (claim == nullptr || !waits(judged, *claim)) continue;
            Waiting& waiting =
                found[fmt::format("{}/{}", judged.words.text(claim->ns), judged.words.text(claim->name))];
            waiting.claim = claim;
            waiting.users.push_back(&placed);
        }
    }
    std::erase_if(found, [&](const auto& entry) {
        const Waiting& w = entry.second;
        const NodeId node = w.users.front()->node;
        return std::ranges::all_of(w.users, [&](const PlacedPod* p) { return p->node == node; }) &&
               could_provision(judged, *w.claim, *judged.cluster.node(node));
    });
    for (auto& [name, waiting] : found) {
        each_volume(judged, [&](const PersistentVolume& volume) {
            if (std::ranges::all_of(waiting.users, [&](const PlacedPod* p) {
                    return could_bind(volume, *waiting.claim, *judged.cluster.node(p->node), judged.words);
                }))
                waiting.choices.push_back(&volume);
        });
    }
    return found;
}

// Gives every claim a volume of its own as long as that is possible at all, whoever was to choose first.
class Assignment {
public:
    [[nodiscard]] bool add(const Waiting& waiting) {
        asked_.clear();
        return find(waiting);
    }

private:
    bool find(const Waiting& waiting) {
        for (const PersistentVolume* volume : waiting.choices) {
            if (!asked_.insert(volume).second) continue;
            const Waiting*& holder = holders_[volume];
            if (holder != nullptr && !find(*holder)) continue;
            holder = &waiting;
            return true;
        }
        return false;
    }

    std::map<const PersistentVolume*, const Waiting*> holders_;
    std::set<const PersistentVolume*> asked_;
};

}  // namespace

const VolumeClaim* claim_of(const Case& judged, PodId pod, const VolumeUse& use) {
    if (use.kind != VolumeKind::kClaim) return nullptr;
    const auto& claims = judged.cluster.claims();
    return claims.get(claims.find(judged.fact(pod).ns, use.id));
}

const StorageClass* storage_of(const Cluster& cluster, const VolumeClaim& claim) {
    return claim.storage_class_written ? cluster.storage_class(claim.storage_class) : cluster.default_storage_class();
}

void judge_binding(
    const Case& judged, const VolumeUse& use, const VolumeClaim* claim, const Node& node, Findings& out) {
    const std::string trouble = binding_trouble(judged, claim, node);
    if (!trouble.empty())
        out.push_back({"VolumeBinding", fmt::format("claim {} {}", judged.words.text(use.id), trouble)});
}

void judge_bindings(const Case& judged, Report& report) {
    if (!judged.filters_by("VolumeBinding")) return;
    const Waitings claims = claims_to_bind(judged);
    Assignment assignment;
    for (const auto& [name, waiting] : claims) {
        if (assignment.add(waiting)) continue;
        report.add("VolumeBinding",
                   waiting.users.front()->entry->pod,
                   fmt::format("claim {} finds no volume that others of the plan leave to it", name));
    }
}

}  // namespace reprieve
