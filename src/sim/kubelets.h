// Kubelets: the simulated agents of the nodes: a bound pod starts, runs, perhaps finishes; a deleted one ends and is
// gone. Pods of a node that is lost are collected after a while, as Kubernetes does.
//
// Watches the Store; arranges what is next for a pod in the EventQueue, and only the last arrangement counts.
#pragma once

#include <map>

#include "sim/event_queue.h"
#include "sim/store.h"

namespace reprieve {

class Kubelets {
public:
    Kubelets(Store& store, EventQueue& events) : store_(store), events_(events) {}

    void observe(SlotId slot);
    void fire(const Event& event);

private:
    struct Next {
        EventKind kind = EventKind::kPodStarts;
        Time at;
        std::string uid;
        std::uint64_t mark = 0;
    };

    void observe_pod(SlotId slot);
    void observe_node(const Store::Entry& node);
    void arrange(SlotId slot, EventKind kind, Time at);

    Store& store_;
    EventQueue& events_;
    std::map<SlotId, Next> next_;
    std::uint64_t marks_ = 0;
};

// Whether the node has room for one more pod: what a kubelet asks before it admits the pod. The error is its reason.
// `claims_extended`: the binding gives the pod a claim for extended resources.
[[nodiscard]] Result<void> admit_pod(const Store& store,
                                     const Store::Entry& node,
                                     const Pod& pod,
                                     bool claims_extended);

}  // namespace reprieve
