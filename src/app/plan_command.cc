#include "app/plan_command.h"

#include <fmt/format.h>

#include <chrono>

#include "actions/cycle.h"
#include "app/asked_names.h"
#include "app/complaint.h"
#include "app/exit_codes.h"
#include "app/inputs.h"
#include "app/plan_table.h"
#include "app/terminal.h"
#include "audit/audit.h"
#include "base/check.h"
#include "manifest/config.h"
#include "manifest/plan_json.h"

namespace reprieve {
namespace {

Time machine_time() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    // Whole seconds, as Kubernetes writes them.
    return {std::chrono::duration_cast<std::chrono::seconds>(since).count() * 1'000'000};
}

int complain(const std::string& message) {
    print_complaint(message);
    return kExitFailure;
}

// A plan that breaks a rule is a defect of ours: better no plan than that.
void check_plan(const Cluster& cluster, const Plan& plan, const SchedulerConfig& config) {
    const std::vector<Violation> violations = audit(cluster, plan, config);
    for (const Violation& v : violations)
        print_complaint("audit: " + format_violation(v));
    REPRIEVE_CHECK(violations.empty(), "the plan breaks {} rule(s)", violations.size());
}

}  // namespace

int plan_command(const PlanOptions& options) {
    Time now = machine_time();
    if (!options.now.empty()) {
        const auto given = parse_time(options.now);
        if (!given) {
            print_complaint("--now: " + given.error().message);
            return kExitUsage;
        }
        now = *given;
    }
    std::string config_text;
    SchedulerConfig config;
    if (!options.config_file.empty()) {
        const auto text = read_file(options.config_file);
        if (!text) return complain(text.error().message);
        auto parsed = parse_config(*text, options.config_file);
        if (!parsed) return complain(parsed.error().message);
        config_text = *text;
        config = std::move(*parsed);
    }
    Cluster cluster({.scheduler_names = config.scheduler_names, .topology_levels = config.topology_levels});
    const auto warnings = load_cluster(cluster, options.files, now);
    if (!warnings) return complain(warnings.error().message);
    if (const auto asked = check_asked_names(cluster, options.only); !asked) return complain(asked.error().message);

    Plan plan = run_cycle(cluster, config, options.only);
    plan.id = plan_id(cluster, config_text, options.only, now);
    plan.warnings.insert(plan.warnings.end(), warnings->begin(), warnings->end());
    sort_plan(plan);
    if (options.only.empty()) check_plan(cluster, plan, config);

    if (options.output == "json")
        fmt::print("{}", plan_to_json(plan));
    else if (options.output == "yaml")
        fmt::print("{}", plan_to_yaml(plan));
    else
        fmt::print("{}", plan_to_table(plan, table_style()));
    return plan.unplaced.empty() ? kExitOk : kExitUnplaced;
}

}  // namespace reprieve
