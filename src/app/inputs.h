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

// Takes manifests into a cluster that may be spoiled: an object that is there is replaced by the one written, and one
// with
// `$patch: delete` is taken away. A pod with `$patch: merge` keeps what it is but for spec.priority.
[[nodiscard]] Result<std::vector<std::string>> load_changes_text(Cluster& cluster, std::string_view text, Time now);

}  // namespace reprieve
