// Monitor: health, readiness and metrics of a run, served over HTTP.
//
//     /healthz   the loop turns; a loop that hangs is not healthy
//     /readyz    everything that was in the cluster at the start has been read
//     /metrics   Prometheus' text format
//
// Observes on the loop's thread; what the server's threads read is safe to share.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "app/run_ports.h"
#include "base/result.h"
#include "loop/loop_observer.h"
#include "web/metrics.h"
#include "web/server.h"

namespace reprieve {

class Monitor final : public LoopObserver {
public:
    // The link must outlive the monitor.
    explicit Monitor(const ClusterLink& link);
    ~Monitor() override;

    // Whose counts are told too; before the start.
    void follow_recording(std::function<RecordingCounts()> recording) { recording_ = std::move(recording); }
    // Its server: more may be routed through it before the start.
    [[nodiscard]] WebServer& server() { return server_; }
    [[nodiscard]] Result<void> start(const std::string& address);
    [[nodiscard]] int port() const { return server_.port(); }

    void on_cycle(const CycleReport& report) override;
    void on_step(const SinkReport& report, Time now) override;
    void on_pulse() override;

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] Result<void> healthy() const;
    [[nodiscard]] Result<void> ready() const;
    void note_pending(const CycleReport& report);
    void count_attempts(const CycleReport& report);
    void note_lost_work(const CycleReport& report);

    const ClusterLink& link_;
    Metrics metrics_;
    std::function<RecordingCounts()> recording_;  // none: no record is kept
    std::map<std::string, Time> binding_;         // UID -> when the pod was made
    std::set<std::string> waiting_;               // who had no place in the last plan
    std::atomic<Clock::time_point> pulse_;
    Clock::time_point counted_;  // when the connection's counts were last taken over
    WebServer server_;           // last: its threads end first
};

}  // namespace reprieve
