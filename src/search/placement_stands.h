// What this plan has placed so far, and rules that look at other pods.
//
// Required affinity and hard spread of a pod can be satisfied, or unsettled, by pods that are only promised: nominated
// pods may never come. And pods that this plan has placed may rest on pods that a later decision would evict.
#pragma once

#include <span>
#include <vector>

#include "search/session.h"

namespace reprieve {

// Whether a placed or nominated pod would still be put where it is: its queue's limits, every filter, its own devices.
// Members of a gang with required affinity are lifted together and come back one by one: they may not rest on nothing
// but each other while somebody else matches.
[[nodiscard]] bool placement_stands(Session& session, PodId pod);

// SecondPass: whether a pod that passes with the nominated pods also passes without them, as upstream asks. Only
// required affinity and hard spread can tell the difference. Members of its own gang come together with the pod and are
// not left out.
class SecondPass {
public:
    SecondPass(Session& session, PodId pod);

    // REQUIRES: nobody was nominated since, but members of the pod's own gang.
    [[nodiscard]] bool passes(NodeId node) const;

private:
    Session& session_;
    Candidate candidate_;
    // Some nominated pod is counted by one of the pod's terms, or `harmed_`.
    bool matters_ = false;
    // A device that becomes free may do harm: the pod must also fit while those of nominated pods are free.
    bool harmed_ = false;
    // Nominated pods that are taken out for the second look: of other gangs, and counted by a term or holding claims.
    std::vector<PodId> lifted_;
};

}  // namespace reprieve
