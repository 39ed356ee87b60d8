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
    void on_change(const Change& change, const Cluster& cluster, Time now) override;
    void on_cycle(const CycleReport& report) override;
    void on_step(const SinkReport& report, Time now) override;

    [[nodiscard]] std::string text(const TableStyle& style) const;
    // No pod waits and no replica, for its promised room neither.
    [[nodiscard]] bool all_placed() const { return unplaced_.empty() && promised_.empty() && matches_.empty(); }
    [[nodiscard]] std::size_t placed() const { return placed_.size(); }
    [[nodiscard]] std::size_t evicted() const { return evicted_.size(); }

private:
    struct WaitGroup {
        std::string why;
        std::vector<std::string> names;
        std::int64_t count = 0;  // of the pods and replicas that these are
    };
    // An eviction that a plan asked for and that has not been seen to happen.
    struct Asked {
        std::string uid;
        std::string owner;
        std::string action;
    };

    void count_placements(const CycleReport& report);
    void note_gone(const std::string& pod);
    [[nodiscard]] std::vector<WaitGroup> waiting_for() const;

    Time start_;
    Time end_;
    std::int64_t cycles_ = 0;
    std::set<std::string> placed_;           // UIDs
    std::set<std::string> nominated_;        // UIDs that had to wait for evictions
    std::map<std::string, Duration> waits_;  // by UID
    std::map<std::string, Asked> going_;     // by pod
    std::set<std::string> evicted_;          // UIDs of pods that left, or are leaving, because a plan asked for it
    std::set<std::string> asked_;            // UIDs of pods that were asked to leave and not deleted
    std::map<std::pair<std::string, std::string>, int> evicted_for_;  // owner, action
    std::vector<Duration> planning_;
    std::vector<Unplaced> unplaced_;   // after the last cycle
    std::vector<Placement> promised_;  // the same: nominated, and not bound yet
    std::vector<Match> matches_;       // the same: replicas that wait for others to make room
    std::size_t failed_steps_ = 0;
    std::size_t dropped_plans_ = 0;
};

}  // namespace reprieve
