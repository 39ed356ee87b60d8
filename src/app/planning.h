// Planning: what every command that plans has in common: the time, the configuration, the facts, and one cycle on them.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/exit_codes.h"
#include "app/run_ports.h"
#include "base/time.h"
#include "model/config.h"
#include "model/plan.h"
#include "record/rebuild.h"
#include "state/cluster.h"

namespace reprieve {

struct PlanningOptions {
    std::optional<KubeTarget> cluster;  // read from there, instead of from files
    std::vector<std::string> files;
    std::string config_file;
    std::string now;         // empty: the clock
    bool strict = false;     // unknown fields are errors
    std::string record;      // plan a cycle of this record instead of files
    std::string at;          // the last cycle at or before this time; empty: see `cycle`
    std::int64_t cycle = 0;  // this cycle; 0: the last
};

// Whose pods are ours on a cluster, where no configuration says so.
inline constexpr const char* kSchedulerName = "reprieve";

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

    [[nodiscard]] Cluster& cluster() { return rebuilt_ ? rebuilt_->cluster() : cluster_; }
    [[nodiscard]] const SchedulerConfig& config() const { return config_; }

private:
    Planning(SchedulerConfig config, std::string config_text, Time now);
    [[nodiscard]] static std::expected<std::unique_ptr<Planning>, Stop> read_record(const PlanningOptions& options);

    SchedulerConfig config_;
    std::string config_text_;
    Time now_;
    Cluster cluster_;
    std::vector<std::string> warnings_;
    std::unique_ptr<Rebuild> rebuilt_;  // of a cycle of a record; then cluster_ is not used
    RecordedCycle recorded_;
    bool other_config_ = false;  // than the recorded one
};

// The time that was given; else the machine's, in whole seconds, as Kubernetes writes them.
[[nodiscard]] std::expected<Time, Stop> planning_time(const std::string& now);

}  // namespace reprieve
