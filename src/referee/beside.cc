#include "referee/beside.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "referee/others_done.h"
#include "state/pod_named.h"

namespace reprieve {
namespace {

class BesideTrial {
public:
    BesideTrial(Rebuild& world,
                const EvictionCase& what,
                const std::vector<OtherDeed>& others,
                const SchedulerConfig& config,
                Time now)
        : world_(world),
          what_(what),
          others_(others),
          config_(config),
          now_(now) {}

    Result<Ruling> run() {
        note_what_is_seen();
        const bool alone = std::ranges::none_of(others_, &OtherDeed::together);
        std::optional<Ruling> said;
        for (const OthersState state : {OthersState::kAllDone, OthersState::kThoseBeforeDone, OthersState::kNoneDone}) {
            auto ruling = rule(state);
            if (!ruling || !ruling->heard || alone || ruling->verdict == CaseVerdict::kFair) return ruling;
            if (!said || (is_against(said->verdict) && !is_against(ruling->verdict))) said = std::move(*ruling);
        }
        return std::move(*said);
    }

private:
    Cluster& cluster() { return world_.cluster(); }

    void note_what_is_seen() {
        static_cast<void>(cluster().refresh(now_));
        for (const OtherDeed& one : others_) {
            const PodId pod = one.node.empty() ? PodId() : pod_named(cluster(), one.pod);
            if (!pod) continue;
            if (!cluster().pod(pod).node) waiting_.insert(one.owner);
            priorities_.emplace(one.owner, cluster().snapshot().pods[pod].priority);
        }
    }

    Result<Ruling> rule(OthersState state) {
        OthersDone done(world_);
        for (const OtherDeed& one : others_) {
            // Who got its room before has it, whatever still stands there.
            if (one.together ? !is_done(one.owner, state) : !waiting_.contains(one.owner)) continue;
            if (one.node.empty())
                done.remove(one.pod);
            else if (waits(one.pod))
                done.bind(placement_of(one), one.together);
        }
        return judge(world_, what_, config_, now_);
    }

    static Placement placement_of(const OtherDeed& one) {
        Placement out;
        out.pod = one.pod;
        out.node = one.node;
        return out;
    }

    bool waits(const std::string& name) {
        const PodId pod = pod_named(cluster(), name);
        return pod && !cluster().pod(pod).node;
    }

    // Whoever has no lower priority is served before.
    bool is_done(const std::string& owner, OthersState state) {
        if (state != OthersState::kThoseBeforeDone) return state == OthersState::kAllDone;
        const auto other = priorities_.find(owner);
        const std::int32_t its = other == priorities_.end() ? std::numeric_limits<std::int32_t>::max() : other->second;
        return its >= own_priority();
    }

    std::int32_t own_priority() {
        const Snapshot& s = cluster().snapshot();
        if (const PodId pod = pod_named(cluster(), what_.owner)) return s.pods[pod].priority;
        for (std::size_t i = 0; i < s.pods.size(); ++i) {
            const PodRow& row = s.pods[PodId{static_cast<std::uint32_t>(i)}];
            if (row.gang && s.gang_name(row.gang) == what_.owner) return row.priority;
        }
        return std::numeric_limits<std::int32_t>::min();
    }

    Rebuild& world_;
    const EvictionCase& what_;
    const std::vector<OtherDeed>& others_;
    const SchedulerConfig& config_;
    Time now_;
    std::set<std::string> waiting_;                   // other demands that are to run, and do not yet
    std::map<std::string, std::int32_t> priorities_;  // of the other demands
};

}  // namespace

Result<Ruling> judge_beside(Rebuild& world,
                            const EvictionCase& what,
                            const std::vector<OtherDeed>& others,
                            const SchedulerConfig& config,
                            Time now) {
    if (others.empty()) return judge(world, what, config, now);
    return BesideTrial(world, what, others, config, now).run();
}

}  // namespace reprieve
