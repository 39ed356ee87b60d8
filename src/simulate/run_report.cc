#include "simulate/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "simulate/csv.h"

namespace reprieve {
namespace {

constexpr std::size_t kCdfPoints = 100;
constexpr std::size_t kWorstJobs = 10;
constexpr std::size_t kReceipts = 5;

double in_seconds(std::int64_t us) { return static_cast<double>(us) / 1e6; }
double in_gpu_hours(Wide amount) { return static_cast<double>(amount) / 3.6e12; }

// Values at each hundredth of the way: enough to draw a curve.
std::string cdf(std::vector<double>& values) {
    std::ranges::sort(values);
    std::string out = "[";
    for (std::size_t i = 0; i <= kCdfPoints && !values.empty(); ++i) {
        const std::size_t at = std::min(values.size() - 1, i * values.size() / kCdfPoints);
        out += fmt::format("{}{}", i == 0 ? "" : ",", short_number(values[at]));
    }
    return out + "]";
}

struct Group {
    std::int64_t jobs = 0;
    std::int64_t finished = 0;
    std::int64_t evictions = 0;
    std::vector<double> waits;
    double completion = 0;
    Wide lost = 0;

    void add(const TraceJob& asked, const JobOutcome& job, Duration end) {
        ++jobs;
        evictions += job.evictions;
        lost += job.lost;
        waits.push_back(in_seconds((job.start == kNotYet ? end : job.start).us - asked.submit.us));
        if (job.finish == kNotYet) return;
        ++finished;
        completion += in_seconds(job.finish.us - asked.submit.us);
    }
};

double part_of_all(std::vector<double>& values, std::size_t hundredths) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[std::min(values.size() - 1, values.size() * hundredths / 100)];
}

template <class Key>
std::string groups_json(std::map<Key, Group>& groups, std::string_view by) {
    std::string out = "[";
    for (auto& [key, group] : groups) {
        double waited = 0;
        for (const double wait : group.waits)
            waited += wait;
        const auto mean = [](double sum, std::int64_t count) {
            return short_number(count == 0 ? 0 : sum / static_cast<double>(count));
        };
        out += fmt::format(
            "{}{{\"by\":\"{}\",\"group\":{},\"jobs\":{},\"finished\":{},\"evictions\":{},\"gpuHoursLost\":{},"
            "\"waitMean\":{},\"waitP50\":{},\"waitP99\":{},\"jctMean\":{}}}",
            out.size() == 1 ? "" : ",",
            by,
            json_text(fmt::format("{}", key)),
            group.jobs,
            group.finished,
            group.evictions,
            short_number(in_gpu_hours(group.lost)),
            mean(waited, group.jobs),
            short_number(part_of_all(group.waits, 50)),
            short_number(part_of_all(group.waits, 99)),
            mean(group.completion, group.finished));
    }
    return out + "]";
}

// 1, 2, 4, 8, ... GPUs: the largest power of two that is no more.
std::int64_t size_of(const TraceJob& job) {
    std::int64_t size = 1;
    while (size * 2 * kMilliGpu <= job.all_gpu_milli())
        size *= 2;
    return job.all_gpu_milli() == 0 ? 0 : size;
}

std::string worst_json(const JobTrace& trace, const RunOutcome& outcome) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
        if (outcome.jobs[i].evictions > 0 || outcome.jobs[i].lost > 0) order.push_back(i);
    }
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return outcome.jobs[a].lost > outcome.jobs[b].lost; });
    if (order.size() > kWorstJobs) order.resize(kWorstJobs);
    std::string out = "[";
    for (const std::size_t i : order) {
        const JobOutcome& job = outcome.jobs[i];
        std::string receipts;
        std::size_t count = 0;
        for (const EvictionOutcome& e : outcome.evictions) {
            if (e.job != i || count++ >= kReceipts) continue;
            receipts +=
                fmt::format("{}{{\"time\":{},\"pod\":{},\"for\":{},\"action\":{},\"certificate\":{},\"reason\":{}}}",
                            receipts.empty() ? "" : ",",
                            short_number(in_seconds(e.at.us)),
                            json_text(fmt::format("{}-{}", trace.jobs[i].name, e.pod)),
                            json_text(e.owner),
                            json_text(e.action),
                            json_text(e.certificate),
                            json_text(e.reason));
        }
        out += fmt::format(
            "{}{{\"job\":{},\"queue\":{},\"priority\":{},\"gpus\":{},\"evictions\":{},\"restarts\":{},\"gpuHoursLost\":"
            "{},\"receipts\":[{}]}}",
            out.size() == 1 ? "" : ",",
            json_text(trace.jobs[i].name),
            json_text(trace.queues[trace.jobs[i].queue]),
            trace.jobs[i].priority,
            short_number(static_cast<double>(trace.jobs[i].all_gpu_milli()) / 1000.0),
            job.evictions,
            job.restarts,
            short_number(in_gpu_hours(job.lost)),
            receipts);
    }
    return out + "]";
}

}  // namespace

