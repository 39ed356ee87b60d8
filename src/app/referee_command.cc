#include "app/referee_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <mutex>

#include "app/complaint.h"
#include "app/exit_codes.h"
#include "app/inputs.h"
#include "app/kube_link.h"
#include "app/record_commands.h"
#include "app/stop_signal.h"
#include "manifest/suggest.h"
#include "record/record_observer.h"
#include "record/retention.h"
#include "referee/record_referee.h"
#include "text/cost_words.h"
#include "text/plan_table.h"
#include "text/table.h"
#include "web/server.h"
#include "window/report.h"

namespace reprieve {
namespace {

constexpr Duration kPoll{500'000};
// What the Events say excuses decisions: nothing is judged while their watch is broken, unless it stays so.
constexpr Duration kEventsAwaited{60'000'000};
// What breaks our watches breaks those of the schedulers too, and theirs may recover later than ours. Until then a
// scheduler decides on what it knew before, and on writes of its own that we have not seen. None waits for longer than
// this before it asks again.
constexpr Duration kOthersAreBack = kLongestWatchBackoff;

int refuse_referee(const std::string& message, int code = kExitFailure) {
    print_complaint(message);
    return code;
}

Paint paint_of_verdict(CaseVerdict verdict) {
    if (verdict == CaseVerdict::kFair) return Paint::kGreen;
    return verdict == CaseVerdict::kUnclear ? Paint::kDim : Paint::kRed;
}

void add_totals(std::string& out, const RefereeReport& report, const char* what, const char* title) {
    const auto all = report.totals_by(what);
    if (all.size() < 2 && std::string(what) != "scheduler") return;
    Table table(title,
                {{"NAME"},
                 {"DECISIONS", ColumnKind::kNumber},
                 {"PODS LOST", ColumnKind::kNumber},
                 {"LEAST", ColumnKind::kNumber},
                 {"GPU-HOURS LOST", ColumnKind::kNumber},
                 {"LEAST", ColumnKind::kNumber}});
    for (const auto& [name, totals] : all) {
        table.add({.cells = {{name.empty() ? "-" : name},
                             {std::to_string(totals.evictions)},
                             {std::to_string(totals.pods_lost)},
                             {std::to_string(totals.least_pods)},
                             {fmt::format("{:.1f}", totals.gpu_hours_lost)},
                             {fmt::format("{:.1f}", totals.least_gpu_hours)}},
                   .notes = {}});
    }
    out += "\n";
    table.print(out, table_style());
}

std::string referee_text(const RefereeReport& report) {
    const RefereeTotals totals = report.totals();
    std::string out =
        fmt::format("{} judged: {} lost, {} would have done; {:.1f} GPU-hours lost, {:.1f} would have done\n",
                    count_words(totals.evictions, "decision", "decisions"),
                    count_words(totals.pods_lost, "pod", "pods"),
                    totals.least_pods,
                    totals.gpu_hours_lost,
                    totals.least_gpu_hours);
    for (const auto& [verdict, count] : totals.by_verdict)
        out += fmt::format("  {:>6} {}\n", count, verdict);
    for (const RecordGap& gap : report.gaps)
        out += fmt::format(
            "not everything is known from {} to {}: {}\n", format_time(gap.from), format_time(gap.to), gap.why);
    if (report.verdicts.empty()) return out;
    out += "\n";
    Table table("Verdicts",
                {{"AT", ColumnKind::kWord},
                 {"SCHEDULER"},
                 {"FOR"},
                 {"VICTIMS", ColumnKind::kNumber},
                 {"VERDICT", ColumnKind::kWord},
                 {"CONFIDENCE", ColumnKind::kWord}});
    for (const JudgedDecision& one : report.verdicts) {
        Row row{.cells = {{format_time(one.at)},
                          {one.scheduler},
                          {one.owner},
                          {std::to_string(one.victims.size())},
                          {to_text(one.ruling.verdict), paint_of_verdict(one.ruling.verdict)},
                          {one.confidence}},
                .notes = {sentence("evicted " + list_words(one.victims)), sentence(one.ruling.evidence)}};
        table.add(std::move(row));
    }
    table.print(out, table_style());
    add_totals(out, report, "scheduler", "By scheduler");
    add_totals(out, report, "queue", "By queue");
    add_totals(out, report, "priority", "By priority");
    add_totals(out, report, "day", "By day");
    return out;
}

// Names of schedulers are anybody's: what Prometheus would take for syntax is escaped.
std::string label_text(const std::string& value) {
    std::string out;
    for (const char c : value) {
        if (c == '\\' || c == '"') out += '\\';
        if (c == '\n')
            out += "\\n";
        else
            out += c;
    }
    return out;
}

std::string referee_metrics(const RefereeReport& report, std::size_t open) {
    std::map<std::tuple<std::string, std::string, std::string>, std::int64_t> decisions;
    const std::map<std::string, RefereeTotals> totals = report.totals_by("scheduler");
    for (const JudgedDecision& one : report.verdicts)
        ++decisions[{one.scheduler, to_text(one.ruling.verdict), one.confidence}];
    std::string out;
    const auto sample = [&](const char* name, const char* kind, const char* help, const auto& value) {
        out += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, kind, help);
        if constexpr (std::is_null_pointer_v<std::decay_t<decltype(value)>>) {
            for (const auto& [key, count] : decisions) {
                const auto& [scheduler, verdict, confidence] = key;
                out += fmt::format("{}{{scheduler=\"{}\",verdict=\"{}\",confidence=\"{}\"}} {}\n",
                                   name,
                                   label_text(scheduler),
                                   verdict,
                                   confidence,
                                   count);
            }
        } else if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>) {
            out += fmt::format("{} {}\n", name, value);
        } else {
            for (const auto& [scheduler, sum] : totals)
                out += fmt::format("{}{{scheduler=\"{}\"}} {}\n", name, label_text(scheduler), value(sum));
        }
    };
    sample("reprieve_referee_decisions",
           "gauge",
           "Of the referee: decisions to evict that were judged, by scheduler, verdict and confidence.",
           nullptr);
    sample("reprieve_referee_pods_lost_total",
           "counter",
           "Of the referee: pods that were evicted.",
           [](const RefereeTotals& t) { return t.pods_lost; });
    sample("reprieve_referee_least_pods",
           "gauge",
           "Of the referee: pods that would have had to go for the same.",
           [](const RefereeTotals& t) { return t.least_pods; });
    sample("reprieve_referee_gpu_seconds_lost_total",
           "counter",
           "Of the referee: work that evictions threw away, in GPU-seconds.",
           [](const RefereeTotals& t) { return t.gpu_hours_lost * 3600; });
    sample("reprieve_referee_excess_gpu_seconds",
           "gauge",
           "Of the referee: work that need not have been thrown away, in GPU-seconds.",
           [](const RefereeTotals& t) { return (t.gpu_hours_lost - t.least_gpu_hours) * 3600; });
    sample("reprieve_referee_open_pods",
           "gauge",
           "Of the referee: pods that are being evicted, or seem to be, and are not judged yet.",
           open);
    return out;
}

// Items of a list do not say what they are.
std::string self_describing(const FactText& text) {
    const bool says = text.json.starts_with("{\"kind\":") || text.json.starts_with("{\"apiVersion\":");
    if (text.json.empty() || says) return text.json;
    return fmt::format("{{\"apiVersion\":\"{}\",\"kind\":\"{}\",{}", text.api_version, text.kind, text.json.substr(1));
}

class RefereeRun {
public:
    explicit RefereeRun(const RefereeCommandOptions& options) : options_(options) {}

