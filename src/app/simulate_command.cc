#include "app/simulate_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "app/complaint.h"
#include "app/exit_codes.h"
#include "app/folder_lock.h"
#include "app/simulate_job.h"
#include "app/simulate_report.h"
#include "app/simulate_runs.h"
#include "app/stop_signal.h"
#include "text/table.h"
#include "text/terminal.h"

namespace reprieve {
namespace {

namespace fs = std::filesystem;

constexpr int kExitInterrupted = 130;

// Where runs leave their tables: in the folder that was asked for, or in one that is gone afterwards.
class RunsFolder {
public:
    explicit RunsFolder(const std::string& out)
        : temporary_(out.empty()),
          path_(temporary_ ? fs::temp_directory_path() / fmt::format("reprieve-simulate-{}", getpid())
                           : fs::path(out) / ".runs") {}
    ~RunsFolder() {
        if (!temporary_) return;
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    RunsFolder(const RunsFolder&) = delete;
    RunsFolder& operator=(const RunsFolder&) = delete;
    [[nodiscard]] const fs::path& path() const { return path_; }

private:
    bool temporary_;
    fs::path path_;
};

}  // namespace

int simulate_command(const SimulateOptions& options) {
    const auto job = read_simulate_job(options);
    if (!job) {
        print_complaint(job.error().message);
        return job.error().kind == ErrorKind::kUsage ? kExitUsage : kExitFailure;
    }
    for (const std::string& remark : job->remarks)
        print_complaint(remark);
    std::optional<FolderLock> lock;
    if (!options.out.empty()) {
        std::error_code trouble;
        fs::create_directories(options.out, trouble);
        if (trouble) {
            print_complaint(fmt::format("{}: cannot be made: {}", options.out, trouble.message()));
            return kExitFailure;
        }
        auto taken = FolderLock::take(options.out);
        if (!taken) {
            print_complaint(taken.error().message);
            return kExitFailure;
        }
        lock.emplace(std::move(*taken));
    }
    const StopSignal signal;
    const RunsFolder folder(options.out);
    SimulateRuns runs(*job, folder.path(), options.processes);
    if (runs.resumed() > 0) fmt::print("resumed: {} of {} runs were there\n", runs.resumed(), runs.runs().size());
    std::fflush(stdout);
    const auto done = runs.run_all();
    if (!done) {
        print_complaint(done.error().message);
        return kExitFailure;
    }
    if (!*done) {
        print_complaint(options.out.empty() ? "interrupted"
                                            : "interrupted; the same command goes on where this one stopped");
        return kExitInterrupted;
    }
    const auto report = SimulateReport::read(*job, runs.runs());
    if (!report) {
        print_complaint(report.error().message);
        return kExitFailure;
    }
    if (!options.out.empty()) {
        if (auto written = report->write(options.out); !written) {
            print_complaint(written.error().message);
            return kExitFailure;
        }
        std::error_code ignored;
        fs::remove_all(folder.path(), ignored);
    }
    const OutputStream stream = look_at_stream(STDOUT_FILENO);
    fmt::print("{}", report->text({.colour = stream.colour, .width = stream.width}));
    return kExitOk;
}

}  // namespace reprieve
