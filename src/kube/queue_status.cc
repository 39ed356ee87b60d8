#include "kube/queue_status.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kube/bodies.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kAllocatedAnnotation = "reprieve.dev/allocated";
constexpr const char* kStatusAnnotation = "reprieve.dev/queue-status";

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
        const auto path = addresses_->queue(report.name);
        if (!path) continue;
        const std::string body = annotations_body(
            {},
            {{kAllocatedAnnotation, resource_list_text(allocated->second)}, {kStatusAnnotation, status_text(report)}},
            {});
        std::string& told = told_[report.name];
        if (told == body) continue;
        told = body;
        HttpRequest request;
        request.method = "PATCH";
        request.path = *path;
        request.content_type = kMergePatch;
        request.body = body;
        outbox_->call(*path, std::move(request), [this, name = report.name](const HttpAnswer& answer) {
            if (!answer.ok()) told_.erase(name);
            outbox_->report({.step = SinkStep::kStatus,
                             .pod = name,
                             .uid = {},
                             .ok = answer.ok(),
                             .what = answer.ok() ? std::string() : answer.text()});
        });
    }
}

}  // namespace reprieve