    int run() {
        if (auto usage = read_arguments(); !usage) return refuse_referee(usage.error().message, kExitUsage);
        if (auto ready = read_yardsticks(); !ready) return refuse_referee(ready.error().message);
        auto report = options_.record.empty() ? watch() : judge_files();
        if (!report) return refuse_referee(report.error().message);
        if (auto told = tell(*report); !told) return refuse_referee(told.error().message);
        say_unknown_schedulers(*report);
        if (!report->all_fair()) return kExitUnplaced;
        return report->complete ? kExitOk : kExitFailure;
    }

private:
    Result<void> read_arguments() {
        const int given = !options_.record.empty() + !options_.kubeconfig.empty() + options_.in_cluster;
        if (given != 1) return fail("one of --kubeconfig, --in-cluster and --record is needed");
        if (!options_.record.empty() && !(options_.duration.empty() && options_.ui.empty()))
            return fail("--for and --ui go with a cluster, not with --record");
        referee_.schedulers = {options_.schedulers.begin(), options_.schedulers.end()};
        if (!options_.duration.empty()) {
            const auto duration = parse_days(options_.duration);
            if (!duration) return fail("--for: " + duration.error().message);
            length_ = *duration;
        }
        if (!options_.start_within.empty()) {
            const auto duration = parse_days(options_.start_within);
            if (!duration) return fail("--start-within: " + duration.error().message);
            referee_.start_within = *duration;
        }
        return {};
    }

    Result<void> read_yardsticks() {
        if (options_.config_file.empty()) return {};
        auto config = load_config(options_.config_file);
        if (!config) return std::unexpected(config.error());
        referee_.config = std::move(*config);
        return {};
    }

