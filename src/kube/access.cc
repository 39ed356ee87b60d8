#include "kube/access.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

namespace reprieve {
namespace {

// "host" of "scheme://host:port/path"; an IPv6 address without its brackets.
std::string_view host_of(std::string_view server) {
    const std::size_t scheme = server.find("://");
    if (scheme == std::string_view::npos) return {};
    std::string_view rest = server.substr(scheme + 3);
    rest = rest.substr(0, rest.find('/'));
    if (rest.starts_with('[')) return rest.substr(1, rest.find(']') - 1);
    return rest.substr(0, rest.find(':'));
}

bool is_loopback_ipv4(std::string_view host) {
    return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

bool is_loopback(const std::string& server) {
    const std::string_view host = host_of(server);
    return host == "localhost" || host == "::1" || is_loopback_ipv4(host);
}

Result<void> check_server(const std::string& server, const AccessOptions& options) {
    // Whoever sees the address in a log must not see a password.
    if (server.find('@') != std::string::npos)
        return fail("the server's address holds a user name; only tokens and certificates are supported");
    if (host_of(server).empty())
        return fail(fmt::format("server {}: no address of the form https://host:port", server));
    if (server.find_first_of("?# \t\r\n") != std::string::npos)
        return fail(fmt::format("server {}: not an address", server));
    if (server.starts_with("https://")) return {};
    if (!server.starts_with("http://")) return fail(fmt::format("server {}: only https is supported", server));
    if (!options.loopback_http) return fail(fmt::format("server {}: plain HTTP must be allowed explicitly", server));
    if (!is_loopback(server)) return fail(fmt::format("server {}: plain HTTP is allowed to this machine only", server));
    return {};
}

Result<std::string> read_whole_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return fail(fmt::format("{}: cannot be read", path));
    std::ostringstream text;
    text << file.rdbuf();
    if (file.bad()) return fail(fmt::format("{}: cannot be read", path));
    return std::move(text).str();
}

ServiceAccount service_account_of_this_pod() {
    ServiceAccount account;
    account.host = environment("KUBERNETES_SERVICE_HOST");
    account.port = environment("KUBERNETES_SERVICE_PORT");
    return account;
}

Result<Access> access_in_cluster(const ServiceAccount& account) {
    if (account.host.empty() || account.port.empty()) {
        return fail("not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
    }
    Access access;
    const bool is_ipv6 = account.host.find(':') != std::string::npos;
    access.server =
        fmt::format("https://{}{}{}:{}", is_ipv6 ? "[" : "", account.host, is_ipv6 ? "]" : "", account.port);
    if (auto checked = check_server(access.server, {}); !checked) return std::unexpected(checked.error());

    access.token_file = account.folder + "/token";
    if (auto token = read_whole_file(access.token_file); !token) return std::unexpected(token.error());
    auto authority = read_whole_file(account.folder + "/ca.crt");
    if (!authority) return std::unexpected(authority.error());
    if (authority->empty()) return fail(fmt::format("{}/ca.crt: empty", account.folder));
    access.authority_pem = std::move(*authority);
    if (auto ns = read_whole_file(account.folder + "/namespace")) access.ns = *ns;
    return access;
}

}  // namespace reprieve
