// Pass: one cycle over all serving deployments, highest priority first.
//
// Each keeps room for what it was promised, takes back what nobody wants of it, takes free room, and then waits for
// others to make room. All of that before the next one has its turn, so that no deployment is given what a more
// important one waits for. What deployments of equal priority have claimed, with the free room beside it that they
// count on, is set aside until their turn. A pure function of the world.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actions/serving/categories.h"
#include "actions/serving/rooms.h"
#include "actions/serving/victims.h"
#include "actions/serving/world.h"

namespace reprieve::serving {

// A missing replica, the node it waits for, and whose going makes room there.
struct Match {
    DeploymentIndex preemptor;
    NodeIndex node;
    std::vector<ReplicaIndex> victims;  // best first
    std::int64_t uses_free = 0;         // devices held from free room
};

// What becomes of one deployment.
struct Decision {
    std::vector<std::int64_t> commits;  // of its branches, after the cycle
    std::int64_t unmet = 0;             // replicas that found neither room nor a match
    bool preemptee = false;             // others took active replicas of it
};

struct Outcome {
    std::vector<Category> categories;  // of the replicas, before the cycle
    std::vector<Match> matches;        // in the order made
    std::vector<Decision> decisions;   // of the deployments
    std::vector<Amounts> held_now;     // by node: room that is spoken for
    std::vector<Amounts> held_later;
};

class Pass {
public:
    explicit Pass(const World& world);
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    // Highest priority first, then by name.
    [[nodiscard]] static std::vector<DeploymentIndex> order(const World& world);

    // The steps of one deployment, in this order. The last three are for those that nobody has preempted in this cycle.
    void reserve(DeploymentIndex d);
    [[nodiscard]] bool is_preemptee(DeploymentIndex d) const { return claims_.is_preemptee(d); }
    void readopt(DeploymentIndex d);
    void scale_up(DeploymentIndex d);
    void match(DeploymentIndex d);

    // What was decided by the steps so far.
    [[nodiscard]] Outcome outcome() const;

private:
    // One deployment in the course of the pass.
    struct Account {
        std::vector<std::int64_t> commits;
        std::vector<std::int64_t> roomless;  // commits without a pod and without room, by branch
        std::int64_t wanted = 0;             // replicas beyond its commits
    };

    [[nodiscard]] NodeIndex best_fit(DeploymentIndex d, std::size_t branch) const;
    [[nodiscard]] bool fits_better(DeploymentIndex d, NodeIndex a, NodeIndex b) const;
    [[nodiscard]] std::vector<std::size_t> by_score(DeploymentIndex d) const;
    // Whether it has the same priority, still waits for its turn, and counts on what it claimed.
    [[nodiscard]] bool is_equal_to_come(DeploymentIndex other, DeploymentIndex d) const;
    [[nodiscard]] std::vector<ReplicaIndex> claimed_by_equals(DeploymentIndex d);
    // Free room that its claims on that node do not cover and its replicas there need beside them.
    [[nodiscard]] Amounts room_beside_claims(DeploymentIndex d, NodeIndex node) const;
    // Free room that deployments of the same priority count on, whose turn is still to come: taken for now.
    struct Aside {
        NodeIndex node;
        Amounts room;
    };
    [[nodiscard]] std::vector<Aside> set_aside(DeploymentIndex d);
    void put_back(const std::vector<Aside>& asides);
    // Replicas that it should have and does not.
    [[nodiscard]] std::int64_t missing(DeploymentIndex d) const;
    // A match in the making; in this plane, if that is not empty.
    struct Made {
        Offer offer;
        std::string plane;
    };
    [[nodiscard]] bool match_one(VictimSearch& search,
                                 DeploymentIndex d,
                                 const std::string& plane,
                                 std::vector<Made>& made);
    // Returns the devices that were taken from free room. Nothing: there is too little room.
    [[nodiscard]] std::optional<std::int64_t> hold(Rooms& rooms, DeploymentIndex d, const Offer& offer) const;
    // Whoever fits into what the victims of others leave over needs none of its own. `before`: without any of them.
    void let_off(DeploymentIndex d, const Rooms& before, std::vector<Made>& made);
    [[nodiscard]] NodeIndex left_over_for(DeploymentIndex d, const Rooms& rooms, const std::string& plane) const;

    const World& world_;
    std::vector<Category> categories_;
    Rooms rooms_;
    Claims claims_;
    std::vector<Account> accounts_;
    std::vector<Match> matches_;
};

[[nodiscard]] Outcome run_pass(const World& world);

}  // namespace reprieve::serving
