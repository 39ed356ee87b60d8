// RunLog: what the loop does, a line each: when, what, and then key=value pairs for people and scripts alike.
//
//     +12s evict pod=research/embed-2 node=gpu-2 for=serving/chat-0 action=preempt reason="..."
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "app/loop_observer.h"

namespace reprieve {

class RunLog : public LoopObserver {
public:
    using Clock = std::function<std::string(Time)>;  // how a line says when
    using Out = std::function<void(const std::string& line)>;

    RunLog(Clock clock, Out out) : clock_(std::move(clock)), out_(std::move(out)) {}

    void on_change(const Change& change, const Cluster& cluster, Time now) override;
    void on_cycle(const CycleReport& report) override;
    void on_step(const SinkReport& report, Time now) override;
    void on_trouble(const std::string& what, Time now) override;

private:
    void line(Time now, const std::string& text) { out_(clock_(now) + " " + text); }
    void tell_serving(const CycleReport& report);
    void tell_queues(const CycleReport& report);
    void tell_placements(const CycleReport& report);
    void tell_unplaced(const CycleReport& report);

    Clock clock_;
    Out out_;
    bool begun_ = false;                           // everything that was there at the start is old news
    std::set<std::string> serving_;                // scale changes and forced deletions, as last told
    std::map<std::string, std::string> queues_;    // queue -> its shares, as last told
    std::map<std::string, std::string> promised_;  // pod -> node, as last told
    std::map<std::string, std::string> waiting_;   // pod -> reason without its numbers, as last told
};

// The value as it is, or in quotes where it has spaces or quotes in it.
[[nodiscard]] std::string log_value(const std::string& text);

}  // namespace reprieve