    Result<RefereeReport> judge_files() {
        auto reader = open_record(options_.record);
        if (!reader) return fail(reader.error().message);
        return judge_record(**reader, referee_, options_.config_file.empty());
    }

    Result<void> serve() {
        if (options_.ui.empty()) return {};
        server_ = std::make_unique<WebServer>();
        server_->probe("/healthz", [] { return Result<void>(); });
        server_->probe("/readyz", [this]() -> Result<void> {
            const std::lock_guard lock(mutex_);
            return metrics_.empty() ? Result<void>(fail("not everything has been read yet")) : Result<void>();
        });
        server_->get("/metrics", [this](const WebRequest&) {
            const std::lock_guard lock(mutex_);
            return WebAnswer{
                .status = 200, .body = metrics_, .content_type = "text/plain; version=0.0.4; charset=utf-8"};
        });
        return server_->start(options_.ui);
    }

    Result<RefereeReport> watch() {
        // Every pod is somebody's to take: whose scheduler it was is what is judged.
        referee_.config.scheduler_names.clear();
        Referee referee(referee_);
        Vocabulary words;
        const KubeTarget target{.kubeconfig = options_.kubeconfig,
                                .context = options_.context,
                                .loopback_http = options_.loopback_http,
                                .only_looks = true};
        auto link = open_kube(target, words);
        if (!link) return std::unexpected(link.error());
        auto events = open_events(target);
        if (!events) return std::unexpected(events.error());
        if (auto served = serve(); !served) return std::unexpected(served.error());
        Source& source = (*link)->source();
        source.keep_texts();
        (*link)->on_missed([&](const std::string& kind, Time from, Time to) {
            referee.note_gap({.from = from, .to = to + kOthersAreBack, .why = missed_words(kind)});
        });
        (*link)->on_late([&](Time from, Time to) {
            referee.note_gap({.from = from, .to = to + kOthersAreBack, .why = "the watch of pods broke off"});
        });
        const StopSignal signal;
        std::vector<Change> changes;
        std::vector<FedObject> fed;
        Time end;
        bool alive = true;
        while (alive && !StopSignal::received()) {
            changes.clear();
            alive = source.poll(changes, kPoll);
            const Time now = source.now();
            if (!end.is_set() && length_.us > 0) end = now + length_;
            for (const Change& change : changes) {
                if (!change.text) continue;
                if (auto seen = referee.see(now, record_key(change, words), self_describing(*change.text)); !seen)
                    print_complaint(seen.error().message);
            }
            fed.clear();
            // Asked before what has come is taken: a watch that is heard again has put it there first.
            const Duration broken = (*events)->feed().broken_for();
            (*events)->feed().poll(fed);
            if (const Duration late = (*events)->feed().late(); late.us > 0)
                referee.note_gap({.from = now + Duration{-late.us},
                                  .to = now + kOthersAreBack,
                                  .why = "the watch of events broke off"});
            for (const FedObject& one : fed)
                static_cast<void>(referee.see(now, one.key, one.json));
            if (broken.us == 0 || broken > kEventsAwaited) referee.look(now);
            publish(referee);
            if (end.is_set() && now >= end) break;
        }
        if (const std::string fault = (*link)->fault(); !fault.empty()) return fail(fault);
        referee.finish(source.now());
        return std::move(referee.report());
    }

    // Nobody is judged by a name that is mistyped.
    void say_unknown_schedulers(const RefereeReport& report) const {
        const std::vector<std::string_view> known(report.schedulers.begin(), report.schedulers.end());
        for (const std::string& name : referee_.schedulers) {
            if (!report.schedulers.contains(name))
                print_complaint(fmt::format("--scheduler {}: was not seen{}", name, suggestion(name, known)));
        }
    }

    void publish(Referee& referee) {
        if (!server_) return;
        std::string text = referee_metrics(referee.report(), referee.open());
        const std::lock_guard lock(mutex_);
        metrics_ = std::move(text);
    }

    Result<void> tell(const RefereeReport& report) const {
        std::string text;
        if (options_.output == "html") {
            auto page = window::report_html("referee", referee_to_json(report));
            if (!page) return std::unexpected(page.error());
            text = std::move(*page);
        } else {
            text = options_.output == "json" ? referee_to_json(report) : referee_text(report);
        }
        std::fwrite(text.data(), 1, text.size(), stdout);
        return {};
    }

    const RefereeCommandOptions& options_;
    RefereeOptions referee_;
    Duration length_;
    std::mutex mutex_;
    std::string metrics_;
    std::unique_ptr<WebServer> server_;
};

}  // namespace

int referee_command(const RefereeCommandOptions& options) { return RefereeRun(options).run(); }

}  // namespace reprieve
