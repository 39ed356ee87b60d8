#include "simulate/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simulate/csv.h"

namespace reprieve {
namespace {

constexpr double kMicro = 1e6;
constexpr double kMilliMicroHour = 1000.0 * 1e6 * 3600.0;

double seconds_of(Duration d) { return static_cast<double>(d.us) / kMicro; }
double gpu_seconds(Wide amount) { return static_cast<double>(amount) / (1000.0 * kMicro); }
double gpu_hours(Wide amount) { return static_cast<double>(amount) / kMilliMicroHour; }

// The smallest value that at least this part of all do not exceed.
double percentile(std::vector<double>& values, double part) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    const auto count = static_cast<double>(values.size());
    const auto rank = static_cast<std::size_t>(std::max(0.0, std::ceil(part * count) - 1.0));
    return values[std::min(rank, values.size() - 1)];
}

std::string time_or_nothing(Duration time) { return time == kNotYet ? std::string() : short_number(seconds_of(time)); }

std::string priority_table(const std::map<std::int32_t, double>& values) {
    std::string out = "{";
    for (const auto& [priority, value] : values)
        out += fmt::format("{}\"{}\":{}", out.size() == 1 ? "" : ",", priority, short_number(value));
    return out + "}";
}

}  // namespace

std::string short_number(double value) {
    std::string text = fmt::format("{:.3f}", value);
    while (text.back() == '0')
        text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string json_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += fmt::format("\\{}", c);
        else if (static_cast<unsigned char>(c) < 0x20)
            out += fmt::format("\\u{:04x}", static_cast<int>(c));
        else
            out.push_back(c);
    }
    return out + "\"";
}

RunSummaryRow summarise(const RunName& name, const JobTrace& trace, const RunOutcome& outcome, double wall) {
    RunSummaryRow row;
    row.name = name.policy;
    row.seed = name.seed;
    std::map<std::int32_t, std::vector<double>> waits;
    std::vector<double> completions;
    for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
        const JobOutcome& job = outcome.jobs[i];
        const TraceJob& asked = trace.jobs[i];
        if (job.never_fits) {
            ++row.never_fit;
            continue;
        }
        ++row.jobs;
        // Whoever still waits has waited for so long at least; whoever has not arrived yet has not.
        if (asked.submit <= outcome.end) {
            const Duration start = job.start == kNotYet ? outcome.end : job.start;
            waits[asked.priority].push_back(seconds_of({start.us - asked.submit.us}));
        }
        if (job.finish == kNotYet) continue;
        ++row.finished;
        completions.push_back(seconds_of({job.finish.us - asked.submit.us}));
    }
    for (auto& [priority, values] : waits) {
        row.wait_p50[priority] = percentile(values, 0.50);
        row.wait_p99[priority] = percentile(values, 0.99);
    }
    for (const double value : completions)
        row.jct.mean += value / static_cast<double>(completions.size());
    row.jct.p50 = percentile(completions, 0.50);
    row.jct.p99 = percentile(completions, 0.99);
    row.evictions = static_cast<std::int64_t>(outcome.evictions.size());
    row.cascades = std::ranges::count_if(outcome.evictions, [](const EvictionOutcome& e) { return e.depth > 1; });
    row.pods_lost = outcome.pods_lost;
    row.used_hours = gpu_hours(outcome.used);
    row.lost_hours = gpu_hours(outcome.lost);
    row.idle_hours = gpu_hours(outcome.capacity - outcome.used - outcome.lost);
    if (outcome.capacity > 0)
        row.utilisation = static_cast<double>(outcome.used) / static_cast<double>(outcome.capacity);
    std::int64_t most = 0;  // while no node is down
    std::int64_t held = 0;
    for (const Sample& sample : outcome.samples) {
        most = std::max(most, sample.gpu_milli);
        held = std::max(held, sample.held_milli);
    }
    if (most > 0) row.allocated = static_cast<double>(held) / static_cast<double>(most);
    row.makespan = seconds_of(outcome.end);
    row.decisions = outcome.decisions;
    row.optimal = outcome.optimal;
    row.cycles = outcome.cycles;
    row.conserved = outcome.conserved;
    row.wall_seconds = wall;
    return row;
}

