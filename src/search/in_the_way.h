// InTheWay: pods elsewhere whose going can let a pod in on a node.
//
// Room on a node is freed by pods of that node alone. Other rules reach farther: anti-affinity, the pod's own or
// theirs, in a topology domain; hard spread, which counts matching pods of the domain; a claim for one pod only; a
// device, or the counters of one, that the node can use and a pod elsewhere holds by claim; and
// required affinity of a pod that matches itself, which is satisfied once nobody else matches anywhere. For every other
// pod elsewhere going changes nothing for the better, so a cheapest set has none of them (docs/algorithms/search.md).
// Which classes of pods are in the way of a class is a matter of facts, and who runs is listed by class once in a cycle
// (RunningPods): making one costs as much as there are pods in the way, asking for a node as much as there are answers.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "search/session.h"

namespace reprieve {

class InTheWay {
public:
    // Nobody is in the way.
    explicit InTheWay(const Session& session) : snapshot_(session.snapshot) {}
    // Nobody is evicted that would be listed.
    InTheWay(const Session& session, const Candidate& candidate);

    [[nodiscard]] bool empty() const { return in_domains_.empty() && anywhere_.empty() && !by_claim_; }
    // Appends running pods of other nodes, in a fixed order, each once.
    void on(NodeId node, std::vector<PodId>& out) const;
    // Appends those in the node's domains of these keys, its own pods included, and those that are in the way wherever
    // they run. Perhaps more than once.
    void in_domains_of(NodeId node, std::span<const TopologyKeyId> keys, std::vector<PodId>& out) const;

private:
    struct InDomain {
        TopologyKeyId key;
        std::int32_t domain = 0;
        PodId pod;
        friend auto operator<=>(const InDomain&, const InDomain&) = default;
    };
    void append(TopologyKeyId key, NodeId node, std::vector<PodId>& out) const;

    const Snapshot& snapshot_;
    std::vector<TopologyKeyId> keys_;
    std::vector<InDomain> in_domains_;  // sorted
    std::vector<PodId> anywhere_;
    bool by_claim_ = false;  // the pod claims devices, and some are not one node's alone
};

// RunningPods: who ran when first asked for, by class, and how pods of one class are in the way of another.
class RunningPods {
public:
    struct Nature {
        ClassId cls;
        std::vector<TopologyKeyId> keys;  // in the domains of these
        bool anywhere = false;
    };

    explicit RunningPods(const Session& session);

    // Some of them may be evicted by now.
    [[nodiscard]] std::span<const PodId> of(ClassId cls) const { return by_class_[cls.index()]; }
    // The classes with running pods that are in the way of this one.
    [[nodiscard]] const std::vector<Nature>& in_the_way_of(ClassId mine);

private:
    const Session& session_;
    std::vector<std::vector<PodId>> by_class_;
    std::vector<ClassId> classes_;  // those with pods
    std::map<ClassId, std::vector<Nature>> natures_;
};

// Running pods whose going can help one of these placed pods to keep its place: those in its way elsewhere, and those
// on its node. In a fixed order, each once.
[[nodiscard]] std::vector<PodId> in_the_way_of(const Session& session, std::span<const PodId> placed);

}  // namespace reprieve
