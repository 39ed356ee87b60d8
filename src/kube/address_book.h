// AddressBook: where a plan's words about gangs, queues and serving deployments are to be written.
//
// A plan names what it is about in the model's terms; the objects behind them have kinds, versions and dialects. The
// Source enters what it sees, the Sink looks it up. Used from several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/claim_index.h"
#include "model/objects.h"
#include "model/vocabulary.h"

namespace reprieve {

struct GangAddress {
    GangDialect dialect = GangDialect::kCore;
    std::string path;     // of the PodGroup
    std::string version;  // as last seen
    std::int32_t min_members = 0;
    std::string phase;  // Volcano; and how many members it says run, succeeded and failed
    std::int32_t running = 0;
    std::int32_t succeeded = 0;
    std::int32_t failed = 0;
    std::string queue;                 // Volcano
    std::string job;                   // "ns/name" of the Volcano job it was made for; empty: none
    bool initially_scheduled = false;  // core: the condition is True already
};

// The object whose number of replicas is the commit of a serving deployment in one plane.
struct CommitAddress {
    bool is_revision = false;
    std::string path;
};

class AddressBook {
public:
    // `json` is the object's text, for what the model leaves out.
    void see(const Object& object, const Vocabulary& words, const std::string& api_version, std::string_view json);
    void see_gone(const Object& object, const Vocabulary& words);

    [[nodiscard]] std::optional<GangAddress> gang(const std::string& name) const;
    // The groups that Volcano's controller made for a job and that nobody has let into their queue yet, where that is
    // for us to do: `serves` says whether we are the scheduler that the job names. Before, the job gets no pods.
    using Serves = std::function<bool(std::string_view scheduler)>;
    [[nodiscard]] std::vector<std::string> gangs_to_let_in(const Serves& serves) const;
    // The path of a Queue or ElasticQuota by its bare name.
    [[nodiscard]] std::optional<std::string> queue(const std::string& name) const;
    // Claims for devices have a book of their own.
    [[nodiscard]] ClaimIndex& claims() { return claims_; }
    [[nodiscard]] const ClaimIndex& claims() const { return claims_; }
    [[nodiscard]] std::optional<CommitAddress> commit(const std::string& serving, const std::string& plane) const;

private:
    struct Commit {
        bool is_revision = false;
        bool gets_traffic = true;
    };
    void forget_commit(const std::string& path);
    void enter(const Gang& gang, const Vocabulary& words, const std::string& api_version, std::string_view json);
    void enter(const Queue& queue, const Vocabulary& words, const std::string& api_version);
    void enter(const Workload& workload, const Vocabulary& words, const std::string& api_version);
    void enter_job(const Workload& job, const Vocabulary& words, std::string_view json);

    [[nodiscard]] bool lets_in(const std::string& queue) const;

    using Plane = std::pair<std::string, std::string>;  // serving deployment "ns/name", plane

    ClaimIndex claims_;
    mutable std::mutex mutex_;
    std::map<std::string, GangAddress> gangs_;
    std::map<std::string, std::string> queues_;
    std::map<std::string, bool> is_open_;      // Volcano's queues
    std::map<std::string, std::string> jobs_;  // Volcano's, with the scheduler they name
    // By the path of the workload; while a Revision takes over from another there may be two.
    std::map<Plane, std::map<std::string, Commit>> commits_;
    std::map<std::string, Plane> planes_;  // by the path of the workload
};

}  // namespace reprieve
