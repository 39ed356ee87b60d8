#include "kube/token.h"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace reprieve {
namespace {

constexpr std::chrono::seconds kFreshFor{60};

void trim_end(std::string& text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
        text.pop_back();
}

// Until when a token handed out now is used: a good part of its life, and never less than a little.
std::chrono::steady_clock::duration life_of(const ExecCredential& credential) {
    if (!credential.expires.is_set()) return std::chrono::hours(24);
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t left =
        credential.expires.us - std::chrono::duration_cast<std::chrono::microseconds>(wall).count();
    return std::max<std::chrono::steady_clock::duration>(std::chrono::microseconds(left * 4 / 5),
                                                         std::chrono::seconds(10));
}

}  // namespace

BearerToken::BearerToken(const Access& access) : token_(access.token), file_(access.token_file), plugin_(access.exec) {}

const std::string& BearerToken::at(Instant now) {
    if (!plugin_.command.empty()) {
        ask_plugin(now);
        return token_;
    }
    if (file_.empty() || now < fresh_until_) return token_;
    fresh_until_ = now + kFreshFor;
    auto text = read_whole_file(file_);
    if (text) trim_end(*text);
    if (!text || text->empty()) {
        spdlog::warn("token file {} cannot be read; the last token stays in use", file_);
        return token_;
    }
    token_ = std::move(*text);
    return token_;
}

void BearerToken::ask_plugin(Instant now) {
    if (answer_.valid()) {
        if (answer_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) take_answer(now);
        return;
    }
    if (now < fresh_until_) return;
    answer_ = std::async(std::launch::async, [plugin = plugin_] { return run_exec_plugin(plugin); });
}

void BearerToken::take_answer(Instant now) {
    Result<ExecCredential> answer = answer_.get();
    if (answer) {
        token_ = std::move(answer->token);
        fresh_until_ = now + life_of(*answer);
        return;
    }
    spdlog::warn("{}; the last token stays in use", answer.error().message);
    fresh_until_ = now + kFreshFor;
}

}  // namespace reprieve
