#include "app/plan_command.h"

#include <fmt/format.h>

#include "app/asked_names.h"
#include "app/complaint.h"
#include "app/exit_codes.h"
#include "explain/alternatives.h"
#include "explain/stability.h"
#include "manifest/plan_json.h"
#include "text/alternatives_table.h"
#include "text/plan_table.h"
#include "text/stability_text.h"

namespace reprieve {
namespace {

int complain(const Stop& stop) {
    print_complaint(stop.message);
    return stop.code;
}

std::string plan_text(const Plan& plan, const std::string& output) {
    if (output == "json") return plan_to_json(plan);
    if (output == "yaml") return plan_to_yaml(plan);
    return plan_to_table(plan, table_style());
}

// The plan unchanged, with the others beside it.
std::string alternatives_text(const Alternatives& alternatives, const std::string& output) {
    if (output == "json") return alternatives_to_json(alternatives);
    if (output == "yaml") return alternatives_to_yaml(alternatives);
    std::string out = plan_text(alternatives.plans.front().plan, output) + "\n";
    alternatives_section(alternatives).print(out, table_style());
    return out;
}

// What is asked for beyond the plan is about all that waits.
bool partial(const PlanOptions& options) { return !options.only.empty() && (options.alternatives || options.verify); }

}  // namespace

int plan_command(const PlanOptions& options) {
    if (partial(options)) return complain({"--for goes with neither --alternatives nor --verify", kExitUsage});
    if (options.planning.files.empty() && options.planning.record.empty() && !options.planning.cluster)
        return complain({"-f FILE is missing (or --record DIR)", kExitUsage});
    auto planning = Planning::read(options.planning);
    if (!planning) return complain(planning.error());
    Cluster& cluster = (*planning)->cluster();
    const SchedulerConfig& config = (*planning)->config();
    if (const auto asked = check_asked_names(cluster, options.only); !asked) return complain({asked.error().message});
    const Plan plan = (*planning)->plan(options.only);
    std::string verified;
    if (options.verify) {
        const StabilityReport report = check_stability(cluster, config);
        for (const std::string& violation : report.violations)
            print_complaint("not stable: " + violation);
        if (!report.stable()) return kExitFailure;
        verified = stability_to_text(report, !plan.evictions.empty());
    }
    fmt::print("{}",
               options.alternatives ? alternatives_text(find_alternatives(cluster, config, plan), options.output)
                                    : plan_text(plan, options.output));
    // Scripts read the plan alone.
    if (!verified.empty()) fmt::print(options.output == "table" ? stdout : stderr, "\n{}", verified);
    return plan.unplaced.empty() ? kExitOk : kExitUnplaced;
}

}  // namespace reprieve
