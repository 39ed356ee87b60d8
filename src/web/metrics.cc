#include "web/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "web/process_metrics.h"

namespace reprieve {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

Family<Counter>& counter(Registry& registry, const char* name, const char* help) {
    return BuildCounter().Name(name).Help(help).Register(registry);
}
Family<Gauge>& gauge(Registry& registry, const char* name, const char* help) {
    return BuildGauge().Name(name).Help(help).Register(registry);
}
Family<Histogram>& histogram(Registry& registry, const char* name, const char* help) {
    return BuildHistogram().Name(name).Help(help).Register(registry);
}

Histogram::BucketBoundaries doubling(double first, int count) {
    Histogram::BucketBoundaries bounds;
    for (double bound = first; count > 0; bound *= 2, --count)
        bounds.push_back(bound);
    return bounds;
}

double seconds(Duration duration) { return static_cast<double>(duration.us) / 1e6; }

double gap_of(const Certificate& certificate) {
    const std::size_t terms = std::min(certificate.cost.size(), certificate.bound.size());
    for (std::size_t i = 0; i < terms; ++i) {
        const auto cost = static_cast<double>(certificate.cost[i].second);
        const auto bound = static_cast<double>(certificate.bound[i].second);
        if (cost > bound) return cost > 0 ? (cost - bound) / cost : 1.0;
        if (cost < bound) return 0.0;
    }
    return 0.0;
}

// A counter that follows one kept elsewhere.
void follow(Counter& counter, std::uint64_t value) {
    const double ahead = static_cast<double>(value) - counter.Value();
    if (ahead > 0) counter.Increment(ahead);
}

}  // namespace

struct Metrics::Families {
    explicit Families(const std::string& version) {
        gauge(registry, "reprieve_build_info", "Version of the program.").Add({{"version", version}}).Set(1);
    }

    Registry registry;
    Family<Counter>& attempts =
        counter(registry,
                "scheduler_schedule_attempts_total",
                "Pods bound, pods found without a place (each once, however many cycles look at it again) and plans "
                "refused, by result.");
    Counter& scheduled = attempts.Add({{"profile", "reprieve"}, {"result", "scheduled"}});
    Counter& unschedulable = attempts.Add({{"profile", "reprieve"}, {"result", "unschedulable"}});
    Counter& errors = attempts.Add({{"profile", "reprieve"}, {"result", "error"}});
    Counter& preemptions =
        counter(registry,
                "scheduler_preemption_attempts_total",
                "Demands for which pods were evicted; those for which none could be are not counted.")
            .Add({});
    Histogram& victims_each =
        histogram(registry, "scheduler_preemption_victims", "Victims of one demand.").Add({}, doubling(1, 11));
    Histogram& algorithm =
        histogram(
            registry, "scheduler_scheduling_algorithm_duration_seconds", "Time to a plan, which may place many pods.")
            .Add({}, doubling(0.0001, 18));
    Histogram& sli =
        histogram(registry, "scheduler_pod_scheduling_sli_duration_seconds", "From a pod's creation to its binding.")
            .Add({}, doubling(0.01, 20));
    Family<Gauge>& pending = gauge(registry, "scheduler_pending_pods", "Pods that wait, by where they stand.");
    Counter& pdb_violations =
        counter(
            registry, "scheduler_preemption_pdb_violations_total", "Victims that a disruption budget would have kept.")
            .Add({});

