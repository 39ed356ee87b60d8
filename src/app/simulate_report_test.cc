#include "app/simulate_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "simulate/fit.h"
#include "simulate/read_trace.h"
#include "simulate/run_report.h"

namespace reprieve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Runs as `simulate` leaves them behind, in a folder that is gone afterwards.
class SimulateReportTest : public ::testing::Test {
protected:
    SimulateReportTest() {
        std::string pattern = (std::filesystem::temp_directory_path() / "simulate-report-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    ~SimulateReportTest() override { std::filesystem::remove_all(folder_); }

    void run(const std::string& jobs_csv) {
        job_.nodes = *read_nodes_csv("nodes.csv", "name,gpus\nn,1\n");
        SeedTrace& seed = job_.seeds[1];
        seed.trace = *read_jobs_csv("jobs.csv", jobs_csv);
        seed.never = why_never(job_.nodes, seed.trace);
        for (const char* name : {"none", "kube"}) {
            job_.policies.push_back(*built_in_policy(name));
            const auto outcome = simulate(job_.nodes, seed.trace, seed.never, job_.policies.back(), {});
            ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
            const RunFiles& run = runs_.emplace_back(RunName{name, 1}, folder_ / name);
            std::filesystem::create_directory(run.folder);
            const RunSummaryRow row = summarise(run.name, seed.trace, *outcome, 0);
            std::ofstream(run.folder / "summary.json") << summary_json(row);
            std::ofstream(run.folder / "report.json") << run_report_json(row, seed.trace, *outcome);
            for (const char* table : {"jobs.csv", "evictions.csv", "samples.csv", "history.csv"})
                std::ofstream(run.folder / table) << "";
        }
    }
    [[nodiscard]] std::vector<std::string> compared() const {
        std::ifstream in(folder_ / "out" / "report.json");
        const auto report = nlohmann::json::parse(in);
        std::vector<std::string> metrics;
        for (const auto& row : report["compare"])
            metrics.push_back(row["metric"]);
        return metrics;
    }

    std::filesystem::path folder_;
    SimulateJob job_;
    std::vector<RunFiles> runs_;
};

TEST_F(SimulateReportTest, WaitsAreThoseOfTheHighestPriority) {
    run("job,submit,duration,gpus,priority\na,0,100,1,-5\nb,40,10,1,-7\n");
    const auto report = SimulateReport::read(job_, runs_);
    ASSERT_TRUE(report.has_value());
    EXPECT_THAT(report->text({}), HasSubstr("WAIT P50 (-5)"));
    ASSERT_TRUE(report->write(folder_ / "out").has_value());
    EXPECT_THAT(compared(), ::testing::Contains("waitP50Highest"));
}

TEST_F(SimulateReportTest, WhereNobodyCouldRunThereIsNoPriorityAndNoWait) {
    run("job,submit,duration,gpus\na,0,100,2\n");
    const auto report = SimulateReport::read(job_, runs_);
    ASSERT_TRUE(report.has_value());
    const std::string text = report->text({});
    EXPECT_THAT(text, HasSubstr("  WAIT P50  WAIT P99  "));
    EXPECT_THAT(text, HasSubstr("  -         -  "));
    EXPECT_THAT(text, Not(HasSubstr("922337")));
    ASSERT_TRUE(report->write(folder_ / "out").has_value());
    EXPECT_THAT(compared(), Not(::testing::Contains("waitP50Highest")));
    EXPECT_THAT(compared(), Not(::testing::Contains("waitP99Highest")));
}

}  // namespace
}  // namespace reprieve
