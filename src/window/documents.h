// The documents behind the views, made from a cluster and the plan for it. docs/window.md describes every field.
#pragma once

#include <map>
#include <string>

#include "model/plan.h"
#include "state/cluster.h"
#include "window/moment.h"

namespace reprieve::window {

// What only whoever runs the loop knows; files know none of it.
struct Health {
    std::string loop = "none";  // none, turning, stopped
    std::optional<bool> leads;
    std::optional<bool> synced;
    bool recording = false;
    std::int64_t cycle = 0;
    std::int64_t plans_refused = 0;
    std::optional<double> plan_ms;
    std::vector<std::string> troubles;  // sentences, newest first
    std::int64_t evictions_in_all = 0;
    std::int64_t decisions_in_all = 0;
};

[[nodiscard]] std::string summary_document(const Cluster& cluster,
                                           const Plan& plan,
                                           const Health& health,
                                           const std::string& kind);
[[nodiscard]] std::string waiting_document(const Cluster& cluster, const Plan& plan);
[[nodiscard]] std::string room_document(const Cluster& cluster, const Plan& plan);

// Who took room from whom: (taker's queue, loser's queue) -> pods.
using Taken = std::map<std::pair<std::string, std::string>, std::int64_t>;
void count_taken(const Cluster& cluster, const std::vector<Eviction>& evictions, Taken& taken);
[[nodiscard]] std::string queues_document(const Cluster& cluster,
                                          const Plan& plan,
                                          const Taken& taken,
                                          const std::string& samples_json);

// Lifelines as one moment knows them: since when pods wait or run, and who is about to leave for whom.
[[nodiscard]] std::string lifelines_document(const Cluster& cluster, const Plan& plan, const std::string& queue);

}  // namespace reprieve::window
