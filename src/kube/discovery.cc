#include "kube/discovery.h"

#include <nlohmann/json.hpp>

#include "kube/kinds.h"

namespace reprieve {

std::optional<std::set<std::string, std::less<>>> read_plurals(const std::string& body) {
    const nlohmann::json list = nlohmann::json::parse(body, nullptr, false);
    if (!list.is_object() || !list.contains("resources") || !list["resources"].is_array()) return std::nullopt;
    std::set<std::string, std::less<>> plurals;
    for (const auto& resource : list["resources"]) {
        if (resource.is_object() && resource.contains("name") && resource["name"].is_string())
            plurals.insert(resource["name"].get<std::string>());
    }
    return plurals;
}

KindFinding find_version(std::size_t kind, const ServedPlurals& served) {
    const FollowedKind& wanted = followed_kinds()[kind];
    KindFinding finding{.served = KindServed::kNo, .api_version = {}};
    for (const std::string_view version : wanted.versions) {
        const std::string name = api_version(wanted, version);
        const auto answer = served.find(name);
        if (answer == served.end() || !answer->second) {
            finding.served = KindServed::kUnknown;
        } else if (answer->second->contains(wanted.plural)) {
            return {KindServed::kYes, name};
        }
    }
    return finding;
}

void Discovery::ask(Found found) {
    if (asking()) return;
    found_ = std::move(found);
    served_.clear();
    for (const FollowedKind& kind : followed_kinds()) {
        if (kind.required) continue;
        for (const std::string_view version : kind.versions)
            served_.try_emplace(api_version(kind, version));
    }
    open_ = served_.size();
    for (const auto& [version, plurals] : served_) {
        HttpRequest request;
        request.path = api_root(version);
        request.patience = {10'000'000};
        client_->send(
            this, std::move(request), [this, asked = version](const HttpAnswer& answer) { answered(asked, answer); });
    }
}

void Discovery::answered(const std::string& version, const HttpAnswer& answer) {
    if (answer.ok()) served_[version] = read_plurals(answer.body);
    if (answer.status == 404 || answer.status == 403) served_[version].emplace();
    if (--open_ > 0) return;
    const Found found = std::move(found_);
    for (std::size_t kind = 0; kind < followed_kinds().size(); ++kind) {
        if (!followed_kinds()[kind].required) found(kind, find_version(kind, served_));
    }
}

}  // namespace reprieve
