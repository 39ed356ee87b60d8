// ObstacleBoard: who stays on each node in the way of demands of one kind, and by which rule, kept up to date by
// touched nodes only.
//
// A refusal names the pods that stay on the nodes that the demand may use. Why a pod stays depends on the priority and
// queue of the demand and on the node, not on the demand's shape: of a thousand pods of many shapes that wait in vain,
// nearly all ask the same question about nearly the same nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "search/session.h"
#include "state/touch_log.h"

namespace reprieve {

// Reason -> number of pods.
using ObstacleCounts = std::map<std::string, std::int64_t>;

// What a look at one node found: the reasons, and the queues of the pods there.
struct NodeObstacles {
    ObstacleCounts pods;
    std::vector<QueueId> queues;
};

class ObstacleBoard {
public:
    using Look = std::function<NodeObstacles(NodeId)>;

    ObstacleBoard(const Session& session, Look look);

    // Looks again at the nodes that were touched since.
    void follow(const Session& session);

    // Adds up what stands on one node; `total[i]` belongs to `reason(i)`.
    void add(NodeId node, std::vector<std::int64_t>& total, std::vector<bool>& queues) const;
    [[nodiscard]] const std::string& reason(std::size_t i) const { return reasons_[i]; }
    [[nodiscard]] std::size_t reasons() const { return reasons_.size(); }

private:
    struct Entry {
        std::vector<std::pair<std::uint32_t, std::int64_t>> pods;  // reason, how many
        std::vector<QueueId> queues;
    };

    void look_at(NodeId node);

    Look look_;
    std::vector<Entry> nodes_;  // by NodeId
    std::vector<std::string> reasons_;
    std::map<std::string, std::uint32_t> index_;
    TouchLog::Moment seen_;
    std::vector<NodeId> touched_;
};

}  // namespace reprieve
