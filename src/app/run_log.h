// RunLog: what the loop does, a line each: when, what, and then key=value pairs for people and scripts alike.
//
//     +12s evict pod=research/embed-2 node=gpu-2 for=serving/chat-0 action=preempt reason="..."
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "loop/loop_observer.h"
#include "text/log_line.h"

namespace reprieve {

class RunLog : public LoopObserver {
public:
    using Out = std::function<void(Time now, const LogLine& line)>;

    explicit RunLog(Out out) : out_(std::move(out)) {}

    void on_change(const Change& change, const Cluster& cluster, Time now) override;
    void on_cycle(const CycleReport& report) override;
    void on_step(const SinkReport& report, Time now) override;
    void on_trouble(const std::string& what, Time now) override;

private:
    void line(Time now, const LogLine& line) { out_(now, line); }
    void tell_serving(const CycleReport& report);
    void tell_queues(const CycleReport& report);
    void tell_placements(const CycleReport& report);
    void tell_unplaced(const CycleReport& report);
    void tell_alike(Time now);

    struct Failed {
        SinkStep step = SinkStep::kAnnotate;
        std::string what;
        Time at;
        std::int64_t alike = 0;  // since, and not told
    };

    Out out_;
    bool begun_ = false;                           // everything that was there at the start is old news
    std::set<std::string> serving_;                // scale changes and forced deletions, as last told
    std::map<std::string, std::string> queues_;    // queue -> its shares, as last told
    std::map<std::string, std::string> promised_;  // pod -> node, as last told
    struct Waiting {
        std::string words;  // verdict and reason without its numbers, as last told
        bool still = false;
    };
    std::unordered_map<std::string, Waiting> waiting_;  // by pod; never walked in order
    Failed failed_;
};

}  // namespace reprieve
