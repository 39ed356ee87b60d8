// What `reprieve run` is connected to. The program fills it in; tests give it clusters of their own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/kind_health.h"
#include "kube/request_times.h"
#include "loop/loop_observer.h"
#include "model/config.h"
#include "model/vocabulary.h"
#include "model/world.h"
#include "text/log_line.h"
#include "web/metrics.h"

namespace reprieve {

// What a connection has done so far.
struct LinkCounts {
    ConnectionTotals totals;
    std::vector<KindHealth> kinds;
    RequestTable times;
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
    // From any thread: whether what plans rest on is being heard of, and has been since this replica acts.
    [[nodiscard]] virtual bool is_current() const { return true; }
    [[nodiscard]] virtual LinkCounts counts() const { return {}; }

    // From any thread: what the API server answers to a POST of that body; an error where there is none.
    [[nodiscard]] virtual Result<std::string> post(const std::string& /*path*/, const std::string& /*body*/) {
        return fail("there is no API server");
    }

    // `call` is told, on the loop's thread, between which moments changes of a kind were missed.
    virtual void on_missed(std::function<void(const std::string& kind, Time from, Time to)> /*call*/) {}

    // `call` is told, on the loop's thread, between which moments no change of a pod could come; all of them come now.
    virtual void on_late(std::function<void(Time from, Time to)> /*call*/) {}

    // Whether something that files say should happen could not; it is told when the link closes.
    [[nodiscard]] virtual bool failed_events() const { return false; }
    // Why the world ended; empty: it was asked to.
    [[nodiscard]] virtual std::string fault() const { return {}; }
    // The loop has ended: whoever is still to be told is told, and others may take over.
    virtual void close() {}
};

struct KubeTarget {
    std::string kubeconfig;  // empty: the cluster this program runs in
    std::string context;     // of the kubeconfig; empty: its current one
    LogFormat log_format = LogFormat::kText;
    LogLevel log_level = LogLevel::kInfo;
    bool loopback_http = false;     // plain HTTP to this machine is allowed
    bool only_looks = false;        // writes nothing, so needs no leave to act
    std::function<bool()> stopped;  // asked while the first lists are waited for; none: never
    std::string lease;              // "namespace/name"; empty: reprieve, where we live
    Duration lease_duration{15'000'000};
    std::vector<std::string> scheduler_names;  // whose gangs are ours to speak of
    bool resource_quotas = false;              // grants of queues are also written as ResourceQuotas
};

// What a run serves over HTTP.
struct UiTarget {
    std::string address;
    bool open = false;   // everybody may look, also from other machines
    bool scope = false;  // whoever may look at some namespaces only sees these
    bool dry_run = false;
    std::string arguments;                       // of commands that plan the same again; empty: there are none
    std::function<RecordingCounts()> recording;  // none: no record is kept
    std::string record;                          // its folder
};

class RunUi : public LoopObserver {
public:
    // The loop has ended; the cluster stays as it is.
    virtual void loop_ended() {}
    [[nodiscard]] virtual int port() const = 0;
};

struct RunPorts {
    std::function<Result<std::unique_ptr<ClusterLink>>(const KubeTarget&, Vocabulary&)> kube;
    // Serves health, metrics and the UI at the address for as long as the observer lives.
    std::function<Result<std::unique_ptr<RunUi>>(const UiTarget&, ClusterLink&, Cluster&, const SchedulerConfig&)> ui;
};

}  // namespace reprieve
