#include "kube/group_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kube/announcer.h"
#include "kube/bodies.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kCoreCondition = "PodGroupInitiallyScheduled";
constexpr const char* kOlderCoreCondition = "PodGroupScheduled";  // before v1beta1

Json condition(const char* type, const char* status, const std::string& reason, const std::string& message, Time now) {
    return {{"type", type},
            {"status", status},
            {"reason", reason},
            {"message", message},
            {"lastTransitionTime", condition_time(now)}};
}

}  // namespace

void GroupStatus::take(const Plan& plan) {
    std::set<std::string> placed;
    std::set<std::string> waiting;
    for (const Placement& placement : plan.placements) {
        if (placement.owner.empty()) continue;
        placed.insert(placement.owner);
        if (placement.after_evictions)
            waiting.insert(placement.owner);
        else
            ++binding_[placement.owner].open;
    }
    for (const std::string& gang : waiting) {
        if (const auto found = binding_.find(gang); found != binding_.end()) found->second.complete = false;
        tell_that_it_waits(gang, plan);
    }
    for (const Unplaced& entry : plan.unplaced) {
        // Beside members that have a place, those without are surplus.
        if (entry.owner.empty() || entry.pod.empty() || placed.contains(entry.owner)) continue;
        waiting_.erase(entry.owner);
        tell(entry.owner, {false, "Unschedulable", Announcer::why(entry)}, plan.now);
    }
}

// Plans that follow evict nobody more for it: what the first one said still holds.
void GroupStatus::tell_that_it_waits(const std::string& gang, const Plan& plan) {
    const auto victims = std::ranges::count(plan.evictions, gang, &Eviction::owner);
    const bool is_news = waiting_.insert(gang).second;
    if (victims == 0 && !is_news) return;
    tell(gang,
         {false,
          "Unschedulable",
          victims == 0 ? std::string("waits for pods that are leaving")
                       : fmt::format("waits for {} preempted pods to leave", victims)},
         plan.now);
}

void GroupStatus::member_ended(const std::string& gang, bool bound, Time now) {
    const auto found = binding_.find(gang);
    if (found == binding_.end()) return;
    Binding& binding = found->second;
    binding.complete = binding.complete && bound;
    if (--binding.open > 0) return;
    const bool complete = binding.complete;
    binding_.erase(found);
    waiting_.erase(gang);
    if (complete) tell(gang, {true, "Scheduled", "all members that the gang needs are bound"}, now);
}

void GroupStatus::tell(const std::string& gang, Verdict verdict, Time now) {
    const auto address = addresses_->gang(gang);
    if (!address) {
        told_.erase(gang);
        return;
    }
    const bool is_core = address->dialect == GangDialect::kCore;
    if (!is_core && address->dialect != GangDialect::kVolcano) return;
    // What once was scheduled stays so: members that are missing later are another matter.
    const bool was_scheduled =
        address->initially_scheduled || address->phase == "Running" || address->phase == "Completed";
    if (was_scheduled) return;
    Verdict& told = told_[gang];
    if (told == verdict || (told.scheduled && !verdict.scheduled)) return;
    told = verdict;

    Json status = Json::object();
    if (is_core) {
        const bool older = address->path.find("/v1alpha2/") != std::string::npos;
        status["conditions"] = Json::array({condition(older ? kOlderCoreCondition : kCoreCondition,
                                                      verdict.scheduled ? "True" : "False",
                                                      verdict.reason,
                                                      verdict.message,
                                                      now)});
    } else {
        status["phase"] = verdict.scheduled ? "Running" : "Inqueue";
        status["conditions"] =
            Json::array({condition(verdict.scheduled ? "Scheduled" : "Unschedulable",
                                   "True",
                                   verdict.scheduled ? "tasks in gang are ready to be scheduled" : "NotEnoughResources",
                                   verdict.message,
                                   now)});
    }
    HttpRequest request;
    request.method = "PATCH";
    request.path = address->path + "/status";
    request.content_type = is_core ? kStrategicPatch : kMergePatch;
    request.body = Json{{"status", status}}.dump(-1, ' ', false, Json::error_handler_t::replace);
    outbox_->tell(std::move(request), [this, gang](const HttpAnswer& answer) {
        outbox_->report({.step = SinkStep::kStatus,
                         .pod = gang,
                         .uid = {},
                         .ok = answer.ok(),
                         .what = answer.ok() ? std::string() : answer.text()});
        if (!answer.ok()) told_.erase(gang);
    });
}

}  // namespace reprieve
