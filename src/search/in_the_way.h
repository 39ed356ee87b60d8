// InTheWay: pods elsewhere whose going can let a pod in on a node.
//
// Room on a node is freed by pods of that node alone. Other rules reach farther: anti-affinity, the pod's own or
// theirs, in a topology domain; hard spread, which counts matching pods of the domain; a claim for one pod only; a
// device, or the counters of one, that the node can use and a pod elsewhere holds by claim; and
// required affinity of a pod that matches itself, which is satisfied once nobody else matches anywhere. For every other
// pod elsewhere going changes nothing for the better, so a cheapest set has none of them (docs/algorithms/search.md).
// One look at all running pods makes the index; asking for a node costs as much as there are answers.
#pragma once

#include <cstdint>
#include <vector>

#include "search/session.h"

namespace reprieve {

class InTheWay {
public:
    // Nobody is evicted that would be listed.
    InTheWay(const Session& session, const Candidate& candidate);

    [[nodiscard]] bool empty() const { return in_domains_.empty() && anywhere_.empty() && !by_claim_; }
    // Appends running pods of other nodes, in a fixed order, each once.
    void on(NodeId node, std::vector<PodId>& out) const;

private:
    struct InDomain {
        TopologyKeyId key;
        std::int32_t domain = 0;
        PodId pod;
        friend auto operator<=>(const InDomain&, const InDomain&) = default;
    };
    // How pods of one class are in the way.
    struct Nature {
        std::vector<TopologyKeyId> keys;
        bool anywhere = false;
    };
    [[nodiscard]] static Nature nature_of(const Session& session, const PodClass& mine, const PodClass& theirs);

    const Snapshot& snapshot_;
    std::vector<TopologyKeyId> keys_;
    std::vector<InDomain> in_domains_;  // sorted
    std::vector<PodId> anywhere_;
    bool by_claim_ = false;  // the pod claims devices, and some are not one node's alone
};

}  // namespace reprieve
