#include "actions/obstacle_board.h"

#include <utility>

namespace reprieve {

ObstacleBoard::ObstacleBoard(const Session& session, Look look)
    : look_(std::move(look)),
      nodes_(session.snapshot.nodes.size()),
      seen_(session.tx.touches().now()) {
    for (NodeId node : session.snapshot.nodes_by_name)
        look_at(node);
}

void ObstacleBoard::follow(const Session& session) {
    touched_.clear();
    session.tx.touches().since(seen_, touched_);
    seen_ = session.tx.touches().now();
    for (NodeId node : touched_)
        look_at(node);
}

void ObstacleBoard::look_at(NodeId node) {
    Entry& entry = nodes_[node.index()];
    NodeObstacles found = look_(node);
    entry.pods.clear();
    for (const auto& [reason, count] : found.pods) {
        const auto [at, is_new] = index_.try_emplace(reason, static_cast<std::uint32_t>(reasons_.size()));
        if (is_new) reasons_.push_back(reason);
        entry.pods.emplace_back(at->second, count);
    }
    entry.queues = std::move(found.queues);
}

void ObstacleBoard::add(NodeId node, std::vector<std::int64_t>& total, std::vector<bool>& queues) const {
    const Entry& entry = nodes_[node.index()];
    for (const auto& [reason, count] : entry.pods)
        total[reason] += count;
    for (QueueId queue : entry.queues)
        queues[queue.index()] = true;
}

}  // namespace reprieve
