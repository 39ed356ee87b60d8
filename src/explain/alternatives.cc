#include "explain/alternatives.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "explain/levers.h"
#include "explain/stories.h"
#include "plugins/cost.h"
#include "plugins/grants.h"

namespace reprieve {
namespace {

bool evicts(ActionKind kind) { return kind != ActionKind::kAllocate && kind != ActionKind::kBackfill; }

// Written out, the default actions must mean what they mean unwritten: queues are balanced, and what they are granted
// is a limit, only where one of them asks for it.
SchedulerConfig edited(const Snapshot& snapshot,
                       const SchedulerConfig& config,
                       const std::function<void(ActionConfig&)>& edit) {
    SchedulerConfig out = config;
    if (!out.actions) {
        out.actions = default_actions();
        if (!balances_queues(snapshot, config))
            std::erase_if(*out.actions, [](const ActionConfig& a) { return a.kind == ActionKind::kQueueBalance; });
    }
    for (ActionConfig& action : *out.actions) {
        if (evicts(action.kind)) edit(action);
    }
    return out;
}

// These terms before all others of the action's order.
void put_first(ActionConfig& action, const PluginsConfig& plugins, std::vector<CostTerm> terms) {
    const CostOrder order(action, plugins);
    for (const CostTerm term : order.terms()) {
        if (std::ranges::find(terms, term) == terms.end()) terms.push_back(term);
    }
    action.cost = std::move(terms);
}

SchedulerConfig with_strict_budgets(const Snapshot& snapshot, const SchedulerConfig& config) {
    return edited(snapshot, config, [](ActionConfig& action) { action.pdb = PdbMode::kStrict; });
}

SchedulerConfig with_terms_first(const Snapshot& snapshot,
                                 const SchedulerConfig& config,
                                 const std::vector<CostTerm>& terms) {
    return edited(snapshot, config, [&](ActionConfig& action) { put_first(action, config.plugins, terms); });
}

// What lost work is counted in where nobody has said so: GPUs if somebody waits for them, else cores.
std::string counted_resource(const Cluster& cluster, const SchedulerConfig& config) {
    static constexpr const char* kGpu = "nvidia.com/gpu";
    if (!config.plugins.lost_work_resource.empty()) return config.plugins.lost_work_resource;
    const Snapshot& s = cluster.snapshot();
    const Dim gpu = s.words->find_dimension(kGpu);
    const bool wanted =
        gpu && std::ranges::any_of(cluster.pending(), [&](PodId pod) { return s.spec_of(pod).requests.get(gpu) > 0; });
    return wanted ? kGpu : "cpu";
}

class Measure {
public:
    Measure(const Cluster& cluster, const std::string& resource)
        : cluster_(cluster),
          work_(work_resource(cluster.snapshot(), resource)) {
        for (const ServingRow& row : read_servings(cluster, kAnyPlaneLabel).rows) {
            for (const auto& [plane, branch] : row.branches) {
                for (PodId pod : branch.pods)
                    replicas_[pod] = row.priority;
            }
        }
    }

    [[nodiscard]] Alternative of(std::string name, Plan plan) const {
        Alternative out{.name = std::move(name), .plan = std::move(plan)};
        const Snapshot& s = cluster_.snapshot();
        std::set<std::string> broken;
        bool first = true;
        for (const Eviction& e : out.plan.evictions) {
            ++out.pods;
            out.pdb_violations += e.pdb_violation ? 1 : 0;
            // Who goes with a claim is one job with its other users.
            const std::vector<std::string> claims = shared_claims(e);
            if (!claims.empty())
                broken.insert(claims.front().substr(0, claims.front().find(' ')));
            else if (e.unit != UnitKind::kSafe && e.unit != UnitKind::kReplica)
                broken.insert(e.unit == UnitKind::kWhole && !e.group.empty() ? e.group : e.pod);
            const PodId pod = pod_named(cluster_, e.pod);
            if (!pod) continue;
            const std::int64_t priority = priority_of(pod);
            out.highest_priority = first ? priority : std::max(out.highest_priority, priority);
            first = false;
            if (work_) out.lost_work = saturating_add(out.lost_work, lost_work(s, pod, work_));
            out.seconds_until_free = std::max(out.seconds_until_free, seconds_of(e, pod));
        }
        out.jobs_broken = std::ssize(broken);
        wait_for_leavers(out);
        for (const Unplaced& item : out.plan.unplaced)
            out.unplaced += item.pod.empty() ? item.replicas : 1;
        return out;
    }

    // Seconds until the pod is gone, if it goes now.
    [[nodiscard]] std::int64_t grace(PodId pod) const {
        const Pod& fact = cluster_.pod(pod);
        if (!fact.terminating()) return fact.grace_seconds;
        return std::max<std::int64_t>(0, (fact.deleting - cluster_.snapshot().now_time).seconds());
    }

