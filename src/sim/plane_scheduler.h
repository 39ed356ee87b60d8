// PlaneScheduler: binds new replicas of serving deployments, as the scheduler of their plane does in a real cluster.
// Reprieve leaves these pods to it.
//
// A pod goes to the first node of its plane, by name, that would admit it; one that finds none is tried again whenever
// something has changed.
#pragma once

#include <set>
#include <string>

#include "sim/api.h"
#include "sim/store.h"

namespace reprieve {

class PlaneScheduler {
public:
    PlaneScheduler(Store& store, Api& api) : store_(store), api_(api) {}

    void observe(SlotId slot);
    void act();

private:
    [[nodiscard]] bool is_replica(const Store::Entry& pod) const;
    [[nodiscard]] std::string plane_of(const Store::Entry& pod) const;
    void bind(SlotId slot);

    Store& store_;
    Api& api_;
    std::set<SlotId> waiting_;
    bool changed_ = false;
};

}  // namespace reprieve
