#include "explain/set_exemption.h"

#include <fmt/format.h>

#include <algorithm>

#include "actions/queue_obstacles.h"
#include "explain/margin.h"
#include "plugins/quota_vote.h"
#include "search/domain_fit.h"
#include "state/budgets.h"

namespace reprieve {
namespace {

class SetExemption {
public:
    SetExemption(const Retrials& trials, const Eviction& e, PodId pod)
        : trials_(trials),
          s_(trials.snapshot()),
          eviction_(e),
          pod_(pod) {
        for (const ActionConfig& action : actions_of(trials.config())) {
            if (to_text(action.kind) == e.action) config_ = action;
        }
        for (const Placement& p : trials.plan().placements) {
            if (p.pod != e.owner && p.owner != e.owner) continue;
            const PodId member = pod_named(trials.cluster(), p.pod);
            if (!member) continue;
            members_.push_back(member);
            if (p.node == e.node) there_.push_back(member);
        }
        need_ = sum_requests(s_, members_);
    }

    [[nodiscard]] Exemption find(const std::vector<std::string>& instead) const {
        if (members_.empty()) return {};
        Session session(trials_.cluster(), trials_.config());
        Exemption out = by_queue(session);
        if (out.rule.empty()) out = by_budget();
        if (out.rule.empty()) out = by_company(session, instead);
        return out;
    }

private:
    [[nodiscard]] Exemption by_queue(const Session& session) const {
        const QueueId queue = s_.pods[pod_].queue;
        const QueueDemand demand{.queue = s_.pods[members_.front()].queue, .need = need_};
        if (!queue || queue == demand.queue || !config_) return {};
        if (config_->kind == ActionKind::kGangReclaim)
            return of(why_queue_gives_nothing(s_, Shares(s_), demand, queue), "queue");
        if (config_->kind != ActionKind::kJobPreempt) return {};
        const bool fixed = std::ranges::all_of(members_, [&](PodId p) { return session.limits.is_fixed(p); });
        QuotaVote vote(s_,
                       session.limits.kinds(),
                       {.queue = demand.queue,
                        .priority = attack_priority(trials_.cluster(), eviction_.owner).value_or(0),
                        .fixed = fixed,
                        .asked = need_});
        if (session.limits.is_fixed(pod_)) return {"protected", "it is not preemptible in its quota"};
        vote.reset();
        if (vote.may_take(pod_) && vote.accept(std::span(&pod_, 1))) return {};
        return of(why_quota_keeps(s_, demand, queue), "queue");
    }

    [[nodiscard]] Exemption by_budget() const {
        if (!config_ || config_->pdb != PdbMode::kStrict) return {};
        std::string spent;
        for (BudgetId id : s_.class_of(pod_).budgets) {
            const BudgetRow& budget = s_.budgets[id];
            if (!takes_from(s_, pod_, id) || budget.left > 0) continue;
            const std::string name =
                fmt::format("{}/{}", s_.words->text(budget.fact->ns), s_.words->text(budget.fact->name));
            if (spent.empty() || name < spent) spent = name;
        }
        return spent.empty() ? Exemption()
                             : Exemption{"budget", fmt::format("its disruption budget {} lets nobody go", spent)};
    }

    // With those gone who go, the beneficiary fits where it is placed; with this one gone as well, a rule about other
    // pods would say no.
    [[nodiscard]] Exemption by_company(Session& session, const std::vector<std::string>& instead) const {
        const StringId word = s_.words->find_string(eviction_.node);
        const NodeId node = word ? trials_.cluster().find_node(word) : NodeId();
        if (there_.empty() || !node || session.filters.monotone(s_, there_.front())) return {};
        const Candidate candidate(s_, there_.front());
        for (const std::string& name : instead) {
            const PodId goes = pod_named(trials_.cluster(), name);
            if (!goes || goes == pod_ || s_.pods[goes].state != PodState::kRunning) return {};
            session.tx.evict(goes);
        }
        if (!session.check(candidate, s_.later, node).fits() || s_.pods[pod_].state != PodState::kRunning) return {};
        session.tx.evict(pod_);
        const std::string who = s_.pod_name(there_.front());
        switch (session.check(candidate, s_.later, node).filter) {
            case FilterId::kInterPodAffinity:
                return {"affinity", fmt::format("the required pod affinity of {} asks for it there", who)};
            case FilterId::kPodTopologySpread:
                return {"spread", fmt::format("without it the topology spread constraint of {} would not hold", who)};
            default:
                return {};
        }
    }

    [[nodiscard]] static Exemption of(std::string why, const char* rule) {
        return why.empty() ? Exemption() : Exemption{rule, std::move(why)};
    }

    const Retrials& trials_;
    const Snapshot& s_;
    const Eviction& eviction_;
    PodId pod_;
    std::optional<ActionConfig> config_;
    std::vector<PodId> members_;  // of the beneficiary, that are placed
    std::vector<PodId> there_;    // of these, on the node where the eviction is
    std::vector<Resources::Amount> need_;
};

}  // namespace

Exemption exemption_from_sets(const Retrials& trials,
                              const Eviction& eviction,
                              const std::vector<std::string>& instead,
                              const std::string& pod) {
    const PodId stays = pod_named(trials.cluster(), pod);
    return stays ? SetExemption(trials, eviction, stays).find(instead) : Exemption();
}

}  // namespace reprieve
