#include "app/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>

#include "app/complaint.h"
#include "app/decision_log.h"
#include "app/embedded_link.h"
#include "app/exit_codes.h"
#include "app/folder_lock.h"
#include "app/heap.h"
#include "app/inputs.h"
#include "app/live_view.h"
#include "app/pace.h"
#include "app/planning.h"
#include "app/run_log.h"
#include "app/run_summary.h"
#include "app/stop_signal.h"
#include "base/version.h"
#include "loop/control_loop.h"
#include "manifest/config.h"
#include "record/record_observer.h"
#include "record/recorder.h"
#include "text/plan_table.h"
#include "text/screen.h"
#include "text/terminal.h"

namespace reprieve {
namespace {

constexpr const char* kSpeedToWatch = "10x";
constexpr Duration kLongestWait{500'000};  // on a real cluster: how long a signal may go unnoticed
constexpr std::int64_t kRest = 19;         // on a real cluster: planning takes a twentieth of the time
constexpr Duration kShortestLease{1'000'000};
constexpr Duration kResync{std::int64_t{300} * 1'000'000};

int complain(const std::string& message, int code = kExitFailure) {
    print_complaint(message);
    return code;
}

LogLevel level_of(const std::string& word) {
    for (const LogLevel level : {LogLevel::kDebug, LogLevel::kWarn, LogLevel::kError}) {
        if (word == to_text(level)) return level;
    }
    return LogLevel::kInfo;
}

std::string host_of(const std::string& address) {
    const std::string host = address.substr(0, address.rfind(':'));
    return host.empty() ? "localhost" : host;
}

bool wants_kube(const RunOptions& options) { return options.in_cluster || !options.kubeconfig.empty(); }

Result<void> check_usage(const RunOptions& options) {
    if (options.in_cluster && !options.kubeconfig.empty())
        return fail("--kubeconfig and --in-cluster exclude each other");
    if (wants_kube(options) && !options.files.empty())
        return fail("-f feeds the embedded cluster and goes with neither --kubeconfig nor --in-cluster");
    if (wants_kube(options) && !options.speed.empty())
        return fail("--speed is the embedded cluster's; a real one has its own time");
    if (options.kubeconfig.empty() && !options.context.empty()) return fail("--context goes with --kubeconfig");
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
        if (auto usage = read_record_arguments(); !usage) return complain(usage.error().message, kExitUsage);
        if (auto ready = read_config(); !ready) return complain(ready.error().message);
        if (wants_kube(options_)) share_one_heap();
        Cluster cluster({.scheduler_names = loop_.config.scheduler_names,
                         .topology_levels = loop_.config.topology_levels,
                         .queues_by_namespace = loop_.config.queues_by_namespace,
                         .trust = loop_.config.trust,
                         .claims_by_controller = true,
                         .leaves_dialects = wants_kube(options_)});
        auto opened = connect(cluster.words());
        if (!opened) return complain(opened.error().message);
        ClusterLink& link = **opened;
        if (auto ready = open_recorder(link, cluster.words()); !ready) return complain(ready.error().message);
        if (auto ready = add_observers(link, cluster); !ready) return complain(ready.error().message);
        if (wants_kube(options_)) {
            loop_.leads = [&] { return link.leads(); };
            loop_.is_current = [&] { return link.is_current(); };
        }

        ControlLoop loop(cluster, link.source(), link.sink(), observers_, loop_);
        LoopEnd end = loop.run();
        if (StopSignal::received()) end = LoopEnd::kStopped;
        link.close();
        if (recorder_) recorder_->close();
        if (screen_) screen_->close();
        const std::string fault = link.fault();
        const int code = fault.empty() ? finish(loop, end, link, cluster) : complain(fault);
        if (ui_ && end == LoopEnd::kWorldEnded && fault.empty()) stay_to_be_looked_at();
        ui_.reset();  // it asks the link
        return code;
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

    Result<void> read_record_arguments() {
        if (options_.record.empty() && !(options_.record_keep.empty() && options_.record_max.empty()))
            return fail("--record-keep and --record-max go with --record");
        if (!options_.record_keep.empty()) {
            const auto age = parse_days(options_.record_keep);
            if (!age) return fail("--record-keep: " + age.error().message);
            keep_.age = *age;
        }
        if (!options_.record_max.empty()) {
            const auto bytes = parse_bytes(options_.record_max);
            if (!bytes) return fail("--record-max: " + bytes.error().message);
            keep_.bytes = *bytes;
        }
        return {};
    }

    Result<void> read_lease_arguments() {
        target_ = {.kubeconfig = options_.kubeconfig,
                   .context = options_.context,
                   .log_format = options_.log_format == "json" ? LogFormat::kJson : LogFormat::kText,
                   .log_level = level_of(options_.log_level),
                   .loopback_http = options_.loopback_http,
                   .only_looks = options_.dry_run,
                   .stopped = [] { return StopSignal::received(); },
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
            loop_.rest.times = kRest;
            loop_.forgets = true;
            loop_.tells_warnings = true;
            loop_.cycle_budget = loop_.config.cycle_budget;
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

    Result<void> add_observers(ClusterLink& link, Cluster& cluster) {
        // Printed at the end of an embedded run; a cluster has none, and no memory for every pod it ever had.
        if (!wants_kube(options_)) observers_.add(summary_);
        if (stream_.cursor && !wants_kube(options_)) {
            screen_.emplace(stdout, stream_.colour);
            view_.emplace(*screen_, clock(), options_.dry_run ? "dry run" : "");
            observers_.add(*view_);
        } else {
            log_.emplace([this, when = clock()](Time now, const LogLine& line) {
                if (line.level < target_.log_level) return;
                if (target_.log_format == LogFormat::kJson)
                    fmt::print("{}\n", as_json(line, when(now)));
                else if (wants_kube(options_))
                    fmt::print("{} {} {}\n", when(now), to_text(line.level), as_text(line));
                else
                    fmt::print("{} {}\n", when(now), as_text(line));
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
        auto ui = ports_.ui({.address = options_.ui,
                             .open = options_.ui_open,
                             .scope = options_.ui_scope,
                             .dry_run = options_.dry_run,
                             .arguments = "",
                             .recording = counts_of_recorder(),
                             .record = options_.record},
                            link,
                            cluster,
                            loop_.config);
        if (!ui) return std::unexpected(ui.error());
        ui_ = std::move(*ui);
        observers_.add(*ui_);
        print_advice(fmt::format("window: http://{}:{}/\n", host_of(options_.ui), ui_->port()));
        return {};
    }

    // An embedded cluster ends when nothing happens any more: that is when people look.
    void stay_to_be_looked_at() {
        ui_->loop_ended();
        std::fflush(stdout);
        print_advice("The run has ended; the window stays open until Ctrl-C.\n");
        while (!StopSignal::received())
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }

    Result<void> open_recorder(ClusterLink& link, const Vocabulary& words) {
        if (options_.record.empty()) return {};
        // Two that write into one folder would take each other's files for their own.
        std::error_code none;
        std::filesystem::create_directories(options_.record, none);
        auto lock = FolderLock::take(options_.record);
        if (!lock) return fail("--record: " + lock.error().message);
        record_lock_.emplace(std::move(*lock));
        auto recorder = Recorder::open({.folder = options_.record,
                                        .keep = keep_,
                                        .version = kVersion,
                                        .config_text = loop_.config_text,
                                        .dry_run = options_.dry_run,
                                        .warn = [](const std::string& what) { print_complaint(what); }});
        if (!recorder) return fail("--record: " + recorder.error().message);
        recorder_ = std::move(*recorder);
        recording_.emplace(*recorder_, words);
        loop_.beliefs.tell = [this](const Pod& told, const Pod& believed) { recording_->on_belief(told, believed); };
        link.source().keep_texts();
        link.on_missed([this](const std::string& kind, Time from, Time to) { recording_->on_missed(kind, from, to); });
        observers_.add(*recording_);
        return {};
    }

    [[nodiscard]] std::function<RecordingCounts()> counts_of_recorder() const {
        if (!recorder_) return {};
        return [recorder = recorder_.get()] {
            const RecordCounts counts = recorder->counts();
            return RecordingCounts{.recording = counts.recording,
                                   .changes = static_cast<std::uint64_t>(counts.changes),
                                   .cycles = static_cast<std::uint64_t>(counts.cycles),
                                   .gaps = static_cast<std::uint64_t>(counts.gaps),
                                   .bytes = counts.bytes,
                                   .waiting = counts.waiting};
        };
    }

    int finish(const ControlLoop& loop, LoopEnd end, const ClusterLink& link, const Cluster& cluster) const {
        if (wants_kube(options_)) return kExitOk;
        fmt::print("\n{}", summary_.text(table_style()));
        tell_of_strangers(cluster);
        if (loop.counts().audit_failures > 0 || link.failed_events()) return kExitFailure;
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
    KeepRules keep_;
    std::optional<FolderLock> record_lock_;
    std::unique_ptr<Recorder> recorder_;
    std::optional<RecordObserver> recording_;
    RunSummary summary_;
    std::optional<Screen> screen_;
    std::optional<LiveView> view_;
    std::optional<RunLog> log_;
    std::unique_ptr<DecisionLog> decisions_;
    std::unique_ptr<RunUi> ui_;
};

}  // namespace

int run_command(const RunOptions& options, const RunPorts& ports) { return Run(options, ports).run(); }

}  // namespace reprieve
