#include <nlohmann/json.hpp>

#include "explain/alternatives.h"
#include "manifest/plan_json.h"
#include "manifest/plan_yaml.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Plan& plan) { return Json::parse(plan_to_json(plan)); }

Json json_of(const Alternative& a, const std::string& resource) {
    Json out = Json::object();
    out["name"] = a.name;
    out["pods"] = a.pods;
    out["jobsBroken"] = a.jobs_broken;
    out["pdbViolations"] = a.pdb_violations;
    if (a.pods > 0) out["highestPriority"] = a.highest_priority;
    out["lostWork"] = a.lost_work;
    out["lostResource"] = resource;
    out["secondsUntilFree"] = a.seconds_until_free;
    out["unplaced"] = a.unplaced;
    out["evicted"] = Json::array();
    for (const Eviction& e : a.plan.evictions)
        out["evicted"].push_back(e.pod);
    // What was paid for whom, in the order of costs that this one was made with.
    const Json plan = json_of(a.plan);
    out["certificates"] = plan["certificates"];
    out["placements"] = plan["placements"];
    return out;
}

Json document(const Alternatives& alternatives) {
    Json out = Json::object();
    out["apiVersion"] = "reprieve.dev/v1";
    out["kind"] = "PlanAlternatives";
    out["plan"] = json_of(alternatives.plans.front().plan);
    out["alternatives"] = Json::array();
    for (const Alternative& a : alternatives.plans)
        out["alternatives"].push_back(json_of(a, alternatives.lost_resource));
    return out;
}

}  // namespace

std::string alternatives_to_json(const Alternatives& alternatives) { return document(alternatives).dump(2) + "\n"; }

std::string alternatives_to_yaml(const Alternatives& alternatives) { return yaml_of(document(alternatives)); }

}  // namespace reprieve
