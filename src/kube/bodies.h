// The bodies of the requests that carry out a plan, as JSON text. No decisions are made here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/plan.h"

namespace reprieve {

inline constexpr const char* kMergePatch = "application/merge-patch+json";
inline constexpr const char* kStrategicPatch = "application/strategic-merge-patch+json";
inline constexpr const char* kJsonPatch = "application/json-patch+json";

inline constexpr const char* kPlanAnnotation = "reprieve.dev/plan";
inline constexpr const char* kDevicesAnnotation = "reprieve.dev/devices";
inline constexpr const char* kClaimAnnotation = "reprieve.dev/claimed-by";
inline constexpr const char* kDeletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost";
inline constexpr const char* kMaxScaleAnnotation = "autoscaling.knative.dev/max-scale";

// "2026-01-01T12:00:00Z": what status conditions carry.
[[nodiscard]] std::string condition_time(Time time);
// "2026-01-01T12:00:00.000000Z": what leases and events carry.
[[nodiscard]] std::string micro_time(Time time);

// "for ns/gang", or why a pod is evicted for nobody in particular.
[[nodiscard]] std::string for_whom(const Eviction& eviction);

// Nomination, intent and the reason why the pod is not bound yet, in one: a pod's status may be patched together with
// its annotations. The intent is what `plan_note` gives; empty: the one that is there goes; none: it stays.
[[nodiscard]] std::string nomination_body(const std::string& uid,
                                          const std::string& node,
                                          const std::optional<std::string>& note,
                                          const std::string& message,
                                          Time now);
[[nodiscard]] std::string clear_nomination_body(const std::string& uid);
[[nodiscard]] std::string unschedulable_body(const std::string& uid, const std::string& message, Time now);
// The mark of a victim, in words that `has_our_mark` knows again. `annotations` go with it in the same patch.
[[nodiscard]] std::string mark_body(const std::string& uid,
                                    const std::string& message,
                                    Time now,
                                    const std::map<std::string, std::string>& annotations = {});
[[nodiscard]] bool has_our_mark(std::string_view pod_json);
// `notes`: annotations that go with the mark.
[[nodiscard]] std::string unmark_body(const std::string& uid, const std::vector<std::string>& notes);
[[nodiscard]] std::string delete_body(const std::string& uid, std::optional<std::int64_t> grace_seconds);
[[nodiscard]] std::string eviction_body(const std::string& name, const std::string& uid);
[[nodiscard]] std::string binding_body(const std::string& name,
                                       const std::string& uid,
                                       const std::string& node,
                                       const std::vector<std::string>& devices);
[[nodiscard]] std::string annotations_body(const std::string& uid,
                                           const std::map<std::string, std::string>& set,
                                           const std::vector<std::string>& remove);
// From one number to another, refused by the server where it is neither.
[[nodiscard]] std::string scale_body(std::int64_t from, std::int64_t to);
[[nodiscard]] std::string max_scale_body(std::int64_t from, std::int64_t to);

}  // namespace reprieve
