#include "app/monitor.h"

#include <algorithm>

#include "app/version.h"
#include "plugins/cost.h"
#include "state/pod_named.h"

namespace reprieve {
namespace {

constexpr std::chrono::seconds kHangs{60};  // longer than any plan may take
constexpr std::chrono::seconds kCountEvery{1};
constexpr const char* kDevice = "nvidia.com/gpu";

ConnectionCounts as_metrics(const LinkCounts& counts) {
    return {.requests = counts.requests,
            .retries = counts.retries,
            .refused = counts.refused,
            .failures = counts.failures,
            .events_dropped = counts.events_dropped,
            .objects = counts.objects,
            .malformed = counts.malformed,
            .lists = counts.lists,
            .watches = counts.watches};
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
}

void Monitor::on_cycle(const CycleReport& report) {
    if (!report.violations.empty()) return metrics_.plan_refused();
    metrics_.plan_made(report.plan, report.planning);
    metrics_.evicted(report.news);
    note_pending(report);
    if (!report.carried_out) return;
    note_lost_work(report);
    for (const Placement& placement : report.plan.placements) {
        if (placement.after_evictions) continue;
        const PodId pod = pod_named(report.cluster, placement.pod);
        if (pod) binding_[placement.uid] = report.cluster.pod(pod).created;
    }
}

void Monitor::note_pending(const CycleReport& report) {
    const auto waiting = std::ranges::count_if(report.plan.placements, &Placement::after_evictions);
    PendingCounts counts{.active = waiting, .unschedulable = static_cast<std::int64_t>(report.plan.unplaced.size())};
    const Snapshot& s = report.cluster.snapshot();
    for (const PodId pod : IdRange<PodId>(s.pods.size())) {
        const PodRow& row = s.pods[pod];
        if (row.state == PodState::kIgnored && !row.has(kFinished) && report.cluster.pod(pod).gated) ++counts.gated;
    }
    metrics_.set_pending(counts);
    metrics_.set_ledger(static_cast<std::size_t>(waiting));
}

void Monitor::note_lost_work(const CycleReport& report) {
    const Cluster& cluster = report.cluster;
    const Dim device = cluster.words().find_dimension(kDevice);
    if (!device) return;
    for (const Eviction& eviction : report.news) {
        const PodId pod = pod_named(cluster, eviction.pod);
        if (pod) metrics_.work_lost(static_cast<double>(lost_work(cluster.snapshot(), pod, device)));
    }
}

void Monitor::on_step(const SinkReport& report, Time now) {
    metrics_.step_ended(report);
    if (report.step != SinkStep::kBind) return;
    const auto made = binding_.find(report.uid);
    if (made == binding_.end()) return;
    if (report.ok && made->second.is_set()) metrics_.pod_bound(now - made->second);
    binding_.erase(made);
}

Result<std::unique_ptr<LoopObserver>> open_monitor(const std::string& address, const ClusterLink& link) {
    auto monitor = std::make_unique<Monitor>(link);
    if (auto started = monitor->start(address); !started) return std::unexpected(started.error());
    return monitor;
}

}  // namespace reprieve
