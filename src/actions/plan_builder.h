// PlanBuilder: turns what a cycle did into a Plan. Each op carries a note (why it was done); the journal says what.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/plan.h"
#include "plugins/cost.h"
#include "plugins/shares.h"
#include "search/session.h"

namespace reprieve {

struct OpNote {
    ActionKind action = ActionKind::kAllocate;
    std::string owner;  // "ns/name" of the gang with a minimum, or of the pod for whom pods are evicted
    std::string domain;
    // Evictions only:
    UnitKind unit = UnitKind::kPod;
    std::string group;
    EvictionMode mode = EvictionMode::kDelete;
    std::string stage;            // of queueBalance
    std::int32_t violations = 0;  // pods of the unit that break a budget
    std::int32_t priority = 0;    // of the unit
    std::string reason;           // who makes room for whom, by which rule
    std::string part;             // what goes with it: surplus of its gang, its gang as a whole
    DeviceClaimId claim;          // goes with all users of this claim, whose devices are needed
    bool whole_gang = false;      // a gang goes whole in it
    std::string detail;           // how the choice was made
};

// What an owner's victims are charged by, so that the bill can be written anew when one of them is spared after all.
struct Bill {
    std::string owner;
    CostOrder order;
    WorkResource work;
    DemandNeed need;
    std::vector<QueueId> queue_order;
};

// Charges victims by the notes of their evictions. Units that go with a claim are one, with the gangs that go whole in
// it each, as the search priced them (search/shared_claims.h); unless the claim is not free after all.
class NotedUnits {
public:
    void add(const Snapshot& snapshot, std::uint32_t id, const OpNote& note, PodId victim, VictimBill& bill);
    // Nobody is added after this.
    void finish(VictimBill& bill) const;
    [[nodiscard]] bool empty() const { return units_.empty(); }

private:
    std::set<std::uint32_t> units_;
    std::map<DeviceClaimId, std::int64_t> gangs_;
};

class PlanBuilder {
public:
    std::uint32_t note(OpNote note);
    void unplaced(Unplaced entry) { unplaced_.push_back(std::move(entry)); }
    // It is served again after all.
    void not_unplaced(const std::string& pod) {
        std::erase_if(unplaced_, [&](const Unplaced& entry) { return entry.pod == pod; });
    }
    void certificate(Certificate certificate) { certificates_.push_back(std::move(certificate)); }
    void certificate(Certificate certificate, Bill bill);
    [[nodiscard]] const OpNote& note_of(const Op& op) const { return notes_[op.note]; }
    // Victims of these owners were spared: what the others cost is what each costs.
    void charge_again(const Session& session, const std::set<std::string>& owners);
    // A victim of this owner is back that made a difference to whoever was served later: what it spent of a budget,
    // what its gang could spare, the company it is to others. What was proven about those speaks of a state that is no
    // more.
    void doubt_after(const std::string& owner);
    // What was certified since a mark is taken back, as the ops that it speaks of are.
    struct Mark {
        std::size_t certificates = 0;
        std::size_t bills = 0;
    };
    [[nodiscard]] Mark mark() const { return {certificates_.size(), bills_.size()}; }
    void forget_since(const Mark& mark);
    // Something may be had from this cost on: what was proven since the mark and costs more is proven no longer.
    void doubt(const Mark& since, const CostVector& from);
    // An eviction that moves nobody: the pod counts as leaving already.
    void eviction(Eviction entry) { overdue_.push_back(std::move(entry)); }
    void nomination_cleared(std::string pod) { cleared_.insert(std::move(pod)); }
    void warning(std::string sentence) { warnings_.push_back(std::move(sentence)); }
    // What an action over the whole cluster has decided besides ops.
    void add(Plan part);

    // The plan of everything in the session's journal, sorted.
    [[nodiscard]] Plan build(const Session& session) const;

private:
    static void charge(Certificate& certificate, CostVector cost);

    std::vector<OpNote> notes_;
    std::vector<Unplaced> unplaced_;
    std::vector<Certificate> certificates_;
    std::vector<Bill> bills_;
    std::vector<Eviction> overdue_;
    std::set<std::string> cleared_;
    std::vector<std::string> warnings_;
    std::vector<Plan> parts_;
};

// Every Queue and ElasticQuota with what it uses before the plan, and `default` if a pod is in it.
[[nodiscard]] std::vector<QueueReport> report_queues(const Snapshot& snapshot, const Limits& limits);
// Adds what each queue deserves, where that was asked for.
void report_deserved(const Snapshot& snapshot, const Shares& shares, std::vector<QueueReport>& queues);

}  // namespace reprieve
