// Every plan of every world: the judge finds nothing, and nothing is left behind. (Orders of facts: order_test.cc.)
#include "actions/cycle.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "laboratory.h"
#include "manifest/plan_json.h"

namespace reprieve::property {
namespace {

std::string wrongs(const Cluster& cluster, const Plan& plan, const SchedulerConfig& config) {
    std::string out;
    for (const Violation& violation : audit(cluster, plan, config))
        out += format_violation(violation) + "\n";
    return out;
}

RC_GTEST_PROP(Cycle, TheJudgeFindsNothingAndNothingIsLeftBehind, ()) {
    const std::vector<Json> world = rarely(3) ? filled_world() : random_world();
    const Json config_text = random_config();
    const SchedulerConfig config = read_config(config_text);
    const auto lab = build(world);
    const Snapshot before = lab->cluster().snapshot();
    const Plan plan = run_cycle(lab->cluster(), config);
    RC_LOG() << as_text(world) << config_text.dump() << "\n" << plan_to_json(plan);
    RC_ASSERT(same_occupation(lab->cluster().snapshot(), before));
    RC_ASSERT(wrongs(lab->cluster(), plan, config) == "");
    RC_ASSERT(difference(plan_to_json(run_cycle(lab->cluster(), config)), plan_to_json(plan)) == "");
}

// Every pending pod is placed or unplaced, never both; nobody is evicted who does not run.
RC_GTEST_PROP(Cycle, EveryPendingPodIsSomewhereOnce, ()) {
    const std::vector<Json> world = rarely(3) ? filled_world() : random_world();
    const SchedulerConfig config = read_config(random_config());
    const auto lab = build(world);
    const Plan plan = run_cycle(lab->cluster(), config);
    std::multiset<std::string> listed;
    for (const Placement& placement : plan.placements)
        listed.insert(placement.pod);
    for (const Unplaced& entry : plan.unplaced)
        listed.insert(entry.pod);
    for (const Json& document : world) {
        if (document["kind"] != "Pod" || document["spec"].contains("nodeName")) continue;
        RC_ASSERT(listed.count("default/" + document["metadata"]["name"].get<std::string>()) == 1U);
    }
    for (const Eviction& eviction : plan.evictions)
        RC_ASSERT(eviction.pod.starts_with("default/r"));
}

}  // namespace
}  // namespace reprieve::property
