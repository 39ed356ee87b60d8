// One context of a kubeconfig file, as Access. What we cannot do faithfully (the old auth-provider, skipping
// verification) is refused and said.
#include <fmt/format.h>
#include <openssl/evp.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "kube/access.h"
#include "kube/exec_plugin.h"

namespace reprieve {
namespace {

class Kubeconfig {
public:
    Kubeconfig(std::string path, YAML::Node root) : path_(std::move(path)), root_(std::move(root)) {}

    [[nodiscard]] Result<Access> access(const AccessOptions& options) const;

private:
    [[nodiscard]] Result<YAML::Node> entry(const char* list, const char* field, const std::string& name) const;
    [[nodiscard]] Result<void> read_cluster(const YAML::Node& cluster, const AccessOptions& options, Access& out) const;
    [[nodiscard]] Result<void> read_user(const std::string& name, const YAML::Node& user, Access& out) const;
    [[nodiscard]] Result<void> read_exec(const std::string& name, const YAML::Node& exec, Access& out) const;
    // A value that is either inline (base64, `field`-data) or the name of a file (`field`).
    [[nodiscard]] Result<std::string> material(const YAML::Node& from, const std::string& field) const;
    // The file that `material` reads; empty: it is inline, or there is none.
    [[nodiscard]] std::string file_of(const YAML::Node& from, const std::string& field) const;
    [[nodiscard]] std::string beside(const std::string& file) const;
    [[nodiscard]] std::unexpected<Error> wrong(const std::string& what) const {
        return fail(fmt::format("{}: {}", path_, what));
    }

