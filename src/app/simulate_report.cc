#include "app/simulate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/inputs.h"
#include "base/version.h"
#include "simulate/csv.h"
#include "simulate/numbers.h"
#include "simulate/run_report.h"
#include "window/report.h"

namespace reprieve {

struct SimulateReport::Numbers {
    double finished = 0;
    double evictions = 0;
    double lost = 0;
    double used = 0;
    double goodput = 0;  // of what was worked, the part that was kept
    double utilisation = 0;
    double wait_p50 = 0;  // of the highest priority
    double wait_p99 = 0;
    double jct = 0;
    double makespan = 0;
    double decisions = 0;
    double optimal = 0;
    std::optional<std::int64_t> priority;  // the highest; none: no job could run
};

namespace {

namespace fs = std::filesystem;

constexpr int kResamples = 2000;

double mean_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values)
        sum += value;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

struct Interval {
    double median = 0;
    double low = 0;
    double high = 0;
};

// The median of paired differences, with a bootstrap interval of 95 %: resampled by a fixed generator, so that the same
// runs give the same bytes.
Interval interval_of(const std::vector<double>& differences) {
    Interval out;
    out.median = median_of(differences);
    if (differences.empty()) return out;
    std::vector<double> medians;
    std::uint64_t draw = 1;
    for (int i = 0; i < kResamples; ++i) {
        std::vector<double> sample;
        for (std::size_t k = 0; k < differences.size(); ++k) {
            draw = splitmix64(draw);
            sample.push_back(differences[draw % differences.size()]);
        }
        medians.push_back(median_of(std::move(sample)));
    }
    std::ranges::sort(medians);
    out.low = medians[kResamples / 40];
    out.high = medians[kResamples - 1 - kResamples / 40];
    return out;
}

// The entry of the highest priority.
std::pair<std::optional<std::int64_t>, double> highest(const nlohmann::json& by_priority) {
    std::pair<std::optional<std::int64_t>, double> out;
    for (const auto& [priority, value] : by_priority.items()) {
        const auto number = parse_whole(priority);
        if (number && (!out.first || *number > *out.first)) out = {*number, value.get<double>()};
    }
    return out;
}

Result<void> concatenate(const fs::path& target,
                         const char* header,
                         const std::vector<RunFiles>& runs,
                         const char* name) {
    std::ofstream out(target, std::ios::binary);
    out << header;
    for (const RunFiles& run : runs) {
        const auto text = read_file((run.folder / name).string());
        if (!text) return std::unexpected(text.error());
        out << *text;
    }
    out.close();
    if (!out.good()) return fail(fmt::format("{}: cannot be written", target.string()));
    return {};
}

// Every binding and eviction; a run keeps its own without saying whose it is, so that runs can be compared.
Result<void> write_history(const fs::path& target, const std::vector<RunFiles>& runs) {
    std::ofstream out(target, std::ios::binary);
    out << kHistoryHeader;
    for (const RunFiles& run : runs) {
        const auto text = read_file((run.folder / "history.csv").string());
        if (!text) return std::unexpected(text.error());
        const std::string head = fmt::format("{},{},", csv_field(run.name.policy), run.name.seed);
        for (std::string_view rest = *text; !rest.empty();) {
            const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
            out << head << rest.substr(0, end);
            rest.remove_prefix(end);
        }
    }
    out.close();
    if (!out.good()) return fail(fmt::format("{}: cannot be written", target.string()));
    return {};
}

Result<void> write_file(const fs::path& target, const std::string& text) {
    std::ofstream out(target, std::ios::binary);
    out << text;
    out.close();
    if (!out.good()) return fail(fmt::format("{}: cannot be written", target.string()));
    return {};
}

}  // namespace

SimulateReport::SimulateReport(const SimulateJob& job, std::vector<RunFiles> runs)
    : job_(job),
      runs_(std::move(runs)) {}
SimulateReport::~SimulateReport() = default;
SimulateReport::SimulateReport(SimulateReport&&) noexcept = default;

