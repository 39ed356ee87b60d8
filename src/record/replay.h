// Replay: plans every cycle of a record again and compares.
//
// With the program and configuration that wrote the record, every plan must be the same, byte for byte, but for its id.
// With another, the differences are what an upgrade or a new configuration would have decided otherwise. Each cycle is
// planned on the world as it was recorded: what a different decision would have led to is not followed (simulate does
// that).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/config.h"
#include "model/plan.h"
#include "record/reader.h"

namespace reprieve {

struct ReplayOptions {
    Time from;  // not set: from the start
    Time to;
    std::optional<SchedulerConfig> config;  // none: the recorded one
};

struct ReplayDifference {
    std::int64_t cycle = 0;
    Time at;
    std::string recorded;  // plans, as JSON on one line
    std::string replayed;
};

// How decisions of one cycle differ, in words.
struct ChangedDecision {
    std::int64_t cycle = 0;
    Time at;
    std::string owner;
    std::string recorded;  // "evicts a, b; places c on n1"; empty: nothing
    std::string replayed;
};

struct ReplayReport {
    std::int64_t cycles = 0;
    std::int64_t identical = 0;
    std::int64_t different = 0;
    std::optional<ReplayDifference> first;
    std::vector<ChangedDecision> changed;
    std::int64_t changed_left_out = 0;  // beyond those that are listed
    // Of what is new: what the cycle before had decided already is not counted again, as in `history`. Of the record
    // these are its decisions, whatever they are compared with.
    DeedCounts recorded;
    DeedCounts replayed;
    std::vector<RecordGap> gaps;
};

// Cycles that cannot be read are left out: the reader's `troubles` tell that there are some, and `gaps` when.
[[nodiscard]] Result<ReplayReport> replay(RecordReader& reader, const ReplayOptions& options);

// What the cycle plans on this cluster; the id is left empty.
[[nodiscard]] Plan plan_again(Cluster& cluster, const SchedulerConfig& config, const CycleInputs& inputs);

[[nodiscard]] std::string replay_to_json(const ReplayReport& report);

}  // namespace reprieve
