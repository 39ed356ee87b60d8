// Pod: one pod as a fact. Where it may run is its PodSpec's business; this is who it is and how it stands.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/labels.h"
#include "model/pod_spec.h"

namespace reprieve {

using PodId = Id<struct PodTag>;

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed };
enum class PreemptionPolicy : std::uint8_t { kLowerPriority, kNever };

struct OwnerRef {
    StringId kind;
    StringId name;
    StringId uid;
    friend bool operator==(const OwnerRef&, const OwnerRef&) = default;
};

// A device, or a share of one, that a pod holds. Whole: memory and milli are both 0.
struct DeviceHold {
    std::int32_t index = 0;
    std::int64_t memory = 0;
    std::int64_t milli = 0;
    [[nodiscard]] bool whole() const { return memory == 0 && milli == 0; }
    friend auto operator<=>(const DeviceHold&, const DeviceHold&) = default;
};

// A device that a pod holds by the words of another dialect. Which device of the node that is, and of an index or a
// group how much of it, shows only where the node and the ask are known.
struct NamedHold {
    enum class By : std::uint8_t {
        kId,     // as the node's device plugin registered it, with amounts
        kIndex,  // as much of it as the pod asks for
        kGroup,  // the same; pods of one group share one device, whichever it is
    };
    By by = By::kId;
    StringId name{};         // kId, kGroup
    std::int32_t index = 0;  // kIndex
    std::int64_t memory = 0;
    std::int64_t milli = 0;
    friend auto operator<=>(const NamedHold&, const NamedHold&) = default;
};

// reprieve.dev/plan: an intent recorded before acting on it.
struct PlanNote {
    std::string id;
    StringId node;
    std::vector<std::string> victim_uids;
    std::vector<std::string> devices;  // "driver/pool/device": what the pod's claims are to get
    Time deadline;
    friend bool operator==(const PlanNote&, const PlanNote&) = default;
};

// What few pods have; kept apart so that most pods stay small.
struct PodExtras {
    std::optional<bool> preemptible;  // any of the markers of 03; false wins over true
    std::string preemptible_marker;   // which marker said so, for explanations
    std::optional<Duration> min_runtime;
    std::optional<Duration> restart_cost;
    Time last_checkpoint;
    std::vector<DeviceHold> held_devices;  // reprieve.dev/devices and Koordinator's; sorted by index
    std::vector<NamedHold> named_devices;  // what other dialects say; it wins over held_devices
    std::optional<PlanNote> plan;
    std::string claimed_by;            // serving
    std::int32_t preemption_rank = 0;  // queueBalance
    std::int64_t deletion_cost = 0;    // controller.kubernetes.io/pod-deletion-cost
    bool has_deletion_cost = false;
    std::optional<bool> quota_preemptible;  // label quota.scheduling.koordinator.sh/preemptible
    std::optional<bool> can_preempt;        // label quota.scheduling.koordinator.sh/can-preempt
    std::string soft_eviction;              // annotation scheduling.koordinator.sh/soft-eviction, as it stands
    StringId koordinator_gang_groups;       // annotation gang.scheduling.koordinator.sh/groups (JSON text)
    std::int32_t koordinator_min = -1;      // annotation .../min-available; -1: not written
    // status.resourceClaimStatuses: entry -> the claim made for it; none: it needs no claim.
    std::vector<std::pair<StringId, StringId>> claim_statuses;
    StringId extended_claim;               // status.extendedResourceClaimStatus
    std::optional<Resources> resize_held;  // PodResizePending/Deferred: what the pod holds now
    std::string hold;  // while it waits: why it is not to be placed, whatever room there is; a sentence
    friend bool operator==(const PodExtras&, const PodExtras&) = default;
};

struct Pod {
    StringId ns;
    std::string name;
    std::string uid;
    LabelsId labels;
    SpecId spec;
    std::optional<std::int32_t> priority;  // spec.priority
    StringId priority_class;               // spec.priorityClassName
    std::optional<PreemptionPolicy> preemption_policy;
    StringId node;       // bound to; none: pending
    StringId nominated;  // status.nominatedNodeName
    PodPhase phase = PodPhase::kPending;
    Time created;
    Time started;
    Time deleting;  // deletionTimestamp
    std::int64_t grace_seconds = 30;
    OwnerRef owner;  // the controller, if any
    StringId group;  // name of its gang (same namespace); none: a single pod
    StringId role;   // volcano.sh/task-spec
    StringId queue;  // queue named on the pod itself; none: by its gang, its namespace's quota, or `default`
    bool queue_is_quota = false;     // `queue` came from quota.scheduling.koordinator.sh/name
    bool gated = false;              // has scheduling gates
    bool mirror = false;             // static pod
    bool ready = false;              // condition Ready
    bool disruption_target = false;  // condition DisruptionTarget / PreemptionByScheduler
    std::unique_ptr<PodExtras> extras;

    Pod() = default;
    Pod(Pod&&) = default;
    Pod& operator=(Pod&&) = default;
    Pod(const Pod& other);
    Pod& operator=(const Pod& other);
    ~Pod() = default;

    [[nodiscard]] bool finished() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
    [[nodiscard]] bool terminating() const { return deleting.is_set(); }
    // The extras, or the defaults where there are none.
    [[nodiscard]] const PodExtras& more() const;
    PodExtras& make_extras();
};

bool operator==(const Pod& a, const Pod& b);

}  // namespace reprieve
