// Programs that hand out credentials, as kubectl runs them (client.authentication.k8s.io).
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "kube/access.h"

namespace reprieve {

struct ExecCredential {
    std::string token;
    std::string certificate_pem;
    std::string key_pem;
    Time expires;  // not set: it lasts until the server refuses it
};

// Runs the program and waits for it, up to a minute. What it writes to standard error goes to ours; none of what it
// hands out is ever part of an error.
[[nodiscard]] Result<ExecCredential> run_exec_plugin(const ExecPlugin& plugin);

// What the program printed.
[[nodiscard]] Result<ExecCredential> read_exec_credential(const std::string& text, const std::string& api_version);

}  // namespace reprieve
