// WorkloadPods: the pods that the workloads in an input would make, where the input does not have them.
//
// So a Job is planned for before anybody submits it. Names are those that controllers give; where they draw letters,
// NAME-0, NAME-1, ... Workloads that are suspended or done make nothing, serving deployments are planned for as a
// whole.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "manifest/load.h"
#include "sim/json_path.h"
#include "state/cluster.h"

namespace reprieve {

class WorkloadPods {
public:
    // Kinds that the cluster does not know and that stand for others all the same.
    static constexpr const char* kForeignKinds[] = {"JobSet", "LeaderWorkerSet"};

    // A document; those that are no workloads are passed over.
    void note(std::string_view kind, std::string_view api_version, std::string_view json, const SourceRef& source);
    // Adds what is missing. REQUIRES: everything was read, and the cluster is refreshed.
    [[nodiscard]] Result<void> add_missing(Cluster& cluster);
    // What was found wrong on the way, sorted.
    [[nodiscard]] const std::set<std::string>& warnings() const { return warnings_; }

private:
    struct Document {
        Json body;
        std::string where;     // "file:line: Job default/train"
        bool derived = false;  // of another workload in the input
    };
    struct Owned {
        std::set<std::string> names;
        std::int64_t active = 0;
        std::int64_t succeeded = 0;
        std::set<std::int64_t> indexes;  // of an Indexed Job's pods that run, wait or have succeeded
    };
    using OwnerKey = std::pair<std::string, std::string>;  // kind, "ns/name"

    void count_pods(const Cluster& cluster);
    void make(const Document& document, const Cluster& cluster);
    void make_job(const Document& document);
    void make_replicas(const Document& document, const Cluster& cluster);
    void make_stateful_set(const Document& document);
    void make_volcano_job(const Document& document, const Cluster& cluster);
    void make_numbered(const Document& document,
                       const Json& owner,
                       const std::string& prefix,
                       std::int64_t count,
                       const std::set<std::int64_t>& done = {});
    void forget_derived_twice();
    void add(const Document& document, Json object);
    [[nodiscard]] bool is_there(const std::string& ns, const std::string& name) const;

    std::vector<Document> documents_;
    std::map<OwnerKey, Owned> owned_;
    std::set<std::string> names_;  // "ns/name" of all pods, made ones included
    std::vector<Document> made_;
    std::set<std::string> warnings_;
    std::string too_many_;  // the first workload that asks for more pods than any cluster has
};

}  // namespace reprieve
