#include "kube/second_look.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace reprieve {
namespace {

constexpr int kMostLooks = 30;
constexpr Duration kBetween{2'000'000};  // at most, and at least half of it

nlohmann::json metadata_in(const std::string& body) {
    const nlohmann::json object = nlohmann::json::parse(body, nullptr, false);
    return object.is_object() ? object.value("metadata", nlohmann::json()) : nlohmann::json();
}

}  // namespace

void SecondLook::start() {
    ++looks_;
    HttpRequest request;
    request.path = path_;
    request.brief = true;
    request.patience = {};
    client_->send(owner_, std::move(request), [self = shared_from_this()](const HttpAnswer& answer) {
        const auto end = self->read(answer);
        if (end || self->looks_ == kMostLooks) return self->seen_(end);
        const Duration pause = std::max(self->client_->jitter().soften(kBetween), answer.retry_after);
        self->client_->run_after(self->owner_, pause, [self] { self->start(); });
    });
}

std::optional<WriteEnd> SecondLook::read(const HttpAnswer& answer) const {
    if (answer.status == 404) return WriteEnd::kGone;
    if (!answer.ok()) return std::nullopt;
    const nlohmann::json metadata = metadata_in(answer.body);
    if (!metadata.is_object()) return std::nullopt;
    if (!uid_.empty() && metadata.value("uid", nlohmann::json()) != uid_) return WriteEnd::kGone;
    return metadata.contains("deletionTimestamp") ? WriteEnd::kDone : WriteEnd::kFailed;
}

}  // namespace reprieve
