// Limits: what a queue and each of its ancestors may hold, and whether a queue takes pods at all.
//
// Every queue is bound by its limit (capability, max; or its runtime, where that is configured for quotas), and by what
// it is granted, where queues are balanced: whoever is stopped must not come back through another door. An
// ElasticQuota counts two kinds of pods: non-preemptible ones may hold its minimum together, and preemptible ones leave
// what non-preemptible work that waits may still come to hold. Only dimensions that are asked for are compared.
// Made once for a cycle; answers for any state of its snapshot.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/verdict.h"
#include "plugins/give_rule.h"
#include "plugins/grants.h"
#include "plugins/quota_reserve.h"
#include "plugins/quota_runtime.h"

namespace reprieve {

// What is about to be added to one queue.
struct QueueAsk {
    QueueId queue;
    std::span<const Resources::Amount> all;
    std::span<const Resources::Amount> fixed;  // of that, by non-preemptible pods
};

// What several pods ask for together, at every queue on their paths.
struct JobAsk {
    struct Level {
        QueueId queue;
        Resources all;
        Resources fixed;
    };
    std::vector<Level> levels;
};

class Limits {
public:
    // REQUIRES: no op stands on the snapshot.
    Limits(const Snapshot& snapshot, const SchedulerConfig& config);

    // Whether the pod may come (or grow by these amounts) by every limit on the path of its queue, in this view.
    [[nodiscard]] bool admit(const Occupancy& view, PodId pod) const;
    [[nodiscard]] bool admit(const Occupancy& view, PodId pod, std::span<const Resources::Amount> amounts) const;
    // Whether all these pods may come together.
    [[nodiscard]] bool admit(const Occupancy& view, const JobAsk& job) const;
    [[nodiscard]] JobAsk ask_of(std::span<const PodId> pods) const;
    // What must be given for these pods to come, as rules; nullopt: more than rules can say stands in the way.
    [[nodiscard]] std::optional<std::vector<GiveRule>> rules(const Occupancy& view, const JobAsk& job) const;
    // The sentence behind a "no": which queue, which resource, how much. Empty: they are admitted.
    [[nodiscard]] std::string describe(const Occupancy& view, const JobAsk& job) const;
    // Why a job may not have others evicted by the rules of its quotas: it would not be admitted; evictions inside its
    // quota can help only non-preemptible work, and that only below the maximum. Empty: it may.
    [[nodiscard]] std::string refuses_trigger(const Occupancy& view, const JobAsk& job) const;

    // Whether any dimension asked for is bound on the path of the pod's queue at all.
    [[nodiscard]] bool bind(PodId pod, std::span<const Resources::Amount> amounts) const;
    // Whether the path of this queue holds more in one of these dimensions than it may. `preemptible`: looked at as one
    // who must leave what is kept for others.
    [[nodiscard]] bool exceeded(const Occupancy& view,
                                QueueId queue,
                                std::span<const Dim> dims,
                                bool preemptible) const;
    // Whether the queues of these pods hold no more than they are granted of what the pods ask for.
    [[nodiscard]] bool within_grants(const Occupancy& view, std::span<const PodId> pods) const;
    // Whether some limit counts the use of both queues.
    [[nodiscard]] bool shared(QueueId a, QueueId b) const;

    [[nodiscard]] const QuotaKinds& kinds() const { return kinds_; }
    [[nodiscard]] bool is_fixed(PodId pod) const { return kinds_.is_fixed(snapshot_.class_of(pod)); }
    // Null: there are no quotas.
    [[nodiscard]] const QuotaRuntime* runtime() const { return runtime_ ? &*runtime_ : nullptr; }
    // Null: queues are not balanced.
    [[nodiscard]] const Grants* grants() const { return grants_ ? &*grants_ : nullptr; }

private:
    struct Breach {
        QueueId queue;
        Dim dim;
        std::int64_t would = 0;
        std::int64_t limit = 0;
        std::int64_t kept = 0;    // of `would`, for others
        bool of_minimum = false;  // by non-preemptible pods
        bool of_grant = false;
        bool of_runtime = false;  // of a quota whose runtime is below its maximum
    };
    [[nodiscard]] bool is_bound(QueueId queue) const;
    [[nodiscard]] std::optional<std::int64_t> limit_of(QueueId queue, Dim dim) const;
    [[nodiscard]] std::optional<std::int64_t> grant_of(QueueId queue, Dim dim) const;
    [[nodiscard]] std::optional<Breach> minimum_breach(const Occupancy& view, const QueueAsk& ask) const;
    [[nodiscard]] std::optional<Breach> limit_breach(const Occupancy& view, const QueueAsk& ask) const;
    [[nodiscard]] std::optional<Breach> breach(const Occupancy& view, const QueueAsk& ask) const;
    [[nodiscard]] bool is_said_before(Dim dim, const std::optional<Breach>& other) const;
    [[nodiscard]] std::string describe(const Breach& breach) const;

    const Snapshot& snapshot_;
    QuotaKinds kinds_;
    bool by_runtime_ = false;
    QuotaReserve reserve_;
    std::optional<QuotaRuntime> runtime_;
    std::optional<Grants> grants_;
};

// Whether the queue exists and takes pods; else why not.
[[nodiscard]] Verdict queue_takes(const Snapshot& snapshot, PodId pod);

}  // namespace reprieve
