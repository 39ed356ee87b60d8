// ActionList: the configured actions that serve demands, tried for one demand after another in the configuration's
// order.
//
// An action counts as successful only if every pod that the plan has placed before keeps its place; what it did is
// withdrawn otherwise. Actions over the whole cluster (revoke, servingPreempt, queueBalance) are not tried here.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "actions/desk.h"
#include "actions/far_reaching.h"
#include "actions/gang_evict.h"
#include "actions/job_preempt.h"
#include "actions/preempt.h"
#include "model/config.h"
#include "plugins/shares.h"

namespace reprieve {

class ActionList {
public:
    // `shares` cost a look at every pod: made when an action first asks for them. REQUIRES: the arguments outlive it.
    ActionList(Desk& desk,
               std::span<const ActionConfig> actions,
               FarReaching& far_reaching,
               std::optional<Shares>& shares);

    // Tries all of them; why each failed, if none served the demand.
    [[nodiscard]] Served serve(const Demand& demand);
    // Tries one of them.
    [[nodiscard]] Served attempt(const ActionConfig& action, const Demand& demand);
    // Serves a member beyond its gang's minimum as a single pod, where the configuration says so.
    [[nodiscard]] bool serve_surplus(const Demand& demand, PodId member);

    [[nodiscard]] bool fits_without_evictions(const Demand& demand);
    // Whether labels and quotas let pods be evicted for it.
    [[nodiscard]] bool may_evict(const Demand& demand) const;

    // Null: it is not configured.
    [[nodiscard]] Preempt* preempt() const { return preempt_.get(); }
    // Whether gangReclaim was asked for anything.
    [[nodiscard]] bool reclaims() const { return gang_reclaim_ != nullptr; }
    [[nodiscard]] bool backfills() const { return backfills_; }
    [[nodiscard]] bool surplus_preempts() const { return surplus_preempts_; }

private:
    [[nodiscard]] bool is_anothers(const ActionConfig& action, const Demand& demand) const;
    [[nodiscard]] std::string may_not_trigger(const ActionConfig& action, const Demand& demand) const;
    [[nodiscard]] Served try_action(const ActionConfig& action, const Demand& demand);
    void withdraw(Transaction::Checkpoint start, const PlanBuilder::Mark& before);
    [[nodiscard]] bool asked_for_quotas(const Demand& demand) const;
    [[nodiscard]] bool anywhere(const Demand& demand) const;
    [[nodiscard]] GangEvict& reclaimer();

    Desk& desk_;
    std::span<const ActionConfig> actions_;
    FarReaching& far_reaching_;
    std::optional<Shares>& shares_;
    std::unique_ptr<Preempt> preempt_;
    std::unique_ptr<GangEvict> gang_preempt_;
    const ActionConfig* reclaim_ = nullptr;
    std::unique_ptr<GangEvict> gang_reclaim_;
    std::unique_ptr<JobPreempt> job_preempt_;
    bool backfills_ = false;
    bool surplus_preempts_ = false;
};

}  // namespace reprieve
