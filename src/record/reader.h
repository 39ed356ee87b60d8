// RecordReader: answers from a record: what was decided, when, and what the world was like.
//
// A record is a folder or one of its files. Files that cannot be read (foreign, newer, damaged) are named in
// `troubles`, one sentence each, and the others are read all the same, as is whatever is left of a damaged one; the
// times of which something is lost are gaps. Damage is found where it is met: after an answer, `troubles` and `gaps`
// tell whether something was left out of it. A record of which nothing can be read is an error. A reader may be used
// while the record is written; one thread at a time. Statements are short: a reader that is kept open does not hold up
// the writer.
//
//     decisions, waits, lives    by name, queue, action and time: indexed, milliseconds in a week's record
//     cycles, cycle_at           the cycles between two moments; the last at or before one
//     world                      everything that was there when a cycle planned
//     plan                       what a cycle decided, as it was written down
//     walk                       everything in order, for replays
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/plan.h"
#include "record/items.h"
#include "record/retention.h"

namespace reprieve {

struct RecordGap {
    Time from;
    Time to;
    std::string why;
};

struct RecordedCycle {
    std::int64_t id = 0;
    Time at;
    std::int64_t seq = 0;   // the last fact that it saw
    std::int64_t plan = 0;  // number of its plan
    std::string plan_id;
    CycleInputs inputs;
    std::int64_t decided = 0;  // decisions that are new in it
    bool acted = false;
    bool sound = true;
    Duration planning;
    Duration whole;
    std::int64_t changes = 0;
    std::string version;  // of the program that planned
    std::int64_t config = 0;
    std::size_t file = 0;
};

struct RecordedDecision {
    std::int64_t id = 0;
    std::int64_t cycle = 0;
    Time at;
    std::string owner;  // "for"
    std::string action;
    std::string queue;
    std::optional<std::int32_t> priority;
    std::string lost;                     // work that goes with the victims, a JSON object; empty: none
    std::vector<std::string> evictions;   // each a JSON object, as in a plan
    std::vector<std::string> placements;  // the same
    std::vector<std::string> victims;     // "ns/name"
    std::vector<std::string> losers;      // the queues of the victims, in the same order
    std::vector<std::string> placed;      // "ns/name"
    std::string certificate;              // a JSON object; empty: none
    std::string outcome;                  // carriedOut, partly, dropped, superseded
    Time started;                         // not set: not all of it has
    bool whole = true;                    // false: not all that matters of it could be read
};

struct RecordedWait {
    std::string pod;
    std::string owner;
    Time since;
    Time until;  // not set: it still waits
    bool never = false;
    std::string reason;
};

struct PodLife {
    std::string pod;
    std::string uid;
    std::string node;
    std::string controller;  // its name; empty: none
    Time created;
    Time bound;
    Time started;
    Time leaving;
    Time ended;
};

// What the queues held, a JSON object: by queue, by resource.
struct RecordedUse {
    Time at;
    std::string queues;
};

struct RecordedWrite {
    Time at;
    std::int64_t decision = 0;
    std::string pod;
    std::string step;
    bool ok = true;
    bool tried = true;
    std::string what;
};

struct DeedCounts {
    std::int64_t evictions = 0;
    std::int64_t placements = 0;
};

struct DecisionQuery {
    std::string name;    // a pod ("ns/name" or "name"), a gang or a queue; empty: all
    std::string action;  // empty: all
    Time since;          // not set: from the start
    Time until;
    std::size_t most = 0;  // the newest so many (lives: of each file); 0: all
};

// An object as it was told, and what the loop believed of it beside that.
struct RecordedObject {
    std::string json;
    std::string overlay;
};
// By key: "Pod team/a".
using RecordedWorld = std::map<std::string, RecordedObject>;

// One change of the world, as `walk` tells it.
struct RecordedChange {
    Time at;
    std::string_view key;
    bool believed = false;  // else it is the object
    std::string_view json;  // empty: gone, or nothing believed
};

// Brings a world up to the change. False: something is believed of an object that is not there, which no record of one
// writer says.
[[nodiscard]] bool apply_change(const RecordedChange& change, RecordedWorld& world);

struct RecordVisitor {
    // The world as it was after everything before; `fresh`: what was before is not known, or not connected.
    std::function<Result<void>(const RecordedWorld& world, Time at, bool fresh)> keyframe;
    std::function<Result<void>(const RecordedChange&)> change;
    // False: that is enough.
    std::function<Result<bool>(const RecordedCycle&)> cycle;
};

class RecordReader {
public:
    [[nodiscard]] static Result<std::unique_ptr<RecordReader>> open(const std::string& path);
    ~RecordReader();
    RecordReader(const RecordReader&) = delete;
    RecordReader& operator=(const RecordReader&) = delete;

