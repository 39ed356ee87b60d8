// The rules, by topic. Each asks its one question anew from the facts and reports what it finds.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "audit/audit.h"
#include "audit/case.h"
#include "audit/scene.h"

namespace reprieve {

// What is wrong with one pod in one place.
struct Finding {
    const char* rule = "";
    std::string what;
};
using Findings = std::vector<Finding>;

class Report {
public:
    void add(std::string rule, std::string object, std::string what);
    void add(const std::string& object, const Findings& findings, const std::string& when);
    [[nodiscard]] std::vector<Violation> take();

private:
    std::vector<Violation> violations_;
};

// Which answer must be certain, where the order of the plan's own steps decides.
enum class Certainty : std::uint8_t {
    kOfFault,  // found only if wrong in every order: is the plan at fault?
    kOfFit     // found unless right in every order: would the pod have fitted without this eviction?
};

// Pod and node by themselves (audit_nodes.cc, audit_volumes.cc).
void judge_node_facts(const Case& judged, const PlacedPod& placed, Findings& out);
void judge_volume_facts(const Case& judged, const PlacedPod& placed, Findings& out);
[[nodiscard]] bool tolerates_all(const PodSpec& spec, const Node& node, const Vocabulary& words);
[[nodiscard]] bool node_matches(const PodSpec& spec, const Node& node, const Vocabulary& words);

// Pod and node among others. The pod itself is in the scene.
void judge_capacity(const Scene& scene, const PlacedPod& placed, Findings& out);
void judge_ports(const Scene& scene, const PlacedPod& placed, Findings& out);
void judge_devices(const Scene& scene, const PlacedPod& placed, Certainty certainty, Findings& out);
void judge_volumes(const Scene& scene, const PlacedPod& placed, Findings& out);
void judge_device_claims(const Scene& scene, const PlacedPod& placed, Certainty certainty, Findings& out);
void judge_affinity(const Scene& scene, const PlacedPod& placed, Certainty certainty, Findings& out);
void judge_spread(const Scene& scene, const PlacedPod& placed, Certainty certainty, Findings& out);
void judge_queue_limits(const Scene& scene, PodId pod, Certainty certainty, Findings& out);
// Non-preemptible pods of a quota stay within its minimum (audit_quotas.cc).
void judge_quota_minimum(const Scene& scene, PodId pod, QueueId quota, Findings& out);
// The first two, and those about devices and volumes: what the pods of one node decide.
void judge_fit_on_node(const Scene& scene, const PlacedPod& placed, Certainty certainty, Findings& out);
// All of these (audit_fit.cc).
void judge_fit(const Scene& scene, const PlacedPod& placed, Certainty certainty, Findings& out);
// A running pod on its own node with its resize granted.
void judge_resize(const Scene& scene, PodId pod, Certainty certainty, Findings& out);

// The plan as a whole.
void judge_form(const Case& judged, Report& report);
void judge_certificates(const Case& judged, Report& report);
// Certificates against what a glance at untouched nodes shows (audit_claims.cc).
void judge_claims(const Scene& later, Report& report);
// Whoever must be near others finds them there, in some order of the plan's steps (audit_company.cc).
void judge_company(const Scene& scene, Report& report);
void judge_bindings(const Case& judged, Report& report);
void judge_queues(const Case& judged, Report& report);
void judge_reclaims(const Scene& later, Report& report);
void judge_quota_evictions(const Scene& later, Report& report);
void judge_gangs(const Scene& later, Report& report);
void judge_broken_gangs(const Scene& later, Report& report);
void judge_topology(const Scene& later, Report& report);
void judge_evictions(const Case& judged, Report& report);
void judge_budgets(const Case& judged, Report& report);
void judge_freed_claims(const Scene& later, Report& report);
// Changes the scene: its last use.
void judge_need(Scene later, Report& report);
void judge_balance(const Case& judged, Report& report);

// Whether nothing protects the pod, whoever would evict it (audit_evictions.cc).
[[nodiscard]] bool may_be_evicted(const Case& judged, PodId pod);
// How the queue of a pod that is here would hold more, of something the pod asks for, than the plan grants it; empty:
// it would not, or queues are not balanced (audit_queues.cc).
[[nodiscard]] std::string exceeds_grant(const Scene& scene, PodId pod);

// Queues and their use (audit_queues.cc).
[[nodiscard]] std::string_view queue_name(const Case& judged, QueueId queue);
// The first queue on both paths; none: they meet at the root.
[[nodiscard]] QueueId common_ancestor(const Case& judged, QueueId a, QueueId b);
// A queue and its ancestors, up to where the other's path begins.
[[nodiscard]] std::vector<QueueId> path_below(const Case& judged, QueueId queue, QueueId ancestor);
[[nodiscard]] std::set<Dim> asked_by(const Case& judged, const std::vector<const PlacedPod*>& pods);
// What runs and stays, and what is placed for this owner: what other demands add later is no fault of the owner's.
[[nodiscard]] std::int64_t use_with(const Scene& later,
                                    QueueId queue,
                                    Dim dim,
                                    const std::vector<const PlacedPod*>& own);

// What keeps these pods from being a running gang, beside its members that have succeeded; empty: nothing
// (audit_gangs.cc).
[[nodiscard]] std::string gang_lacks(const Case& judged, GangId gang, const std::vector<PodId>& live);
// Nothing keeps its members in the scene from that.
[[nodiscard]] bool gang_is_whole(const Scene& scene, GangId gang);
// Members of the gang in the scene.
[[nodiscard]] std::vector<PodId> gang_members(const Scene& scene, GangId gang);
// Which of a gang's sub-groups a pod is in: the number of the policy and the values of its labels; -1: none.
struct SubGroup {
    int policy = -1;
    std::vector<StringId> values;
    friend auto operator<=>(const SubGroup&, const SubGroup&) = default;
};
[[nodiscard]] SubGroup sub_group_of(const Case& judged, const Gang& gang, PodId pod);
// Whether the members that stay may run without those that go.
[[nodiscard]] bool may_lose_members(const Case& judged, GangId gang);

}  // namespace reprieve
