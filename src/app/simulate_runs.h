// SimulateRuns: each policy with each seed in a process of its own, as many at once as there are cores.
//
// A run leaves its tables in a folder of its own, put there in one step when it is complete. So whoever starts the same
// simulation again, after it was interrupted, finds what is done and goes on with the rest; and the files in the end
// are put together in the order of policies and seeds, whichever run came first.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/simulate_job.h"
#include "simulate/results.h"

namespace reprieve {

struct RunFiles {
    RunName name;
    std::filesystem::path folder;
};

class SimulateRuns {
public:
    SimulateRuns(const SimulateJob& job, std::filesystem::path folder, std::int64_t processes);

    // The runs that were there already.
    [[nodiscard]] std::size_t resumed() const { return resumed_; }
    [[nodiscard]] const std::vector<RunFiles>& runs() const { return runs_; }

    // Until all are there, one failed, or somebody stopped it (false).
    [[nodiscard]] Result<bool> run_all();

private:
    void run_one(std::size_t run, double* progress) const;

    const SimulateJob& job_;
    std::filesystem::path folder_;
    std::size_t processes_;
    std::vector<RunFiles> runs_;
    std::vector<std::size_t> open_;
    std::size_t resumed_ = 0;
};

}  // namespace reprieve
