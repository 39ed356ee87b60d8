// TokenCheck: whether whoever has a bearer token may look through the window, as the API server says.
//
// TokenReview says who it is, SubjectAccessReview what they may: whoever may list pods in all namespaces sees
// everything. With `scoped`, others see the namespaces in which they may. Answers are kept for a minute.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/result.h"
#include "window/api.h"

namespace reprieve {

class TokenCheck {
public:
    using Post = std::function<Result<std::string>(const std::string& path, const std::string& body)>;

    TokenCheck(Post post, bool scoped, std::function<std::set<std::string>()> namespaces);

    [[nodiscard]] Result<window::Viewer> operator()(const std::string& token);

private:
    using Clock = std::chrono::steady_clock;
    struct Known {
        Clock::time_point until;
        Result<window::Viewer> viewer;
    };

    [[nodiscard]] Result<window::Viewer> review(const std::string& token);
    [[nodiscard]] Result<bool> may_list_pods(const std::string& user_json, const std::string& ns);

    Post post_;
    bool scoped_;
    std::function<std::set<std::string>()> namespaces_;
    std::mutex mutex_;
    std::map<std::string, Known> known_;  // by token
};

}  // namespace reprieve
