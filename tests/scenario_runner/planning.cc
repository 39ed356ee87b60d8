#include "planning.h"

#include "actions/cycle.h"
#include "app/exit_codes.h"
#include "app/inputs.h"
#include "audit/audit.h"
#include "loop/plan_id.h"
#include "manifest/plan_json.h"
#include "state/cluster.h"

namespace reprieve::scenario {
namespace {

Planned refused(std::string error) {
    return {.error = std::move(error), .plan = {}, .json = "", .exit = kExitFailure, .violations = {}};
}

Plan one_cycle(Cluster& cluster, const Setup& setup, const std::vector<std::string>& warnings) {
    Plan plan = run_cycle(cluster, setup.config, setup.only);
    plan.id = plan_id(cluster, setup.config_text, setup.only, setup.now);
    plan.warnings.insert(plan.warnings.end(), warnings.begin(), warnings.end());
    sort_plan(plan);
    return plan;
}

}  // namespace

Planned plan_text(const std::string& name, const std::string& text, const Setup& setup) {
    Cluster cluster({.scheduler_names = setup.config.scheduler_names,
                     .topology_levels = setup.config.topology_levels,
                     .queues_by_namespace = setup.config.queues_by_namespace,
                     .trust = setup.config.trust});
    const auto warnings = load_cluster_text(cluster, name, text, setup.now);
    if (!warnings) return refused(warnings.error().message);

    Planned out;
    out.plan = one_cycle(cluster, setup, *warnings);
    out.json = plan_to_json(out.plan);
    out.exit = out.plan.unplaced.empty() ? kExitOk : kExitUnplaced;
    if (plan_to_json(one_cycle(cluster, setup, *warnings)) != out.json)
        out.violations.emplace_back("a second cycle on the same snapshot gives another plan");
    if (setup.only.empty()) {
        for (const Violation& violation : audit(cluster, out.plan, setup.config))
            out.violations.push_back(format_violation(violation));
    }
    return out;
}

Planned plan_documents(const std::vector<Json>& documents, const Setup& setup) {
    const Json list{{"apiVersion", "v1"}, {"kind", "List"}, {"items", documents}};
    return plan_text("documents", list.dump(), setup);
}

}  // namespace reprieve::scenario
