// LoopObserver: whoever wants to know what the control loop does: the log, the live view, the summary, metrics, a UI.
//
// Called on the loop's thread; the references are good during the call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actions/cycle.h"
#include "audit/audit.h"
#include "base/time.h"
#include "model/plan.h"
#include "model/world.h"
#include "state/cluster.h"

namespace reprieve {

struct CycleReport {
    std::int64_t number = 0;  // from 1
    Time now;
    const Plan& plan;
    const Cluster& cluster;                    // as it was when the plan was made
    const std::vector<Eviction>& news;         // evictions that the plan before did not ask for
    const std::vector<Violation>& violations;  // of plans that were made before this one and not carried out
    const std::vector<std::string>& refused;   // the demands that these plans broke a rule for
    bool sound = true;                         // false: this plan breaks rules too, and is not carried out
    Duration refreshing;                       // this and the next two on the machine's clock
    Duration planning;
    Duration auditing;
    Duration whole;           // of the cycle so far
    std::int64_t sweeps = 0;  // of words that nobody names any more, since the start
    std::size_t changes = 0;  // facts taken in since the last cycle
    bool carried_out = false;
    const CycleInputs& inputs;
};

class LoopObserver {
public:
    virtual ~LoopObserver() = default;

    // A fact, before it is taken in.
    virtual void on_change(const Change& /*change*/, const Cluster& /*cluster*/, Time /*now*/) {}
    // A plan, before it is carried out.
    virtual void on_cycle(const CycleReport& /*report*/) {}
    virtual void on_step(const SinkReport& /*report*/, Time /*now*/) {}
    // Something is wrong with an object, and what follows; a sentence. Told once, for as long as it is so.
    virtual void on_trouble(const std::string& /*what*/, Time /*now*/) {}
    // Between two things, often, where there is a snapshot.
    virtual void on_turn(const Cluster& /*cluster*/, Time /*now*/) {}
    // The loop is alive: once a turn, whatever it found.
    virtual void on_pulse() {}
};

// Passes everything on, in order.
class Observers : public LoopObserver {
public:
    void add(LoopObserver& observer) { all_.push_back(&observer); }

    void on_change(const Change& change, const Cluster& cluster, Time now) override {
        for (LoopObserver* o : all_)
            o->on_change(change, cluster, now);
    }
    void on_cycle(const CycleReport& report) override {
        for (LoopObserver* o : all_)
            o->on_cycle(report);
    }
    void on_step(const SinkReport& report, Time now) override {
        for (LoopObserver* o : all_)
            o->on_step(report, now);
    }
    void on_trouble(const std::string& what, Time now) override {
        for (LoopObserver* o : all_)
            o->on_trouble(what, now);
    }
    void on_turn(const Cluster& cluster, Time now) override {
        for (LoopObserver* o : all_)
            o->on_turn(cluster, now);
    }

    void on_pulse() override {
        for (LoopObserver* o : all_)
            o->on_pulse();
    }

private:
    std::vector<LoopObserver*> all_;
};

}  // namespace reprieve
