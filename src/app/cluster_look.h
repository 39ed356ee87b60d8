// A look at a running cluster: every kind is read once, with the rights of whoever asks, and nothing is written.
//
// It goes the way of `run --dry-run`: the same list, the same care with objects that cannot be read, the same wait for
// kinds that this user may not list. So what is planned from it is what the scheduler would plan.
#pragma once

#include "app/run_ports.h"
#include "base/result.h"
#include "model/config.h"
#include "state/cluster.h"

namespace reprieve {

// Fills the cluster, which must be empty, and brings its snapshot up to date; returns the server's time. An error says
// who did not answer, or what is not allowed.
[[nodiscard]] Result<Time> look_at_cluster(const KubeTarget& target, const SchedulerConfig& config, Cluster& cluster);

// The kubeconfig that kubectl would use: this one if it is named, else the first of $KUBECONFIG that exists, else
// ~/.kube/config. Empty: there is none, so the cluster this program runs in is meant.
[[nodiscard]] std::string usual_kubeconfig(const std::string& named);

}  // namespace reprieve
