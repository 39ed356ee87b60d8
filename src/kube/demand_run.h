// DemandRun: what a plan does for one demand, in the order that survives a crash at any point.
//
//   1. record the intent on the pods that will wait, together with their nomination
//   2. mark all victims                          when every intent is recorded
//   3. evict them                                when every victim is marked
//
// A step that fails ends the run: nobody is evicted for a demand whose intent is not on record. The run is also called
// off when those who wait are gone, bound, or planned elsewhere by then; a mark or an eviction that still waits for its
// turn is not sent then either. A victim that is gone already counts as evicted. Lives on the client's thread and frees
// itself when it has ended. How each recorded nomination and each eviction ended is reported in every case; the marks
// of a run that was called off are removed with the next plan, as those of every plan that is no more.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/bodies.h"
#include "kube/outbox.h"
#include "model/plan.h"

namespace reprieve {

struct DemandWrites {
    std::string seen;   // for the record: the newest change that the plan knew of
    std::string owner;  // "ns/name" of the gang or pod; may be empty where evictions serve no one in particular
    struct Waiting {
        const Placement* placement = nullptr;
        const Intent* intent = nullptr;  // none: there is nothing to record
    };
    std::vector<Waiting> waiting;  // placed after evictions
    std::vector<const Eviction*> evictions;
};

// The demands of a plan that wait or evict. They point into the plan.
[[nodiscard]] std::map<std::string, DemandWrites> demands_of(const Plan& plan);

class DemandRun : public std::enable_shared_from_this<DemandRun> {
public:
    // Called when a victim was evicted.
    using Evicted = std::function<void(const Eviction&)>;

    // Of two runs the one with the lower rank is finished first: better one preemptor served than two half served.
    DemandRun(
        Outbox& outbox, std::uint64_t rank, std::shared_ptr<const Plan> plan, DemandWrites demand, Evicted evicted)
        : outbox_(&outbox),
          rank_(rank),
          plan_(std::move(plan)),
          demand_(std::move(demand)),
          evicted_(std::move(evicted)) {}

    void start();

private:
    void record();
    void nominate(const Placement& placement, const Intent* intent);
    void mark();
    void mark(const Eviction& eviction);
    void evict();
    void evict(const Eviction& eviction);
    void take_back_mark(const Eviction& eviction);
    // A phase's calls are counted; the last one that ends begins the next phase.
    void step_ended(WriteEnd end, bool gone_is_fine, void (DemandRun::*next)());
    void refuse_rest(const std::string& why);

    // The pod that waits is there and waits as this plan wants it.
    [[nodiscard]] bool still_waits(const DemandWrites::Waiting& one) const;
    [[nodiscard]] bool all_wait() const;
    // Shut when a pod that nobody is evicted for is bound, or gone, before its nomination has its turn.
    [[nodiscard]] const std::function<bool()>* gate_of(const Placement& placement);
    // Shut when this eviction is for nobody any more. Lives as long as the run.
    [[nodiscard]] const std::function<bool()>* gate_of(const Eviction& eviction);

    [[nodiscard]] PodWrite status_patch(SinkStep step,
                                        const std::string& pod,
                                        const std::string& uid,
                                        std::string body) const;

    Outbox* outbox_;
    std::uint64_t rank_;
    std::shared_ptr<const Plan> plan_;
    DemandWrites demand_;
    Evicted evicted_;
    std::map<std::string, std::function<bool()>> gates_;        // of evictions, by node
    std::map<std::string, std::function<bool()>> nominations_;  // by pod
    std::size_t open_ = 0;
    bool failed_ = false;
};

}  // namespace reprieve
