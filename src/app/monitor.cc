#include "app/monitor.h"

#include <algorithm>

#include "base/version.h"
#include "plugins/cost.h"
#include "state/pod_named.h"

namespace reprieve {
namespace {

constexpr std::chrono::seconds kHangs{60};  // longer than any plan may take
constexpr std::chrono::seconds kCountEvery{1};
constexpr std::size_t kMostBinding = 100'000;
constexpr const char* kDevice = "nvidia.com/gpu";

std::vector<WatchCounts> kinds_of(const LinkCounts& counts) {
    std::vector<WatchCounts> out;
    for (const KindHealth& kind : counts.kinds) {
        out.push_back({.kind = kind.kind,
                       .age_seconds = static_cast<double>(kind.silent.us) / 1e6,
                       .restarts = kind.restarts,
                       .left_out = kind.left_out});
    }
    return out;
}

std::vector<RequestCounts> times_of(const LinkCounts& counts) {
    std::vector<RequestCounts> out;
    for (const auto& [key, time] : counts.times) {
        out.push_back({.verb = key.first,
                       .code = std::to_string(key.second),
                       .buckets = {time.buckets.begin(), time.buckets.end()},
                       .seconds = static_cast<double>(time.sum_us) / 1e6});
    }
    return out;
}

ConnectionCounts as_metrics(const LinkCounts& counts) {
    return {.totals = counts.totals, .kinds = kinds_of(counts), .times = times_of(counts)};
}

}  // namespace

Monitor::Monitor(const ClusterLink& link) : link_(link), metrics_(kVersion), pulse_(Clock::now()) {}

Monitor::~Monitor() { server_.stop(); }

Result<void> Monitor::start(const std::string& address) {
    server_.probe("/healthz", [this] { return healthy(); });
    server_.probe("/livez", [this] { return healthy(); });
    server_.probe("/readyz", [this] { return ready(); });
    server_.get("/metrics", [this](const WebRequest&) -> WebAnswer {
        return {.status = 200, .body = metrics_.text(), .content_type = "text/plain; version=0.0.4; charset=utf-8"};
    });
    return server_.start(address);
}

// Reading a large cluster for the first time may take long; that is not hanging.
Result<void> Monitor::healthy() const {
    if (!link_.synced() || Clock::now() - pulse_.load() < kHangs) return {};
    return fail("the control loop hangs");
}

Result<void> Monitor::ready() const {
    if (link_.synced()) return {};
    return fail("the cluster has not been read yet");
}

void Monitor::on_pulse() {
    const auto now = Clock::now();
    pulse_ = now;
    metrics_.set_leading(link_.leads());
    if (now - counted_ < kCountEvery) return;
    counted_ = now;
    metrics_.set_connection(as_metrics(link_.counts()));
    if (recording_) metrics_.set_recording(recording_());
}

void Monitor::on_cycle(const CycleReport& report) {
    for (const std::string& owner : report.refused)
        metrics_.plan_refused(owner);
    if (!report.sound) return metrics_.plan_refused("");
    metrics_.plan_made(
        report.plan,
        {.refresh = report.refreshing, .plan = report.planning, .audit = report.auditing, .whole = report.whole});
    metrics_.set_state(report.cluster.rebuilds(), report.sweeps);
    count_attempts(report);
    metrics_.evicted(report.news);
    note_pending(report);
    if (!report.carried_out) return;
    note_lost_work(report);
    if (binding_.size() > kMostBinding) binding_.clear();  // bindings that were needed no more and told nobody
    for (const Placement& placement : report.plan.placements) {
        if (placement.after_evictions) continue;
        const PodId pod = pod_named(report.cluster, placement.pod);
        if (pod) binding_[placement.uid] = report.cluster.pod(pod).created;
    }
}

// A pod is counted when it is bound (by the report of that) and when it is found to have no place; that it still has
// none in the next cycle is no other attempt.
void Monitor::count_attempts(const CycleReport& report) {
    std::set<std::string> waiting;
    std::size_t fresh = 0;
    for (const Unplaced& entry : report.plan.unplaced) {
        const std::string& name = entry.pod.empty() ? entry.owner : entry.pod;
        if (!waiting_.contains(name)) ++fresh;
        waiting.insert(name);
    }
    waiting_ = std::move(waiting);
    metrics_.attempted(0, fresh);
}

void Monitor::note_pending(const CycleReport& report) {
    const auto waiting = std::ranges::count_if(report.plan.placements, &Placement::after_evictions);
    PendingCounts counts{.active = waiting, .unschedulable = static_cast<std::int64_t>(report.plan.unplaced.size())};
    counts.gated = static_cast<std::int64_t>(report.cluster.gated().size());
    metrics_.set_pending(counts);
    metrics_.set_ledger(static_cast<std::size_t>(waiting));
}

void Monitor::note_lost_work(const CycleReport& report) {
    const Cluster& cluster = report.cluster;
    const WorkResource device = work_resource(cluster.snapshot(), kDevice);
    if (!device) return;
    for (const Eviction& eviction : report.news) {
        const PodId pod = pod_named(cluster, eviction.pod);
        if (pod) metrics_.work_lost(static_cast<double>(lost_work(cluster.snapshot(), pod, device)));
    }
}

void Monitor::on_step(const SinkReport& report, Time now) {
    metrics_.step_ended(report);
    if (report.step != SinkStep::kBind) return;
    if (report.ok) metrics_.attempted(1, 0);
    const auto made = binding_.find(report.uid);
    if (made == binding_.end()) return;
    if (report.ok && made->second.is_set()) metrics_.pod_bound(now - made->second);
    binding_.erase(made);
}

}  // namespace reprieve
