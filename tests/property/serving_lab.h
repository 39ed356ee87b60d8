// ServingLab: a made-up fleet that lives on between the cycles of serving: ReplicaSets that create and delete pods in
// their own time and order, kubelets that let go of them, and a scheduler that binds new ones wherever they fit.
//
// Everything follows from the seed. Each wait is drawn anew, so that every order of events happens in some world.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "actions/serving/pass.h"
#include "actions/serving/world.h"

namespace reprieve::property {

// How the pieces behave; the defaults are how they should.
struct LabManners {
    bool writes_hints = true;    // claimed pods get the deletion cost
    bool obeys_hints = true;     // ReplicaSets look at it
    bool one_pass = true;        // allocate and match deployment by deployment; else two phases
    bool binds_tightly = false;  // new pods go where they fit best; else wherever they fit
    bool waits = true;           // things take their time; else they happen before the next cycle
};

inline constexpr std::int64_t kLabStart = 1000;  // its clock counts cycles

// The world right after a plan was carried out, before anybody reacts.
[[nodiscard]] serving::World carried_out(serving::World world, const serving::Outcome& outcome);
// Replicas that an outcome lets off while their claimant takes others that are no further on their way out.
[[nodiscard]] std::int64_t swaps(const serving::World& world, const serving::Outcome& outcome);

// What happened so far.
struct LabTally {
    std::int64_t scaled_down = 0;  // replicas
    std::int64_t given_back = 0;   // replicas added to a deployment that was scaled down before
    std::int64_t swapped = 0;  // replicas that would be let off for somebody no better although nothing has happened
    std::int64_t killed = 0;   // pods that ran and were deleted
    std::int64_t node_changes = 0;         // a match of the same deployment moved
    std::int64_t last_action = kLabStart;  // when a cycle did something last
};

class ServingLab {
public:
    ServingLab(std::uint64_t seed, LabManners manners) : random_(seed), manners_(manners) {}

    // The fleet: all of it before the first cycle.
    void add_node(const std::string& name, const std::string& plane, std::int64_t devices);
    std::size_t add_deployment(serving::Deployment deployment);
    // One committed replica on a node with room, if there is one.
    bool add_replica(std::size_t deployment, const std::string& plane);
    void set_desired(std::size_t deployment, std::int64_t desired) { deployments_[deployment].desired = desired; }

    // What the next cycle sees.
    [[nodiscard]] serving::World look() const;
    // Decides and carries out.
    serving::Outcome cycle();
    // Everybody else's turn.
    void pass_time();

    [[nodiscard]] std::int64_t running(std::size_t deployment) const;
    [[nodiscard]] const serving::Deployment& deployment(std::size_t i) const { return deployments_[i]; }
    [[nodiscard]] std::size_t deployment_count() const { return deployments_.size(); }
    [[nodiscard]] const LabTally& tally() const { return tally_; }
    [[nodiscard]] std::int64_t now() const { return clock_; }

    // Draws from the seed; for whoever makes up the fleet.
    [[nodiscard]] std::int64_t draw(std::int64_t least, std::int64_t most);
    [[nodiscard]] bool chance(int percent) { return draw(1, 100) <= percent; }

private:
    struct Pod {
        std::string name;
        std::size_t deployment = 0;
        std::size_t branch = 0;
        int node = -1;
        serving::Stage stage = serving::Stage::kActive;
        std::int64_t created = 0;
        std::int64_t ready_since = 0;
        std::int64_t uid = 0;
        std::int64_t cost = 0;
        std::string claimed_by;
    };
    struct LabNode {
        std::string name;
        std::string plane;
        std::int64_t devices = 0;
    };

    [[nodiscard]] std::int64_t free_on(std::size_t node) const;
    [[nodiscard]] std::vector<std::size_t> fitting(std::size_t deployment, const std::string& plane) const;
    [[nodiscard]] std::size_t any_of(const std::vector<std::size_t>& nodes);
    [[nodiscard]] Pod make_pod(std::size_t deployment, std::size_t branch, std::int64_t created);
    [[nodiscard]] std::vector<Pod*> live_pods(std::size_t deployment, std::size_t branch);
    [[nodiscard]] bool deleted_before(const Pod& a, const Pod& b) const;
    [[nodiscard]] std::int64_t mates_on_node(const Pod& pod) const;
    void follow_commit(std::size_t deployment, std::size_t branch);
    void remove(Pod& pod);
    void bind_pods();
    void let_go();
    void carry_out(const serving::World& seen, const serving::Outcome& outcome);
    void note_nodes(const serving::World& seen, const serving::Outcome& outcome);
    [[nodiscard]] serving::Outcome decide(const serving::World& world) const;
    [[nodiscard]] bool soon() { return !manners_.waits || chance(60); }

    std::mt19937_64 random_;
    LabManners manners_;
    std::vector<LabNode> nodes_;
    std::vector<serving::Deployment> deployments_;
    std::vector<Pod> pods_;
    std::map<std::size_t, std::vector<std::string>> match_nodes_;  // of the last cycle, by deployment
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t>
        taken_;  // replicas taken from a branch and not given back
    LabTally tally_;
    std::int64_t clock_ = kLabStart;
    std::int64_t names_ = 0;
};

// Nodes and deployments full of running replicas, and a newcomer above them all that wants one or two. The newcomer is
// the last deployment.
struct FleetShape {
    std::int64_t planes_most = 2;
    std::vector<std::int64_t> replica_sizes{1, 2, 4};
};
void fill_fleet(ServingLab& lab, const FleetShape& shape);

}  // namespace reprieve::property
