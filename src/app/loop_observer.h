// LoopObserver: whoever wants to know what the control loop does: the log, the live view, the summary, metrics, a UI.
//
// Called on the loop's thread; the references are good during the call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
    const std::vector<Violation>& violations;  // not empty: the plan was not carried out
    Duration planning;                         // on the machine's clock
    std::size_t changes = 0;                   // facts taken in since the last cycle
    bool carried_out = false;
};

class LoopObserver {
public:
    virtual ~LoopObserver() = default;

    // A fact, before it is taken in.
    virtual void on_change(const Change& /*change*/, const Cluster& /*cluster*/, Time /*now*/) {}
    // A plan, before it is carried out.
    virtual void on_cycle(const CycleReport& /*report*/) {}
    virtual void on_step(const SinkReport& /*report*/, Time /*now*/) {}
    // Something is wrong with the world; a sentence.
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
