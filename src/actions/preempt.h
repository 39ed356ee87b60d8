// preempt: one pod's way in, by the cheapest evictions on one node.
#pragma once

#include <memory>

#include "actions/desk.h"
#include "actions/obstacles.h"
#include "search/preempt_search.h"

namespace reprieve {

class Preempt {
public:
    Preempt(Desk& desk, const ActionConfig& action);

    // REQUIRES: allocate failed for it. Serves single pods and the one missing member of a gang of min 1.
    [[nodiscard]] Served serve(const Demand& demand);
    // Makes room for a running pod whose in-place resize is deferred.
    void serve_resize(PodId pod);

private:
    void carry_out(const PreemptChoice& choice, const std::string& owner, std::int32_t priority);
    void certify(const PreemptChoice& choice, const std::string& owner);

    Desk& desk_;
    const ActionConfig& action_;
    PreemptSearch search_;
    Obstacles obstacles_;
    bool by_priority_ = true;
};

}  // namespace reprieve
