// QuotaRules: whom a demand may take from under quotas or queue limits, and what must hold once they are gone.
//
// What must hold is a list of conditions on what a quota gets back, each linear, so that trying everything and the
// integer program read the same list.
#pragma once

#include <cstdint>
#include <vector>

#include "instance.h"

namespace reprieve::oracle {

// What the victims in a quota and below give back of one resource is at least, or at most, this much.
struct QuotaCondition {
    int quota = 0;
    std::size_t dim = 0;
    bool at_least = true;
    std::int64_t amount = 0;
    std::vector<int> if_from;  // only if somebody in one of these quotas goes; empty: in any case
};

class QuotaRules {
public:
    explicit QuotaRules(const Instance& instance);

    // Whether the demand may have anybody evicted at all.
    [[nodiscard]] bool may_trigger() const;
    // Whether the demand would push a quota over its limit, so that victims may be of use wherever they run.
    [[nodiscard]] bool over_limit() const;
    // `standing` is the priority of the pod's gang, or its own.
    [[nodiscard]] bool may_take(const RunningPod& pod, std::int64_t standing) const;
    // Drops those whose quota would give back in vain: the demand's quotas stay above their minimums, whoever goes.
    void drop_vain(std::vector<int>& pods) const;
    [[nodiscard]] const std::vector<QuotaCondition>& conditions() const { return conditions_; }
    // Whether the pod counts in this quota: it is in it or below it.
    [[nodiscard]] bool counts_in(const RunningPod& pod, int quota) const;
    // Whether all conditions hold once exactly these pods are gone.
    [[nodiscard]] bool hold(const std::vector<int>& gone) const;

private:
    [[nodiscard]] const Quota& quota(int at) const { return instance_.quotas[static_cast<std::size_t>(at)]; }
    [[nodiscard]] std::vector<int> path(int from) const;
    [[nodiscard]] std::int64_t used(int quota, std::size_t dim, bool fixed_only) const;
    [[nodiscard]] bool job_within_own_minimum() const;
    [[nodiscard]] bool can_hold(const QuotaCondition& condition, const std::vector<int>& pods) const;
    void add_limits();
    void add_floors();
    void add_returns();

    const Instance& instance_;
    Amounts need_{};
    std::vector<int> own_path_;  // of the demand; empty: it is in no quota
    std::vector<QuotaCondition> conditions_;
};

}  // namespace reprieve::oracle
