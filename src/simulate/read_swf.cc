#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "simulate/numbers.h"
#include "simulate/read_trace.h"
#include "simulate/split.h"

namespace reprieve {
namespace {

constexpr std::array<std::string_view, 18> kSwfFields = {"job",
                                                         "submit",
                                                         "wait",
                                                         "run",
                                                         "procs used",
                                                         "cpu",
                                                         "memory",
                                                         "procs asked",
                                                         "time asked",
                                                         "memory asked",
                                                         "status",
                                                         "user",
                                                         "group",
                                                         "app",
                                                         "queue",
                                                         "partition",
                                                         "preceding job",
                                                         "think time"};
constexpr std::size_t kJob = 0;
constexpr std::size_t kSubmit = 1;
constexpr std::size_t kRun = 3;
constexpr std::size_t kProcsUsed = 4;
constexpr std::size_t kProcsAsked = 7;
constexpr std::size_t kMemoryAsked = 9;
constexpr std::size_t kQueue = 14;
constexpr std::int64_t kUnknown = -1;
constexpr std::int64_t kKibi = 1024;
constexpr std::int64_t kMostProcs = 100'000;

using SwfRow = std::array<std::int64_t, kSwfFields.size()>;  // in milli where a fraction is allowed

std::vector<std::string_view> blank_separated(std::string_view line) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) return parts;
        line.remove_prefix(begin);
        const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
        parts.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
}

Result<SwfRow> read_row(const std::string& file, std::size_t line, std::string_view text) {
    const std::vector<std::string_view> parts = blank_separated(text);
    if (parts.size() != kSwfFields.size())
        return fail(fmt::format("{}:{}: column {}: the row has {} fields, SWF has {}",
                                file,
                                line,
                                std::min(parts.size(), kSwfFields.size()) + 1,
                                parts.size(),
                                kSwfFields.size()));
    SwfRow row{};
    for (std::size_t i = 0; i < row.size(); ++i) {
        const bool negative = parts[i].starts_with('-');
        const auto value = parse_decimal(negative ? parts[i].substr(1) : parts[i], 3);
        if (!value)
            return fail(
                fmt::format("{}:{}: column {} ({}): '{}' is no number", file, line, i + 1, kSwfFields[i], parts[i]));
        row[i] = negative ? kUnknown : *value;
        if (negative && i == kSubmit)
            return fail(fmt::format("{}:{}: column {} ({}): is not known", file, line, i + 1, kSwfFields[i]));
    }
    return row;
}

}  // namespace

Result<JobTrace> read_swf(const std::string& file, std::string_view text, bool gpus) {
    JobTrace trace;
    trace.derivations.emplace_back(gpus ? "swf=1gpu" : "swf=1cpu");
    std::unordered_map<std::int64_t, std::uint32_t> queues;
    std::unordered_set<std::int64_t> names;
    std::size_t skipped = 0;
    std::size_t number = 0;
    for (const std::string_view line : split(text, '\n')) {
        ++number;
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos || line[begin] == ';') continue;
        const auto row = read_row(file, number, line);
        if (!row) return std::unexpected(row.error());
        const std::int64_t procs = ((*row)[kProcsAsked] > 0 ? (*row)[kProcsAsked] : (*row)[kProcsUsed]) / 1000;
        // Jobs that never ran, or whose size nobody knows, say nothing about what they would need.
        if ((*row)[kRun] < 0 || procs < 1) {
            ++skipped;
            continue;
        }
        if (procs > kMostProcs)
            return fail(fmt::format("{}:{}: column {} ({}): more than {}",
                                    file,
                                    number,
                                    kProcsAsked + 1,
                                    kSwfFields[kProcsAsked],
                                    kMostProcs));
        if (!names.insert((*row)[kJob]).second)
            return fail(fmt::format("{}:{}: column 1 (job): {} was given before", file, number, (*row)[kJob] / 1000));
        TraceJob job;
        job.name = fmt::format("job-{}", (*row)[kJob] / 1000);
        job.submit = {(*row)[kSubmit] * 1000};
        job.duration = {(*row)[kRun] * 1000};
        job.pods = job.min = static_cast<std::int32_t>(procs);
        if (gpus)
            job.gpu_milli = kMilliGpu;
        else
            job.cpu_milli = 1000;
        if ((*row)[kMemoryAsked] > 0) job.memory = (*row)[kMemoryAsked] / 1000 * kKibi;
        if (const std::int64_t queue = (*row)[kQueue]; queue != kUnknown) {
            const auto [found, fresh] = queues.emplace(queue, static_cast<std::uint32_t>(trace.queues.size()));
            if (fresh) trace.queues.push_back(fmt::format("q{}", queue / 1000));
            job.queue = found->second;
        }
        trace.jobs.push_back(std::move(job));
    }
    if (trace.jobs.empty()) return fail(fmt::format("{}: has no jobs", file));
    if (skipped > 0)
        trace.warnings.push_back(fmt::format(
            "{}: {} job{} of unknown run time or size left out", file, skipped, skipped == 1 ? " is" : "s are"));
    trace.sort_by_arrival(file);
    return trace;
}

}  // namespace reprieve
