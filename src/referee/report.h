// RefereeReport: verdicts, and what they come to.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "record/reader.h"
#include "referee/judge.h"

namespace reprieve {

struct JudgedDecision {
    Time at;
    std::string scheduler;
    std::string owner;  // empty: unknown
    std::vector<std::string> victims;
    std::string confidence;  // named, inferred, unknown
    Ruling ruling;
};

struct RefereeTotals {
    std::int64_t evictions = 0;  // decisions
    std::int64_t pods_lost = 0;
    std::int64_t least_pods = 0;
    double gpu_hours_lost = 0;
    double least_gpu_hours = 0;
    std::map<std::string, std::int64_t> by_verdict;
    void add(const JudgedDecision& one);
};

struct RefereeReport {
    Time from;
    Time to;
    std::vector<JudgedDecision> verdicts;  // in the order of time
    std::vector<RecordGap> gaps;
    std::set<std::string> schedulers;  // whose pods or evictions were seen, judged or not
    bool complete = true;              // false: not all of a record could be read

    [[nodiscard]] RefereeTotals totals() const;
    // By "scheduler", "queue", "priority" or "day".
    [[nodiscard]] std::map<std::string, RefereeTotals> totals_by(const std::string& what) const;
    // Indexes of at most ten: by what need not have been lost, GPU-hours first.
    [[nodiscard]] std::vector<std::size_t> worst() const;
    // Whether every verdict is fair or unclear.
    [[nodiscard]] bool all_fair() const;
};

[[nodiscard]] std::string referee_to_json(const RefereeReport& report);

}  // namespace reprieve
