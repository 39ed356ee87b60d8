#include "app/simulate_runs.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <thread>

#include "app/inputs.h"
#include "app/stop_signal.h"
#include "base/child_process.h"
#include "simulate/placement.h"
#include "simulate/run_report.h"
#include "text/terminal.h"

namespace reprieve {
namespace {

namespace fs = std::filesystem;

constexpr int kRunFailed = 1;

bool write_text(const fs::path& file, const std::string& text) {
    std::ofstream out(file, std::ios::binary);
    out << text;
    out.close();
    return out.good();
}

// How far each run is, seen by the parent while the children write it.
class SharedProgress {
public:
    explicit SharedProgress(std::size_t runs) : size_(std::max<std::size_t>(runs, 1) * sizeof(double)) {
        void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        parts_ = memory == MAP_FAILED ? nullptr : static_cast<double*>(memory);
    }
    ~SharedProgress() {
        if (parts_ != nullptr) munmap(parts_, size_);
    }
    SharedProgress(const SharedProgress&) = delete;
    SharedProgress& operator=(const SharedProgress&) = delete;
    [[nodiscard]] double* of(std::size_t run) { return parts_ == nullptr ? nullptr : parts_ + run; }

private:
    std::size_t size_;
    double* parts_ = nullptr;
};

// One line on a terminal: how much of all runs is done, and how long the rest takes if it goes on like this.
class RunsBar {
public:
    explicit RunsBar(std::size_t runs)
        : stream_(look_at_stream(STDERR_FILENO)),
          runs_(runs),
          start_(std::chrono::steady_clock::now()) {}
    ~RunsBar() {
        if (drawn_) std::fputs("\r\x1b[K", stderr);
    }
    RunsBar(const RunsBar&) = delete;
    RunsBar& operator=(const RunsBar&) = delete;

    void draw(double done, std::size_t complete) {
        if (!stream_.cursor) return;
        constexpr int kWidth = 30;
        const double part = std::clamp(done / static_cast<double>(runs_), 0.0, 1.0);
        const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
        const auto full = static_cast<std::size_t>(part * kWidth);
        const std::string left =
            part > 0.01 ? fmt::format("{:.0f} s left", spent / part * (1.0 - part)) : std::string("starting");
        const std::string bar = std::string(full, '#') + std::string(kWidth - full, '.');
        fmt::print(stderr, "\r\x1b[K[{}] {:3.0f} %  {} of {} runs, {}", bar, part * 100, complete, runs_, left);
        std::fflush(stderr);
        drawn_ = true;
    }

private:
    OutputStream stream_;
    std::size_t runs_;
    std::chrono::steady_clock::time_point start_;
    bool drawn_ = false;
};

}  // namespace

SimulateRuns::SimulateRuns(const SimulateJob& job, fs::path folder, std::int64_t processes)
    : job_(job),
      folder_(std::move(folder)),
      processes_(static_cast<std::size_t>(
          processes > 0 ? processes : std::max<std::int64_t>(1, std::thread::hardware_concurrency()))) {
    // Runs of another simulation are no help.
    std::error_code ignored;
    const fs::path key = folder_ / "key";
    const auto known = read_file(key.string());
    if (!known || *known != job_.key) fs::remove_all(folder_, ignored);
    fs::create_directories(folder_, ignored);
    write_text(key, job_.key);
    for (const Policy& policy : job_.policies) {
        for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(job_.seed_count); ++seed) {
            runs_.push_back({{policy.name, seed}, folder_ / fmt::format("{}-{}", runs_.size(), seed)});
            if (fs::exists(runs_.back().folder / "summary.json"))
                ++resumed_;
            else
                open_.push_back(runs_.size() - 1);
        }
    }
}

