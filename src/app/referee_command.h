// `reprieve referee`: watches a cluster that others schedule, or reads a record, and judges evictions.
#pragma once

#include <string>
#include <vector>

namespace reprieve {

struct RefereeCommandOptions {
    std::string kubeconfig;
    std::string context;
    bool in_cluster = false;
    bool loopback_http = false;
    std::string record;
    std::vector<std::string> schedulers;  // empty: all
    std::string duration;                 // how long to watch; empty: until stopped
    std::string start_within;             // empty: 10m
    std::string config_file;              // yardsticks
    std::string ui;                       // where metrics are served
    std::string output = "table";
};

// Exit code 0: all fair or unclear, 3: some are not.
[[nodiscard]] int referee_command(const RefereeCommandOptions& options);

}  // namespace reprieve
