#include "app/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "app/complaint.h"
#include "app/control_loop.h"
#include "app/decision_log.h"
#include "app/embedded_link.h"
#include "app/exit_codes.h"
#include "app/inputs.h"
#include "app/live_view.h"
#include "app/pace.h"
#include "app/plan_table.h"
#include "app/planning.h"
#include "app/run_log.h"
#include "app/run_summary.h"
#include "app/screen.h"
#include "app/stop_signal.h"
#include "app/terminal.h"
#include "manifest/config.h"

namespace reprieve {
namespace {

constexpr const char* kSchedulerName = "reprieve";
constexpr const char* kSpeedToWatch = "10x";
constexpr Duration kLongestWait{500'000};  // on a real cluster: how long a signal may go unnoticed
constexpr std::int64_t kRest = 19;         // on a real cluster: planning takes a twentieth of the time
constexpr Duration kShortestLease{1'000'000};
constexpr Duration kResync{std::int64_t{300} * 1'000'000};

int complain(const std::string& message, int code = kExitFailure) {
    print_complaint(message);
    return code;
}

bool wants_kube(const RunOptions& options) { return options.in_cluster || !options.kubeconfig.empty(); }

Result<void> check_usage(const RunOptions& options) {
    if (options.in_cluster && !options.kubeconfig.empty())
        return fail("--kubeconfig and --in-cluster exclude each other");
    if (wants_kube(options) && !options.files.empty())
        return fail("-f feeds the embedded cluster and goes with neither --kubeconfig nor --in-cluster");
    if (wants_kube(options) && !options.speed.empty())
        return fail("--speed is the embedded cluster's; a real one has its own time");
    if (!wants_kube(options) && !(options.lease.empty() && options.lease_duration.empty()))
        return fail("--lease and --lease-duration go with --kubeconfig or --in-cluster");
    if (!wants_kube(options) && options.files.empty())
        return fail("-f FILE is missing (or --kubeconfig FILE, or --in-cluster)");
    return {};
}

// One run: what it is connected to and who watches.
class Run {
public:
    Run(const RunOptions& options, const RunPorts& ports)
        : options_(options),
          ports_(ports),
          stream_(look_at_stream(STDOUT_FILENO)) {}

    int run() {
        if (auto usage = check_usage(options_); !usage) return complain(usage.error().message, kExitUsage);
        if (auto usage = read_arguments(); !usage) return complain(usage.error().message, kExitUsage);
        if (auto ready = read_config(); !ready) return complain(ready.error().message);
        Cluster cluster({.scheduler_names = loop_.config.scheduler_names,
                         .topology_levels = loop_.config.topology_levels,
                         .queues_by_namespace = loop_.config.queues_by_namespace});
        auto opened = connect(cluster.words());
        if (!opened) return complain(opened.error().message);
        ClusterLink& link = **opened;
        if (auto ready = add_observers(link); !ready) return complain(ready.error().message);
        if (wants_kube(options_)) loop_.leads = [&] { return link.leads(); };

        ControlLoop loop(cluster, link.source(), link.sink(), observers_, loop_);
        const LoopEnd end = loop.run();
        link.close();
        if (screen_) screen_->close();
        ui_.reset();  // it asks the link
        if (const std::string fault = link.fault(); !fault.empty()) return complain(fault);
        return finish(loop, end, cluster);
    }

private:
    Result<void> read_arguments() {
        const auto start = planning_time(options_.now);
        if (!start) return fail(start.error().message);
        start_ = *start;
        const auto speed =
            parse_speed(options_.speed.empty() ? (stream_.cursor ? kSpeedToWatch : "fast") : options_.speed);
        if (!speed) return std::unexpected(speed.error());
        speed_ = *speed;
        loop_.dry_run = options_.dry_run;
        loop_.cycles = options_.cycles;
        loop_.stopped = [] { return StopSignal::received(); };
        return read_lease_arguments();
    }

    Result<void> read_lease_arguments() {
        target_ = {.kubeconfig = options_.kubeconfig,
                   .loopback_http = options_.loopback_http,
                   .only_looks = options_.dry_run,
                   .lease = options_.lease};
        if (options_.lease_duration.empty()) return {};
        const auto duration = parse_duration(options_.lease_duration);
        if (!duration) return fail("--lease-duration: " + duration.error().message);
        if (*duration < kShortestLease) return fail("--lease-duration: must be at least 1s");
        target_.lease_duration = *duration;
        return {};
    }

    Result<void> read_config() {
        if (!options_.config_file.empty()) {
            const auto text = read_file(options_.config_file);
            if (!text) return std::unexpected(text.error());
            auto parsed = parse_config(*text, options_.config_file);
            if (!parsed) return std::unexpected(parsed.error());
            loop_.config = std::move(*parsed);
            loop_.config_text = *text;
        }
        if (loop_.config.scheduler_names.empty()) loop_.config.scheduler_names = {kSchedulerName};
        target_.scheduler_names = loop_.config.scheduler_names;
        if (loop_.config.actions)
            target_.resource_quotas = std::ranges::any_of(*loop_.config.actions, &ActionConfig::resource_quota);
        return {};
    }

    Result<std::unique_ptr<ClusterLink>> connect(Vocabulary& words) {
        if (wants_kube(options_)) {
            loop_.longest_wait = kLongestWait;
            loop_.resync = kResync;
            loop_.rest = kRest;
            return ports_.kube(target_, words);
        }
        EmbeddedOptions embedded{
            .files = options_.files, .world = {.start = start_, .seed = options_.seed, .latency = {}}, .pace = {}};
        if (speed_) embedded.pace = paced(*speed_, [] { return StopSignal::received(); });
        return open_embedded(embedded, words);
    }

    // Relative where the clock is the embedded cluster's own.
    [[nodiscard]] std::function<std::string(Time)> clock() const {
        if (wants_kube(options_)) return [](Time now) { return format_time(now); };
        return [start = start_](Time now) { return "+" + format_duration({(now - start).us / 100'000 * 100'000}); };
    }

    Result<void> add_observers(const ClusterLink& link) {
        observers_.add(summary_);
        if (stream_.cursor && !wants_kube(options_)) {
            screen_.emplace(stdout, stream_.colour);
            view_.emplace(*screen_, clock(), options_.dry_run ? "dry run" : "");
            observers_.add(*view_);
        } else {
            log_.emplace(clock(), [](const std::string& line) {
                fmt::print("{}\n", line);
                std::fflush(stdout);
            });
            observers_.add(*log_);
        }
        if (!options_.log.empty()) {
            auto decisions = DecisionLog::open(options_.log);
            if (!decisions) return std::unexpected(decisions.error());
            decisions_ = std::move(*decisions);
            observers_.add(*decisions_);
        }
        if (options_.ui.empty()) return {};
        auto ui = ports_.ui(options_.ui, link);
        if (!ui) return std::unexpected(ui.error());
        ui_ = std::move(*ui);
        observers_.add(*ui_);
        return {};
    }

    int finish(const ControlLoop& loop, LoopEnd end, const Cluster& cluster) const {
        if (wants_kube(options_)) return kExitOk;
        fmt::print("\n{}", summary_.text(table_style()));
        tell_of_strangers(cluster);
        if (loop.counts().audit_failures > 0) return kExitFailure;
        return end != LoopEnd::kStopped && !summary_.all_placed() ? kExitUnplaced : kExitOk;
    }

    // Pods that wait for a scheduler which the embedded cluster does not have are a likely mistake.
    void tell_of_strangers(const Cluster& cluster) const {
        std::size_t strangers = 0;
        for (const PodRow& row : cluster.snapshot().pods) {
            if (row.state == PodState::kPending && row.has(kForeign)) ++strangers;
        }
        if (strangers == 0) return;
        fmt::print(
            "  {} pending pod{} of other schedulers: write spec.schedulerName: {}, or list theirs under schedulerNames "
            "in --config\n",
            strangers,
            strangers == 1 ? "" : "s",
            loop_.config.scheduler_names.front());
    }

    const RunOptions& options_;
    const RunPorts& ports_;
    OutputStream stream_;
    StopSignal signal_;
    Time start_;
    std::optional<std::int64_t> speed_;
    KubeTarget target_;
    LoopOptions loop_;
    Observers observers_;
    RunSummary summary_;
    std::optional<Screen> screen_;
    std::optional<LiveView> view_;
    std::optional<RunLog> log_;
    std::unique_ptr<DecisionLog> decisions_;
    std::unique_ptr<LoopObserver> ui_;
};

}  // namespace

int run_command(const RunOptions& options, const RunPorts& ports) { return Run(options, ports).run(); }

}  // namespace reprieve