Result<SimulateReport> SimulateReport::read(const SimulateJob& job, const std::vector<RunFiles>& runs) {
    SimulateReport report(job, runs);
    for (const RunFiles& run : runs) {
        const auto text = read_file((run.folder / "summary.json").string());
        if (!text) return std::unexpected(text.error());
        const nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
        if (json.is_discarded())
            return fail(fmt::format("{}: is damaged; remove it and start again", run.folder.string()));
        Numbers& n = report.numbers_.emplace_back();
        n.finished = json["finished"];
        n.evictions = json["evictions"];
        n.lost = json["gpuHoursLost"];
        n.used = json["gpuHoursUsed"];
        n.goodput = n.used + n.lost > 0 ? n.used / (n.used + n.lost) : 1;
        n.utilisation = json["utilisation"];
        n.jct = json["jct"]["mean"];
        n.makespan = json["makespan"];
        n.decisions = json["decisions"];
        n.optimal = json["optimal"];
        std::tie(n.priority, n.wait_p50) = highest(json["waitP50"]);
        n.wait_p99 = highest(json["waitP99"]).second;
    }
    return report;
}

std::vector<double> SimulateReport::of(const std::string& policy, double Numbers::* number) const {
    std::vector<double> values;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        if (runs_[i].name.policy == policy) values.push_back(numbers_[i].*number);
    }
    return values;
}

bool SimulateReport::knows_waits(const std::string& policy) const {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        if (runs_[i].name.policy == policy && !numbers_[i].priority) return false;
    }
    return true;
}

std::string SimulateReport::comparisons() const {
    const std::string& first = job_.policies.front().name;
    const std::pair<const char*, double Numbers::*> metrics[] = {{"goodput", &Numbers::goodput},
                                                                 {"gpuHoursLost", &Numbers::lost},
                                                                 {"evictions", &Numbers::evictions},
                                                                 {"waitP50Highest", &Numbers::wait_p50},
                                                                 {"waitP99Highest", &Numbers::wait_p99},
                                                                 {"utilisation", &Numbers::utilisation},
                                                                 {"jctMean", &Numbers::jct}};
    std::string out = "[";
    for (const Policy& policy : job_.policies) {
        const bool waits = knows_waits(policy.name) && knows_waits(first);
        for (const auto& [name, number] : metrics) {
            if (!waits && (number == &Numbers::wait_p50 || number == &Numbers::wait_p99)) continue;
            const std::vector<double> ours = of(policy.name, number);
            const std::vector<double> base = of(first, number);
            std::vector<double> differences;
            for (std::size_t i = 0; i < ours.size(); ++i)
                differences.push_back(ours[i] - base[i]);
            const Interval interval = interval_of(differences);
            out += fmt::format(
                "{}{{\"policy\":{},\"against\":{},\"metric\":\"{}\",\"mean\":{:.6g},\"difference\":{:.6g},\"low\":{:."
                "6g},\"high\":{:.6g}}}",
                out.size() == 1 ? "" : ",",
                json_text(policy.name),
                json_text(first),
                name,
                mean_of(ours),
                interval.median,
                interval.low,
                interval.high);
        }
    }
    return out + "]";
}

