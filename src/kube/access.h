// Access: where an API server is, how to be sure that it is the right one, and who we are there.
//
// Plain data, made from a kubeconfig or from what a pod finds in its own file system. A connection is always verified:
// against the authority given here and no other, or against the system's where none is given. Secrets stay in here;
// none of them is ever part of an error.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace reprieve {

// A program that hands out credentials (client.authentication.k8s.io), as kubectl runs it.
struct ExecPlugin {
    std::string api_version;
    std::string command;  // empty: there is none
    std::vector<std::string> args;
    std::vector<std::pair<std::string, std::string>> env;
    std::string install_hint;
    std::string cluster_info;  // JSON of spec.cluster, where the plugin asks for it
};

struct Access {
    std::string server;           // "https://host:port", no slash at the end
    std::string tls_server_name;  // the name in the server's certificate, where it is not the host's
    std::string proxy;            // empty: as the environment says
    std::string authority_pem;    // empty: the system's
    std::string certificate_pem;
    std::string key_pem;
    std::string certificate_file;  // where these came from and are read again and again; empty: they stay
    std::string key_file;          // empty: the key stays
    std::string token;
    std::string token_file;  // read again and again; wins over `token`
    ExecPlugin exec;         // hands out tokens and certificates; wins over all others
    std::string ns;          // where we live; empty: not known
};

struct AccessOptions {
    bool loopback_http = false;  // plain HTTP, to this machine only
    std::string context;         // empty: the current one
};

// One context of a kubeconfig file. Paths in it count from the folder it stands in.
[[nodiscard]] Result<Access> access_from_kubeconfig(const std::string& path, const AccessOptions& options = {});

// What Kubernetes gives every pod.
struct ServiceAccount {
    std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
    std::string host;
    std::string port;
};

// Host and port from the environment.
[[nodiscard]] ServiceAccount service_account_of_this_pod();
[[nodiscard]] Result<Access> access_in_cluster(const ServiceAccount& account);

// What is wrong with a server's address; the error names the address.
[[nodiscard]] Result<void> check_server(const std::string& server, const AccessOptions& options);
// Whether an address is this machine's own.
[[nodiscard]] bool is_loopback(const std::string& server);

[[nodiscard]] Result<std::string> read_whole_file(const std::string& path);

}  // namespace reprieve
