#include "app/plan_command.h"

#include <fmt/format.h>

#include "app/asked_names.h"
#include "app/complaint.h"
#include "app/exit_codes.h"
#include "app/plan_table.h"
#include "manifest/plan_json.h"

namespace reprieve {
namespace {

int complain(const Stop& stop) {
    print_complaint(stop.message);
    return stop.code;
}

void print_plan(const Plan& plan, const std::string& output) {
    if (output == "json")
        fmt::print("{}", plan_to_json(plan));
    else if (output == "yaml")
        fmt::print("{}", plan_to_yaml(plan));
    else
        fmt::print("{}", plan_to_table(plan, table_style()));
}

}  // namespace

int plan_command(const PlanOptions& options) {
    auto planning = Planning::read(options.planning);
    if (!planning) return complain(planning.error());
    if (const auto asked = check_asked_names((*planning)->cluster(), options.only); !asked)
        return complain({asked.error().message});
    const Plan plan = (*planning)->plan(options.only);
    print_plan(plan, options.output);
    return plan.unplaced.empty() ? kExitOk : kExitUnplaced;
}

}  // namespace reprieve