Result<bool> SimulateRuns::run_all() {
    SharedProgress progress(runs_.size());
    RunsBar bar(runs_.size());
    std::map<pid_t, std::size_t> children;
    std::size_t next = 0;
    std::size_t complete = resumed_;
    std::string failure;
    while ((next < open_.size() && failure.empty() && !StopSignal::received()) || !children.empty()) {
        while (children.size() < processes_ && next < open_.size() && failure.empty() && !StopSignal::received()) {
            const std::size_t run = open_[next++];
            const pid_t parent = getpid();
            const pid_t child = fork();
            if (child < 0) return fail("a process could not be started");
            if (child == 0) {
                end_with_parent(parent);
                std::signal(SIGINT, SIG_DFL);
                std::signal(SIGTERM, SIG_DFL);
                run_one(run, progress.of(run));
                _exit(kRunFailed);
            }
            children.emplace(child, run);
        }
        if (StopSignal::received() || !failure.empty()) {
            for (const auto& [child, run] : children)
                kill(child, SIGTERM);
        }
        int status = 0;
        const pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended > 0 && children.contains(ended)) {
            const std::size_t run = children[ended];
            children.erase(ended);
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
                ++complete;
            } else if (failure.empty() && !StopSignal::received()) {
                const auto why = read_file((runs_[run].folder.string() + ".failed"));
                failure = fmt::format("{} (seed {}): {}",
                                      runs_[run].name.policy,
                                      runs_[run].name.seed,
                                      why ? *why : "the run ended before it was done");
            }
            continue;
        }
        double done = static_cast<double>(complete);
        for (const auto& [child, run] : children)
            done += progress.of(run) == nullptr ? 0 : *progress.of(run);
        bar.draw(done, complete);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    if (!failure.empty()) return fail(failure);
    return complete == runs_.size();
}

void SimulateRuns::run_one(std::size_t number, double* progress) const {
    const RunFiles& run = runs_[number];
    const auto& policy = *std::ranges::find(job_.policies, run.name.policy, &Policy::name);
    const SeedTrace& jobs = job_.trace_of(run.name.seed);
    const std::vector<TraceNode> nodes = job_.nodes_of(run.name.seed);
    const auto start = std::chrono::steady_clock::now();
    SimulationOptions options = job_.options;
    options.seed = run.name.seed;
    options.progress = [&](std::size_t done) {
        if (progress != nullptr) *progress = static_cast<double>(done) / static_cast<double>(jobs.trace.jobs.size());
    };
    auto outcome = policy.place ? Result<RunOutcome>(place_all(nodes, jobs.trace, *policy.place, run.name.seed))
                                : simulate(nodes, jobs.trace, jobs.never, policy, options);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::string failed = run.folder.string() + ".failed";
    if (outcome && !outcome->broken.empty()) outcome = fail("conservation: " + outcome->broken);
    if (!outcome) {
        write_text(failed, outcome.error().message);
        _exit(kRunFailed);
    }
    const fs::path draft = run.folder.string() + ".draft";
    std::error_code ignored;
    fs::remove_all(draft, ignored);
    fs::create_directories(draft, ignored);
    const RunSummaryRow row = summarise(run.name, jobs.trace, *outcome, wall);
    const bool written = write_text(draft / "jobs.csv", jobs_rows(run.name, jobs.trace, *outcome)) &&
                         write_text(draft / "evictions.csv", evictions_rows(run.name, jobs.trace, nodes, *outcome)) &&
                         write_text(draft / "samples.csv", samples_rows(run.name, *outcome)) &&
                         write_text(draft / "history.csv", history_rows(jobs.trace, nodes, *outcome)) &&
                         write_text(draft / "report.json", run_report_json(row, jobs.trace, *outcome)) &&
                         write_text(draft / "summary.json", summary_json(row));
    if (!written) {
        write_text(failed, fmt::format("{}: cannot be written", draft.string()));
        _exit(kRunFailed);
    }
    fs::rename(draft, run.folder, ignored);
    _exit(ignored ? kRunFailed : 0);
}

}  // namespace reprieve
