#include "state/pod_named.h"

namespace reprieve {

PodId pod_named(const Cluster& cluster, std::string_view full) {
    const std::size_t slash = full.find('/');
    if (slash == std::string_view::npos) return {};
    const StringId ns = cluster.words().find_string(full.substr(0, slash));
    return ns ? cluster.find_pod(ns, full.substr(slash + 1)) : PodId();
}

}  // namespace reprieve