    std::string path_;
    YAML::Node root_;
};

std::string text_of(const YAML::Node& from, const char* field) {
    if (!from.IsMap()) return {};
    const YAML::Node value = from[field];
    return value && value.IsScalar() ? value.Scalar() : std::string();
}

Result<std::string> decode_base64(const std::string& text) {
    std::string packed;
    std::ranges::copy_if(text, std::back_inserter(packed), [](unsigned char c) { return std::isspace(c) == 0; });
    if (packed.size() % 4 != 0 || packed.size() > std::numeric_limits<int>::max()) return fail("not base64");
    std::string bytes(packed.size() / 4 * 3, '\0');
    const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(packed.data()),
                                     static_cast<int>(packed.size()));
    if (size < 0) return fail("not base64");
    // The padding was decoded too.
    const std::size_t padding = packed.ends_with("==") ? 2 : (packed.ends_with('=') ? 1 : 0);
    bytes.resize(static_cast<std::size_t>(size) - padding);
    return bytes;
}

std::string encode_base64(const std::string& bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

std::string Kubeconfig::beside(const std::string& file) const {
    return (std::filesystem::path(path_).parent_path() / file).string();
}

Result<std::string> Kubeconfig::material(const YAML::Node& from, const std::string& field) const {
    const std::string inline_text = text_of(from, (field + "-data").c_str());
    if (!inline_text.empty()) {
        auto bytes = decode_base64(inline_text);
        if (!bytes) return wrong(fmt::format("{}-data: {}", field, bytes.error().message));
        return bytes;
    }
    const std::string file = file_of(from, field);
    if (file.empty()) return std::string();
    auto bytes = read_whole_file(file);
    if (!bytes) return wrong(fmt::format("{}: {}", field, bytes.error().message));
    return bytes;
}

std::string Kubeconfig::file_of(const YAML::Node& from, const std::string& field) const {
    if (!text_of(from, (field + "-data").c_str()).empty()) return {};
    const std::string file = text_of(from, field.c_str());
    return file.empty() ? std::string() : beside(file);
}

Result<YAML::Node> Kubeconfig::entry(const char* list, const char* field, const std::string& name) const {
    const YAML::Node entries = root_[list];
    if (entries && entries.IsSequence()) {
        for (const YAML::Node& entry : entries) {
            if (text_of(entry, "name") == name && entry[field] && entry[field].IsMap()) return entry[field];
        }
    }
    return wrong(fmt::format("{}: no {} is named \"{}\"", list, field, name));
}

Result<void> Kubeconfig::read_cluster(const YAML::Node& cluster, const AccessOptions& options, Access& out) const {
    out.server = text_of(cluster, "server");
    while (out.server.ends_with('/'))
        out.server.pop_back();
    if (auto checked = check_server(out.server, options); !checked) return wrong(checked.error().message);
    if (text_of(cluster, "insecure-skip-tls-verify") == "true") {
        return wrong("insecure-skip-tls-verify: refused; name the server's authority in certificate-authority instead");
    }
    out.tls_server_name = text_of(cluster, "tls-server-name");
    out.proxy = text_of(cluster, "proxy-url");
    auto authority = material(cluster, "certificate-authority");
    if (!authority) return std::unexpected(authority.error());
    out.authority_pem = std::move(*authority);
    return {};
}

Result<void> Kubeconfig::read_user(const std::string& name, const YAML::Node& user, Access& out) const {
    if (user["auth-provider"]) {
        return wrong(
            fmt::format("user \"{}\": auth-provider: removed from Kubernetes; use exec, a token, a tokenFile or a "
                        "client certificate",
                        name));
    }
    if (user["exec"]) {
        if (auto read = read_exec(name, user["exec"], out); !read) return read;
    }
    for (const char* unsupported : {"username", "password", "as", "as-uid", "as-groups", "as-user-extra"}) {
        if (user[unsupported]) return wrong(fmt::format("user \"{}\": {}: not supported", name, unsupported));
    }
    auto certificate = material(user, "client-certificate");
    if (!certificate) return std::unexpected(certificate.error());
    auto key = material(user, "client-key");
    if (!key) return std::unexpected(key.error());
    if (certificate->empty() != key->empty())
        return wrong(fmt::format("user \"{}\": a client certificate needs a client-key and the other way round", name));
    if (!certificate->empty() && out.certificate_pem.empty()) {
        out.certificate_pem = std::move(*certificate);
        out.key_pem = std::move(*key);
        out.certificate_file = file_of(user, "client-certificate");
        out.key_file = file_of(user, "client-key");
    }
    if (const std::string token = text_of(user, "token"); !token.empty()) out.token = token;
    if (const std::string file = text_of(user, "tokenFile"); !file.empty()) out.token_file = beside(file);
    return {};
}

Result<void> Kubeconfig::read_exec(const std::string& name, const YAML::Node& exec, Access& out) const {
    const auto refuse = [&](const std::string& what) {
        return wrong(fmt::format("user \"{}\": exec: {}", name, what));
    };
    ExecPlugin& plugin = out.exec;
    plugin.api_version = text_of(exec, "apiVersion");
    plugin.command = text_of(exec, "command");
    plugin.install_hint = text_of(exec, "installHint");
    if (plugin.command.empty()) return refuse("command: not set");
    if (plugin.api_version != "client.authentication.k8s.io/v1" &&
        plugin.api_version != "client.authentication.k8s.io/v1beta1")
        return refuse(fmt::format("apiVersion: \"{}\" is not known", plugin.api_version));
    if (text_of(exec, "interactiveMode") == "Always") return refuse("interactiveMode: nobody is there to answer");
    // A name with a slash counts from the folder of the file; a bare one is looked for in PATH.
    if (plugin.command.find('/') != std::string::npos) plugin.command = beside(plugin.command);
    if (const YAML::Node args = exec["args"]; args && args.IsSequence()) {
        for (const YAML::Node& arg : args)
            plugin.args.push_back(arg.Scalar());
    }
    if (const YAML::Node env = exec["env"]; env && env.IsSequence()) {
        for (const YAML::Node& one : env)
            plugin.env.emplace_back(text_of(one, "name"), text_of(one, "value"));
    }
    if (text_of(exec, "provideClusterInfo") == "true") {
        plugin.cluster_info = nlohmann::json{
            {"server", out.server},
            {"tls-server-name", out.tls_server_name},
            {"certificate-authority-data", encode_base64(out.authority_pem)},
            {"proxy-url",
             out.proxy}}.dump();
    }
    const Result<ExecCredential> first = run_exec_plugin(plugin);
    if (!first) return refuse(first.error().message);
    out.token = first->token;
    if (!first->certificate_pem.empty()) {
        out.certificate_pem = first->certificate_pem;
        out.key_pem = first->key_pem;
    }
    return {};
}

Result<Access> Kubeconfig::access(const AccessOptions& options) const {
    if (!root_.IsMap()) return wrong("not a kubeconfig");
    const std::string current = options.context.empty() ? text_of(root_, "current-context") : options.context;
    if (current.empty()) return wrong("current-context: not set");
    auto chosen = entry("contexts", "context", current);
    if (!chosen) return std::unexpected(chosen.error());
    auto cluster = entry("clusters", "cluster", text_of(*chosen, "cluster"));
    if (!cluster) return std::unexpected(cluster.error());

    Access access;
    access.ns = text_of(*chosen, "namespace");
    if (auto read = read_cluster(*cluster, options, access); !read) return std::unexpected(read.error());
    const std::string user_name = text_of(*chosen, "user");
    if (user_name.empty()) return access;
    auto user = entry("users", "user", user_name);
    if (!user) return std::unexpected(user.error());
    if (auto read = read_user(user_name, *user, access); !read) return std::unexpected(read.error());
    return access;
}

}  // namespace

Result<Access> access_from_kubeconfig(const std::string& path, const AccessOptions& options) {
    auto text = read_whole_file(path);
    if (!text) return std::unexpected(text.error());
    try {
        return Kubeconfig(path, YAML::Load(*text)).access(options);
    } catch (const YAML::Exception& error) {
        return fail(fmt::format("{}:{}: {}", path, error.mark.line + 1, error.msg));
    }
}

}  // namespace reprieve
