#include "kube/credentials.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>

namespace reprieve {
namespace {

constexpr std::chrono::seconds kFreshFor{60};

void trim_end(std::string& text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
        text.pop_back();
}

// Until when a credential handed out now is used: a good part of its life, and never less than a little.
std::chrono::steady_clock::duration life_of(const ExecCredential& credential) {
    if (!credential.expires.is_set()) return std::chrono::hours(24);
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t left =
        credential.expires.us - std::chrono::duration_cast<std::chrono::microseconds>(wall).count();
    return std::max<std::chrono::steady_clock::duration>(std::chrono::microseconds(left * 4 / 5),
                                                         std::chrono::seconds(10));
}

// Of two files one may have been replaced and the other not yet.
bool belong_together(const CertificatePair& pair) {
    const auto open = [](const std::string& bytes) {
        return std::unique_ptr<BIO, decltype(&BIO_free_all)>(
            BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())), &BIO_free_all);
    };
    const auto certificate_bytes = open(pair.certificate_pem);
    const auto key_bytes = open(pair.key_pem);
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(
        PEM_read_bio_X509(certificate_bytes.get(), nullptr, nullptr, nullptr), &X509_free);
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
        PEM_read_bio_PrivateKey(key_bytes.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
    return certificate && key && X509_check_private_key(certificate.get(), key.get()) == 1;
}

}  // namespace

Credentials::Credentials(const Access& access)
    : token_(access.token),
      pair_{.certificate_pem = access.certificate_pem, .key_pem = access.key_pem},
      token_file_(access.token_file),
      certificate_file_(access.certificate_file),
      key_file_(access.key_file),
      plugin_(access.exec) {}

const std::string& Credentials::token(Instant now) {
    if (!plugin_.command.empty())
        ask_plugin(now);
    else
        read_token_file(now);
    return token_;
}

const CertificatePair& Credentials::certificate(Instant now) {
    if (!plugin_.command.empty()) ask_plugin(now);
    read_certificate_files(now);
    return pair_;
}

void Credentials::distrust() {
    token_fresh_until_ = {};
    pair_fresh_until_ = {};
}

void Credentials::read_token_file(Instant now) {
    if (token_file_.empty() || now < token_fresh_until_) return;
    token_fresh_until_ = now + kFreshFor;
    auto text = read_whole_file(token_file_);
    if (text) trim_end(*text);
    if (text && !text->empty())
        token_ = std::move(*text);
    else
        spdlog::warn("token file {} cannot be read; the last token stays in use", token_file_);
}

void Credentials::read_certificate_files(Instant now) {
    if (certificate_file_.empty() || now < pair_fresh_until_) return;
    pair_fresh_until_ = now + kFreshFor;
    auto certificate = read_whole_file(certificate_file_);
    auto key = read_whole_file(key_file_.empty() ? certificate_file_ : key_file_);
    CertificatePair found;
    if (certificate && key) found = {.certificate_pem = std::move(*certificate), .key_pem = std::move(*key)};
    if (found == pair_) return;
    if (belong_together(found))
        pair_ = std::move(found);
    else
        spdlog::warn("client certificate {} and its key cannot be used together; the last ones stay in use",
                     certificate_file_);
}

void Credentials::ask_plugin(Instant now) {
    if (answer_.valid()) {
        if (answer_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) take_answer(now);
        return;
    }
    if (now < token_fresh_until_) return;
    answer_ = std::async(std::launch::async, [plugin = plugin_] { return run_exec_plugin(plugin); });
}

void Credentials::take_answer(Instant now) {
    Result<ExecCredential> answer = answer_.get();
    if (!answer) {
        spdlog::warn("{}; the last credentials stay in use", answer.error().message);
        token_fresh_until_ = now + kFreshFor;
        return;
    }
    token_ = std::move(answer->token);
    if (!answer->certificate_pem.empty())
        pair_ = {.certificate_pem = std::move(answer->certificate_pem), .key_pem = std::move(answer->key_pem)};
    token_fresh_until_ = now + life_of(*answer);
}

}  // namespace reprieve
