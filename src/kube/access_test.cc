#include "kube/access.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kube/exec_plugin.h"

namespace reprieve {
namespace {

class AccessTest : public ::testing::Test {
protected:
    AccessTest() : folder_(std::filesystem::temp_directory_path() / ("reprieve-access-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(folder_);
    }
    ~AccessTest() override { std::filesystem::remove_all(folder_); }

    std::string write(const std::string& name, const std::string& text) const {
        const std::filesystem::path path = folder_ / name;
        std::ofstream(path) << text;
        return path.string();
    }
    // A kubeconfig with these lines as its cluster and its user.
    std::string kubeconfig(const std::string& cluster, const std::string& user) const {
        return write("config",
                     "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
                     "contexts:\n- {name: there, context: {cluster: none, user: none}}\n- {name: here, context: "
                     "{cluster: c, user: u, namespace: team}}\n"
                     "clusters:\n- name: c\n  cluster: {" +
                         cluster + "}\nusers:\n- name: u\n  user: {" + user + "}\n");
    }
    static std::string error_of(const Result<Access>& access) {
        return access ? std::string() : access.error().message;
    }

    std::filesystem::path folder_;
};

TEST_F(AccessTest, CurrentContextWithInlineMaterial) {
    const auto access = access_from_kubeconfig(
        kubeconfig("server: 'https://10.0.0.1:6443/', certificate-authority-data: UEVNMQ==",
                   "client-certificate-data: Q0VSVA==, client-key-data: S0VZMg==, token: secret"));
    ASSERT_TRUE(access.has_value()) << error_of(access);
    EXPECT_EQ(access->server, "https://10.0.0.1:6443");
    EXPECT_EQ(access->authority_pem, "PEM1");
    EXPECT_EQ(access->certificate_pem, "CERT");
    EXPECT_EQ(access->key_pem, "KEY2");
    EXPECT_EQ(access->token, "secret");
    EXPECT_EQ(access->ns, "team");
}

TEST_F(AccessTest, FilesCountFromTheKubeconfigsFolder) {
    write("ca.pem", "AUTHORITY");
    const auto access =
        access_from_kubeconfig(kubeconfig("server: 'https://host', certificate-authority: ca.pem", "tokenFile: token"));
    ASSERT_TRUE(access.has_value()) << error_of(access);
    EXPECT_EQ(access->authority_pem, "AUTHORITY");
    EXPECT_EQ(access->token_file, (folder_ / "token").string());
}

TEST_F(AccessTest, AProgramHandsOutCredentials) {
    const auto exec = [&](const std::string& script, const std::string& more = "") {
        return access_from_kubeconfig(
            kubeconfig("server: 'https://host'",
                       "exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: ['-c', '" + script +
                           "']" + more + "}"));
    };
    const std::string answer = R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)";
    const auto access = exec("printf \"%s\" \"$ANSWER\"",
                             ", env: [{name: ANSWER, value: '" + answer + R"({"token":"secret"}})" + "'}]");
    ASSERT_TRUE(access.has_value()) << error_of(access);
    EXPECT_EQ(access->token, "secret");
    EXPECT_EQ(access->exec.command, "sh");
    EXPECT_NE(error_of(exec("exit 3")).find("user \"u\": exec: sh failed"), std::string::npos);
    EXPECT_NE(error_of(exec("echo hello")).find("sh did not print an ExecCredential"), std::string::npos);
    const auto missing = access_from_kubeconfig(kubeconfig(
        "server: 'https://host'",
        "exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-program, installHint: get it}"));
    EXPECT_NE(error_of(missing).find("no-such-program cannot be run"), std::string::npos) << error_of(missing);
    EXPECT_NE(error_of(missing).find("get it"), std::string::npos);
}

TEST_F(AccessTest, WhatAProgramPrintsIsChecked) {
    const std::string version = "client.authentication.k8s.io/v1";
    const auto read = [&](const std::string& status) {
        return read_exec_credential(
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" + status + "}",
            version);
    };
    EXPECT_EQ(format_time(read(R"({"token":"t","expirationTimestamp":"2026-01-01T12:00:00Z"})")->expires),
              "2026-01-01T12:00:00Z");
    EXPECT_EQ(read(R"({"clientCertificateData":"c","clientKeyData":"k"})")->key_pem, "k");
    EXPECT_FALSE(read(R"({"clientCertificateData":"c"})").has_value());
    EXPECT_FALSE(read("{}").has_value());
    EXPECT_FALSE(read_exec_credential("{}", version).has_value());
}

TEST_F(AccessTest, VerificationCannotBeSwitchedOff) {
    const auto access =
        access_from_kubeconfig(kubeconfig("server: 'https://host', insecure-skip-tls-verify: true", "token: x"));
    EXPECT_NE(error_of(access).find("insecure-skip-tls-verify: refused"), std::string::npos) << error_of(access);
}

TEST_F(AccessTest, PlainHttpOnlyToThisMachineAndOnlyWhenAsked) {
    const AccessOptions allowed{.loopback_http = true};
    EXPECT_TRUE(access_from_kubeconfig(kubeconfig("server: 'http://127.0.0.1:8080'", "token: x"), allowed).has_value());
    EXPECT_TRUE(access_from_kubeconfig(kubeconfig("server: 'http://[::1]:8080'", "token: x"), allowed).has_value());
    EXPECT_FALSE(access_from_kubeconfig(kubeconfig("server: 'http://127.0.0.1:8080'", "token: x")).has_value());
    EXPECT_FALSE(access_from_kubeconfig(kubeconfig("server: 'http://10.0.0.1:8080'", "token: x"), allowed).has_value());
    EXPECT_FALSE(
        access_from_kubeconfig(kubeconfig("server: 'http://127.0.0.1.example.org'", "token: x"), allowed).has_value());
}

TEST_F(AccessTest, WhatIsWrongIsSaid) {
    EXPECT_NE(error_of(access_from_kubeconfig(kubeconfig("server: 'https://h'", "client-key-data: AAAA")))
                  .find("a client certificate needs a client-key"),
              std::string::npos);
    EXPECT_NE(error_of(access_from_kubeconfig(kubeconfig("server: 'https://h', certificate-authority-data: '!'", "")))
                  .find("certificate-authority-data: not base64"),
              std::string::npos);
    EXPECT_NE(error_of(access_from_kubeconfig(kubeconfig("server: 'https://user:pw@h'", ""))).find("user name"),
              std::string::npos);
    EXPECT_EQ(error_of(access_from_kubeconfig(kubeconfig("server: 'https://user:pw@h'", ""))).find("pw"),
              std::string::npos);
    EXPECT_NE(error_of(access_from_kubeconfig((folder_ / "none").string())).find("cannot be read"), std::string::npos);
    EXPECT_NE(error_of(access_from_kubeconfig(write("bad", "a: [1"))).find("bad:"), std::string::npos);
    EXPECT_NE(error_of(access_from_kubeconfig(write("empty", "apiVersion: v1\nkind: Config\n")))
                  .find("current-context: not set"),
              std::string::npos);
}

TEST_F(AccessTest, InCluster) {
    write("token", "t1\n");
    write("ca.crt", "CA");
    write("namespace", "reprieve-system");
    const auto access = access_in_cluster({.folder = folder_.string(), .host = "fd00::1", .port = "443"});
    ASSERT_TRUE(access.has_value()) << error_of(access);
    EXPECT_EQ(access->server, "https://[fd00::1]:443");
    EXPECT_EQ(access->authority_pem, "CA");
    EXPECT_EQ(access->token_file, (folder_ / "token").string());
    EXPECT_EQ(access->ns, "reprieve-system");
    EXPECT_FALSE(access_in_cluster({.folder = folder_.string(), .host = "", .port = ""}).has_value());
}

}  // namespace
}  // namespace reprieve
