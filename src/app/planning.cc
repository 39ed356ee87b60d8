#include "app/planning.h"

#include <chrono>

#include "actions/cycle.h"
#include "app/complaint.h"
#include "app/inputs.h"
#include "audit/audit.h"
#include "base/check.h"
#include "manifest/config.h"

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
                .queues_by_namespace = config_.queues_by_namespace}) {}

std::expected<std::unique_ptr<Planning>, Stop> Planning::read(const PlanningOptions& options) {
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
    std::unique_ptr<Planning> out(new Planning(std::move(config), std::move(text), *now));
    auto warnings = load_cluster(out->cluster_, options.files, *now, options.strict);
    if (!warnings) return std::unexpected(Stop{warnings.error().message});
    out->warnings_ = std::move(*warnings);
    return out;
}

Plan Planning::plan(const std::vector<std::string>& only) {
    Plan plan = run_cycle(cluster_, config_, only);
    plan.id = plan_id(cluster_, config_text_, only, now_);
    plan.warnings.insert(plan.warnings.end(), warnings_.begin(), warnings_.end());
    sort_plan(plan);
    if (only.empty()) check_plan(cluster_, plan, config_);
    return plan;
}

}  // namespace reprieve