// Where each policy first decides otherwise than the first one, with the first seed.
std::string SimulateReport::partings() const {
    std::string out = "[";
    const auto base = read_file((runs_.front().folder / "history.csv").string());
    for (const RunFiles& run : runs_) {
        if (run.name.seed != runs_.front().name.seed || run.name.policy == runs_.front().name.policy) continue;
        const auto other = read_file((run.folder / "history.csv").string());
        if (!base || !other) continue;
        const auto [a, b] = std::mismatch(base->begin(), base->end(), other->begin(), other->end());
        if (a == base->end() && b == other->end()) continue;
        const auto line_at = [](const std::string& text, std::string::const_iterator at) {
            if (at == text.end()) return std::string("nothing more");
            const auto offset = static_cast<std::size_t>(at - text.begin());
            const std::size_t before = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
            const std::size_t begin = before == std::string::npos ? 0 : before + 1;
            return text.substr(begin, text.find('\n', begin) - begin);
        };
        const std::string here = line_at(*base, a);
        const std::string there = line_at(*other, b);
        const auto time = [](const std::string& line) { return parse_trace_seconds(line.substr(0, line.find(','))); };
        const auto at = time(here) && time(there) ? std::min(*time(here), *time(there))
                                                  : time(here).value_or(time(there).value_or(Duration{}));
        out += fmt::format("{}{{\"policy\":{},\"other\":{},\"at\":{},\"decisionsBefore\":{},\"here\":{},\"there\":{}}}",
                           out.size() == 1 ? "" : ",",
                           json_text(runs_.front().name.policy),
                           json_text(run.name.policy),
                           short_number(static_cast<double>(at.us) / 1e6),
                           std::count(base->begin(), a, '\n'),
                           json_text(here),
                           json_text(there));
    }
    return out + "]";
}

// What the window draws: one piece for each run, the curves and groups of the first seed.
Result<std::string> SimulateReport::report_json(const std::string& rows) const {
    nlohmann::ordered_json report;
    report["kind"] = "simulation";
    report["version"] = 1;
    report["program"] = fmt::format("reprieve {}", kVersion);
    report["command"] = job_.command;
    const SeedTrace& jobs = job_.trace_of(1);
    const auto facts = nlohmann::ordered_json::parse(trace_report_json(job_.nodes, jobs.trace), nullptr, false);
    for (const char* name : {"nodes", "gpus"})
        report["cluster"][name] = facts[name];
    for (const char* name : {"jobs", "pods", "gangs", "gpuHoursAsked", "hours", "load"})
        report["workload"][name] = facts[name];
    report["sizes"] = facts["sizes"];
    report["queues"] = facts["queues"];
    report["derivations"] = facts["derivations"];
    report["unknown"] = job_.remarks;
    nlohmann::ordered_json runs = nlohmann::ordered_json::array();
    for (const RunFiles& run : runs_) {
        const auto text = read_file((run.folder / "report.json").string());
        if (!text) return std::unexpected(text.error());
        auto piece = nlohmann::ordered_json::parse(*text, nullptr, false);
        if (piece.is_discarded())
            return fail(fmt::format("{}: is damaged; remove it and start again", run.folder.string()));
        const auto& summary = piece["summary"];
        report["conservation"].push_back({{"policy", run.name.policy},
                                          {"seed", run.name.seed},
                                          {"used", summary["gpuHoursUsed"]},
                                          {"lost", summary["gpuHoursLost"]},
                                          {"idle", summary["gpuHoursIdle"]},
                                          {"holds", summary["conserved"]}});
        if (run.name.seed == runs_.front().name.seed) {
            for (const auto& [to, from] : {std::pair("waiting", "waitCdf"), std::pair("completion", "jctCdf")}) {
                nlohmann::ordered_json points = nlohmann::ordered_json::array();
                const double steps = std::max<double>(1, static_cast<double>(piece[from].size()) - 1);
                for (std::size_t i = 0; i < piece[from].size(); ++i)
                    points.push_back({piece[from][i], static_cast<double>(i) / steps});
                report[to][run.name.policy] = std::move(points);
            }
            for (const char* groups : {"queues", "sizes", "priorities"}) {
                for (auto& group : piece[groups]) {
                    group["policy"] = run.name.policy;
                    report["groups"].push_back(std::move(group));
                }
            }
            for (auto& worst : piece["worst"]) {
                worst["policy"] = run.name.policy;
                report["worst"].push_back(std::move(worst));
            }
        }
        runs.push_back({{"policy", run.name.policy}, {"seed", run.name.seed}, {"samples", piece["samples"]}});
    }
    report["compare"] = nlohmann::ordered_json::parse(comparisons(), nullptr, false);
    report["partings"] = nlohmann::ordered_json::parse(partings(), nullptr, false);
    report["runs"] = std::move(runs);
    report["policies"] = nlohmann::ordered_json::parse(rows, nullptr, false)["policies"];
    return report.dump() + "\n";
}

