// Ledger: what was decided, as rows that people ask for: decisions with their evictions and placements, waits, writes,
// and the lifelines of pods.
//
// A plan is made anew in every cycle, and most of it says what the one before said. A decision is what is new: an
// eviction that was not asked for before, a pod that gets a place, or another place. Pods of one demand that are placed
// or evicted by one action in one cycle are one decision. A nominated pod that is bound to the node it was promised is
// still the same decision.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "record/items.h"
#include "record/record_file.h"

namespace reprieve {

class Ledger {
public:
    void go_on_from(const RecordCounters& counters);

    // All of these may be called without a file: then only what is there now is remembered.
    void see(const std::string& pod, const FactItem& item, RecordFile* file);
    // `run` and `seq` are of the cycle.
    void take(const CycleItem& item, std::int64_t run, std::int64_t seq, RecordFile* file);
    void take(const StepItem& item, RecordFile* file);
    // Writes plans that have come since the last call.
    void flush(RecordFile& file);
    [[nodiscard]] bool full() const;

    // Another file is written from now on: rows must be made anew, and waits that stand are written again.
    void start_file(RecordFile& file);
    // What was not committed is lost, and so is what happened meanwhile.
    void forget();

    [[nodiscard]] const RecordCounters& counters() const { return counters_; }

private:
    struct Life {
        std::string uid;
        std::string node;
        std::string controller;
        Time created;
        Time bound;
        Time started;
        Time leaving;
        std::int64_t row = 0;  // in this file; 0: none yet
    };
    struct Standing {
        std::string node;
        bool later = false;
        std::int64_t decision = 0;
    };
    struct Wait {
        std::string owner;
        std::string reason;
        std::string shape;  // the reason without its figures
        Time since;
        Time written;
        bool never = false;
        std::int64_t row = 0;
        std::int64_t cycle = 0;
        std::int64_t seen = 0;
    };
    using Demand = std::pair<std::string, std::string>;  // for whom, by which action

    std::int64_t row_of(const std::string& pod, RecordFile& file);
    void write_life(Life& life, const std::string& pod, Time ended, RecordFile& file);
    void write_plan(const CycleItem& item);
    void write_cycle(const CycleItem& item, std::int64_t run, std::int64_t seq, std::int64_t decided, RecordFile& file);
    std::int64_t write_decisions(const CycleItem& item, RecordFile& file);
    std::int64_t open_decision(const Demand& demand, const CycleItem& item, RecordFile& file);
    void supersede(const std::string& pod, std::int64_t by, RecordFile& file);
    void note_given_up(const CycleItem& item, RecordFile& file);
    void write_waits(const CycleItem& item, RecordFile& file);
    void write_wait(const std::string& pod, Wait& wait, RecordFile& file);

    RecordCounters counters_;
    std::unordered_map<std::string, Life> lives_;            // pods that are there
    std::unordered_map<std::string, std::int64_t> gone_;     // rows of pods that are not any more
    std::unordered_map<std::string, Standing> placed_;       // what was last decided for a pod that has not started
    std::unordered_map<std::string, std::int64_t> evicted_;  // the decision that evicts a pod
    std::map<std::string, Wait> waits_;
    std::map<Demand, std::int64_t> opened_;  // in this cycle

    // Plans of the block that is being filled, and the last of them without its id and time.
    std::string plans_;
    std::string last_plan_;
    std::int64_t plans_first_ = 0;
    std::int64_t plans_flushed_ = 0;
    std::size_t plans_flushed_bytes_ = 0;
};

// A plan without its id and time, on one line: what is stored and compared.
[[nodiscard]] std::string plan_body(Plan plan);

// UIDs take half the room as bytes; what is no UUID stays text.
[[nodiscard]] std::string packed_uid(const std::string& uid);
[[nodiscard]] std::string unpacked_uid(std::string_view bytes);

[[nodiscard]] std::string inputs_to_json(const CycleInputs& inputs);
[[nodiscard]] CycleInputs inputs_from_json(std::string_view text);

}  // namespace reprieve