std::string run_report_json(const RunSummaryRow& row, const JobTrace& trace, const RunOutcome& outcome) {
    std::map<std::string, Group> queues;
    std::map<std::int64_t, Group> sizes;
    std::map<std::int32_t, Group> priorities;
    std::vector<double> waits;
    std::vector<double> completions;
    for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
        const JobOutcome& job = outcome.jobs[i];
        const TraceJob& asked = trace.jobs[i];
        if (job.never_fits || asked.submit > outcome.end) continue;
        queues[trace.queues[asked.queue]].add(asked, job, outcome.end);
        sizes[size_of(asked)].add(asked, job, outcome.end);
        priorities[asked.priority].add(asked, job, outcome.end);
        if (job.start != kNotYet) waits.push_back(in_seconds(job.start.us - asked.submit.us));
        if (job.finish != kNotYet) completions.push_back(in_seconds(job.finish.us - asked.submit.us));
    }
    std::string samples;
    for (const Sample& s : outcome.samples)
        samples += fmt::format("{}[{},{},{},{}]",
                               samples.empty() ? "" : ",",
                               short_number(in_seconds(s.at.us)),
                               short_number(static_cast<double>(s.held_milli) / 1000.0),
                               s.waiting_jobs,
                               s.evictions);
    return fmt::format(
        "{{\"summary\":{},\"waitCdf\":{},\"jctCdf\":{},\"queues\":{},\"sizes\":{},\"priorities\":{},\"worst\":{},"
        "\"samples\":[{}]}}",
        summary_json(row),
        cdf(waits),
        cdf(completions),
        groups_json(queues, "queue"),
        groups_json(sizes, "size"),
        groups_json(priorities, "priority"),
        worst_json(trace, outcome),
        samples);
}

std::string history_rows(const JobTrace& trace, const std::vector<TraceNode>& nodes, const RunOutcome& outcome) {
    std::string out;
    out.reserve(outcome.history.size() * 32);
    for (const Deciding& d : outcome.history)
        fmt::format_to(std::back_inserter(out),
                       "{},{},{},{}\n",
                       short_number(in_seconds(d.at.us)),
                       d.evicts ? "evict" : "bind",
                       csv_field(fmt::format("{}-{}", trace.jobs[d.job].name, d.pod)),
                       csv_field(nodes[d.node].name));
    return out;
}

std::string trace_report_json(const std::vector<TraceNode>& nodes, const JobTrace& trace) {
    std::int64_t gpus = 0;
    for (const TraceNode& node : nodes)
        gpus += node.gpus;
    double work = 0;
    std::int64_t pods = 0;
    std::int64_t gangs = 0;
    std::map<std::int64_t, std::int64_t> sizes;
    std::map<std::string, std::int64_t> queues;
    for (const TraceJob& job : trace.jobs) {
        work += static_cast<double>(job.all_gpu_milli()) / 1000.0 * in_seconds(job.duration.us) / 3600.0;
        pods += job.pods;
        gangs += job.pods > 1 ? 1 : 0;
        ++sizes[size_of(job)];
        ++queues[trace.queues[job.queue]];
    }
    const double hours = in_seconds(trace.jobs.back().submit.us - trace.jobs.front().submit.us) / 3600.0;
    std::string by_size;
    for (const auto& [size, count] : sizes)
        by_size += fmt::format("{}[{},{}]", by_size.empty() ? "" : ",", size, count);
    std::string by_queue;
    for (const auto& [queue, count] : queues)
        by_queue += fmt::format("{}[{},{}]", by_queue.empty() ? "" : ",", json_text(queue), count);
    std::string derived;
    for (const std::string& name : trace.derivations)
        derived += fmt::format("{}{}", derived.empty() ? "" : ",", json_text(name));
    return fmt::format(
        "{{\"nodes\":{},\"gpus\":{},\"jobs\":{},\"pods\":{},\"gangs\":{},\"gpuHoursAsked\":{},\"hours\":{},\"load\":{},"
        "\"sizes\":[{}],\"queues\":[{}],\"derivations\":[{}]}}",
        nodes.size(),
        gpus,
        trace.jobs.size(),
        pods,
        gangs,
        short_number(work),
        short_number(hours),
        short_number(hours > 0 && gpus > 0 ? work / hours / static_cast<double>(gpus) : 0),
        by_size,
        by_queue,
        derived);
}

}  // namespace reprieve
