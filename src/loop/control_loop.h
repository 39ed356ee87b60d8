// ControlLoop: facts in, plans out, for ever. The same loop runs on a real API server and on the embedded cluster.
//
// One turn: take in what changed (many changes, one cycle), and if something that decisions depend on is different, or
// a moment has come that somebody waited for, plan, let the audit judge the plan, and have it carried out. A plan that
// breaks a rule costs the demand that broke it: that demand is set aside for a while, and the loop plans again without
// it. Where nobody can be blamed, only what fits without evictions is bound. The loop remembers nothing that it could
// not find again in the objects: another one may go on where this one stopped.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "loop/awaited.h"
#include "loop/beliefs.h"
#include "loop/claim_watch.h"
#include "loop/eviction_news.h"
#include "loop/loop_observer.h"
#include "loop/rest.h"
#include "loop/retry.h"
#include "model/config.h"
#include "model/world.h"
#include "state/cluster.h"

namespace reprieve {

struct LoopOptions {
    SchedulerConfig config;
    std::string config_text;  // for the plans' ids
    bool dry_run = false;     // plan and tell, do nothing
    std::int64_t cycles = 0;  // stop after so many; 0: never
    Duration resync;          // with something waiting: plan again after so long even if nothing changes; 0: never
    BeliefOptions beliefs;
    // Who judges plans; none: the audit.
    std::function<std::vector<Violation>(const Cluster&, const Plan&, const SchedulerConfig&)> judge;
    std::function<bool()> stopped;  // asked once a turn; none: never
    std::function<bool()> leads;    // whether plans may be made and carried out now; none: always
    std::function<bool()>
        is_current;           // whether facts come in as they happen; while not, nothing is planned; none: always
    Duration cycle_budget{};  // for planning, on the machine's clock; 0: a cycle takes as long as it takes
    Duration longest_wait = kForever;  // for one poll; less than for ever where the world never ends by itself
    RestOptions rest;                  // after a cycle the loop only listens for a while
    // Words that no object names any more are forgotten between cycles. REQUIRES: the source keeps no ids of words.
    bool forgets = false;
    bool tells_warnings = false;  // what plans warn of goes to the observer, once each
};

enum class LoopEnd : std::uint8_t { kWorldEnded, kCyclesDone, kStopped };

struct LoopCounts {
    std::int64_t cycles = 0;
    std::int64_t changes = 0;
    std::int64_t audit_failures = 0;  // plans that broke a rule
    std::int64_t failed_steps = 0;
    std::int64_t sweeps = 0;  // of words that nobody names any more
};

class ControlLoop {
public:
    // All of them must outlive the loop. The source must speak the cluster's words.
    ControlLoop(Cluster& cluster, Source& source, Sink& sink, LoopObserver& observer, LoopOptions options);

    LoopEnd run();
    // One turn of it; an answer when it is over.
    [[nodiscard]] std::optional<LoopEnd> turn();

    [[nodiscard]] const LoopCounts& counts() const { return counts_; }
    [[nodiscard]] std::size_t assumptions() const { return beliefs_.assumptions(); }

private:
    // A plan, and what was wrong with those before it that were not carried out.
    struct Judged {
        Plan plan;
        CycleInputs inputs;  // of the plan
        std::vector<Violation> violations;
        std::vector<std::string> refused;  // demands that were set aside, sorted
        bool sound = false;
        Duration planning;  // of all of them together, on the machine's clock
        Duration auditing;
    };
    [[nodiscard]] Duration patience(Time now) const;
    [[nodiscard]] bool leads() const;
    [[nodiscard]] bool is_current() const;
    [[nodiscard]] bool may_plan() const;
    [[nodiscard]] Duration resting() const;
    [[nodiscard]] bool poll();
    void hear();
    void cycle(Time now);
    void decide(Time now);
    [[nodiscard]] Plan make_plan(const SchedulerConfig& config, CycleInputs& inputs, Time now);
    [[nodiscard]] std::vector<Violation> judge(const Plan& plan) const;
    [[nodiscard]] Judged plan_soundly(Time now);
    void set_aside(const std::string& owner, const Violation& violation, Time now);
    void tell_warnings(const Plan& plan, Time now);
    void carry_out(const Plan& plan, Time now);
    void refresh(Time now);
    void forget();
    void drain();

    Cluster& cluster_;
    Source& source_;
    Sink& sink_;
    LoopObserver& observer_;
    LoopOptions options_;
    Beliefs beliefs_;
    ClaimWatch claims_;
    EvictionNews news_;
    Retry retry_;
    Awaited awaited_;
    Rest rest_;
    LoopCounts counts_;
    bool relevant_ = false;  // something is different since the last cycle
    bool urgent_ = false;    // somebody can be bound: the last thing that was waited for has gone
    bool synced_ = false;    // the source has told everything that was there at the start
    bool fresh_ = false;     // the snapshot is as the facts are
    Time wakeup_;
    std::vector<Match> matches_;      // of the last plan
    std::set<std::string> warned_;    // of what, in the last plan
    std::set<std::string> deferred_;  // demands that the last cycle did not reach
    int standing_ = 0;                // plans in a row with the same, and without any change
    std::size_t changes_since_ = 0;
    std::vector<Change> changes_;
    std::vector<SinkReport> reports_;
};

}  // namespace reprieve
