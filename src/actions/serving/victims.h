// Victims: whom one missing replica would have to wait for on one node, and which node asks the least.
//
// Victims are ranked by how far they are on their way out, then by whose they were in the last cycle, then by priority.
// A victim that moves on only improves its own rank, so the node chosen once stays chosen.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actions/serving/categories.h"
#include "actions/serving/rooms.h"
#include "actions/serving/world.h"

namespace reprieve::serving {

enum class Claim : std::uint8_t { kOurs, kNobodys, kAnothers };

// Smaller is taken first.
struct Rank {
    Category category = Category::kNormal;
    Claim claim = Claim::kNobodys;
    std::int32_t priority = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
};

// What one node asks for one replica.
struct Offer {
    NodeIndex node;
    std::int64_t score = 0;
    std::vector<ReplicaIndex> victims;  // best first
    std::vector<Rank> ranks;            // of the victims, worst first
};

// Who was claimed in this cycle, and what may still be claimed.
class Claims {
public:
    Claims(const World& world, std::span<const Category> categories);

    [[nodiscard]] bool taken(ReplicaIndex replica) const { return taken_[replica.index()]; }
    // The last replica of a deployment in a plane stays: stopping it takes long and stops the service there.
    [[nodiscard]] bool may_take(ReplicaIndex replica) const;
    void take(ReplicaIndex replica);
    void give_back(ReplicaIndex replica);

    // Whether somebody took an active replica of this deployment.
    [[nodiscard]] bool is_preemptee(DeploymentIndex deployment) const { return lost_[deployment.index()] > 0; }
    [[nodiscard]] std::int64_t active(DeploymentIndex d, std::size_t branch) const { return count(d, branch).active; }
    [[nodiscard]] std::int64_t normal_taken(DeploymentIndex d, std::size_t branch) const {
        return count(d, branch).normal_taken;
    }
    [[nodiscard]] Category category(ReplicaIndex replica) const { return categories_[replica.index()]; }

private:
    struct Count {
        std::int64_t active = 0;
        std::int64_t active_taken = 0;
        std::int64_t normal_taken = 0;
    };
    [[nodiscard]] const Count& count(DeploymentIndex d, std::size_t branch) const { return counts_[d.index()][branch]; }
    void note(ReplicaIndex replica, int sign);

    const World& world_;
    std::span<const Category> categories_;
    std::vector<bool> taken_;
    std::vector<std::int64_t> lost_;
    std::vector<std::vector<Count>> counts_;
};

// Looks for victims for the replicas of one deployment; asks a node again only after something there has changed.
class VictimSearch {
public:
    VictimSearch(const World& world, DeploymentIndex preemptor, const Rooms& rooms, Claims& claims);

    // The best offer in a plane (empty: in all that the deployment may use). None: nobody can make room.
    [[nodiscard]] const Offer* best(const std::string& plane);
    // The victims of this offer were claimed.
    void forget(const Offer& offer);

private:
    [[nodiscard]] std::optional<Offer> ask(NodeIndex node);
    [[nodiscard]] bool eligible(ReplicaIndex replica) const;
    [[nodiscard]] Rank rank(ReplicaIndex replica) const;
    [[nodiscard]] bool better_victim(ReplicaIndex a, ReplicaIndex b) const;
    [[nodiscard]] bool better(const Offer& a, const Offer& b) const;
    [[nodiscard]] bool suffices(NodeIndex node, std::span<const ReplicaIndex> victims) const;
    void drop_needless(NodeIndex node, std::vector<ReplicaIndex>& victims) const;

    const World& world_;
    DeploymentIndex preemptor_;
    const Rooms& rooms_;
    Claims& claims_;
    std::vector<std::vector<ReplicaIndex>> on_node_;
    std::vector<std::optional<Offer>> offers_;
    std::vector<bool> known_;
};

}  // namespace reprieve::serving
