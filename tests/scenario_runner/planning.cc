#include "planning.h"

#include <fmt/format.h>

#include <optional>

#include "actions/cycle.h"
#include "app/exit_codes.h"
#include "app/inputs.h"
#include "audit/audit.h"
#include "manifest/load.h"
#include "manifest/plan_json.h"
#include "state/cluster.h"

namespace reprieve::scenario {
namespace {

Planned refused(std::string error) {
    return {.error = std::move(error), .plan = {}, .json = "", .exit = kExitFailure, .violations = {}};
}

std::vector<std::string> sentences(const LoadReport& report) {
    std::vector<std::string> out;
    for (const auto& [kind, count] : report.ignored)
        out.push_back(fmt::format("ignored {} object{} of kind {}", count, count == 1 ? "" : "s", kind));
    for (const auto& [what, count] : report.warnings)
        out.push_back(count == 1 ? what : fmt::format("{} ({} times)", what, count));
    return out;
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
    Cluster cluster({.scheduler_names = setup.config.scheduler_names, .topology_levels = setup.config.topology_levels});
    std::optional<std::string> conflict;
    Loader loader(cluster.words(), [&](Object&& object, const SourceRef&) {
        if (conflict) return;
        if (const auto added = cluster.add(std::move(object)); !added) conflict = added.error().message;
    });
    loader.on_document("Expect", [](std::string_view, std::string_view, const SourceRef&) {});
    if (const auto loaded = loader.load_text(name, text); !loaded) return refused(loaded.error().text());
    if (conflict) return refused(*conflict);
    if (const auto refreshed = cluster.refresh(setup.now); !refreshed) return refused(refreshed.error().message);

    const std::vector<std::string> warnings = sentences(loader.report());
    Planned out;
    out.plan = one_cycle(cluster, setup, warnings);
    out.json = plan_to_json(out.plan);
    out.exit = out.plan.unplaced.empty() ? kExitOk : kExitUnplaced;
    if (plan_to_json(one_cycle(cluster, setup, warnings)) != out.json)
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
