#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/quantity.h"
#include "simulate/csv.h"
#include "simulate/numbers.h"
#include "simulate/read_trace.h"
#include "simulate/split.h"

namespace reprieve {
namespace {

constexpr std::string_view kJobColumns[] = {"job",
                                            "submit",
                                            "duration",
                                            "pods",
                                            "cpu",
                                            "memory",
                                            "gpus",
                                            "priority",
                                            "queue",
                                            "min",
                                            "topology",
                                            "checkpoint",
                                            "restart",
                                            "selector"};
enum JobColumn : std::size_t {
    kJobName,
    kJobSubmit,
    kJobDuration,
    kJobPods,
    kJobCpu,
    kJobMemory,
    kJobGpus,
    kJobPriority,
    kJobQueue,
    kJobMin,
    kJobTopology,
    kJobCheckpoint,
    kJobRestart,
    kJobSelector
};

constexpr std::int64_t kMostPods = 100'000;
constexpr std::int64_t kMostJobGpus = 1024;

std::string read_selector(std::string_view text, std::vector<LabelNeed>& out) {
    for (const std::string_view part : split(text, ';')) {
        const std::size_t equals = part.find('=');
        if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size())
            return fmt::format("'{}' is not KEY=VALUE or KEY=VALUE|VALUE", part);
        LabelNeed& need = out.emplace_back();
        need.key = part.substr(0, equals);
        for (const std::string_view value : split(part.substr(equals + 1), '|'))
            need.values.emplace_back(value);
        std::ranges::sort(need.values);
    }
    return {};
}

class JobReader {
public:
    JobReader(CsvTable& table, JobTrace& out) : table_(table), out_(out) {}

    Result<void> read() {
        TraceJob job;
        job.name = table_.field(kJobName);
        if (job.name.empty()) return table_.wrong(kJobName, "is empty");
        if (!names_.insert(job.name).second)
            return table_.wrong(kJobName, fmt::format("a job '{}' was given before", job.name));
        if (table_.field(kJobSubmit).empty()) return table_.wrong(kJobSubmit, "is empty");
        if (table_.field(kJobDuration).empty()) return table_.wrong(kJobDuration, "is empty");
        for (const auto& [column, target] : {std::pair(kJobSubmit, &job.submit),
                                             std::pair(kJobDuration, &job.duration),
                                             std::pair(kJobCheckpoint, &job.checkpoint),
                                             std::pair(kJobRestart, &job.restart)}) {
            if (auto done = seconds(column, *target); !done) return done;
        }
        if (auto done = amounts(job); !done) return done;
        if (auto done = sizes(job); !done) return done;
        job.queue =
            number_of(queues_, table_.field(kJobQueue), [&](std::string_view text) { out_.queues.emplace_back(text); });
        job.topology = number_of(topologies_, table_.field(kJobTopology), [&](std::string_view text) {
            out_.topologies.emplace_back(text);
        });
        std::vector<LabelNeed> needs;
        if (const std::string what = read_selector(table_.field(kJobSelector), needs); !what.empty())
            return table_.wrong(kJobSelector, what);
        job.selector = number_of(
            selectors_, table_.field(kJobSelector), [&](std::string_view) { out_.selectors.push_back(needs); });
        out_.jobs.push_back(std::move(job));
        return {};
    }

private:
    using Numbers = std::map<std::string, std::uint32_t, std::less<>>;

    // 0 is the empty text; the others are numbered as they come.
    template <class Add>
    static std::uint32_t number_of(Numbers& known, std::string_view text, Add add) {
        if (text.empty()) return 0;
        const auto found = known.find(text);
        if (found != known.end()) return found->second;
        const auto number = static_cast<std::uint32_t>(known.size() + 1);
        known.emplace(text, number);
        add(text);
        return number;
    }

