// Metrics: what is counted while the program runs, in Prometheus' text format.
//
// Names are kube-scheduler's where the meaning is the same, so that dashboards go on working; what only Reprieve has is
// called reprieve_*. May be used from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/plan.h"
#include "model/world.h"

namespace reprieve {

// How many pods stand where, as kube-scheduler's queues name it.
struct PendingCounts {
    std::int64_t active = 0;         // to be looked at in the next cycle
    std::int64_t unschedulable = 0;  // looked at, and no place found
    std::int64_t gated = 0;
};

// Requests of one method that ended with one status.
struct RequestCounts {
    std::string verb;
    std::string code;
    std::vector<double> buckets;  // how many fell between the bounds: 1 ms, twice as much each, the last without one
    double seconds = 0;
};

// One kind of object that is watched.
struct WatchCounts {
    std::string kind;
    double age_seconds = 0;  // since the last byte
    std::uint64_t restarts = 0;
    std::size_t left_out = 0;
};

// How long the parts of a cycle took.
struct CycleTimes {
    Duration refresh;
    Duration plan;
    Duration audit;
    Duration whole;
};

// What the connection to the cluster has done so far.
struct ConnectionTotals {
    std::uint64_t requests = 0;  // answered
    std::uint64_t retries = 0;
    std::uint64_t refused = 0;   // too many requests
    std::uint64_t failures = 0;  // no answer
    std::uint64_t events_dropped = 0;
    std::uint64_t objects = 0;
    std::uint64_t malformed = 0;
    std::uint64_t lists = 0;
    std::uint64_t watches = 0;
    std::int64_t writes_queued = 0;
};

struct ConnectionCounts {
    ConnectionTotals totals;
    std::vector<WatchCounts> kinds;
    std::vector<RequestCounts> times;
};

// What a record of the run has taken in so far.
struct RecordingCounts {
    bool recording = false;  // false: something keeps it from writing
    std::uint64_t changes = 0;
    std::uint64_t cycles = 0;
    std::uint64_t gaps = 0;
    std::int64_t bytes = 0;    // of the file that is written
    std::int64_t waiting = 0;  // bytes in memory
};

class Metrics {
public:
    explicit Metrics(const std::string& version);
    ~Metrics();
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;

    // A cycle ended with this plan.
    void plan_made(const Plan& plan, const CycleTimes& took);
    // Pods that found a place, and those that found none for the first time.
    void attempted(std::size_t scheduled, std::size_t unschedulable);
    void set_state(std::int64_t rebuilds, std::int64_t sweeps);
    // Evictions that were asked for, each once.
    void evicted(std::span<const Eviction> evictions);
    // A plan for this demand was refused by the audit and not carried out. Empty: nobody in particular was to blame.
    void plan_refused(const std::string& owner);
    void step_ended(const SinkReport& report);
    // From a pod's creation to its binding.
    void pod_bound(Duration waited);
    // Work that evictions threw away, in device-seconds.
    void work_lost(double device_seconds);

    void set_pending(const PendingCounts& counts);
    void set_ledger(std::size_t plans_in_flight);
    void set_leading(bool leading);
    void set_connection(const ConnectionCounts& counts);
    void set_recording(const RecordingCounts& counts);

    [[nodiscard]] std::string text() const;

private:
    struct Families;
    std::unique_ptr<Families> families_;
};

// How far above its bound a plan's cost is, relative to the cost, in the first term where they differ; the worst of all
// certificates. 0: proved optimal.
[[nodiscard]] double gap_of(const Plan& plan);

}  // namespace reprieve
