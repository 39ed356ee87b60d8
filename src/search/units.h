// Units: the pods that are evicted together, as one candidate node shows them.
//
// A pod without a gang is a unit. A gang with a minimum gives its surplus pods one by one (SAFE); what it cannot spare
// is one unit (WHOLE) of the entire gang wherever it runs. Core groups say it themselves: mode all = one unit, mode
// single = each pod a unit. Protected pods are left out before the split; a WHOLE unit with a protected pod is no unit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/plan.h"
#include "plugins/quota_vote.h"
#include "search/session.h"
#include "search/surplus.h"

namespace reprieve {

// How the attacker stands: what it may take.
struct Attack {
    std::int32_t priority = 0;
    QueueId queue;
    bool cross_queue = false;
    std::span<const Resources::Amount> need;    // of the demand, for the order inside a gang
    const std::vector<bool>* useful = nullptr;  // by NodeId: nodes that the demand could use; null: all
    const QuotaVote* quota = nullptr;           // by the rules of quotas, which say whom; null: by priority or fairness
    bool reclaim = false;  // by fairness: other queues' pods of any priority; the share rules vote later
    // Every pod that its gang could spare is a unit of its own, whatever the order calls its surplus (open_split.h).
    bool open_split = false;
    bool open_single = false;  // also for gangs whose pods go one by one
    // Without the search over sets, who claims devices: nobody goes who holds one that its selectors fail on.
    PodId claimant;
    bool local_only = false;  // what a gang cannot spare: only its pods in the domain go, not the gang wherever it runs
};

struct Unit {
    UnitKind kind = UnitKind::kPod;
    GangId gang;
    std::int32_t priority = 0;
    std::int32_t rank = 1;    // composite 3, in a group 2, single pod 1
    std::uint32_t first = 0;  // its pods, in UnitList::pods
    std::uint32_t count = 0;
    std::int64_t start_us = 0;    // of its earliest member
    std::int32_t whole = -1;      // SAFE: the WHOLE unit of the same gang in this list, if any
    std::int32_t violations = 0;  // pods that break a budget
    DeviceClaimId
        claim;  // once victims are chosen: goes with all users of this claim, which is needed (shared_claims.h)
};

struct UnitList {
    // A gang that could spare other pods than those that are SAFE here, and how many of its pods could be taken here.
    struct Contest {
        GangId gang;
        std::size_t pods = 0;
    };

    // Open splits: a gang whose pods go one by one, and what it can spare of them. The rest of them break it.
    struct Single {
        GangId gang;
        Surplus surplus;
    };

    std::vector<Unit> units;
    std::vector<PodId> pods;
    std::vector<Contest> contests;
    std::vector<Single> singles;

    [[nodiscard]] std::span<const PodId> pods_of(const Unit& unit) const {
        return std::span(pods).subspan(unit.first, unit.count);
    }
    void clear() {
        units.clear();
        pods.clear();
        contests.clear();
        singles.clear();
    }
};

class UnitFinder {
public:
    explicit UnitFinder(const Session& session) : session_(session) {}

    // Appends the units with a pod on this node.
    void on_node(NodeId node, const Attack& attack, UnitList& out) { on_nodes(std::span(&node, 1), attack, out); }
    // Appends the units with a pod on one of these nodes; a gang's surplus is counted over all of them together.
    void on_nodes(std::span<const NodeId> nodes, const Attack& attack, UnitList& out);
    // Appends the units of those of these pods that may be taken; a gang's surplus is counted over all of them
    // together.
    void among(std::span<const PodId> pods, const Attack& attack, UnitList& out);

    // May this pod be taken at all?
    [[nodiscard]] bool takeable(PodId pod, const Attack& attack) const;
    // All running pods that go with this gang; false if one of them may not be taken.
    bool whole_pods(GangId gang, const Attack& attack, std::vector<PodId>& out) const;

private:
    struct Split {
        std::vector<PodId> safe;
        std::vector<PodId> core;
        bool has_core = false;
    };
    [[nodiscard]] Split split(GangId gang, bool open, UnitList& out) const;
    void add(UnitKind kind, std::int32_t rank, std::span<const PodId> pods, UnitList& out) const;
    // `like`: a pod of the same gang.
    void add(UnitKind kind, std::int32_t rank, PodId like, std::span<const PodId> pods, UnitList& out) const;
    void add_alone(PodId pod, UnitList& out);
    void add_gangs(const Attack& attack, UnitList& out);
    void add_gang(GangId gang, const Attack& attack, UnitList& out);
    [[nodiscard]] bool starting(GangId gang) const;
    [[nodiscard]] bool frees_poison(PodId pod, PodId claimant) const;

    const Session& session_;
    std::vector<PodId> local_;
    std::vector<PodId> scratch_;
    std::vector<PodId> in_gangs_;
};

// Drops the units that are not allowed, and what falls with them: a gang goes whole only together with its surplus
// here. Links follow the positions. Returns for each old position the new one, -1 if it is gone.
std::vector<std::int32_t> keep_allowed(UnitList& list, std::vector<bool> allowed);

// From most to least important: priority, composite before gang before pod, more pods, earlier start, name.
[[nodiscard]] bool more_important(const Snapshot& snapshot, const UnitList& list, const Unit& a, const Unit& b);

// The order of victims where nothing but the pods themselves is looked at: lower priority, later start, later name.
[[nodiscard]] bool goes_before(const Snapshot& snapshot, PodId a, PodId b);

// Puts pods in that order and keeps the first ones, no more than `most`. False: some are left out.
[[nodiscard]] bool keep_least_important(const Snapshot& snapshot, std::size_t most, std::vector<PodId>& pods);

// What becomes free of this dimension on the pod's node when it goes. A deferred resize was never given to it.
[[nodiscard]] std::int64_t room_of(const Snapshot& snapshot, PodId pod, Dim dim);

// Walks units from most to least important and marks pods that break a budget, on top of what the plan has spent.
// `order` lists positions in that order. Returns those pods.
std::vector<PodId> split_by_budget(const Snapshot& snapshot, UnitList& list, std::span<const std::uint32_t> order);

// Splits by budget and gives the order in which units come back: budget breakers first, each group from most to least
// important.
[[nodiscard]] std::vector<std::uint32_t> order_for_return(const Snapshot& snapshot, UnitList& list);
[[nodiscard]] std::vector<std::uint32_t> order_for_return(const Snapshot& snapshot,
                                                          UnitList& list,
                                                          std::vector<PodId>& breakers);

// Strict mode, for a walk that takes units one by one: walks from least to most important and tells which units find no
// allowance left. Another set may be within the budgets (VictimProblem).
[[nodiscard]] std::vector<bool> over_budget(const Snapshot& snapshot, const UnitList& list);

}  // namespace reprieve
