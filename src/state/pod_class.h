// PodClass: pods alike in namespace, labels and spec, with everything about them that can be worked out once.
//
// A class is made when its first pod arrives and never changes what it asks for; which terms and budgets it matches
// is brought up to date when a term or budget appears.
#pragma once

#include <cstdint>
#include <vector>

#include "model/pod_spec.h"
#include "model/resources.h"
#include "state/ids.h"
#include "state/terms.h"

namespace reprieve {

struct ClassSpread {
    TermId term;  // counted per node
    TopologyKeyId key;
    std::int32_t max_skew = 1;
    std::int32_t min_domains = 1;
    bool hard = true;
    bool honor_node_affinity = true;
    bool honor_taints = false;
    bool counts_itself = false;
};

struct ClassPull {
    TermId term;
    std::int64_t weight = 0;
};

struct ClassVolume {
    VolumeKind kind = VolumeKind::kClaim;
    ClaimId claim;    // kClaim; none: the claim does not exist
    StringId id;      // claim name or disk id
    StringId driver;  // CSI driver that attaches it; none: no limit applies
    bool read_only = false;
    bool single_pod = false;  // ReadWriteOncePod
    bool waits = false;       // an unbound claim that is bound when its first pod is placed
};

// What the label quota.scheduling.koordinator.sh/preemptible says; quotas count such pods apart.
enum class QuotaMark : std::uint8_t { kNone, kPreemptible, kFixed };

struct PodClass {
    StringId ns;
    LabelsId labels;
    SpecId spec;
    std::vector<Resources::Amount> requests;  // amounts > 0, `pods` among them; in the order of names
    std::vector<TermId> matched;              // terms that speak of these pods; sorted
    std::vector<TermId> affinity;  // own required affinity, one per topology key: pods matching all own terms
    bool affinity_to_itself = false;
    std::vector<TermId> anti_affinity;  // own required anti-affinity
    std::vector<ClassSpread> spread;
    std::vector<ClassPull> preferred;  // own preferred terms, anti-affinity with negative weight
    std::vector<ClassPull> pulls;  // how this pod, once placed, attracts others: preferred terms and required affinity
    std::vector<ClassVolume> volumes;
    std::vector<BudgetId> budgets;
    QuotaMark mark = QuotaMark::kNone;
    bool has_ports = false;
    bool has_devices = false;
    bool has_waiting_claims = false;
    bool has_claims = false;        // for devices: by entry, or for extended resources
    std::int32_t claims_apart = 0;  // pods of the class whose claims are not a matter of one node alone
    bool claims_local = false;      // none of them is shared or allocated, and every device belongs to one node

    // Whether verdicts on one node depend only on what is on that node. Existing pods' anti-affinity is asked
    // separately.
    [[nodiscard]] bool node_local() const {
        return affinity.empty() && anti_affinity.empty() && spread.empty() && volumes.empty();
    }
};

}  // namespace reprieve
