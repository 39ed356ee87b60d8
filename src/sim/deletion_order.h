// DeletionOrder: which pods a ReplicaSet deletes first when it has too many, as Kubernetes orders them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/store.h"

namespace reprieve {

class DeletionOrder {
public:
    // `related` are the active pods of all ReplicaSets of one owner.
    DeletionOrder(const Store& store, const std::vector<SlotId>& related);

    // Whether `a` goes before `b`.
    [[nodiscard]] bool operator()(SlotId a, SlotId b) const;

private:
    [[nodiscard]] std::int64_t mates(const Pod& pod) const;

    const Store& store_;
    std::map<StringId, std::int64_t> by_node_;  // how many related pods there are
};

}  // namespace reprieve
