// RecordedLives: who was there in a record, from when to when: nodes, gangs, and the pods of which work is made.
//
// A place is work that somebody wants done: one pod, however often it had to be made again. It is the same place when a
// pod that was interrupted (evicted, gone with its gang, lost with its node) comes back under its name or is replaced
// by its controller.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "manifest/decode.h"
#include "record/reader.h"
#include "simulate/workload.h"

namespace reprieve {

struct RecordedPlace {
    enum class End : std::uint8_t { kOpen, kDone, kInterrupted, kDeleted };
    Pod pod;                 // as it was last seen
    std::int64_t gang = -1;  // in RecordedLives::gangs
    Time submitted;
    Time started;  // of its last life; not set: it did not run
    Time ended;    // of its last life
    Time first_started;
    Duration saved;       // by checkpoints of lives that were interrupted
    Duration checkpoint;  // the shortest time between two that were seen
    std::int32_t interruptions = 0;
    End end = End::kOpen;
};

struct RecordedGang {
    Gang fact;
    bool hit = false;  // one of its members was evicted
};

struct RecordedNode {
    Node fact;
    std::vector<Outage> outages;
    std::optional<Time> down;             // since then
    std::map<std::string, SpecId> fixed;  // pods that belong to the node: of DaemonSets, and static ones
};

class RecordedLives {
public:
    RecordedLives() : decoder_(words_) {}

    [[nodiscard]] Result<void> read(RecordReader& reader);

    Vocabulary& words() { return words_; }
    [[nodiscard]] Time start() const { return start_; }
    [[nodiscard]] Time end() const { return end_; }
    [[nodiscard]] const std::vector<RecordedPlace>& places() const { return places_; }
    [[nodiscard]] const std::vector<RecordedGang>& gangs() const { return gangs_; }
    [[nodiscard]] const std::map<std::string, RecordedNode>& nodes() const { return nodes_; }
    [[nodiscard]] const std::map<std::string, PriorityClass>& classes() const { return classes_; }
    [[nodiscard]] const std::map<std::string, std::string>& facts() const { return facts_; }
    [[nodiscard]] std::int64_t evictions() const { return evictions_; }
    [[nodiscard]] std::int64_t budgets() const { return static_cast<std::int64_t>(budgets_.size()); }

private:
    struct Life {
        std::string uid;
        std::size_t place = 0;
        Time checkpoint;
        bool evicted = false;
        bool finished = false;
        bool replaced = false;  // another pod has its place already, while it still terminates
    };

    void see(const RecordedChange& change);
    void see_node(const Node& node, Time at);
    void see_pod(const std::string& key, const Pod& pod, Time at);
    void see_gone(const std::string& key, Time at);
    void end_life(const std::string& key, Time at);
    void interrupt(const Life& life, Time at);
    void set_evicted(const std::string& key, Life& life);
    void mark_evicted(const std::string& pod);
    [[nodiscard]] std::size_t place_for(const std::string& key, const Pod& pod, Time at);
    [[nodiscard]] std::int64_t gang_of(const Pod& pod);
    [[nodiscard]] bool node_is_down(StringId node) const;

    Vocabulary words_;
    Decoder decoder_;
    Time start_;
    Time end_;
    std::vector<RecordedPlace> places_;
    std::vector<RecordedGang> gangs_;
    std::map<std::string, std::int64_t> gang_names_;
    std::map<std::string, RecordedNode> nodes_;
    std::map<std::string, PriorityClass> classes_;
    std::map<std::string, std::string> facts_;  // by key
    std::set<std::string> budgets_;
    std::map<std::string, Life> lives_;                       // by key of the pod
    std::map<std::string, std::deque<std::size_t>> free_;     // places that wait for a pod: by key, and by controller
    std::map<std::string, std::deque<std::string>> leaving_;  // evicted pods that are still there, by controller
    std::int64_t evictions_ = 0;
};

}  // namespace reprieve
