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
#include "plugins/shares.h"
#include "search/units.h"

namespace reprieve {

class Obstacles {
public:
    explicit Obstacles(const Desk& desk) : desk_(desk) {}

    // "2 pods of equal or higher priority, 1 in another queue", about those who run on nodes that the members may use.
    // `pdb`: whether budgets bind. `shares`: by which reclaim asks; null for other actions. Empty: nobody who could not
    // go is in the way.
    [[nodiscard]] std::string say(std::span<const PodId> members,
                                  const Attack& attack,
                                  PdbMode pdb,
                                  const Shares* shares);

private:
    using Reasons = ObstacleCounts;
    // Demands for which the same pods stay for the same reasons: priority, queue, whether across queues and by shares.
    using Asked = std::tuple<std::int32_t, QueueId, bool, bool, PdbMode>;

    [[nodiscard]] std::string count(std::span<const PodId> members,
                                    const Attack& attack,
                                    PdbMode pdb,
                                    const Shares* shares);
    [[nodiscard]] ObstacleBoard& board_of(const Attack& attack, PdbMode pdb);
    [[nodiscard]] NodeObstacles look_at(NodeId node, const Attack& attack, PdbMode pdb) const;
    [[nodiscard]] std::string why_pod_stays(PodId pod, const Attack& attack) const;
    [[nodiscard]] std::string why_budget_keeps(PodId pod) const;
    [[nodiscard]] std::string why_queue_keeps(QueueId queue, const Attack& attack, const Shares& shares) const;
    [[nodiscard]] std::string why_quota_keeps(QueueId queue, const Attack& attack) const;
    [[nodiscard]] std::string why_excess_stays(QueueId queue) const;
    [[nodiscard]] std::int64_t smallest_in(QueueId queue, Dim dim) const;
    [[nodiscard]] std::string name(QueueId queue) const;

    const Desk& desk_;
    std::map<Asked, ObstacleBoard> boards_;
    std::optional<ObstacleBoard> of_quota_;  // of the last demand that asked by quotas
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
    std::string said_;
};

}  // namespace reprieve
