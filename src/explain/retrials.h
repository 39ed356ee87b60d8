// Retrials: plans made again with something different, as many as are allowed.
//
// Also what every part of an explanation looks at: the plan that is explained, the facts it was made from and the
// configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "explain/explanation.h"
#include "explain/what_if.h"

namespace reprieve {

class Retrials {
public:
    using Change = std::function<void(WhatIf&)>;

    // REQUIRES: `plan` is what one cycle on the cluster says. Both must outlive this.
    Retrials(const Plan& plan, Cluster& cluster, const SchedulerConfig& config, std::int64_t most);

    // The plan with that change; nullopt: no more are allowed.
    [[nodiscard]] std::optional<Plan> with(const Change& change);

    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] bool refused() const { return refused_; }
    [[nodiscard]] const Plan& plan() const { return plan_; }
    [[nodiscard]] Cluster& cluster() const { return cluster_; }
    [[nodiscard]] const Snapshot& snapshot() const { return cluster_.snapshot(); }
    [[nodiscard]] const SchedulerConfig& config() const { return config_; }

private:
    const Plan& plan_;
    Cluster& cluster_;
    const SchedulerConfig& config_;
    std::int64_t most_;
    std::int64_t count_ = 0;
    bool refused_ = false;
};

// How `other` differs from the plan that is explained, for that owner.
[[nodiscard]] Consequence compare(const Plan& plan, const Plan& other, const std::string& owner);

// What was paid for this owner's room; null: nobody goes for it.
[[nodiscard]] const Certificate* certificate_for(const Plan& plan, const std::string& owner);

// The name of the first term in which `b` is higher than `a` before it is lower anywhere; empty if there is none.
[[nodiscard]] std::string worse_term(const CostVector& a, const CostVector& b);

}  // namespace reprieve
