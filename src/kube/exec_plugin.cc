#include "kube/exec_plugin.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

extern char** environ;

namespace reprieve {
namespace {

constexpr std::chrono::seconds kLongest{60};
constexpr std::size_t kLargestAnswer = 1U << 20U;

std::string exec_text(const nlohmann::json& from, const char* key) {
    return from.contains(key) && from[key].is_string() ? from[key].get<std::string>() : std::string();
}

std::vector<std::string> environment_of(const ExecPlugin& plugin) {
    std::vector<std::string> out;
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string_view text(*one);
        if (!text.starts_with("KUBERNETES_EXEC_INFO=")) out.emplace_back(text);
    }
    for (const auto& [name, value] : plugin.env) {
        std::erase_if(out, [&](const std::string& one) { return one.starts_with(name + "="); });
        out.push_back(name + "=" + value);
    }
    nlohmann::json info = {
        {"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", {{"interactive", false}}}};
    if (!plugin.cluster_info.empty()) info["spec"]["cluster"] = nlohmann::json::parse(plugin.cluster_info);
    out.push_back("KUBERNETES_EXEC_INFO=" + info.dump());
    return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts)
        out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

// Everything the other end writes until it closes. False: it took too long or said too much.
bool read_all(int from, std::string& out) {
    const auto end = std::chrono::steady_clock::now() + kLongest;
    char buffer[4096];
    while (out.size() < kLargestAnswer) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
        pollfd ready{.fd = from, .events = POLLIN, .revents = 0};
        if (left <= 0) return false;
        const int events = ::poll(&ready, 1, static_cast<int>(left));
        if (events < 0 && errno == EINTR) continue;
        if (events <= 0) return false;
        const ssize_t got = ::read(from, buffer, sizeof buffer);
        if (got == 0) return true;
        if (got < 0 && errno != EINTR) return false;
        if (got > 0) out.append(buffer, static_cast<std::size_t>(got));
    }
    return false;
}

}  // namespace

Result<ExecCredential> read_exec_credential(const std::string& text, const std::string& api_version) {
    const nlohmann::json said = nlohmann::json::parse(text, nullptr, false);
    if (!said.is_object() || exec_text(said, "kind") != "ExecCredential")
        return fail("did not print an ExecCredential");
    if (exec_text(said, "apiVersion") != api_version)
        return fail(fmt::format("printed apiVersion \"{}\" instead of {}", exec_text(said, "apiVersion"), api_version));
    if (!said.contains("status") || !said["status"].is_object()) return fail("printed no status");
    const nlohmann::json& status = said["status"];
    ExecCredential out{.token = exec_text(status, "token"),
                       .certificate_pem = exec_text(status, "clientCertificateData"),
                       .key_pem = exec_text(status, "clientKeyData"),
                       .expires = {}};
    if (out.certificate_pem.empty() != out.key_pem.empty())
        return fail("printed a certificate without its key, or the other way round");
    if (out.token.empty() && out.certificate_pem.empty()) return fail("printed neither a token nor a certificate");
    if (const std::string expires = exec_text(status, "expirationTimestamp"); !expires.empty()) {
        const Result<Time> time = parse_time(expires);
        if (!time) return fail("printed an expirationTimestamp that is no time");
        out.expires = *time;
    }
    return out;
}

Result<ExecCredential> run_exec_plugin(const ExecPlugin& plugin) {
    int pipe_ends[2];
    if (::pipe2(pipe_ends, O_CLOEXEC) != 0) return fail("no pipe can be had");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    std::vector<std::string> arguments{plugin.command};
    arguments.insert(arguments.end(), plugin.args.begin(), plugin.args.end());
    std::vector<std::string> environment = environment_of(plugin);
    pid_t child = 0;
    const int refused = ::posix_spawnp(
        &child, plugin.command.c_str(), &actions, nullptr, pointers(arguments).data(), pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    ::close(pipe_ends[1]);
    if (refused != 0) {
        ::close(pipe_ends[0]);
        return fail(fmt::format("{} cannot be run: {}{}{}",
                                plugin.command,
                                std::strerror(refused),
                                plugin.install_hint.empty() ? "" : ". ",
                                plugin.install_hint));
    }
    std::string said;
    const bool complete = read_all(pipe_ends[0], said);
    ::close(pipe_ends[0]);
    if (!complete) ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!complete) return fail(fmt::format("{} did not answer in time", plugin.command));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fail(fmt::format("{} failed", plugin.command));
    auto credential = read_exec_credential(said, plugin.api_version);
    if (!credential) return fail(fmt::format("{} {}", plugin.command, credential.error().message));
    return credential;
}

}  // namespace reprieve
