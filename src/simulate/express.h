// Express: where the next pod goes while nobody waits, in the size of what changed.
//
// A cycle of the scheduler looks at every node. While nobody waits and a pod fits, all that the cycle would do is to
// take the best node for it: least allocated, balanced, GPUs packed, of equals the first by name (plugins/score). Those
// numbers are local to a node, so they are kept in a tree for each shape of pod and only nodes that changed are asked
// again. Everything else (gangs, shares of devices, somebody waiting) is the loop's. A test holds both against each
// other: with and without it every pod is bound to the same node at the same time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "simulate/workload.h"

namespace reprieve {

class Express {
public:
    // Nothing is served by it where the trace or the nodes ask for more than whole devices.
    Express(const std::vector<TraceNode>& nodes, const JobTrace& trace);

    [[nodiscard]] bool serves(const TraceJob& job) const { return usable_ && job.pods == 1; }
    // The best node for a pod of this job; none: it fits nowhere now.
    [[nodiscard]] std::optional<std::uint32_t> best(const TraceJob& job);

    // A pod of the job came to the node (+1) or left it (-1).
    void occupy(std::uint32_t node, const TraceJob& job, int sign);
    void set_ready(std::uint32_t node, bool ready);

private:
    static constexpr std::size_t kMostBoards = 64;

    struct Room {
        std::int64_t cpu = 0;  // milli
        std::int64_t memory = 0;
        std::int64_t gpus = 0;
    };
    struct Seat {
        Room total;
        Room used;
        bool ready = true;
    };
    struct Shape {
        std::int64_t cpu = 0;
        std::int64_t memory = 0;
        std::int64_t gpus = 0;
        std::uint32_t selector = 0;
        friend auto operator<=>(const Shape&, const Shape&) = default;
    };
    // A tree of winners over the nodes in the order of their names.
    struct Board {
        std::vector<std::int64_t> score;  // by rank; below 0: it does not fit
        std::vector<std::uint32_t> winner;
        std::vector<bool> selected;
    };

    [[nodiscard]] Board& board(const Shape& shape);
    [[nodiscard]] std::int64_t score(const Shape& shape, const Board& board, std::uint32_t rank) const;
    void play(Board& board, std::size_t at) const;
    void touch(std::uint32_t node);

    const JobTrace& trace_;
    const std::vector<TraceNode>& nodes_;
    bool usable_ = true;
    std::vector<Seat> seats_;             // by node
    std::vector<std::uint32_t> by_rank_;  // nodes by name
    std::vector<std::uint32_t> rank_of_;
    std::size_t leaves_ = 1;
    std::map<Shape, Board> boards_;
};

}  // namespace reprieve
