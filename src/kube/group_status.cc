#include "kube/group_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kube/announcer.h"
#include "kube/bodies.h"
#include "kube/json_parts.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kCoreCondition = "PodGroupInitiallyScheduled";
constexpr const char* kOlderCoreCondition = "PodGroupScheduled";  // before v1beta1

// The others have controllers of their own that speak for them.
bool is_told(const GangAddress& address) {
    return address.dialect == GangDialect::kCore || address.dialect == GangDialect::kVolcano;
}

bool is_running(std::string_view phase) { return phase == "Running" || phase == "Completed"; }

// Members that are missing later are another matter.
bool was_scheduled(const GangAddress& address) { return address.initially_scheduled || is_running(address.phase); }

Json core_status(
    const GangAddress& address, bool scheduled, const std::string& reason, const std::string& message, Time now) {
    const bool older = address.path.find("/v1alpha2/") != std::string::npos;
    const char* type = older ? kOlderCoreCondition : kCoreCondition;
    return {{"conditions", Json::array({condition(type, scheduled ? "True" : "False", reason, message, now)})}};
}

Json volcano_status(const GangAddress& address, bool scheduled, const std::string& message, Time now) {
    // While some of it runs and the rest has no place, Volcano's word is Unknown.
    const std::string waiting = address.phase == "Unknown" ? "Unknown" : "Inqueue";
    return {{"phase", scheduled ? "Running" : waiting},
            {"conditions",
             Json::array({condition(scheduled ? "Scheduled" : "Unschedulable",
                                    "True",
                                    scheduled ? "tasks in gang are ready to be scheduled" : "NotEnoughResources",
                                    message,
                                    now)})}};
}

// What becomes of a Volcano group that was running; one that waits is spoken of by plans.
std::string later_phase(const GangAddress& address, const GangCount& count) {
    if (address.phase != "Running" && address.phase != "Unknown") return address.phase;
    if (count.placed < address.min_members) return count.running > 0 ? "Unknown" : "Inqueue";
    const bool is_over = count.succeeded > 0 && count.succeeded + count.failed == count.members;
    return is_over ? "Completed" : address.phase;
}

std::string body_of(const Json& status) {
    return Json{{"status", status}}.dump(-1, ' ', false, Json::error_handler_t::replace);
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
    if (complete) tell(gang, all_bound(), now);
}

GroupStatus::Verdict GroupStatus::all_bound() {
    return {true, "Scheduled", "all members that the gang needs are bound"};
}

void GroupStatus::tell(const std::string& gang, Verdict verdict, Time now) {
    const auto address = addresses_->gang(gang);
    if (!address) return forget(gang);
    if (!is_told(*address)) return;
    if (was_scheduled(*address)) return;
    Verdict& told = told_[gang];
    if (told == verdict || (told.scheduled && !verdict.scheduled)) return;
    told = verdict;
    const bool is_core = address->dialect == GangDialect::kCore;
    const Json status = is_core ? core_status(*address, verdict.scheduled, verdict.reason, verdict.message, now)
                                : volcano_status(*address, verdict.scheduled, verdict.message, now);
    send(gang, *address, body_of(status));
}

void GroupStatus::count(const std::string& gang, const GangCount& count, Time now) {
    const auto address = addresses_->gang(gang);
    if (!address) return forget(gang);
    if (!is_told(*address)) return;
    // Bound by us, and perhaps by whoever acted before us and died before it could say so.
    if (count.placed >= std::max(address->min_members, 1)) tell(gang, all_bound(), now);
    if (address->dialect == GangDialect::kVolcano) tell_numbers(gang, *address, count);
}

void GroupStatus::let_in(const std::vector<std::string>& gangs) {
    std::map<std::string, std::string> outside;
    for (const std::string& gang : gangs) {
        const auto address = addresses_->gang(gang);
        if (!address) continue;
        outside.emplace(gang, address->version);
        const auto before = let_in_.find(gang);
        if (before != let_in_.end() && before->second == address->version) continue;
        // Its controller may be writing as well: what we have not seen is not overwritten.
        const Json body = {{"metadata", {{"resourceVersion", address->version}}}, {"status", {{"phase", "Inqueue"}}}};
        send(gang, *address, body.dump());
    }
    let_in_ = std::move(outside);
}

void GroupStatus::tell_numbers(const std::string& gang, const GangAddress& address, const GangCount& count) {
    if (address.phase == "Completed") return;
    const std::string phase = later_phase(address, count);
    const bool is_known = phase == address.phase && count.running == address.running &&
                          count.succeeded == address.succeeded && count.failed == address.failed;
    Json status = {{"running", count.running}, {"succeeded", count.succeeded}, {"failed", count.failed}};
    if (phase != address.phase) status["phase"] = phase;
    std::string body = body_of(status);
    std::string& told = numbers_[gang];
    if (is_known || told == body) return;
    told = body;
    if (!is_running(phase)) told_.erase(gang);  // it has to be placed again
    send(gang, address, body);
}

void GroupStatus::send(const std::string& gang, const GangAddress& address, const std::string& body) {
    HttpRequest request;
    request.method = "PATCH";
    request.path = address.path + "/status";
    request.content_type = address.dialect == GangDialect::kCore ? kStrategicPatch : kMergePatch;
    request.body = body;
    outbox_->tell(std::move(request), [this, gang](const HttpAnswer& answer) {
        outbox_->report({.step = SinkStep::kStatus,
                         .pod = gang,
                         .uid = {},
                         .ok = answer.ok(),
                         .what = answer.ok() ? std::string() : answer.text()});
        if (!answer.ok()) not_told(gang, answer);
    });
}

void GroupStatus::forget(const std::string& gang) {
    told_.erase(gang);
    numbers_.erase(gang);
    let_in_.erase(gang);
    waiting_.erase(gang);
}

void GroupStatus::not_told(const std::string& gang, const HttpAnswer& answer) {
    told_.erase(gang);
    numbers_.erase(gang);
    let_in_.erase(gang);
    const bool is_gone = answer.status == 404;
    if (census_ == nullptr || is_gone) return;
    outbox_->run_after(again_, [this, gang] { census_->see_group(gang); });
}

}  // namespace reprieve
