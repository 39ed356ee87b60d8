// QuotaVote: what a job may take by the rules of quotas.
//
// In its own quota: preemptible pods of strictly lower priority; a non-preemptible job within its minimum takes any
// preemptible pod. From other quotas: only what they hold above their minimums at each level below the common ancestor,
// whatever its priority, and only if the job's own quota then holds no more than its minimum, the job included. Pods in
// no quota are ordinary victims of lower priority.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "plugins/quota_kinds.h"
#include "plugins/victim_vote.h"

namespace reprieve {

struct QuotaJob {
    QueueId queue;
    std::int32_t priority = 0;
    bool fixed = false;  // non-preemptible
    std::span<const Resources::Amount> asked;
};

// Who asks, without what it asks for: that is all that pods of its own quota, and pods in no quota, go by.
struct QuotaRank {
    QuotaKinds kinds;
    QueueId queue;
    std::int32_t priority = 0;
    bool fixed = false;

    // REQUIRES: the pod is in no other quota.
    [[nodiscard]] bool may_take(const Snapshot& snapshot, PodId pod) const;
};

// Whether the queue is an ElasticQuota or below one.
[[nodiscard]] bool is_in_quota(const Snapshot& snapshot, QueueId queue);

// The levels of a job's path that must be within their minimums when another quota gives back to it.
[[nodiscard]] std::vector<QueueId> levels_given_to(const Snapshot& snapshot, QueueId job, QueueId giver);

class QuotaVote final : public VictimVote {
public:
    QuotaVote(const Snapshot& snapshot, QuotaKinds kinds, const QuotaJob& job);

    // Whether this pod is a candidate at all.
    [[nodiscard]] bool may_take(PodId pod) const;
    [[nodiscard]] QuotaRank rank() const { return {kinds_, job_.queue, job_.priority, job_.fixed}; }
    [[nodiscard]] bool is_own(QueueId queue) const { return queue == job_.queue; }
    // These are all who could go. Where the job's quota would hold more than its minimum without them all, nobody gives
    // back to it: pods of those quotas are no candidates any more.
    void bar_hopeless(std::span<const PodId> candidates);
    // The quota that keeps others from giving back, and why; empty: none does.
    [[nodiscard]] std::string why_none_give() const;

    void reset() override;
    [[nodiscard]] bool passes() const override;
    [[nodiscard]] bool lets_all(std::span<const PodId> pods) const override;
    [[nodiscard]] std::optional<std::vector<GiveRule>> rules() const override;

private:
    [[nodiscard]] bool may_give(const Part& part) override;
    void gives(const Part& part, bool after_all) override;
    [[nodiscard]] bool returns_to(QueueId level) const;
    [[nodiscard]] std::vector<GiveRule> return_rules(QueueId level, std::vector<QueueId> givers) const;
    [[nodiscard]] bool gives_in_vain(QueueId giver) const;
    [[nodiscard]] std::vector<QueueId> levels_never_within() const;
    [[nodiscard]] std::map<QueueId, Resources> most_given(std::span<const PodId> candidates) const;

    QuotaKinds kinds_;
    QuotaJob job_;
    bool has_minimum_ = false;             // in every dimension it asks for that its quota manages
    std::map<QueueId, int> returning_to_;  // levels of the job's path for which others give back, and how many do
    mutable std::optional<std::vector<GiveRule>> told_;  // once they were asked for
    std::vector<QueueId> hopeless_;                      // levels of it that are above their minimums, whoever goes
};

}  // namespace reprieve
