// What `reprieve run` can be connected to besides the embedded cluster. The program fills in what this build has; what
// is empty is not there, and asking for it is an error that says so.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/loop_observer.h"
#include "base/result.h"
#include "model/config.h"
#include "model/vocabulary.h"
#include "model/world.h"

namespace reprieve {

// A cluster that the loop runs on, with everything it takes to hold the connection.
class ClusterLink {
public:
    virtual ~ClusterLink() = default;
    [[nodiscard]] virtual Source& source() = 0;
    [[nodiscard]] virtual Sink& sink() = 0;
    // Whether this replica is the one that acts.
    [[nodiscard]] virtual bool leads() const { return true; }
};

struct KubeTarget {
    std::string kubeconfig;  // empty: the cluster this program runs in
};

struct RunPorts {
    std::function<Result<std::unique_ptr<ClusterLink>>(const KubeTarget&, const SchedulerConfig&, Vocabulary&)> kube;
    // Serves health, metrics and the UI at the address for as long as the observer lives.
    std::function<Result<std::unique_ptr<LoopObserver>>(const std::string& address)> ui;
};

}  // namespace reprieve