Result<void> SimulateReport::write(const fs::path& folder) const {
    std::error_code trouble;
    fs::create_directories(folder, trouble);
    if (trouble) return fail(fmt::format("{}: cannot be made: {}", folder.string(), trouble.message()));
    for (const auto& [name, header] : {std::pair("jobs.csv", kJobsHeader),
                                       std::pair("evictions.csv", kEvictionsHeader),
                                       std::pair("samples.csv", kSamplesHeader)}) {
        if (auto done = concatenate(folder / name, header, runs_, name); !done) return done;
    }
    if (auto done = write_history(folder / "history.csv", runs_); !done) return done;
    std::string summary = "{\"policies\":[";
    for (const RunFiles& run : runs_) {
        const auto row = read_file((run.folder / "summary.json").string());
        if (!row) return std::unexpected(row.error());
        summary += (summary.ends_with('[') ? "\n" : ",\n") + *row;
    }
    summary += "\n]}\n";
    if (auto done = write_file(folder / "summary.json", summary); !done) return done;
    const auto report = report_json(summary);
    if (!report) return std::unexpected(report.error());
    if (auto done = write_file(folder / "report.json", *report); !done) return done;
    const auto page = window::report_html("simulate", *report);
    if (!page) return {};  // a build without the window writes no page
    return write_file(folder / "report.html", *page);
}

std::string SimulateReport::text(const TableStyle& style) const {
    const auto priority = std::ranges::max(numbers_, {}, &Numbers::priority).priority;
    const std::string whose = priority ? fmt::format(" ({})", *priority) : std::string();
    Table table("Policies",
                {{"POLICY", ColumnKind::kWord},
                 {"SEEDS", ColumnKind::kNumber},
                 {"FINISHED", ColumnKind::kNumber},
                 {"EVICTIONS", ColumnKind::kNumber},
                 {"GPU-H LOST", ColumnKind::kNumber},
                 {"GOODPUT", ColumnKind::kNumber},
                 {"UTILISATION", ColumnKind::kNumber},
                 {"WAIT P50" + whose, ColumnKind::kNumber},
                 {"WAIT P99" + whose, ColumnKind::kNumber},
                 {"JCT MEAN", ColumnKind::kNumber},
                 {"OPTIMAL", ColumnKind::kNumber}});
    for (const Policy& policy : job_.policies) {
        const auto mean = [&](double Numbers::* number) { return mean_of(of(policy.name, number)); };
        const auto wait = [&](double Numbers::* number) {
            return knows_waits(policy.name) ? fmt::format("{:.0f} s", mean(number)) : std::string("-");
        };
        const double decisions = mean(&Numbers::decisions);
        Row row;
        for (const std::string& cell :
             {policy.name,
              std::to_string(job_.seed_count),
              fmt::format("{:.0f}", mean(&Numbers::finished)),
              fmt::format("{:.0f}", mean(&Numbers::evictions)),
              fmt::format("{:.1f}", mean(&Numbers::lost)),
              fmt::format("{:.2f} %", 100 * mean(&Numbers::goodput)),
              fmt::format("{:.2f} %", 100 * mean(&Numbers::utilisation)),
              wait(&Numbers::wait_p50),
              wait(&Numbers::wait_p99),
              fmt::format("{:.0f} s", mean(&Numbers::jct)),
              decisions > 0 ? fmt::format("{:.0f} of {:.0f}", mean(&Numbers::optimal), decisions) : std::string("-")})
            row.cells.push_back({cell});
        table.add(std::move(row));
    }
    std::string out;
    table.print(out, style);
    return out;
}

}  // namespace reprieve
