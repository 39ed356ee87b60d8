// Obstacles: when an action finds no way, who stays in the way of a demand and by which rule.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "actions/desk.h"
#include "actions/obstacle_board.h"
#include "plugins/quota_vote.h"
#include "plugins/shares.h"
#include "search/units.h"

namespace reprieve {

// What the action goes by, beside whom it may attack.
struct ObstacleRules {
    PdbMode pdb = PdbMode::kBestEffort;
    const Shares* shares = nullptr;  // by which reclaim asks
    bool allow_whole = true;
};

class Obstacles {
public:
    explicit Obstacles(const Desk& desk) : desk_(desk) {}

    // " (stay: 2 pods of equal or higher priority, 1 in another queue)", about those who run on nodes that the members
    // may use; before it, where it is so, that a rule about other pods forbids what evictions would free. Goes behind
    // the sentence that says that there is no way. Empty: nobody who could not go is in the way.
    [[nodiscard]] std::string say(std::span<const PodId> members, const Attack& attack, const ObstacleRules& rules);

private:
    using Reasons = ObstacleCounts;
    // Demands for which the same pods stay for the same reasons: priority, queue, whether across queues and by shares,
    // what budgets bind, whether gangs may go whole; by quotas: as whom, and which pods are fixed.
    using Asked = std::tuple<std::int32_t, QueueId, bool, bool, PdbMode, bool, bool, bool, bool>;
    using Rank = std::optional<QuotaRank>;

    [[nodiscard]] std::string count(std::span<const PodId> members, const Attack& attack, const ObstacleRules& rules);
    [[nodiscard]] std::string why_rules_forbid(std::span<const PodId> members, const Attack& attack) const;
    [[nodiscard]] ObstacleBoard& board_of(const Attack& attack, const ObstacleRules& rules);
    [[nodiscard]] NodeObstacles look_at(NodeId node,
                                        const Attack& attack,
                                        const Rank& rank,
                                        const ObstacleRules& rules) const;
    [[nodiscard]] std::string why_pod_stays(PodId pod, const Attack& attack, const Rank& rank) const;
    [[nodiscard]] std::string why_budget_keeps(PodId pod) const;

    const Desk& desk_;
    std::map<Asked, ObstacleBoard> boards_;
    // Demands of one shape that are refused one after another are refused by the same pods.
    struct Last {
        SpecId spec;
        std::int32_t priority = 0;
        QueueId queue;
        PdbMode pdb = PdbMode::kBestEffort;
        Transaction::Checkpoint at = 0;
        friend bool operator==(const Last&, const Last&) = default;
    };
    Last last_;
    std::optional<std::string> said_;
};

}  // namespace reprieve
