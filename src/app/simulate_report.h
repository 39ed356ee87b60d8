// The files of a simulation put together: tables in the order of the runs, the summary, what the report shows, and the
// table that is printed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/simulate_job.h"
#include "app/simulate_runs.h"
#include "base/result.h"
#include "text/table.h"

namespace reprieve {

// What the runs left behind.
class SimulateReport {
public:
    // Reads the summaries. REQUIRES: all runs are there.
    [[nodiscard]] static Result<SimulateReport> read(const SimulateJob& job, const std::vector<RunFiles>& runs);
    ~SimulateReport();
    SimulateReport(SimulateReport&&) noexcept;

    // summary.json, jobs.csv, evictions.csv, samples.csv, history.csv, report.json and, where the program has its
    // window, report.html.
    [[nodiscard]] Result<void> write(const std::filesystem::path& folder) const;
    [[nodiscard]] std::string text(const TableStyle& style) const;

private:
    struct Numbers;
    SimulateReport(const SimulateJob& job, std::vector<RunFiles> runs);

    [[nodiscard]] std::string comparisons() const;
    [[nodiscard]] std::string partings() const;
    [[nodiscard]] Result<std::string> report_json(const std::string& rows) const;
    [[nodiscard]] std::vector<double> of(const std::string& policy, double Numbers::* number) const;
    // Whether somebody could wait in every run of that policy.
    [[nodiscard]] bool knows_waits(const std::string& policy) const;

    const SimulateJob& job_;
    std::vector<RunFiles> runs_;
    std::vector<Numbers> numbers_;  // of each run
};

}  // namespace reprieve
