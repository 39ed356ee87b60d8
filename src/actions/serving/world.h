// What one cycle of serving decides about, as plain data: nodes with their room, deployments with their commits, and
// replicas. Nothing here refers to a cluster, so that whole worlds can be made up and played through.
//
// Amounts are listed by dimension, all in the same order; which dimensions there are is the maker's choice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"

namespace reprieve::serving {

using NodeIndex = Id<struct ServingNodeTag>;
using DeploymentIndex = Id<struct ServingDeploymentTag>;
using ReplicaIndex = Id<struct ServingReplicaTag>;

using Amounts = std::vector<std::int64_t>;

[[nodiscard]] bool covers(const Amounts& have, const Amounts& need);
void add(Amounts& to, const Amounts& more);
void subtract(Amounts& from, const Amounts& less);
// The smaller one in each dimension.
[[nodiscard]] Amounts smaller(const Amounts& a, const Amounts& b);

struct Node {
    std::string name;
    std::string plane;
    bool usable = true;  // ready and not cordoned
    Amounts free;        // not held by anybody, leaving or not
    Amounts later;       // free once all that leaves is gone and all that was promised has come
    int device = -1;     // the dimension its devices are counted in; -1: it has none
};

// A deployment in one plane.
struct Branch {
    std::string plane;
    std::int64_t score = 0;  // lower is better
    bool allowed = true;     // replicas may be added
    bool rollout = false;    // gives no pod that its commit covers
    bool unclear = false;    // the same: nobody knows which workload to scale
    std::int64_t commit = 0;
};

struct Deployment {
    std::string name;  // "ns/name"
    std::int32_t priority = 0;
    std::int64_t desired = 0;
    Amounts need;
    std::vector<std::size_t> fit_by;  // dimensions whose free room tells which node fits best
    std::vector<Branch> branches;     // by plane
    bool asked = true;                // false: it only keeps what it has
};

enum class Stage : std::uint8_t { kActive, kTerminating, kForceDeleted };

inline constexpr std::int64_t kAlwaysTaken = INT64_MIN;
inline constexpr std::int64_t kNeverTaken = INT64_MAX;
inline constexpr std::int64_t kHintCost = -1000;

struct Replica {
    std::string name;
    std::string ns;
    DeploymentIndex deployment;
    std::size_t branch = 0;  // of its deployment
    NodeIndex node;          // none: not bound
    Stage stage = Stage::kActive;
    Amounts holds;
    Time created;
    bool ready = true;
    std::int64_t deletion_cost = 0;
    std::string claimed_by;                  // the deployment that the last cycle matched it to
    std::int64_t taken_from = kAlwaysTaken;  // while committed it goes only for this priority or a higher one
    bool overdue = false;                    // should have gone long ago: nobody is a worse victim
    bool can_be_forced = false;              // a forced deletion is due
};

struct World {
    std::vector<Node> nodes;              // by name
    std::vector<Deployment> deployments;  // by name
    std::vector<Replica> replicas;

    [[nodiscard]] const Node& at(NodeIndex i) const { return nodes[i.index()]; }
    [[nodiscard]] const Deployment& at(DeploymentIndex i) const { return deployments[i.index()]; }
    [[nodiscard]] const Replica& at(ReplicaIndex i) const { return replicas[i.index()]; }
    [[nodiscard]] const Branch& branch_of(const Replica& r) const { return at(r.deployment).branches[r.branch]; }
};

}  // namespace reprieve::serving
