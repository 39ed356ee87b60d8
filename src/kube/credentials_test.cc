#include "kube/credentials.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace reprieve {
namespace {

class CredentialsTest : public ::testing::Test {
protected:
    CredentialsTest()
        : folder_(std::filesystem::temp_directory_path() / ("reprieve-credentials-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(folder_);
    }
    ~CredentialsTest() override { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }
    void write(const char* name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

    std::filesystem::path folder_;
    Credentials::Instant start_{std::chrono::seconds(1000)};
};

// A certificate that signs itself, and its key.
CertificatePair made() {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    const auto text = [](const auto& write) {
        BIO* bytes = BIO_new(BIO_s_mem());
        write(bytes);
        char* data = nullptr;
        const long size = BIO_get_mem_data(bytes, &data);
        std::string out(data, static_cast<std::size_t>(size));
        BIO_free(bytes);
        return out;
    };
    CertificatePair pair{
        .certificate_pem = text([&](BIO* to) { PEM_write_bio_X509(to, certificate); }),
        .key_pem = text([&](BIO* to) { PEM_write_bio_PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr); })};
    X509_free(certificate);
    EVP_PKEY_free(key);
    return pair;
}

TEST_F(CredentialsTest, AFixedTokenStays) {
    Credentials credentials({.token = "fixed"});
    EXPECT_EQ(credentials.token({}), "fixed");
    EXPECT_EQ(credentials.certificate({}).certificate_pem, "");
}

TEST_F(CredentialsTest, ATokenFileIsReadAgainAfterAMinuteOrARefusal) {
    Credentials credentials({.token_file = path("token")});
    write("token", "one\n");
    EXPECT_EQ(credentials.token(start_), "one");
    write("token", "two\n");
    EXPECT_EQ(credentials.token(start_ + std::chrono::seconds(59)), "one");
    EXPECT_EQ(credentials.token(start_ + std::chrono::seconds(60)), "two");
    write("token", "three\n");
    credentials.distrust();
    EXPECT_EQ(credentials.token(start_ + std::chrono::seconds(61)), "three");
    std::filesystem::remove(path("token"));
    EXPECT_EQ(credentials.token(start_ + std::chrono::seconds(200)), "three") << "the last one stays in use";
}

TEST_F(CredentialsTest, ACertificateIsReadAgainAfterAMinuteOrARefusal) {
    const CertificatePair first = made();
    const CertificatePair second = made();
    const auto put = [&](const CertificatePair& pair) {
        write("crt", pair.certificate_pem);
        write("key", pair.key_pem);
    };
    put(first);
    Credentials credentials({.certificate_pem = first.certificate_pem,
                             .key_pem = first.key_pem,
                             .certificate_file = path("crt"),
                             .key_file = path("key")});
    EXPECT_EQ(credentials.certificate(start_), first);
    put(second);
    EXPECT_EQ(credentials.certificate(start_ + std::chrono::seconds(59)), first);
    EXPECT_EQ(credentials.certificate(start_ + std::chrono::seconds(60)), second);
    put(first);
    credentials.distrust();
    EXPECT_EQ(credentials.certificate(start_ + std::chrono::seconds(61)), first);
}

TEST_F(CredentialsTest, ACertificateIsTakenOverOnlyWithItsKey) {
    const CertificatePair first = made();
    const CertificatePair second = made();
    write("crt", second.certificate_pem);
    write("key", first.key_pem);
    Credentials credentials({.certificate_pem = first.certificate_pem,
                             .key_pem = first.key_pem,
                             .certificate_file = path("crt"),
                             .key_file = path("key")});
    EXPECT_EQ(credentials.certificate(start_), first) << "half of it has been replaced";
    write("key", second.key_pem);
    EXPECT_EQ(credentials.certificate(start_ + std::chrono::seconds(60)), second);
}

TEST_F(CredentialsTest, AProgramsNewCertificateIsTakenOver) {
    write(
        "answer",
        R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"clientCertificateData":"new","clientKeyData":"key"}})");
    Credentials credentials(
        {.certificate_pem = "old",
         .key_pem = "old key",
         .exec = {.api_version = "client.authentication.k8s.io/v1", .command = "cat", .args = {path("answer")}}});
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (credentials.certificate(start_).certificate_pem == "old" && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    EXPECT_EQ(credentials.certificate(start_), (CertificatePair{"new", "key"}));
}

}  // namespace
}  // namespace reprieve
