// Credentials: who we are, as the server is to know us: the token to send with a request, and the certificate to show
// on a new connection.
//
// What stands in files is replaced there before it expires (tokens of service accounts every hour, certificates every
// few months), so the files are read again once a minute, and at once after the server refused us. A program that hands
// out tokens or certificates is run again, beside the network, before those in use expire and after they were refused.
// Until there is something new that can be used, the last stays in use: a certificate is taken over only together with
// the key that belongs to it. Used from one thread.
#pragma once

#include <chrono>
#include <future>
#include <string>

#include "kube/access.h"
#include "kube/exec_plugin.h"

namespace reprieve {

struct CertificatePair {
    std::string certificate_pem;  // empty: none is shown
    std::string key_pem;
    friend bool operator==(const CertificatePair&, const CertificatePair&) = default;
};

class Credentials {
public:
    using Instant = std::chrono::steady_clock::time_point;

    explicit Credentials(const Access& access);

    // Empty: none is to be sent.
    [[nodiscard]] const std::string& token(Instant now);
    [[nodiscard]] const CertificatePair& certificate(Instant now);
    // The server does not know us (any more).
    void distrust();

private:
    void read_token_file(Instant now);
    void read_certificate_files(Instant now);
    void ask_plugin(Instant now);
    void take_answer(Instant now);

    std::string token_;
    CertificatePair pair_;
    std::string token_file_;
    std::string certificate_file_;
    std::string key_file_;
    ExecPlugin plugin_;
    std::future<Result<ExecCredential>> answer_;
    Instant token_fresh_until_;  // or what the program handed out
    Instant pair_fresh_until_;
};

}  // namespace reprieve