    Family<Counter>& victims = counter(registry, "reprieve_victims_total", "Pods evicted, by action and mode.");
    Counter& lost =
        counter(registry, "reprieve_gpu_seconds_lost_total", "Work that evictions threw away, in device-seconds.")
            .Add({});
    Family<Counter>& certificates =
        counter(registry, "reprieve_certificates_total", "What was proved about plans, by action and status.");
    Gauge& gap =
        gauge(registry, "reprieve_plan_gap", "How far the last plan may be from the optimum, as a share of its cost.")
            .Add({});
    Histogram& duration =
        histogram(registry, "reprieve_plan_duration_seconds", "Time from facts to plan.").Add({}, doubling(0.0001, 18));
    Family<Counter>& refused = counter(
        registry, "reprieve_plans_refused_total", "Plans that failed the audit and were not carried out, by demand.");
    Histogram& refresh =
        histogram(registry, "reprieve_refresh_duration_seconds", "Time to bring the state up to date, each cycle.")
            .Add({}, doubling(0.0001, 18));
    Histogram& audit =
        histogram(registry, "reprieve_audit_duration_seconds", "Time to judge a plan.").Add({}, doubling(0.0001, 18));
    Histogram& cycle = histogram(registry, "reprieve_cycle_duration_seconds", "Time of a cycle, all of it.")
                           .Add({}, doubling(0.0001, 18));
    Counter& rebuilds =
        counter(registry, "reprieve_rebuilds_total", "How often the state was built from nothing.").Add({});
    Counter& sweeps =
        counter(registry, "reprieve_sweeps_total", "How often words that nobody names any more were forgotten.")
            .Add({});
    Gauge& writes =
        gauge(registry, "reprieve_writes_queued", "Calls to the API server that are on their way or wait.").Add({});
    Family<Gauge>& watch_age =
        gauge(registry, "reprieve_watch_age_seconds", "Since the last byte of a watch, by kind.");
    Family<Counter>& watch_restarts =
        counter(registry, "reprieve_watch_restarts_total", "Watches that ended and were begun again, by kind.");
    Family<Gauge>& left_out = gauge(
        registry, "reprieve_objects_left_out", "Objects that cannot be read: left out, or read with care; by kind.");
    Family<Histogram>& request_times =
        histogram(registry, "reprieve_api_request_duration_seconds", "Answers of the API server, by verb and code.");
    std::map<std::pair<std::string, std::string>, RequestCounts> requests_seen;
    Gauge& ledger =
        gauge(registry, "reprieve_ledger_size", "Plans in flight: nominations whose victims are leaving.").Add({});
    Gauge& leader = gauge(registry, "reprieve_leader", "1 while this replica acts.").Add({});
    Family<Counter>& steps =
        counter(registry, "reprieve_steps_total", "Steps of carrying out plans, by kind and result.");
    Family<Counter>& api =
        counter(registry, "reprieve_api_requests_total", "Requests to the API server, by how they ended.");
    Counter& api_requests = api.Add({{"result", "answered"}});
    Counter& api_retries = api.Add({{"result", "tried_again"}});
    Counter& api_refused = api.Add({{"result", "too_many"}});
    Counter& api_failures = api.Add({{"result", "no_answer"}});
    Counter& events_dropped =
        counter(registry, "reprieve_events_dropped_total", "News that found no time to be sent.").Add({});
    Family<Counter>& objects = counter(
        registry, "reprieve_objects_total", "Objects read from the API server, by whether they were understood.");
    Counter& understood = objects.Add({{"result", "decoded"}});
    Counter& malformed = objects.Add({{"result", "malformed"}});
    Family<Counter>& reads = counter(registry, "reprieve_reads_total", "Lists and watches begun.");
    Counter& lists = reads.Add({{"kind", "list"}});
    Counter& watches = reads.Add({{"kind", "watch"}});
    // Without a record these have no values.
    Family<Gauge>& recording = gauge(
        registry, "reprieve_record_recording", "1 while the record is written, 0 while something keeps it from that.");
    Family<Counter>& recorded =
        counter(registry, "reprieve_record_entries_total", "What was written to the record: changes and cycles.");
    Family<Counter>& record_gaps =
        counter(registry, "reprieve_record_gaps_total", "Times of which the record does not know everything.");
    Family<Gauge>& record_bytes = gauge(
        registry, "reprieve_record_bytes", "Bytes of the record: in the file that is written, and waiting for it.");
    std::mutex connection;  // following a counter takes two steps
};

Metrics::Metrics(const std::string& version) : families_(std::make_unique<Families>(version)) {}
Metrics::~Metrics() = default;

double gap_of(const Plan& plan) {
    double worst = 0.0;
    for (const Certificate& certificate : plan.certificates) {
        if (certificate.status == CertificateStatus::kGap) worst = std::max(worst, gap_of(certificate));
    }
    return worst;
}

void Metrics::plan_made(const Plan& plan, const CycleTimes& took) {
    Families& f = *families_;
    f.duration.Observe(seconds(took.plan));
    f.algorithm.Observe(seconds(took.plan));
    f.refresh.Observe(seconds(took.refresh));
    f.audit.Observe(seconds(took.audit));
    f.cycle.Observe(seconds(took.whole));
    f.gap.Set(gap_of(plan));
    for (const Certificate& certificate : plan.certificates) {
        f.certificates.Add({{"action", certificate.action}, {"status", to_text(certificate.status)}}).Increment();
    }
}

void Metrics::attempted(std::size_t scheduled, std::size_t unschedulable) {
    families_->scheduled.Increment(static_cast<double>(scheduled));
    families_->unschedulable.Increment(static_cast<double>(unschedulable));
}