    Result<void> seconds(std::size_t column, Duration& out) {
        const std::string_view text = table_.field(column);
        if (text.empty()) return {};
        const auto value = parse_trace_seconds(text);
        if (!value) return table_.wrong(column, fmt::format("'{}' is no number of seconds", text));
        out = *value;
        return {};
    }

    Result<void> whole(std::size_t column, std::int64_t least, std::int64_t most, std::int32_t& out) {
        const std::string_view text = table_.field(column);
        if (text.empty()) return {};
        const auto value = parse_whole(text);
        if (!value || *value < least || *value > most)
            return table_.wrong(column, fmt::format("'{}' is no whole number from {} to {}", text, least, most));
        out = static_cast<std::int32_t>(*value);
        return {};
    }

    Result<void> quantity(std::size_t column, QuantityUnit unit, std::int64_t& out) {
        const std::string_view text = table_.field(column);
        if (text.empty()) return {};
        const auto value = parse_quantity(text, unit);
        if (!value || *value < 0) return table_.wrong(column, fmt::format("'{}' is no amount", text));
        out = *value;
        return {};
    }

    Result<void> amounts(TraceJob& job) {
        if (auto done = quantity(kJobCpu, QuantityUnit::kMilli, job.cpu_milli); !done) return done;
        if (auto done = quantity(kJobMemory, QuantityUnit::kWhole, job.memory); !done) return done;
        const std::string_view text = table_.field(kJobGpus);
        if (text.empty()) return {};
        const auto milli = parse_decimal(text, 3);
        if (!milli || *milli > kMostJobGpus * kMilliGpu)
            return table_.wrong(kJobGpus, fmt::format("'{}' is no number of GPUs in thousandths", text));
        if (*milli > kMilliGpu && *milli % kMilliGpu != 0)
            return table_.wrong(kJobGpus, fmt::format("'{}': one pod has a share of one GPU, or whole GPUs", text));
        job.gpu_milli = *milli;
        return {};
    }

    Result<void> sizes(TraceJob& job) {
        if (auto done = whole(kJobPriority, INT32_MIN, INT32_MAX, job.priority); !done) return done;
        if (auto done = whole(kJobPods, 1, kMostPods, job.pods); !done) return done;
        job.min = job.pods;
        if (auto done = whole(kJobMin, 1, kMostPods, job.min); !done) return done;
        if (job.min > job.pods)
            return table_.wrong(kJobMin, fmt::format("{} is more than the job has pods ({})", job.min, job.pods));
        return {};
    }

    CsvTable& table_;
    JobTrace& out_;
    std::unordered_set<std::string> names_;
    Numbers queues_;
    Numbers topologies_;
    Numbers selectors_;
};

}  // namespace

void JobTrace::sort_by_arrival(const std::string& file) {
    std::size_t late = 0;
    Duration latest;
    for (const TraceJob& job : jobs) {
        if (job.submit < latest) ++late;
        latest = std::max(latest, job.submit);
    }
    if (late == 0) return;
    std::ranges::stable_sort(jobs, {}, &TraceJob::submit);
    warnings.push_back(fmt::format(
        "{}: time goes backwards at {} row{}; the jobs were sorted by submit", file, late, late == 1 ? "" : "s"));
}

Result<JobTrace> read_jobs_csv(const std::string& file, std::string_view text) {
    auto table = CsvTable::open(file, text, kJobColumns);
    if (!table) return std::unexpected(table.error());
    for (const JobColumn needed : {kJobName, kJobSubmit, kJobDuration}) {
        if (!table->has(needed)) return fail(fmt::format("{}:1: column {} is missing", file, kJobColumns[needed]));
    }
    JobTrace trace;
    JobReader reader(*table, trace);
    while (true) {
        const auto row = table->next();
        if (!row) return std::unexpected(row.error());
        if (!*row) break;
        if (auto read = reader.read(); !read) return std::unexpected(read.error());
    }
    if (trace.jobs.empty()) return fail(fmt::format("{}: has no jobs", file));
    trace.sort_by_arrival(file);
    return trace;
}

}  // namespace reprieve
