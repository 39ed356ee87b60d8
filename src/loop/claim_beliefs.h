// ClaimBeliefs: what the loop takes for true of ResourceClaims beyond the last word of the watch.
//
// A pod that is being bound holds its claims at once, with the devices that the plan gave them: nobody may plan with
// these devices before the claim has been seen to have them. The assumption about one pod stands until the watch shows
// the pod among the claim's consumers, until its binding is known to have failed, or until the pod is gone. A claim for
// extended resources that the Sink has yet to create is assumed as a whole. What has no entry is believed as watched.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/plan.h"
#include "model/world.h"
#include "state/cluster.h"

namespace reprieve {

class ClaimBeliefs {
public:
    explicit ClaimBeliefs(Cluster& cluster) : cluster_(cluster) {}

    // A fact from the watch. True: something that decisions depend on is different now.
    bool take(ResourceClaim claim, Digest digest);
    bool take_gone(const ResourceClaim& like);
    // The pod is being bound with its claims.
    void assume(const Placement& placement);
    // Nothing is assumed of this pod any more. True: something was.
    bool forget(const std::string& pod_uid);

    void mark(WordMarks& marks) const;
    [[nodiscard]] bool empty() const { return entries_.empty(); }

private:
    struct Entry {
        std::optional<ResourceClaim> watched;  // nothing: it is to be created
        Digest digest;
        ResourceClaim assumed;                         // name and owner of one that is to be created; its allocation
        std::map<std::string, ClaimConsumer> pending;  // assumed and not seen, by UID
    };
    // Brings the Cluster to what is believed of the claim.
    bool believe(const Entry& entry);

    Cluster& cluster_;
    std::map<std::string, Entry> entries_;  // of claims of which something is assumed; by "ns/name"
};

}  // namespace reprieve
