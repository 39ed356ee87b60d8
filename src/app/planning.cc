#include "app/planning.h"

#include <chrono>

#include "actions/cycle.h"
#include "app/cluster_look.h"
#include "app/complaint.h"
#include "app/inputs.h"
#include "app/record_commands.h"
#include "audit/audit.h"
#include "base/check.h"
#include "loop/plan_id.h"
#include "manifest/config.h"
#include "record/replay.h"

namespace reprieve {
namespace {

// A plan that breaks a rule is a defect of ours: better no plan than that.
void check_plan(const Cluster& cluster, const Plan& plan, const SchedulerConfig& config) {
    const std::vector<Violation> violations = audit(cluster, plan, config);
    for (const Violation& v : violations)
        print_complaint("audit: " + format_violation(v));
    REPRIEVE_CHECK(violations.empty(), "the plan breaks {} rule(s)", violations.size());
}

}  // namespace

std::expected<Time, Stop> planning_time(const std::string& now) {
    if (now.empty()) {
        const auto since = std::chrono::system_clock::now().time_since_epoch();
        return Time{std::chrono::duration_cast<std::chrono::seconds>(since).count() * 1'000'000};
    }
    const auto given = parse_time(now);
    if (!given) return std::unexpected(Stop{"--now: " + given.error().message, kExitUsage});
    return *given;
}

Planning::Planning(SchedulerConfig config, std::string config_text, Time now)
    : config_(std::move(config)),
      config_text_(std::move(config_text)),
      now_(now),
      cluster_({.scheduler_names = config_.scheduler_names,
                .topology_levels = config_.topology_levels,
                .queues_by_namespace = config_.queues_by_namespace,
                .trust = config_.trust}) {}

std::expected<std::unique_ptr<Planning>, Stop> Planning::read(const PlanningOptions& options) {
    if (!options.record.empty()) return read_record(options);
    if (!options.at.empty() || options.cycle != 0)
        return std::unexpected(Stop{"--at and --cycle go with --record", kExitUsage});
    const auto now = planning_time(options.now);
    if (!now) return std::unexpected(now.error());
    std::string text;
    SchedulerConfig config;
    if (!options.config_file.empty()) {
        auto read = read_file(options.config_file);
        if (!read) return std::unexpected(Stop{read.error().message});
        auto parsed = parse_config(*read, options.config_file);
        if (!parsed) return std::unexpected(Stop{parsed.error().message});
        text = std::move(*read);
        config = std::move(*parsed);
    }
    if (options.cluster && config.scheduler_names.empty()) config.scheduler_names = {kSchedulerName};
    std::unique_ptr<Planning> out(new Planning(std::move(config), std::move(text), *now));
    if (options.cluster) {
        const auto seen = look_at_cluster(*options.cluster, out->config_, out->cluster_);
        if (!seen) return std::unexpected(Stop{seen.error().message});
        out->now_ = *seen;
        return out;
    }
    auto warnings = load_cluster(out->cluster_, options.files, *now, options.strict);
    if (!warnings) return std::unexpected(Stop{warnings.error().message});
    out->warnings_ = std::move(*warnings);
    return out;
}

std::expected<std::unique_ptr<Planning>, Stop> Planning::read_record(const PlanningOptions& options) {
    if (!options.files.empty()) return std::unexpected(Stop{"-f and --record exclude each other", kExitUsage});
    if (!options.now.empty())
        return std::unexpected(Stop{"--now is a cycle's own in a record: choose one with --at or --cycle", kExitUsage});
    auto reader = open_record(options.record);
    if (!reader) return std::unexpected(reader.error());
    const auto cycle = find_cycle(**reader, options.at, options.cycle);
    if (!cycle) return std::unexpected(cycle.error());
    tell_gaps_between(**reader, cycle->at, options.at);
    auto text = options.config_file.empty() ? (*reader)->config_text(*cycle) : read_file(options.config_file);
    if (!text) return std::unexpected(Stop{text.error().message});
    auto config =
        running_config(*text, options.config_file.empty() ? "the recorded configuration" : options.config_file);
    if (!config) return std::unexpected(Stop{config.error().message});
    auto rebuilt = rebuild_at(**reader, *cycle, *config);
    if (!rebuilt) return std::unexpected(Stop{rebuilt.error().message});
    std::unique_ptr<Planning> out(new Planning(std::move(*config), std::move(*text), cycle->at));
    out->rebuilt_ = std::move(*rebuilt);
    out->recorded_ = *cycle;
    out->other_config_ = !options.config_file.empty();
    return out;
}

Plan Planning::plan(const std::vector<std::string>& only) {
    if (rebuilt_) {
        Plan plan =
            only.empty() ? plan_again(cluster(), config_, recorded_.inputs) : run_cycle(cluster(), config_, only);
        // The digest of what the cycle saw is in its own id; anything else is named after that.
        plan.id = only.empty() && !other_config_
                      ? recorded_.plan_id
                      : plan_id(cluster(), recorded_.plan_id + "\n" + config_text_, only, now_);
        sort_plan(plan);
        if (only.empty() && recorded_.sound) check_plan(cluster(), plan, config_);
        return plan;
    }
    Plan plan = run_cycle(cluster_, config_, only);
    plan.id = plan_id(cluster_, config_text_, only, now_);
    plan.warnings.insert(plan.warnings.end(), warnings_.begin(), warnings_.end());
    sort_plan(plan);
    if (only.empty()) check_plan(cluster_, plan, config_);
    return plan;
}

}  // namespace reprieve
