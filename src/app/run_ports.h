// What `reprieve run` is connected to. The program fills it in; tests give it clusters of their own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/loop_observer.h"
#include "base/result.h"
#include "model/config.h"
#include "model/vocabulary.h"
#include "model/world.h"

namespace reprieve {

// What a connection has done so far.
struct LinkCounts {
    std::uint64_t requests = 0;  // answered
    std::uint64_t retries = 0;
    std::uint64_t refused = 0;   // too many requests
    std::uint64_t failures = 0;  // no answer
    std::uint64_t events_dropped = 0;
    std::uint64_t objects = 0;
    std::uint64_t malformed = 0;
    std::uint64_t lists = 0;
    std::uint64_t watches = 0;
};

// A cluster that the loop runs on, with everything it takes to hold the connection.
class ClusterLink {
public:
    virtual ~ClusterLink() = default;
    [[nodiscard]] virtual Source& source() = 0;
    [[nodiscard]] virtual Sink& sink() = 0;

    // From any thread: whether this replica is the one that acts, and whether it knows all there is to know.
    [[nodiscard]] virtual bool leads() const { return true; }
    [[nodiscard]] virtual bool synced() const { return true; }
    [[nodiscard]] virtual LinkCounts counts() const { return {}; }

    // Why the world ended; empty: it was asked to.
    [[nodiscard]] virtual std::string fault() const { return {}; }
    // The loop has ended: whoever is still to be told is told, and others may take over.
    virtual void close() {}
};

struct KubeTarget {
    std::string kubeconfig;      // empty: the cluster this program runs in
    bool loopback_http = false;  // plain HTTP to this machine is allowed
    bool only_looks = false;     // writes nothing, so needs no leave to act
    std::string lease;           // "namespace/name"; empty: reprieve, where we live
    Duration lease_duration{15'000'000};
    std::vector<std::string> scheduler_names;  // whose gangs are ours to speak of
    bool resource_quotas = false;              // grants of queues are also written as ResourceQuotas
};

struct RunPorts {
    std::function<Result<std::unique_ptr<ClusterLink>>(const KubeTarget&, Vocabulary&)> kube;
    // Serves health, metrics and the UI at the address for as long as the observer lives.
    std::function<Result<std::unique_ptr<LoopObserver>>(const std::string& address, const ClusterLink&)> ui;
};

}  // namespace reprieve
