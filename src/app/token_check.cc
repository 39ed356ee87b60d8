#include "app/token_check.h"

#include <nlohmann/json.hpp>

namespace reprieve {
namespace {

using PlainJson = nlohmann::json;

constexpr std::chrono::seconds kKeepAnswer{60};
constexpr std::size_t kMostTokens = 1000;
constexpr std::size_t kMostNamespaces = 300;  // asked about for one person
constexpr std::size_t kLongestToken = 16384;

PlainJson parsed(const std::string& text) {
    PlainJson json = PlainJson::parse(text, nullptr, false);
    return json.is_object() ? json : PlainJson::object();
}

bool flag(const PlainJson& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace

TokenCheck::TokenCheck(Post post, bool scoped, std::function<std::set<std::string>()> namespaces)
    : post_(std::move(post)),
      scoped_(scoped),
      namespaces_(std::move(namespaces)) {}

Result<window::Viewer> TokenCheck::operator()(const std::string& token) {
    if (token.empty() || token.size() > kLongestToken) return fail("a bearer token is needed");
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    if (const auto found = known_.find(token); found != known_.end() && now < found->second.until)
        return found->second.viewer;
    if (known_.size() >= kMostTokens) known_.clear();
    const Known known{.until = now + kKeepAnswer, .viewer = review(token)};
    known_.insert_or_assign(token, known);
    return known.viewer;
}

Result<window::Viewer> TokenCheck::review(const std::string& token) {
    const PlainJson question{
        {"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", {{"token", token}}}};
    const auto answer = post_("/apis/authentication.k8s.io/v1/tokenreviews",
                              question.dump(-1, ' ', false, PlainJson::error_handler_t::replace));
    if (!answer) return fail("the token cannot be checked: " + answer.error().message);
    const PlainJson status = parsed(*answer).value("status", PlainJson::object());
    if (!flag(status, "authenticated")) return fail("the API server does not know this token");
    const std::string user = status.value("user", PlainJson::object()).dump();
    const auto everything = may_list_pods(user, "");
    if (!everything) return std::unexpected(everything.error());
    if (*everything) return window::Viewer{};
    if (!scoped_) return fail("whoever looks must be allowed to list pods in all namespaces");
    window::Viewer viewer{.everything = false, .namespaces = {}};
    std::size_t asked = 0;
    for (const std::string& ns : namespaces_()) {
        if (++asked > kMostNamespaces) break;
        const auto allowed = may_list_pods(user, ns);
        if (!allowed) return std::unexpected(allowed.error());
        if (*allowed) viewer.namespaces.insert(ns);
    }
    if (viewer.namespaces.empty()) return fail("there is no namespace whose pods you may list");
    return viewer;
}

Result<bool> TokenCheck::may_list_pods(const std::string& user_json, const std::string& ns) {
    const PlainJson user = parsed(user_json);
    PlainJson spec{{"user", user.value("username", "")},
                   {"resourceAttributes", {{"verb", "list"}, {"resource", "pods"}, {"namespace", ns}}}};
    for (const char* key : {"groups", "uid", "extra"}) {
        if (user.contains(key)) spec[key] = user[key];
    }
    const PlainJson question{
        {"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SubjectAccessReview"}, {"spec", spec}};
    const auto answer = post_("/apis/authorization.k8s.io/v1/subjectaccessreviews", question.dump());
    if (!answer) return fail("what you may see cannot be found out: " + answer.error().message);
    return flag(parsed(*answer).value("status", PlainJson::object()), "allowed");
}

}  // namespace reprieve
