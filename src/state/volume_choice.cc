#include "state/volume_choice.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "state/cluster.h"

namespace reprieve {
namespace {

bool any_term(const std::vector<NodeSelectorTerm>& terms, const Node& node, const Vocabulary& words) {
    return std::ranges::any_of(terms,
                               [&](const NodeSelectorTerm& t) { return t.matches(node.labels, node.name, words); });
}

bool suits(const PersistentVolume& volume, const VolumeClaim& claim, const Vocabulary& words) {
    if (!volume.available || volume.filesystem != claim.filesystem) return false;
    if (!claim.selector.null && !claim.selector.matches(volume.labels, words)) return false;
    return std::ranges::all_of(
        claim.modes, [&](AccessMode mode) { return std::ranges::find(volume.modes, mode) != volume.modes.end(); });
}

bool could_provision(const StorageClass& storage, const Node& node, const Vocabulary& words) {
    if (!storage.provisioner || words.text(storage.provisioner) == "kubernetes.io/no-provisioner") return false;
    return storage.allowed_topologies.empty() || any_term(storage.allowed_topologies, node, words);
}

struct Wanted {
    ClaimId id;
    const VolumeClaim* claim = nullptr;
    bool provisions = false;
    std::vector<VolumeId> choices;  // best first
    VolumeId volume;
};

class Matching {
public:
    Matching(const Snapshot& s, NodeId node, const Bindings& promised)
        : facts_(*s.facts),
          words_(*s.words),
          node_(*s.facts->node(node)),
          promised_(promised) {}

    void want(ClaimId id) {
        if (std::ranges::find(wanted_, id, &Wanted::id) == wanted_.end())
            wanted_.push_back({.id = id, .claim = facts_.claim(id)});
    }

    [[nodiscard]] bool run() {
        std::ranges::sort(wanted_, [&](const Wanted& a, const Wanted& b) {
            if (a.claim->request != b.claim->request) return a.claim->request < b.claim->request;
            return words_.text(a.claim->name) < words_.text(b.claim->name);
        });
        for (Wanted& w : wanted_)
            look(w);
        bool all = true;
        for (Wanted& w : wanted_) {
            tried_.clear();
            all = settle(w) && all;
        }
        return all;
    }

    [[nodiscard]] const std::vector<Wanted>& wanted() const { return wanted_; }

private:
    // As many choices as there are claims are enough: the others can take all but one of them.
    void look(Wanted& w) {
        const StorageClass* storage = facts_.storage_class_of(*w.claim);
        w.provisions = storage != nullptr && could_provision(*storage, node_, words_);
        if (w.claim->selected_node) {
            // It is being provisioned already.
            w.provisions = w.provisions && w.claim->selected_node == node_.name;
            return;
        }
        for (VolumeId id : facts_.reserved_volumes(*w.claim)) {
            const PersistentVolume& volume = *facts_.volumes().get(id);
            if (volume.capacity < w.claim->request || volume.filesystem != w.claim->filesystem) continue;
            if (reaches(volume, node_, words_)) w.choices.push_back(id);
            return;
        }
        for (VolumeId id : facts_.free_volumes(w.claim->storage_class)) {
            const PersistentVolume& volume = *facts_.volumes().get(id);
            if (volume.capacity < w.claim->request || !suits(volume, *w.claim, words_)) continue;
            if (promised_.taken(id) || !reaches(volume, node_, words_)) continue;
            w.choices.push_back(id);
            if (w.choices.size() == wanted_.size()) return;
        }
    }

    [[nodiscard]] Wanted* owner(VolumeId volume) {
        const auto at = std::ranges::find(wanted_, volume, &Wanted::volume);
        return at == wanted_.end() ? nullptr : &*at;
    }

    // Finds a volume for the claim, other than the one it has; if it must, by making another claim move.
    bool settle(Wanted& w) {
        const auto free = std::ranges::find_if(w.choices, [&](VolumeId v) { return owner(v) == nullptr; });
        if (free != w.choices.end() || w.provisions) {
            w.volume = free != w.choices.end() ? *free : VolumeId();
            return true;
        }
        for (VolumeId v : w.choices) {
            if (std::ranges::find(tried_, v) != tried_.end()) continue;
            tried_.push_back(v);
            Wanted* other = owner(v);
            if (other == &w || !settle(*other)) continue;
            w.volume = v;
            return true;
        }
        return false;
    }

    const Cluster& facts_;
    const Vocabulary& words_;
    const Node& node_;
    const Bindings& promised_;
    std::vector<Wanted> wanted_;
    std::vector<VolumeId> tried_;
};

}  // namespace

bool reaches(const PersistentVolume& volume, const Node& node, const Vocabulary& words) {
    return !volume.node_affinity_required || any_term(volume.node_terms, node, words);
}

VolumeChoice choose_volumes(const Snapshot& snapshot,
                            const PodClass& cls,
                            NodeId node,
                            const Bindings& promised,
                            std::vector<ClaimBinding>& out) {
    const std::size_t start = out.size();
    promised.list(cls, out);
    Matching matching(snapshot, node, promised);
    for (const ClassVolume& use : cls.volumes) {
        if (use.waits && promised.find(use.claim) == nullptr) matching.want(use.claim);
    }
    VolumeChoice answer = matching.run() ? VolumeChoice::kFound : VolumeChoice::kNothing;
    for (std::size_t i = start; i < out.size(); ++i) {
        const PersistentVolume* volume = snapshot.facts->volumes().get(out[i].volume);
        const bool here =
            volume == nullptr ? out[i].node == node : reaches(*volume, *snapshot.facts->node(node), *snapshot.words);
        if (!here) answer = VolumeChoice::kElsewhere;
    }
    for (const Wanted& w : matching.wanted())
        out.push_back({w.id, w.volume, node});
    return answer;
}

}  // namespace reprieve
