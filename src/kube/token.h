// BearerToken: the token to send with a request.
//
// A token in a file is replaced there before it expires (service accounts do it every hour), so the file is read again
// once a minute, and at once after the server refused a token. A program that hands out tokens is run again, beside the
// network, before the one in use expires and after it was refused; until it has answered the last one stays in use.
// Used from one thread.
#pragma once

#include <chrono>
#include <future>
#include <string>

#include "kube/access.h"
#include "kube/exec_plugin.h"

namespace reprieve {

class BearerToken {
public:
    using Instant = std::chrono::steady_clock::time_point;

    explicit BearerToken(const Access& access);

    // Empty: none is to be sent. A file that cannot be read leaves the last token in use.
    [[nodiscard]] const std::string& at(Instant now);
    // The server does not know it (any more).
    void distrust() { fresh_until_ = {}; }

private:
    void ask_plugin(Instant now);
    void take_answer(Instant now);

    std::string token_;
    std::string file_;
    ExecPlugin plugin_;
    std::future<Result<ExecCredential>> answer_;
    Instant fresh_until_;
};

}  // namespace reprieve
