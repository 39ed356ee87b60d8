#include "kube/queue_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kube/bodies.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kQuotaName = "reprieve";
constexpr const char* kApplyPatch = "application/apply-patch+yaml";
constexpr int kNotFound = 404;

}  // namespace

void QueueStatus::take(const Plan& plan) {
    std::erase_if(told_, [&](const auto& one) {
        return std::ranges::find(plan.queues, one.second.queue, &QueueReport::name) == plan.queues.end();
    });
    for (const QueueReport& report : plan.queues) {
        const auto notes = queue_notes(report);
        if (notes.empty()) continue;
        write_status(report.name, notes);
        if (resource_quotas_ && report.shares.contains("preempting"))
            write_quota(report.name, report.shares.at("allocated"));
    }
}

void QueueStatus::write_status(const std::string& queue, const QueueNotes& notes) {
    const auto path = addresses_->queue(queue);
    if (!path) return;
    HttpRequest request;
    request.method = "PATCH";
    request.path = *path;
    request.content_type = kMergePatch;
    request.body = annotations_body({}, notes.set, notes.remove);
    send(queue, std::move(request));
}

// Applied, so that the first time and every other are the same call.
void QueueStatus::write_quota(const std::string& queue, const NamedAmounts& allocated) {
    Json hard = Json::object();
    for (const auto& [resource, quantity] : quantities_of(allocated))
        hard["requests." + resource] = quantity;
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
    Told& told = told_[path];
    if (told.body == request.body) return;
    told = {.queue = queue, .body = request.body};
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
