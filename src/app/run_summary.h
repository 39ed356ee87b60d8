// RunSummary: what a run amounted to: pods placed and evicted, for whom, how long they waited, how long planning took.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "loop/loop_observer.h"
#include "text/table.h"

namespace reprieve {

class RunSummary : public LoopObserver {
public:
    void on_cycle(const CycleReport& report) override;
    void on_step(const SinkReport& report, Time now) override;

    [[nodiscard]] std::string text(const TableStyle& style) const;
    // Nobody waits, for its promised room neither.
    [[nodiscard]] bool all_placed() const { return unplaced_.empty() && promised_.empty(); }
    [[nodiscard]] std::size_t placed() const { return placed_.size(); }
    [[nodiscard]] std::size_t evicted() const { return evicted_; }

private:
    struct WaitGroup {
        std::string why;
        std::vector<std::string> names;
    };

    void count_placements(const CycleReport& report);
    [[nodiscard]] std::vector<WaitGroup> waiting_for() const;

    Time start_;
    Time end_;
    std::int64_t cycles_ = 0;
    std::set<std::string> placed_;           // UIDs
    std::set<std::string> nominated_;        // UIDs that had to wait for evictions
    std::map<std::string, Duration> waits_;  // by UID
    std::size_t evicted_ = 0;
    std::set<std::string> asked_;  // UIDs of pods that were asked to leave and not deleted
    std::map<std::pair<std::string, std::string>, int> evicted_for_;  // owner, action
    std::vector<Duration> planning_;
    std::vector<Unplaced> unplaced_;   // after the last cycle
    std::vector<Placement> promised_;  // the same: nominated, and not bound yet
    std::size_t failed_steps_ = 0;
    std::size_t dropped_plans_ = 0;
};

}  // namespace reprieve
