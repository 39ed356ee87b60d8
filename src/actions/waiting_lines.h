// WaitingLines: demands that wait, queue by queue; the queue whose turn it is is named anew after every demand.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "plugins/shares.h"
#include "state/demand.h"

namespace reprieve {

class WaitingLines {
public:
    // The demands of one queue, in order; none: those that name a queue which does not exist.
    struct Line {
        QueueId queue;
        std::vector<Demand> demands;
        std::size_t next = 0;
        [[nodiscard]] const Demand& front() const { return demands[next]; }
        [[nodiscard]] bool empty() const { return next == demands.size(); }
    };

    void add(Demand demand) {
        const auto at = std::ranges::find(lines_, demand.queue, &Line::queue);
        Line& line = at != lines_.end() ? *at : lines_.emplace_back(Line{.queue = demand.queue, .demands = {}});
        line.demands.push_back(std::move(demand));
    }

    template <class Before>
    void sort(const Before& before) {
        for (Line& line : lines_)
            std::ranges::sort(line.demands, before);
    }

    [[nodiscard]] bool several() const { return lines_.size() > 1; }
    [[nodiscard]] const std::vector<Line>& all() const { return lines_; }
    [[nodiscard]] std::vector<Line>& all() { return lines_; }

    // By its share, anew after every demand. Null: nobody waits. REQUIRES: shares where there are several queues.
    [[nodiscard]] Line* next(const Snapshot& snapshot, const std::optional<Shares>& shares) {
        Line* best = nullptr;
        for (Line& line : lines_) {
            if (line.empty()) continue;
            if (best == nullptr || !line.queue)
                best = &line;
            else if (best->queue && shares->serve_before(snapshot, line.queue, best->queue))
                best = &line;
        }
        return best;
    }

private:
    std::vector<Line> lines_;
};

}  // namespace reprieve
