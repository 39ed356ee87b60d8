#include "kube/token.h"

#include <spdlog/spdlog.h>

namespace reprieve {
namespace {

constexpr std::chrono::seconds kFreshFor{60};

void trim_end(std::string& text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
        text.pop_back();
}

}  // namespace

BearerToken::BearerToken(const Access& access) : token_(access.token), file_(access.token_file) {}

const std::string& BearerToken::at(Instant now) {
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

}  // namespace reprieve
