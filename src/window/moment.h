// Moment: everything the window shows of one instant, as JSON texts that were made once.
//
// A moment never changes, so that any number of threads may read it while the loop goes on; `serial` grows with every
// new one, and ETags and events carry it. What is too large to be made for every instant (Room) or needs the cluster
// itself (explanations, what-if) is asked of the source.
//
// MomentSource: where moments come from: files that were read once, the running loop, or a record.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/config.h"
#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve::window {

// One decision: texts for lists and receipts, and what lists are filtered by.
struct DecisionEntry {
    std::string id;
    std::string owner;
    std::string action;
    std::string status;  // of its certificate; empty: it has none
    std::string queue;
    std::string outcome;
    std::optional<std::int32_t> priority;
    bool evicts = false;
    Time at;
    std::int64_t cycle = 0;
    Time started;                     // where a record says so
    std::vector<std::string> names;   // of pods and gangs that it speaks of
    std::vector<std::string> losers;  // queues of those that it evicts, where a record says so
    std::string row;                  // an object of `history`, plus id, priority and queue
    std::string receipt;  // the same with the nodes before and after, victims and commands; empty: see the source
    std::string why;      // explanations and alternatives; empty: not worked out (yet)
    std::string no_why;   // why they are missing, a sentence
};

struct Moment {
    std::int64_t serial = 0;
    Time now;
    std::string summary;  // of Now
    std::string waiting;
    std::string queues;
    std::vector<std::shared_ptr<const DecisionEntry>> decisions;  // newest first
};

// Since when and until when a source can be asked, and where it knows nothing.
struct Extent {
    struct Gap {
        Time from;
        Time to;
        std::string why;
    };
    Time from;
    Time to;
    std::vector<Gap> gaps;
};

// The cluster, the plan made from it and the configuration, as a copy that a question may spoil.
struct Scene {
    Cluster& cluster;
    const Plan& plan;
    const SchedulerConfig& config;
};
// Answers with JSON text.
using Question = std::function<Result<std::string>(Scene&)>;

class MomentSource {
public:
    virtual ~MomentSource() = default;

    // The last moment at or before `at`; not given: the newest.
    [[nodiscard]] virtual Result<std::shared_ptr<const Moment>> moment(std::optional<Time> at) = 0;
    // Asks a copy of that moment's cluster. The copy is another process, so that a question can be ended, and can
    // neither change nor break anything here.
    [[nodiscard]] virtual Result<std::string> ask(std::optional<Time> at, const Question& question) = 0;
    // The same about the cluster that this decision saw.
    [[nodiscard]] virtual Result<std::string> ask_about(const DecisionEntry& entry, const Question& question) {
        return ask(entry.at, question);
    }
    [[nodiscard]] virtual Result<std::string> receipt(const DecisionEntry& entry) { return entry.receipt; }
    [[nodiscard]] virtual Result<std::string> room(std::optional<Time> at) = 0;
    [[nodiscard]] virtual Result<std::string> lifelines(std::optional<Time> at, const std::string& queue) = 0;
    // Nothing: there is only one moment, or only now.
    [[nodiscard]] virtual std::optional<Extent> extent() { return std::nullopt; }
    // The newest serial, at once if it is not `seen`, else after a wait.
    [[nodiscard]] virtual std::int64_t newest(std::int64_t seen, std::chrono::milliseconds wait) = 0;
    // "files", "loop" or "record".
    [[nodiscard]] virtual std::string kind() const = 0;
};

}  // namespace reprieve::window
