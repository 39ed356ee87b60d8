// SchedulerConfig: what a user can choose. Decoding (manifest/config.h) checks names and ranges, so that nobody
// after it has to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace reprieve {

enum class ActionKind : std::uint8_t {
    kAllocate,
    kBackfill,
    kPreempt,
    kGangPreempt,
    kGangReclaim,
    kJobPreempt,
    kRevoke,
    kServingPreempt,
    kQueueBalance
};

enum class PdbMode : std::uint8_t { kBestEffort, kStrict };
enum class EvictMode : std::uint8_t { kDelete, kEvict, kSoft };
enum class Disruption : std::uint8_t { kGang, kLocal };

enum class CostTerm : std::uint8_t {
    kPdbViolations,
    kBreaksGangs,
    kMaxPriority,
    kGangsBroken,
    kPrioritySum,
    kQueueOrder,
    kLostWork,
    kResources,
    kPodCount,
    kUnits,
    kOwnPriority,
    kLatestStart
};
[[nodiscard]] const char* to_text(CostTerm term);
[[nodiscard]] const char* to_text(ActionKind kind);

// One action of the cycle with its arguments; those that an action does not have keep their defaults.
struct ActionConfig {
    ActionKind kind = ActionKind::kAllocate;
    bool improve = true;
    PdbMode pdb = PdbMode::kBestEffort;
    std::optional<EvictMode> mode;              // absent: as the quota's arguments say, else delete
    std::optional<std::vector<CostTerm>> cost;  // absent: the action's default order
    bool cross_queue = false;
    std::optional<std::int32_t> min_candidate_nodes_percentage;
    std::optional<std::int32_t> min_candidate_nodes_absolute;
    std::int32_t max_domains = 8;
    Disruption disruption = Disruption::kGang;
    std::int32_t roi_threshold_ppm = 50'000;  // 0.05; decides only where nothing is improved
    bool roi_threshold_written = false;
    bool allow_whole_bundle = true;
    bool surplus_preempts = false;
    bool whole_below_deserved = false;  // gangReclaim: a gang goes if its queue is above its share before the first pod
    // What quotas say. Written under one action or under plugins.args.quota, it holds for all of them: `actions_of`.
    bool disable_default_preemptible = false;
    bool disable_default_trigger_preemption = false;
    bool reserve_for_pending_non_preemptible = true;
    std::optional<bool> delete_when_preempted;
    std::optional<Duration> soft_eviction_deadline;
    // revoke
    Duration delay_evict_time{std::int64_t{300} * 1'000'000};
    // servingPreempt
    Duration force_delete_timeout{std::int64_t{30} * 1'000'000};
    Duration claim_timeout{std::int64_t{600} * 1'000'000};
    Duration min_terminating{0};
    // queueBalance
    bool resource_quota = false;
    bool request_by_pods = false;  // a queue that states no request asks for what its pods do
    friend bool operator==(const ActionConfig&, const ActionConfig&) = default;
};

enum class QuotaLimit : std::uint8_t { kMax, kRuntime };

// plugins.args.quota, as written.
struct QuotaArgs {
    QuotaLimit limit = QuotaLimit::kMax;
    std::optional<bool> disable_default_preemptible;
    std::optional<bool> disable_default_trigger_preemption;
    std::optional<bool> reserve_for_pending_non_preemptible;
    std::optional<bool> delete_when_preempted;
    std::optional<Duration> soft_eviction_deadline;
    friend bool operator==(const QuotaArgs&, const QuotaArgs&) = default;
};

struct PluginsConfig {
    std::vector<std::string> disable;                   // names of 13
    std::optional<std::vector<std::string>> only;       // filters kept (Devices too); absent: all
    std::map<std::string, std::int64_t> score_weights;  // plugin -> weight; absent: upstream's default
    std::vector<std::string> only_nodes;                // no key of a file: pods go to these alone; empty: to all
    std::string lost_work_resource;                     // args.lostWork.resource; empty: not enabled
    QuotaArgs quota;                                    // args.quota
    bool kube_system_protected = true;                  // args.protected.kubeSystem
    std::string plane_label = "reprieve.dev/plane";     // args.serving.planeLabel
    friend bool operator==(const PluginsConfig&, const PluginsConfig&) = default;
};

// Whose pods may say of themselves how they are treated: preemptible, min-runtime, soft eviction, can-preempt.
struct Trust {
    bool everybody = true;
    std::vector<std::string> namespaces{};  // only these, where not everybody
    friend bool operator==(const Trust&, const Trust&) = default;
};

struct SchedulerConfig {
    std::vector<std::string> scheduler_names;          // empty: `plan` owns all, `run` owns "reprieve"
    std::optional<std::vector<ActionConfig>> actions;  // absent: all that have work, least disruptive first
    PluginsConfig plugins;
    std::vector<std::string> topology_levels;  // outer to inner
    bool queues_by_namespace = false;          // queues.fallback: namespace
    Duration search_budget{50'000};
    Duration cycle_budget{2'000'000};  // for all demands of a cycle, on a cluster
    Trust trust;
    std::int32_t search_threads = 0;
    std::vector<std::string> warnings;  // from a mapped volcano-scheduler.conf
    friend bool operator==(const SchedulerConfig&, const SchedulerConfig&) = default;
};

// The default list of actions, least disruptive first.
[[nodiscard]] std::vector<ActionConfig> default_actions();

// The actions of a configuration as they run: the listed ones or the default list, each with what the quota's arguments
// say for all of them. An action's own mode stands.
[[nodiscard]] std::vector<ActionConfig> actions_of(const SchedulerConfig& config);

}  // namespace reprieve
