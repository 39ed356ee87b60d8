#include "explain/levers.h"

#include <algorithm>

#include "state/pod_named.h"
#include "state/serving_members.h"

namespace reprieve {
namespace {

constexpr Duration kForGood{INT64_MAX};

// `edit` gets each pod's facts and its place in `pods`.
template <class Edit>
Retrials::Change edit_each(const Cluster& cluster, std::vector<PodId> pods, Edit edit) {
    return [&cluster, pods = std::move(pods), edit](WhatIf& world) {
        // Facts move when one of them is changed: read all of them first.
        std::vector<Pod> facts;
        for (PodId pod : pods)
            facts.push_back(cluster.pod(pod));
        for (std::size_t i = 0; i < facts.size(); ++i) {
            Pod after = facts[i];
            edit(after, i);
            world.change(std::move(facts[i]), std::move(after));
        }
    };
}

template <class Edit>
Retrials::Change edit_pods(const Cluster& cluster, std::vector<PodId> pods, Edit edit) {
    return edit_each(cluster, std::move(pods), [edit](Pod& pod, std::size_t) { edit(pod); });
}

template <class Fact, class Edit>
Retrials::Change edit_fact(const Fact& fact, Edit edit) {
    return [before = fact, edit](WhatIf& world) {
        Fact after = before;
        edit(after);
        world.change(before, std::move(after));
    };
}

std::vector<PodId> ids_of(const Cluster& cluster, const std::vector<std::string>& names) {
    std::vector<PodId> out;
    for (const std::string& name : names) {
        if (const PodId pod = pod_named(cluster, name)) out.push_back(pod);
    }
    return out;
}

// The root of the groups above a gang, where it has a priority of its own.
const CompositeGroup* priority_root(const Snapshot& s, const GangRow& gang) {
    CompositeId root = gang.composite;
    while (root && s.composites[root].parent)
        root = s.composites[root].parent;
    if (!root) return nullptr;
    const CompositeGroup* fact = s.composites[root].fact;
    return fact->priority || s.facts->priority_class(fact->priority_class) != nullptr ? fact : nullptr;
}

// What says the priority of a serving deployment: its own object, else the workloads that are its commits.
PriorityLever serving_lever(const Cluster& cluster, const ServingRow& row) {
    PriorityLever out{.of = row.name, .now = row.priority, .set = {}};
    const std::size_t slash = row.name.find('/');
    const StringId ns = cluster.words().find_string(row.name.substr(0, slash));
    const StringId name = cluster.words().find_string(row.name.substr(slash + 1));
    if (const auto id = cluster.servings().find(ns, name)) {
        out.set = [fact = *cluster.servings().get(id)](std::int32_t value) {
            return edit_fact(fact, [value](ServingDeployment& d) { d.priority = value; });
        };
        return out;
    }
    std::vector<Workload> workloads;
    for (const auto& id : cluster.serving_workloads()) {
        const Workload* workload = cluster.workload(id);
        if (workload->ns == ns && serving_of(cluster, *workload) == name) workloads.push_back(*workload);
    }
    out.set = [workloads = std::move(workloads)](std::int32_t value) {
        return [workloads, value](WhatIf& world) {
            for (const Workload& before : workloads) {
                Workload after = before;
                after.template_priority = value;
                world.change(before, std::move(after));
            }
        };
    };
    return out;
}

PriorityLever pod_lever(const Cluster& cluster, const std::string& of, std::vector<PodId> pods, std::int32_t now) {
    return {.of = of, .now = now, .set = [&cluster, pods = std::move(pods)](std::int32_t value) {
                return edit_pods(cluster, pods, [value](Pod& pod) { pod.priority = value; });
            }};
}

}  // namespace

std::optional<ServingRow> serving_named(const Cluster& cluster, const std::string& full) {
    if (cluster.servings().size() == 0 && cluster.serving_workloads().empty()) return std::nullopt;
    ServingRoster roster = read_servings(cluster, kAnyPlaneLabel);
    const auto row = std::ranges::find(roster.rows, full, &ServingRow::name);
    return row == roster.rows.end() ? std::nullopt : std::optional(std::move(*row));
}

std::optional<ServingRow> serving_with(const Cluster& cluster, PodId pod) {
    if (!cluster.snapshot().pods[pod].has(kServing)) return std::nullopt;
    const Pod& fact = cluster.pod(pod);
    const StringId name = serving_of(cluster, fact);
    return name ? serving_named(cluster, cluster.words().str(fact.ns) + "/" + cluster.words().str(name)) : std::nullopt;
}

GangId gang_named(const Cluster& cluster, const std::string& full) {
    const Snapshot& s = cluster.snapshot();
    for (GangId id : IdRange<GangId>(s.gangs.size())) {
        if (s.gangs[id].alive && s.gang_name(id) == full) return id;
    }
    return {};
}

bool plugin_on(const SchedulerConfig& config, const char* name) {
    return std::ranges::find(config.plugins.disable, name) == config.plugins.disable.end();
}

std::optional<PriorityLever> priority_lever(const Cluster& cluster, const Subject& subject) {
    const Snapshot& s = cluster.snapshot();
    const std::vector<PodId> pods = ids_of(cluster, subject.pods);
    const auto row = subject.gang   ? serving_named(cluster, subject.name)
                     : pods.empty() ? std::nullopt
                                    : serving_with(cluster, pods.front());
    if (row) return serving_lever(cluster, *row);
    if (pods.empty()) return std::nullopt;
    const GangId id = subject.gang ? gang_named(cluster, subject.name) : s.pods[pods.front()].gang;
    if (!id) return pod_lever(cluster, subject.name, pods, s.pods[pods.front()].priority);
    const GangRow& gang = s.gangs[id];
    if (const CompositeGroup* root = priority_root(s, gang)) {
        return PriorityLever{.of = s.words->str(root->ns) + "/" + s.words->str(root->name),
                             .now = gang.defend_priority,
                             .set = [fact = *root](std::int32_t value) {
                                 return edit_fact(fact, [value](CompositeGroup& g) { g.priority = value; });
                             }};
    }
    if (gang.fact != nullptr && (subject.gang || gang.priority_from_group)) {
        return PriorityLever{
            .of = s.gang_name(id), .now = gang.defend_priority, .set = [fact = *gang.fact](std::int32_t value) {
                return edit_fact(fact, [value](Gang& g) { g.priority = value; });
            }};
    }
    return pod_lever(cluster, subject.name, pods, subject.gang ? gang.defend_priority : s.pods[pods.front()].priority);
}

std::optional<Retrials::Change> protect(const Retrials& trials, const std::vector<std::string>& pods) {
    const bool marked = plugin_on(trials.config(), "protected");
    if (!marked && !plugin_on(trials.config(), "minRuntime")) return std::nullopt;
    return edit_pods(trials.cluster(), ids_of(trials.cluster(), pods), [marked](Pod& pod) {
        if (marked)
            pod.make_extras().preemptible = false;
        else
            pod.make_extras().min_runtime = kForGood;
    });
}

Retrials::Change min_runtime(const Cluster& cluster, const Subject& subject, std::int64_t seconds) {
    const Duration runtime{seconds * 1'000'000};
    if (const GangId id = subject.gang ? gang_named(cluster, subject.name) : GangId()) {
        if (const Gang* fact = cluster.snapshot().gangs[id].fact)
            return edit_fact(*fact, [runtime](Gang& gang) { gang.settings.min_runtime = runtime; });
    }
    return edit_pods(
        cluster, ids_of(cluster, subject.pods), [runtime](Pod& pod) { pod.make_extras().min_runtime = runtime; });
}

std::int64_t checkpoint_age(const Snapshot& s, PodId pod) {
    const Time last = std::max(s.facts->pod(pod).more().last_checkpoint, s.started(pod));
    return std::max<std::int64_t>(0, (s.now_time - last).seconds());
}

Retrials::Change checkpoints_from(const Cluster& cluster, std::vector<PodId> pods, std::int64_t seconds) {
    const Time at = cluster.snapshot().now_time + Duration{-seconds * 1'000'000};
    return edit_pods(cluster, std::move(pods), [at](Pod& fact) {
        fact.make_extras().last_checkpoint = std::min(std::max(fact.more().last_checkpoint, fact.started), at);
    });
}

Retrials::Change checkpoints_since(const Cluster& cluster, std::vector<PodId> pods, std::int64_t seconds) {
    const Time at = cluster.snapshot().now_time + Duration{-seconds * 1'000'000};
    return edit_pods(cluster, std::move(pods), [at](Pod& fact) {
        fact.make_extras().last_checkpoint = std::max(fact.more().last_checkpoint, at);
    });
}

Pod unbound(const Pod& pod) {
    Pod out = pod;
    out.node = {};
    out.phase = PodPhase::kPending;
    out.started = {};
    out.ready = false;
    if (out.extras) {
        out.extras->held_devices.clear();
        out.extras->named_devices.clear();
        out.extras->resize_held.reset();
    }
    return out;
}

Retrials::Change run_on(const Cluster& cluster, std::vector<PodId> pods, const std::vector<NodeId>& nodes) {
    std::vector<StringId> names;
    for (NodeId node : nodes)
        names.push_back(cluster.node(node)->name);
    return edit_each(cluster, std::move(pods), [names](Pod& fact, std::size_t i) {
        fact.node = names[i];
        if (!fact.extras) return;
        fact.extras->held_devices.clear();
        fact.extras->named_devices.clear();
    });
}

}  // namespace reprieve
