// Planning: what every command that plans has in common: the time, the configuration, the facts, and one cycle on them.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "app/exit_codes.h"
#include "base/time.h"
#include "model/config.h"
#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve {

struct PlanningOptions {
    std::vector<std::string> files;
    std::string config_file;
    std::string now;      // empty: the clock
    bool strict = false;  // unknown fields are errors
};

// Why a command ends early: a sentence, and the exit code.
struct Stop {
    std::string message;
    int code = kExitFailure;
};

class Planning {
public:
    // Reads everything; what is wrong is told with the file and the object.
    [[nodiscard]] static std::expected<std::unique_ptr<Planning>, Stop> read(const PlanningOptions& options);

    // One cycle for these names (empty: for all), audited if it is for all, with its id.
    [[nodiscard]] Plan plan(const std::vector<std::string>& only = {});

    [[nodiscard]] Cluster& cluster() { return cluster_; }
    [[nodiscard]] const SchedulerConfig& config() const { return config_; }

private:
    Planning(SchedulerConfig config, std::string config_text, Time now);

    SchedulerConfig config_;
    std::string config_text_;
    Time now_;
    Cluster cluster_;
    std::vector<std::string> warnings_;
};

// The time that was given; else the machine's, in whole seconds, as Kubernetes writes them.
[[nodiscard]] std::expected<Time, Stop> planning_time(const std::string& now);

}  // namespace reprieve
