// `reprieve run`: the control loop, on a real cluster or on the embedded one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/run_ports.h"

namespace reprieve {

struct RunOptions {
    std::vector<std::string> files;
    std::string kubeconfig;
    std::string context;  // of the kubeconfig; empty: its current one
    bool in_cluster = false;
    bool loopback_http = false;
    std::string lease;           // "namespace/name"
    std::string lease_duration;  // how long a replica that has fallen silent keeps the others waiting; empty: 15s
    std::string config_file;
    std::int64_t cycles = 0;
    std::string ui;
    bool ui_open = false;     // everybody may look, also from other machines
    bool ui_scope = false;    // tenants see their namespaces
    std::string log;          // where plans are written
    std::string log_format;   // text or json; empty: text
    std::string log_level;    // debug, info, warn or error; empty: info
    std::string record;       // folder of the record; empty: none is kept
    std::string record_keep;  // how long; empty: for ever
    std::string record_max;   // how much; empty: no limit
    bool dry_run = false;
    std::string speed;  // fast, real or Nx; empty: 10x on a terminal, else fast
    std::string now;    // the embedded cluster's clock at the start; empty: the machine's
    std::uint64_t seed = 1;
};

[[nodiscard]] int run_command(const RunOptions& options, const RunPorts& ports);

}  // namespace reprieve