    // The same of an eviction: a deletion by force leaves a second at most.
    [[nodiscard]] std::int64_t seconds_of(const Eviction& e, PodId pod) const {
        return e.mode == EvictionMode::kForceDelete ? std::min<std::int64_t>(1, grace(pod)) : grace(pod);
    }

private:
    // A replica stands for its deployment, whatever its own priority is.
    [[nodiscard]] std::int64_t priority_of(PodId pod) const {
        const auto replica = replicas_.find(pod);
        return replica != replicas_.end() ? replica->second : cluster_.snapshot().pods[pod].unit_priority;
    }

    // Room that is promised may also wait for pods that were leaving before.
    void wait_for_leavers(Alternative& out) const {
        const Snapshot& s = cluster_.snapshot();
        const std::vector<std::string>& forced = out.plan.force_deletes;
        for (const Match& match : out.plan.matches) {
            for (const MatchVictim& victim : match.victims) {
                const PodId pod = pod_named(cluster_, victim.pod);
                if (!pod) continue;
                const bool at_once = std::ranges::find(forced, victim.pod) != forced.end();
                const std::int64_t seconds = at_once ? std::min<std::int64_t>(1, grace(pod)) : grace(pod);
                out.seconds_until_free = std::max(out.seconds_until_free, seconds);
            }
        }
        for (const Placement& p : out.plan.placements) {
            if (!p.after_evictions) continue;
            const StringId word = s.words->find_string(p.node);
            const NodeId node = word ? cluster_.find_node(word) : NodeId();
            if (!node) continue;
            for (PodId pod : s.node_pods[node]) {
                if (s.pods[pod].state == PodState::kTerminating)
                    out.seconds_until_free = std::max(out.seconds_until_free, grace(pod));
            }
        }
    }

    const Cluster& cluster_;
    WorkResource work_;
    std::map<PodId, std::int32_t> replicas_;  // of serving deployments -> the priority of theirs
};

// Everybody who would take longer than that to leave stays.
Retrials::Change keep_slow_ones(const Retrials& trials, std::int64_t seconds) {
    std::vector<std::string> slow;
    const Snapshot& s = trials.snapshot();
    for (PodId id : IdRange<PodId>(s.pods.size())) {
        if (s.pods[id].state == PodState::kRunning && trials.cluster().pod(id).grace_seconds > seconds)
            slow.push_back(s.pod_name(id));
    }
    return protect(trials, slow).value_or([](WhatIf&) {});
}

// The plan whose slowest victim is quickest, with everybody placed whom the plan places.
std::optional<Plan> soonest_free(Cluster& cluster,
                                 const SchedulerConfig& config,
                                 const Plan& plan,
                                 const Measure& measure) {
    static constexpr std::int64_t kMostPlans = 20;
    Retrials trials(plan, cluster, config, kMostPlans);
    if (!protect(trials, {})) return std::nullopt;
    std::int64_t slowest = 0;
    for (const Eviction& e : plan.evictions) {
        if (const PodId pod = pod_named(cluster, e.pod)) slowest = std::max(slowest, measure.seconds_of(e, pod));
    }
    std::set<std::int64_t> faster;
    const Snapshot& s = cluster.snapshot();
    for (PodId id : IdRange<PodId>(s.pods.size())) {
        if (s.pods[id].state == PodState::kRunning && cluster.pod(id).grace_seconds < slowest)
            faster.insert(cluster.pod(id).grace_seconds);
    }
    std::vector<std::int64_t> limits(faster.begin(), faster.end());
    Plan best = plan;
    // Halving: a limit that serves as many is followed by a lower one, else by a higher one.
    for (std::size_t low = 0, high = limits.size(); low < high;) {
        const std::size_t middle = low + (high - low) / 2;
        auto other = trials.with(keep_slow_ones(trials, limits[middle]));
        if (!other) break;
        if (other->unplaced.size() <= plan.unplaced.size()) {
            best = std::move(*other);
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return best;
}

}  // namespace

Alternatives find_alternatives(Cluster& cluster, const SchedulerConfig& config, const Plan& plan) {
    Alternatives out{.lost_resource = counted_resource(cluster, config), .plans = {}};
    const Measure measure(cluster, out.lost_resource);
    const auto add = [&](const char* name, Plan other) { out.plans.push_back(measure.of(name, std::move(other))); };
    const auto plan_with = [&](const SchedulerConfig& other) { return WhatIf(cluster).plan(other); };
    add("cheapest", plan);
    add("pdbClean", plan_with(with_strict_budgets(cluster.snapshot(), config)));
    using enum CostTerm;
    add("fewestJobs", plan_with(with_terms_first(cluster.snapshot(), config, {kGangsBroken, kUnits, kPodCount})));
    SchedulerConfig counting = config;
    counting.plugins.lost_work_resource = out.lost_resource;
    std::erase(counting.plugins.disable, "lostWork");
    add("leastWorkLost", plan_with(with_terms_first(cluster.snapshot(), counting, {kLostWork})));
    if (auto soonest = soonest_free(cluster, config, plan, measure)) add("soonestFree", std::move(*soonest));
    return out;
}

}  // namespace reprieve