    [[nodiscard]] const std::vector<std::string>& troubles() const { return troubles_; }
    // Called for every trouble, also for those that are known already.
    void tell_troubles(std::function<void(const std::string&)> teller);
    // What an older reader of the same record has found to be lost, and whom it told.
    void inherit(const RecordReader& other);
    // The first and last moment that is known.
    [[nodiscard]] Time from() const { return from_; }
    [[nodiscard]] Time to() const { return to_; }
    // Also times between files of which some are missing, and those of which something that was asked for is lost.
    [[nodiscard]] std::vector<RecordGap> gaps();

    [[nodiscard]] std::vector<RecordedCycle> cycles(Time from, Time to, std::size_t most = 0);
    [[nodiscard]] std::optional<RecordedCycle> cycle(std::int64_t id);
    [[nodiscard]] std::optional<RecordedCycle> cycle_at(Time at);

    [[nodiscard]] std::vector<RecordedDecision> decisions(const DecisionQuery& query);
    [[nodiscard]] std::vector<RecordedWait> waits(const DecisionQuery& query);
    [[nodiscard]] std::vector<PodLife> lives(const DecisionQuery& query);
    [[nodiscard]] std::vector<RecordedWrite> writes(std::int64_t decision);
    // Oldest first, until `until`, not more than the newest `most`.
    [[nodiscard]] std::vector<RecordedUse> use(Time until, std::size_t most);

    // What the cycle decided, with its id and time.
    [[nodiscard]] Result<Plan> plan(const RecordedCycle& cycle);
    // The stored body, without id and time (see plan_body).
    [[nodiscard]] Result<std::string> plan_text(const RecordedCycle& cycle);
    [[nodiscard]] Result<std::string> config_text(const RecordedCycle& cycle);
    // What was there when the cycle planned.
    [[nodiscard]] Result<RecordedWorld> world(const RecordedCycle& cycle);

    // How much the decisions of each cycle evict and place.
    [[nodiscard]] std::map<std::int64_t, DeedCounts> deed_counts();

    // From the keyframe before `from` on; cycles before it are told too, so that callers can skip them. Where something
    // is damaged, nothing is told until the next keyframe, which is `fresh`; an error is the visitor's.
    [[nodiscard]] Result<void> walk(Time from, const RecordVisitor& visitor);

private:
    struct File;
    class Walk;
    RecordReader();
    void trouble(const std::string& sentence);
    // Something of this time could not be read.
    void lose(const File& file, const std::string& sentence, Time from, Time to);
    void lose_cycle(const RecordedCycle& cycle, const std::string& sentence);
    void lose(const RecordGap& gap);
    void note_unread(const std::vector<RecordPath>& unread);
    [[nodiscard]] Result<void> open_file(File& file);
    template <class Use>
    void each_file(Use&& use);
    [[nodiscard]] Result<void> read_block(File& file, std::int64_t kind, std::int64_t first, RecordedWorld& world);
    [[nodiscard]] Result<std::string> plan_from(File& file, std::int64_t number);

    std::vector<std::unique_ptr<File>> files_;  // oldest first
    std::vector<std::string> troubles_;
    std::function<void(const std::string&)> teller_;
    std::vector<RecordGap> lost_;
    Time from_;
    Time to_;
};

}  // namespace reprieve
