// Marks: what shows that a scheduler has evicted a pod, in every dialect (docs/referee.md), and for whom.
//
// Texts of events and conditions are written by many programs in many versions, and events may be written by tenants:
// they are evidence, not an interface. What is read from them are names and UIDs of objects, which must exist.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprieve {

struct EvictionMark {
    std::string victim;     // "ns/name" of a pod; empty for Workloads
    std::string workload;   // Kueue: "ns/name" of the Workload that was evicted
    std::string scheduler;  // who wrote it; empty: not said
    std::string by_name;    // "ns/name" of the beneficiary
    std::string by_uid;
    bool no_preemption = false;  // evicted, but for nobody: a drain, a taint, a node that was lost
};

// What the conditions of a pod say; nothing: it was not marked.
[[nodiscard]] std::optional<EvictionMark> mark_of_pod(std::string_view pod_json);
// What an Event (events.k8s.io/v1 or v1) says.
[[nodiscard]] std::optional<EvictionMark> mark_of_event(std::string_view event_json);
// What the conditions of a Kueue Workload say.
[[nodiscard]] std::optional<EvictionMark> mark_of_workload(std::string_view workload_json);

// The word after `before` in a text, up to a space or one of ",;)."; empty: it does not occur.
[[nodiscard]] std::string word_after(std::string_view text, std::string_view before);

}  // namespace reprieve
