// LiveView: the loop on a terminal, redrawn in place, at most ten times a second.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "loop/loop_observer.h"
#include "text/screen.h"
#include "text/view_frame.h"

namespace reprieve {

class LiveView : public LoopObserver {
public:
    using Clock = std::function<std::string(Time)>;  // how the view says when

    LiveView(Screen& screen, Clock clock, std::string subtitle)
        : screen_(screen),
          clock_(std::move(clock)),
          subtitle_(std::move(subtitle)) {}

    void on_change(const Change& change, const Cluster& cluster, Time now) override;
    void on_cycle(const CycleReport& report) override;
    void on_step(const SinkReport& report, Time now) override;
    void on_trouble(const std::string& what, Time now) override;
    void on_turn(const Cluster& cluster, Time now) override;

private:
    void tell(Time now, std::string text, std::string why, bool eviction = false);
    [[nodiscard]] ViewFrame frame(const Cluster& cluster, Time now) const;

    Screen& screen_;
    Clock clock_;
    std::string subtitle_;
    bool begun_ = false;
    std::int64_t cycles_ = 0;
    std::size_t placed_ = 0;
    std::size_t evicted_ = 0;
    std::deque<EventLine> events_;
    std::map<std::string, std::string> promised_;  // pod -> node
    std::map<std::string, std::string> reasons_;   // pod -> why it waits
    std::chrono::steady_clock::time_point drawn_{};
};

// One bar per node, by name.
[[nodiscard]] std::vector<NodeBar> node_bars(const Cluster& cluster);

}  // namespace reprieve
