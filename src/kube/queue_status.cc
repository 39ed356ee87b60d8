#include "kube/queue_status.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kube/bodies.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kAllocatedAnnotation = "reprieve.dev/allocated";
constexpr const char* kStatusAnnotation = "reprieve.dev/queue-status";
constexpr const char* kQuotaName = "reprieve";
constexpr const char* kApplyPatch = "application/apply-patch+yaml";
constexpr int kNotFound = 404;

Json resource_list(const NamedAmounts& amounts) {
    Json list = Json::object();
    for (const auto& [resource, amount] : amounts)
        list[resource] = resource == "cpu" ? fmt::format("{}m", amount) : std::to_string(amount);
    return list;
}

std::string status_text(const QueueReport& report) {
    Json status = Json::object();
    for (const char* share : {"deserved", "allocated", "used", "preempting"}) {
        const auto found = report.shares.find(share);
        if (found != report.shares.end()) status[share] = resource_list(found->second);
    }
    return status.dump();
}

}  // namespace

std::string resource_list_text(const NamedAmounts& amounts) { return resource_list(amounts).dump(); }

void QueueStatus::take(const Plan& plan) {
    for (const QueueReport& report : plan.queues) {
        const auto allocated = report.shares.find("allocated");
        if (allocated == report.shares.end() || !report.shares.contains("preempting")) continue;
        write_status(report, allocated->second);
        if (resource_quotas_) write_quota(report.name, allocated->second);
    }
}

void QueueStatus::write_status(const QueueReport& report, const NamedAmounts& allocated) {
    const auto path = addresses_->queue(report.name);
    if (!path) return;
    HttpRequest request;
    request.method = "PATCH";
    request.path = *path;
    request.content_type = kMergePatch;
    request.body = annotations_body(
        {}, {{kAllocatedAnnotation, resource_list_text(allocated)}, {kStatusAnnotation, status_text(report)}}, {});
    send(report.name, std::move(request));
}

// Applied, so that the first time and every other are the same call.
void QueueStatus::write_quota(const std::string& queue, const NamedAmounts& allocated) {
    Json hard = Json::object();
    const auto granted = resource_list(allocated);
    for (const auto& [resource, amount] : granted.items())
        hard["requests." + resource] = amount;
    const Json quota{{"apiVersion", "v1"},
                     {"kind", "ResourceQuota"},
                     {"metadata", {{"name", kQuotaName}, {"namespace", queue}}},
                     {"spec", {{"hard", hard}}}};
    HttpRequest request;
    request.method = "PATCH";
    request.path =
        fmt::format("/api/v1/namespaces/{}/resourcequotas/{}?fieldManager=reprieve&force=true", queue, kQuotaName);
    request.content_type = kApplyPatch;
    request.body = quota.dump();
    send(queue, std::move(request));
}

void QueueStatus::send(const std::string& queue, HttpRequest request) {
    const std::string path = request.path;
    std::string& told = told_[path];
    if (told == request.body) return;
    told = request.body;
    outbox_->call(path, std::move(request), [this, queue, path](const HttpAnswer& answer) {
        // Where there is nothing to write to, the same again would find nothing again.
        if (!answer.ok() && answer.status != kNotFound) told_.erase(path);
        outbox_->report({.step = SinkStep::kStatus,
                         .pod = queue,
                         .uid = {},
                         .ok = answer.ok(),
                         .what = answer.ok() ? std::string() : answer.text()});
    });
}

}  // namespace reprieve