std::string summary_json(const RunSummaryRow& row) {
    return fmt::format(
        "{{\"name\":{},\"seed\":{},\"jobs\":{},\"finished\":{},\"neverFit\":{},\"evictions\":{},\"podsLost\":{},"
        "\"gpuHoursUsed\":{},\"gpuHoursLost\":{},\"gpuHoursIdle\":{},\"utilisation\":{:.6f},\"waitP50\":{},"
        "\"waitP99\":{},\"jct\":{{\"mean\":{},\"p50\":{},\"p99\":{}}},\"makespan\":{},\"decisions\":{},\"optimal\":{},"
        "\"allocatedMost\":{:.6f},\"cascades\":{},\"cycles\":{},\"conserved\":{},\"wallS\":{:.1f}}}",
        json_text(row.name),
        row.seed,
        row.jobs,
        row.finished,
        row.never_fit,
        row.evictions,
        row.pods_lost,
        short_number(row.used_hours),
        short_number(row.lost_hours),
        short_number(row.idle_hours),
        row.utilisation,
        priority_table(row.wait_p50),
        priority_table(row.wait_p99),
        short_number(row.jct.mean),
        short_number(row.jct.p50),
        short_number(row.jct.p99),
        short_number(row.makespan),
        row.decisions,
        row.optimal,
        row.allocated,
        row.cascades,
        row.cycles,
        row.conserved,
        row.wall_seconds);
}

std::string jobs_rows(const RunName& name, const JobTrace& trace, const RunOutcome& outcome) {
    std::string out;
    out.reserve(outcome.jobs.size() * 96);
    const std::string head = fmt::format("{},{},", csv_field(name.policy), name.seed);
    for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
        const JobOutcome& job = outcome.jobs[i];
        const TraceJob& asked = trace.jobs[i];
        const bool done = job.finish != kNotYet;
        const char* state = job.never_fits ? "REJECTED" : done ? "COMPLETED_SUCCESSFULLY" : "NOT_FINISHED";
        const std::int64_t turnaround = done ? job.finish.us - asked.submit.us : 0;
        const std::int64_t shortest = std::max<std::int64_t>(asked.duration.us, 1);
        fmt::format_to(std::back_inserter(out),
                       "{}{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                       head,
                       csv_field(asked.name),
                       short_number(seconds_of(asked.submit)),
                       asked.pods,
                       short_number(seconds_of(asked.duration)),
                       done ? 1 : 0,
                       state,
                       time_or_nothing(job.start),
                       done ? short_number(seconds_of({job.finish.us - job.start.us})) : "",
                       time_or_nothing(job.finish),
                       job.start == kNotYet ? "" : short_number(seconds_of({job.start.us - asked.submit.us})),
                       done ? short_number(seconds_of({turnaround})) : "",
                       done ? short_number(static_cast<double>(turnaround) / static_cast<double>(shortest)) : "",
                       job.evictions,
                       job.restarts,
                       short_number(gpu_seconds(job.lost)),
                       csv_field(trace.queues[asked.queue]),
                       asked.priority,
                       asked.min,
                       short_number(static_cast<double>(asked.all_gpu_milli()) / 1000.0));
    }
    return out;
}

std::string evictions_rows(const RunName& name,
                           const JobTrace& trace,
                           const std::vector<TraceNode>& nodes,
                           const RunOutcome& outcome) {
    std::string out;
    for (const EvictionOutcome& e : outcome.evictions) {
        const TraceJob& job = trace.jobs[e.job];
        fmt::format_to(std::back_inserter(out),
                       "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                       csv_field(name.policy),
                       name.seed,
                       short_number(seconds_of(e.at)),
                       csv_field(fmt::format("{}-{}", job.name, e.pod)),
                       csv_field(job.name),
                       csv_field(trace.queues[job.queue]),
                       job.priority,
                       short_number(static_cast<double>(job.gpu_milli) / 1000.0),
                       csv_field(nodes[e.node].name),
                       csv_field(e.owner),
                       csv_field(e.action),
                       e.certificate,
                       e.depth,
                       short_number(gpu_seconds(e.lost)),
                       csv_field(e.reason));
    }
    return out;
}

std::string samples_rows(const RunName& name, const RunOutcome& outcome) {
    std::string out;
    const auto gpus = [](std::int64_t milli) { return short_number(static_cast<double>(milli) / 1000.0); };
    for (const Sample& s : outcome.samples) {
        fmt::format_to(std::back_inserter(out),
                       "{},{},{},{},{},{},{},{},{},{},{},{}\n",
                       csv_field(name.policy),
                       name.seed,
                       short_number(seconds_of(s.at)),
                       gpus(s.gpu_milli),
                       gpus(s.held_milli),
                       gpus(s.working_milli),
                       gpus(s.asked_milli),
                       s.running_jobs,
                       s.waiting_jobs,
                       s.waiting_pods,
                       s.evictions,
                       short_number(gpu_hours(s.lost)));
    }
    return out;
}

}  // namespace reprieve
