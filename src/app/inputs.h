// What commands read: configuration files and manifests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/config.h"
#include "state/cluster.h"

namespace reprieve {

[[nodiscard]] Result<std::string> read_file(const std::string& file);
[[nodiscard]] Result<SchedulerConfig> load_config(const std::string& file);

// Reads all files into the cluster, refreshes it and returns what was ignored, as warnings.
// `strict`: a field that its kind does not have is an error, not a warning.
[[nodiscard]] Result<std::vector<std::string>> load_cluster(Cluster& cluster,
                                                            const std::vector<std::string>& files,
                                                            Time now,
                                                            bool strict = false);
// The same from one text, but for the digest, which stays as it was; Expect documents are passed over.
[[nodiscard]] Result<std::vector<std::string>> load_cluster_text(Cluster& cluster,
                                                                 const std::string& name,
                                                                 std::string_view text,
                                                                 Time now);

// Digest of what the snapshot, the configuration and the version say: equal inputs, equal id.
[[nodiscard]] std::string plan_id(const Cluster& cluster,
                                  const std::string& config_text,
                                  const std::vector<std::string>& only,
                                  Time now);

}  // namespace reprieve
