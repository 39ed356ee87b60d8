#include "manifest/config_keys.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "manifest/config_words.h"

namespace reprieve {
namespace {

using enum KeyType;

constexpr std::int64_t kMany = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kHour = std::int64_t{3600} * 1'000'000;

constexpr std::array<std::string_view, 1> kOwnVersion{"reprieve.dev/v1"};
constexpr std::array<std::string_view, 1> kOwnKind{"SchedulerConfig"};

// How much a score plugin counts beside the others.
constexpr ConfigKey weight(std::string_view path, std::string_view fallback, std::string_view meaning) {
    return {.path = path,
            .type = kInteger,
            .fallback = fallback,
            .example = "5",
            .meaning = meaning,
            .least = 0,
            .most = 1'000'000};
}

constexpr ConfigKey flag(std::string_view path,
                         std::string_view fallback,
                         std::string_view example,
                         std::string_view meaning) {
    return {.path = path, .type = kFlag, .fallback = fallback, .example = example, .meaning = meaning};
}

constexpr ConfigKey duration(std::string_view path,
                             std::string_view fallback,
                             std::string_view example,
                             std::string_view meaning) {
    return {.path = path, .type = kDuration, .fallback = fallback, .example = example, .meaning = meaning};
}

constexpr std::array kKeys = std::to_array<ConfigKey>({
    {.path = "apiVersion",
     .type = kWord,
     .fallback = "reprieve.dev/v1",
     .example = "reprieve.dev/v1",
     .meaning = "The format of this file.",
     .words = kOwnVersion},
    {.path = "kind",
     .type = kWord,
     .fallback = "SchedulerConfig",
     .example = "SchedulerConfig",
     .meaning = "The kind of this file.",
     .words = kOwnKind},
    {.path = "schedulerNames",
     .type = kTexts,
     .example = "[reprieve, batch]",
     .meaning =
         "Pods whose schedulerName is one of these are placed, and only such pods are evicted. Absent: `run` takes "
         "`reprieve`, `plan` and `explain` take every pod."},

    {.path = "actions",
     .type = kItems,
     .example = "[{name: allocate}, {name: preempt}]",
     .meaning =
         "What is tried for each demand, in this order, at least one. Absent: allocate, preempt, gangPreempt, "
         "gangReclaim, jobPreempt, revoke, servingPreempt, queueBalance, backfill, each where it has work. "
         "Listed, `queueBalance` grants every weighted queue its share, and the grants limit all actions; absent, "
         "only where a queue has a request written."},
    {.path = "actions[].name",
     .type = kWord,
     .example = "gangPreempt",
     .meaning = "Which action, each at most once. `gang-preempt`, `gangpreempt`, `gang-reclaim` and `gangreclaim` are "
                "accepted too.",
     .words = kActionNames},
    {.path = "actions[].args",
     .type = kMapping,
     .example = "{pdb: strict}",
     .meaning = "Arguments of the action; each says which actions take it."},
    flag("actions[].args.improve",
         "true",
         "false",
         "Search for a cheaper set of victims, with a certificate, after the first one that works. With `false` the "
         "first one stands and nothing is claimed about it."),
    {.path = "actions[].args.pdb",
     .type = kWord,
     .fallback = "bestEffort",
     .example = "strict",
     .meaning = "`bestEffort`: a disruption budget is overdrawn only where nothing else works, and that is the dearest "
                "term of the cost. `strict`: never.",
     .words = kPdbModes},
    {.path = "actions[].args.mode",
     .type = kWord,
     .example = "evict",
     .meaning =
         "How victims go: `delete` (with their own grace), `evict` (the eviction API, which has the last word on "
         "budgets), `soft` (an annotation asks somebody else to remove them). Absent: `delete`, or `soft` where "
         "podShouldBeDeletedWhenPreempted is false. With `pdb: strict`, `delete` is `evict`.",
     .words = kEvictModes},
    {.path = "actions[].args.cost",
     .type = kWords,
     .example = "[pdbViolations, lostWork, pods]",
     .meaning =
         "What a set of victims costs, compared term by term from the left. Absent, for preempt, servingPreempt and "
         "queueBalance: pdbViolations, maxPriority, prioritySum, pods, latestStart; for gangPreempt: pdbViolations, "
         "breaksGangs, maxPriority, gangsBroken, resources, pods; for gangReclaim: pdbViolations, breaksGangs, "
         "queueOrder, gangsBroken, resources, maxPriority, pods; for jobPreempt and revoke: pdbViolations, "
         "maxPriority, gangsBroken, prioritySum, pods. lostWork needs plugins.args.lostWork.resource.",
     .words = kCostTerms},
    flag("actions[].args.crossQueue", "false", "true", "Victims may be in another queue than the demand."),
    {.path = "actions[].args.minCandidateNodesPercentage",
     .type = kInteger,
     .example = "10",
     .meaning = "Stop after this share of the nodes that eviction could help, in name order. Absent, with "
                "minCandidateNodesAbsolute absent too: every node is looked at. Not 0 together with it.",
     .least = 0,
     .most = 100},
    {.path = "actions[].args.minCandidateNodesAbsolute",
     .type = kInteger,
     .example = "100",
     .meaning = "Stop after so many candidate nodes; of this and the percentage the larger number holds.",
     .least = 0,
     .most = kMany},
    {.path = "actions[].args.maxDomains",
     .type = kInteger,
     .fallback = "8",
     .example = "32",
     .meaning = "How many topology domains are searched to the end for one gang, the most promising first.",
     .least = 1,
     .most = kMany},
    {.path = "actions[].args.disruption",
     .type = kWord,
     .fallback = "gang",
     .example = "local",
     .meaning =
         "`gang`: a gang that loses a needed member goes whole. `local`: only the members in the chosen domain go.",
     .words = kDisruptions},
    {.path = "actions[].args.roiThreshold",
     .type = kShare,
     .fallback = "0.05",
     .example = "0.1",
     .meaning = "With `improve: false`: victims whose return (what they free of what is missing, over all that they "
                "hold) differs "
                "by less than this count as equally good."},
    flag("actions[].args.wholeBelowDeserved",
         "false",
         "true",
         "A gang may be reclaimed whole if its queue is above its share before the first pod goes; otherwise it has to "
         "be "
         "above it until the last one."),
    flag("actions[].args.allowWholeBundle",
         "true",
         "false",
         "A gang may be evicted whole. With `false` only its surplus above the minimum may go."),
    flag("actions[].args.surplusPreempts",
         "false",
         "true",
         "Members beyond a gang's minimum may preempt as single pods; otherwise they take idle room only."),
    flag("actions[].args.disableDefaultPreemptible",
         "false",
         "true",
         "Pods under a quota that do not say whether they are preemptible are not. Holds for all actions."),
    flag("actions[].args.disableDefaultPreemptiable",
         "false",
         "true",
         "Koordinator's spelling of disableDefaultPreemptible."),
    flag("actions[].args.disableDefaultTriggerPreemption",
         "false",
         "true",
         "Only jobs labelled `quota.scheduling.koordinator.sh/can-preempt: \"true\"` may preempt."),
    flag("actions[].args.reserveForPendingNonPreemptible",
         "true",
         "false",
         "A quota's minimum is kept free for its pending non-preemptible work that would be admitted."),
    flag("actions[].args.podShouldBeDeletedWhenPreempted",
         "true",
         "false",
         "`false` asks for evictions by annotation (mode `soft`), where no mode is written."),
    duration("actions[].args.softEvictionDeadline",
             "",
             "10m",
             "A victim that was asked to go is deleted after so long. Absent: never."),
    duration("actions[].args.delayEvictTime",
             "5m0s",
             "0s",
             "How long a quota may stay above its runtime before what it borrowed is revoked."),
    duration("actions[].args.forceDeleteTimeout",
             "30s",
             "2m",
             "How long after its grace a terminating replica is deleted by force."),
    duration("actions[].args.claimTimeout",
             "10m0s",
             "1h",
             "How long a claimed replica may take to go before its preemptor looks elsewhere."),
    duration("actions[].args.minTerminating",
             "0s",
             "5s",
             "How long a replica must have been terminating before its room is counted on."),
    flag("actions[].args.resourceQuota",
         "false",
         "true",
         "What a queue is granted is also written as a ResourceQuota in its namespaces."),
    {.path = "actions[].args.request",
     .type = kWord,
     .fallback = "written",
     .example = "pods",
     .meaning =
         "What a queue without a request of its own asks for: `written`: as much as its weight gives it; `pods`: "
         "what its pods ask for.",
     .words = kRequests},

    {.path = "plugins", .type = kMapping, .example = "{disable: [lostWork]}", .meaning = "Rules and their arguments."},
    {.path = "plugins.disable",
     .type = kWords,
     .fallback = "[]",
     .example = "[minRuntime]",
     .meaning = "Rules that do not hold. SchedulingGates, proportion, capacity, quota, gang, networkTopology, pdb and "
                "resources stay on, with a warning.",
     .words = kPluginNames},
    {.path = "plugins.only",
     .type = kWords,
     .example = "[NodeName, NodeResourcesFit]",
     .meaning = "The filters that hold, and no others. Absent: all.",
     .words = kFilterNames},
    {.path = "plugins.args",
     .type = kMapping,
     .example = "{lostWork: {resource: nvidia.com/gpu}}",
     .meaning = "Arguments of rules."},
    {.path = "plugins.args.lostWork",
     .type = kMapping,
     .example = "{resource: nvidia.com/gpu}",
     .meaning = "How lost work is counted."},
    {.path = "plugins.args.lostWork.resource",
     .type = kText,
     .example = "nvidia.com/gpu",
     .meaning =
         "Work is counted in seconds of this resource, or of devices of the DeviceClass of that name. Absent: lost "
         "work is no part of the cost."},
    {.path = "plugins.args.quota",
     .type = kMapping,
     .example = "{limit: runtime}",
     .meaning = "What quotas say, for all actions."},
    {.path = "plugins.args.quota.limit",
     .type = kWord,
     .fallback = "max",
     .example = "runtime",
     .meaning = "Up to where a quota may be used: its written `max`, or its `runtime`, the fair share.",
     .words = kQuotaLimits},
    flag("plugins.args.quota.disableDefaultPreemptible",
         "false",
         "true",
         "Pods under a quota that do not say whether they are preemptible are not."),
    flag("plugins.args.quota.disableDefaultPreemptiable",
         "false",
         "true",
         "Koordinator's spelling of disableDefaultPreemptible."),
    flag("plugins.args.quota.disableDefaultTriggerPreemption",
         "false",
         "true",
         "Only jobs labelled `quota.scheduling.koordinator.sh/can-preempt: \"true\"` may preempt."),
    flag("plugins.args.quota.reserveForPendingNonPreemptible",
         "true",
         "false",
         "A quota's minimum is kept free for its pending non-preemptible work that would be admitted."),
    flag("plugins.args.quota.podShouldBeDeletedWhenPreempted",
         "true",
         "false",
         "`false` asks for evictions by annotation (mode `soft`), where no mode is written."),
    duration("plugins.args.quota.softEvictionDeadline",
             "",
             "10m",
             "A victim that was asked to go is deleted after so long. Absent: never."),
    {.path = "plugins.args.protected",
     .type = kMapping,
     .example = "{kubeSystem: false}",
     .meaning = "Who is never evicted."},
    flag("plugins.args.protected.kubeSystem", "true", "false", "Pods in the namespace kube-system are never evicted."),
    {.path = "plugins.args.serving",
     .type = kMapping,
     .example = "{planeLabel: example.com/pool}",
     .meaning = "Serving deployments."},
    {.path = "plugins.args.serving.planeLabel",
     .type = kText,
     .fallback = "reprieve.dev/plane",
     .example = "example.com/pool",
     .meaning = "The node label that names the plane of a node."},
    {.path = "plugins.args.scoreWeights",
     .type = kMapping,
     .example = "{GpuBinPacking: 0}",
     .meaning = "How much each score counts where several nodes fit; 0 leaves it out."},
    weight("plugins.args.scoreWeights.TaintToleration", "3", "Fewer PreferNoSchedule taints that are not tolerated."),
    weight("plugins.args.scoreWeights.NodeAffinity", "2", "The pod's preferred node affinity."),
    weight("plugins.args.scoreWeights.NodeResourcesFit", "1", "More room left (least allocated)."),
    weight("plugins.args.scoreWeights.NodeResourcesBalancedAllocation", "1", "CPU and memory used alike."),
    weight("plugins.args.scoreWeights.PodTopologySpread", "2", "Soft spread constraints."),
    weight("plugins.args.scoreWeights.InterPodAffinity", "2", "Preferred affinity and anti-affinity between pods."),
    weight("plugins.args.scoreWeights.ImageLocality", "1", "Images that are on the node already."),
    weight("plugins.args.scoreWeights.GpuBinPacking", "10", "Devices of a node filled before another node is begun."),

    {.path = "topology",
     .type = kMapping,
     .example = "{levels: [topology.kubernetes.io/zone, rack]}",
     .meaning = "Topology from plain node labels, where no HyperNodes say it."},
    {.path = "topology.levels",
     .type = kTexts,
     .fallback = "[]",
     .example = "[topology.kubernetes.io/zone, rack]",
     .meaning = "Node labels, outer to inner; nodes with the same values form a domain."},

    {.path = "queues",
     .type = kMapping,
     .example = "{fallback: namespace}",
     .meaning = "Queues of pods that name none."},
    {.path = "queues.fallback",
     .type = kWord,
     .fallback = "default",
     .example = "namespace",
     .meaning = "A pod that names no queue is in `default`, or in the queue called as its namespace (`namespace`).",
     .words = kQueueFallbacks},

    {.path = "search", .type = kMapping, .example = "{budget: 200ms}", .meaning = "Limits of the search."},
    {.path = "search.budget",
     .type = kDuration,
     .fallback = "50ms",
     .example = "200ms",
     .meaning = "How much may be looked at for one demand, for every 16 nodes that it may use, up to 16 times. Work is "
                "counted "
                "(about a microsecond a step), not timed, so a plan does not depend on the machine.",
     .most = kHour},
    duration(
        "search.cycleBudget",
        "2s",
        "500ms",
        "On a cluster: how long a cycle may look for all demands together; what is left over waits for the next one."),
    {.path = "search.threads",
     .type = kInteger,
     .fallback = "0",
     .example = "4",
     .meaning = "Threads of the search; 0: as many as the machine has cores. The plan is the same for any number.",
     .least = 0,
     .most = 1024},

    {.path = "trust", .type = kMapping, .example = "{podAnnotations: none}", .meaning = "Whose words count."},
    {.path = "trust.podAnnotations",
     .type = kWord,
     .fallback = "all",
     .example = "none",
     .meaning = "Whose pods may say of themselves how they are treated (preemptible, min-runtime, soft-eviction, "
                "can-preempt): `all`, `none`, or a mapping with the namespaces that may.",
     .words = kTrusted,
     .or_mapping = true},
    {.path = "trust.podAnnotations.namespaces",
     .type = kTexts,
     .example = "[team-a]",
     .meaning = "Only pods of these namespaces; absent: nobody."},
});

// "actions[3].args.improve" as the table writes it.
std::string table_path(const std::string& key) {
    std::string out;
    bool inside = false;
    for (const char c : key) {
        if (c == ']') inside = false;
        if (!inside) out += c;
        if (c == '[') inside = true;
    }
    return out;
}

// The part of `path` after `above`, if it is directly below it; else empty.
std::string_view name_below(std::string_view path, std::string_view above) {
    if (!above.empty()) {
        if (!path.starts_with(above)) return {};
        path.remove_prefix(above.size());
        if (path.starts_with("[]")) path.remove_prefix(2);
        if (!path.starts_with('.')) return {};
        path.remove_prefix(1);
    }
    return path.find_first_of(".[") == std::string_view::npos ? path : std::string_view{};
}

void check_below(ConfigReader& in, const ConfigField& at) {
    for (const ConfigField& field : in.entries(at)) {
        const ConfigKey* key = find_config_key(table_path(field.key));
        if (key == nullptr) return complain_unknown_key(in, field);
        // Which action takes which argument is the argument reader's to say.
        if (key->path == "actions[].args") continue;
        if (key->type == kMapping || (key->or_mapping && field.value.IsMap())) {
            check_below(in, field);
        } else if (key->type == kItems) {
            for (const ConfigField& item : in.items(field))
                check_below(in, item);
        }
    }
}

}  // namespace

const char* to_text(KeyType type) {
    switch (type) {
        case kText:
            return "text";
        case kTexts:
            return "list of texts";
        case kWord:
            return "word";
        case kWords:
            return "list of words";
        case kFlag:
            return "true or false";
        case kInteger:
            return "integer";
        case kShare:
            return "decimal";
        case kDuration:
            return "duration";
        case kMapping:
            return "mapping";
        case kItems:
            return "list of mappings";
    }
    REPRIEVE_CHECK(false, "type {}", static_cast<int>(type));
}

std::span<const ConfigKey> config_keys() { return kKeys; }

const ConfigKey* find_config_key(std::string_view path) {
    const auto found = std::ranges::find(kKeys, path, &ConfigKey::path);
    return found == kKeys.end() ? nullptr : &*found;
}

std::vector<std::string_view> config_names_below(std::string_view path) {
    std::vector<std::string_view> names;
    for (const ConfigKey& key : kKeys) {
        if (const std::string_view name = name_below(key.path, path); !name.empty()) names.push_back(name);
    }
    return names;
}

bool is_config_key(const ConfigField& field) { return find_config_key(table_path(field.key)) != nullptr; }

void complain_unknown_key(ConfigReader& in, const ConfigField& field) {
    // "search.budgte" and "actions[3].nmae": what stands before the last name.
    std::string above =
        table_path(field.key.substr(0, field.key.size() - std::min(field.key.size(), field.name.size() + 1)));
    if (above.ends_with("[]")) above.resize(above.size() - 2);
    in.complain_unknown(field, config_names_below(above));
}

void check_config_keys(ConfigReader& in, const ConfigField& root) { check_below(in, root); }

}  // namespace reprieve