void Metrics::set_state(std::int64_t rebuilds, std::int64_t sweeps) {
    Families& f = *families_;
    const std::lock_guard lock(f.connection);
    follow(f.rebuilds, static_cast<std::uint64_t>(rebuilds));
    follow(f.sweeps, static_cast<std::uint64_t>(sweeps));
}

void Metrics::evicted(std::span<const Eviction> evictions) {
    Families& f = *families_;
    std::map<std::string, int> by_owner;
    for (const Eviction& eviction : evictions) {
        ++by_owner[eviction.owner];
        f.victims.Add({{"action", eviction.action}, {"mode", to_text(eviction.mode)}}).Increment();
        if (eviction.pdb_violation) f.pdb_violations.Increment();
    }
    for (const auto& [owner, victims] : by_owner) {
        f.preemptions.Increment();
        f.victims_each.Observe(victims);
    }
}

void Metrics::plan_refused(const std::string& owner) {
    families_->refused.Add({{"owner", owner}}).Increment();
    families_->errors.Increment();
}

void Metrics::step_ended(const SinkReport& report) {
    families_->steps.Add({{"result", report.ok ? "ok" : "failed"}, {"step", to_text(report.step)}}).Increment();
}

void Metrics::pod_bound(Duration waited) { families_->sli.Observe(seconds(waited)); }

void Metrics::work_lost(double device_seconds) { families_->lost.Increment(device_seconds); }

void Metrics::set_pending(const PendingCounts& counts) {
    Family<Gauge>& pending = families_->pending;
    pending.Add({{"queue", "active"}}).Set(static_cast<double>(counts.active));
    pending.Add({{"queue", "unschedulable"}}).Set(static_cast<double>(counts.unschedulable));
    pending.Add({{"queue", "gated"}}).Set(static_cast<double>(counts.gated));
}

void Metrics::set_ledger(std::size_t plans_in_flight) { families_->ledger.Set(static_cast<double>(plans_in_flight)); }

void Metrics::set_leading(bool leading) { families_->leader.Set(leading ? 1 : 0); }

void Metrics::set_connection(const ConnectionCounts& counts) {
    Families& f = *families_;
    const std::lock_guard lock(f.connection);
    follow(f.api_requests, counts.totals.requests);
    follow(f.api_retries, counts.totals.retries);
    follow(f.api_refused, counts.totals.refused);
    follow(f.api_failures, counts.totals.failures);
    follow(f.events_dropped, counts.totals.events_dropped);
    follow(f.understood, counts.totals.objects);
    follow(f.malformed, counts.totals.malformed);
    follow(f.lists, counts.totals.lists);
    follow(f.watches, counts.totals.watches);
    f.writes.Set(static_cast<double>(counts.totals.writes_queued));
    for (const WatchCounts& kind : counts.kinds) {
        f.watch_age.Add({{"kind", kind.kind}}).Set(kind.age_seconds);
        follow(f.watch_restarts.Add({{"kind", kind.kind}}), kind.restarts);
        f.left_out.Add({{"kind", kind.kind}}).Set(static_cast<double>(kind.left_out));
    }
    for (const RequestCounts& one : counts.times) {
        RequestCounts& seen = f.requests_seen[{one.verb, one.code}];
        std::vector<double> more = one.buckets;
        for (std::size_t i = 0; i < seen.buckets.size(); ++i)
            more[i] -= seen.buckets[i];
        f.request_times
            .Add({{"verb", one.verb}, {"code", one.code}}, doubling(0.001, static_cast<int>(one.buckets.size()) - 1))
            .ObserveMultiple(more, one.seconds - seen.seconds);
        seen = one;
    }
}

void Metrics::set_recording(const RecordingCounts& counts) {
    Families& f = *families_;
    const std::lock_guard lock(f.connection);
    f.recording.Add({}).Set(counts.recording ? 1 : 0);
    follow(f.recorded.Add({{"kind", "change"}}), counts.changes);
    follow(f.recorded.Add({{"kind", "cycle"}}), counts.cycles);
    follow(f.record_gaps.Add({}), counts.gaps);
    f.record_bytes.Add({{"where", "file"}}).Set(static_cast<double>(counts.bytes));
    f.record_bytes.Add({{"where", "memory"}}).Set(static_cast<double>(counts.waiting));
}

std::string Metrics::text() const {
    return prometheus::TextSerializer().Serialize(families_->registry.Collect()) + process_metrics();
}

}  // namespace reprieve
