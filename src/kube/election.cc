#include "kube/election.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kube/bodies.h"
#include "kube/json_parts.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t number_at(const nlohmann::json& from, const char* key) {
    return from.contains(key) && from[key].is_number_integer() ? from[key].get<std::int64_t>() : 0;
}

}  // namespace

std::optional<LeaseRecord> read_lease(const std::string& body) {
    const nlohmann::json lease = nlohmann::json::parse(body, nullptr, false);
    if (!lease.is_object() || text_at(lease, "kind") != "Lease" || !lease.contains("metadata")) return std::nullopt;
    LeaseRecord record;
    record.version = text_at(lease["metadata"], "resourceVersion");
    if (!lease.contains("spec") || !lease["spec"].is_object()) return record;
    const nlohmann::json& spec = lease["spec"];
    record.holder = text_at(spec, "holderIdentity");
    record.duration_seconds = number_at(spec, "leaseDurationSeconds");
    record.acquire_time = text_at(spec, "acquireTime");
    record.renew_time = text_at(spec, "renewTime");
    record.transitions = number_at(spec, "leaseTransitions");
    return record;
}

std::string lease_body(const ElectionOptions& options, const LeaseRecord& record) {
    Json metadata = {{"name", options.name}, {"namespace", options.ns}};
    if (!record.version.empty()) metadata["resourceVersion"] = record.version;
    Json spec = {{"holderIdentity", record.holder},
                 {"leaseDurationSeconds", record.duration_seconds},
                 {"acquireTime", record.acquire_time},
                 {"renewTime", record.renew_time},
                 {"leaseTransitions", record.transitions}};
    return Json{{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}, {"metadata", metadata}, {"spec", spec}}
        .dump();
}

LeaseRecord Election::our_record(Time wall) const {
    LeaseRecord record = seen_;
    const bool ours = exists_ && seen_.holder == options_.identity;
    record.holder = options_.identity;
    // Rounded up: others may not take over before we have stopped.
    constexpr std::int64_t kSecond = 1'000'000;
    record.duration_seconds = std::max<std::int64_t>((options_.duration.us + kSecond - 1) / kSecond, 1);
    record.renew_time = micro_time(wall);
    if (!ours) record.acquire_time = record.renew_time;
    if (!ours && exists_) ++record.transitions;
    return record;
}

Election::Todo Election::next(Duration now, Time wall) {
    if (!fresh_) return {Step::kRead, {}};
    if (!exists_) return {Step::kCreate, our_record(wall)};
    if (seen_.holder == options_.identity || seen_.holder.empty()) return {Step::kWrite, our_record(wall)};
    const std::int64_t lasts = std::max<std::int64_t>(seen_.duration_seconds, 1) * 1'000'000;
    if (now.us - changed_.us > lasts) return {Step::kWrite, our_record(wall)};
    fresh_ = false;  // look again next time
    return {Step::kWait, {}};
}

void Election::note(const LeaseRecord& record, Duration now) {
    if (!exists_ || !(record == seen_)) changed_ = now;
    seen_ = record;
    exists_ = true;
    fresh_ = true;
}

void Election::read(const std::optional<LeaseRecord>& found, Duration now) {
    if (found) {
        note(*found, now);
        if (found->holder != options_.identity) leads_until_ = {};
        return;
    }
    exists_ = false;
    fresh_ = true;
    seen_ = {};
}

void Election::written(const LeaseRecord& stored, Duration sent, Duration now) {
    note(stored, now);
    leads_until_ = {sent.us + options_.deadline.us};
}

void Election::refused() { fresh_ = false; }

std::optional<LeaseRecord> Election::resignation(Time wall) {
    leads_until_ = {};
    if (!exists_ || seen_.holder != options_.identity) return std::nullopt;
    LeaseRecord record = seen_;
    record.holder.clear();
    record.duration_seconds = 1;
    record.renew_time = micro_time(wall);
    return record;
}

}  // namespace reprieve
