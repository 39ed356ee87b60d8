// ClaimWatch: how long claims of serving have lasted, as far as this process has seen.
//
// A replica that is leaving says since when; one that its controller ought to stop says nothing. Whoever was claimed
// for longer than that may take is overdue from then on, claimed or not: otherwise it would be given up, look as good
// as new and be claimed again. Nothing in here has to survive: a new process is patient once more.
#pragma once

#include <map>
#include <string>

#include "actions/cycle.h"
#include "base/time.h"
#include "model/config.h"
#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve {

class ClaimWatch {
public:
    explicit ClaimWatch(const SchedulerConfig& config);

    // A plan was made: who is in its matches is claimed.
    void take(const Plan& plan, const Cluster& cluster);
    [[nodiscard]] OverdueClaims overdue(Time now) const;

private:
    [[nodiscard]] bool is_overdue(Time since, Time now) const { return now - since > timeout_; }

    Duration timeout_;
    std::map<std::string, Time> since_;  // by "ns/name" of the pod
};

}  // namespace reprieve
