#include "story.h"

#include <rapidcheck.h>

#include <algorithm>

namespace reprieve::property {

Story::Story(std::vector<Json> world, Json config) : config_(std::move(config)), world_(std::move(world), kNow) {
    setup_.config = read_config(config_);
    setup_.config_text = config_.dump();
}

Json Story::cycle() {
    setup_.now = world_.now();
    const scenario::Planned planned = scenario::plan_documents(world_.documents(), setup_);
    RC_LOG() << "--- cycle\n" << as_text(world_.documents()) << config_.dump() << "\n" << planned.json << "\n";
    RC_ASSERT(planned.error == "");
    for (const std::string& violation : planned.violations)
        RC_FAIL(violation);
    Json plan = Json::parse(planned.json);
    scenario::Faults faults;
    world_.follow(plan, faults);
    for (const std::string& fault : faults)
        RC_FAIL(fault);
    return plan;
}

void Story::return_victims() {
    scenario::Faults faults;
    world_.happen({{"victimsReturn", true}}, faults);
}

bool binds(const Json& plan) {
    return std::ranges::any_of(plan["placements"], [](const Json& p) { return p["when"] == "now"; });
}

}  // namespace reprieve::property
