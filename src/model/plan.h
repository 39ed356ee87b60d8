// Plan: what was decided, as plain data. It is printed, audited, executed, logged and replayed.
//
// Names are full texts ("ns/name"), so that a plan outlives the cluster it was made for. `sort_plan` brings the
// arrays into the order of the contract (each by its first keys; matches stay in the order made).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace reprieve {

// A claim that is bound together with the first pod that uses it.
struct VolumeBinding {
    std::string claim;   // "ns/name"
    std::string volume;  // empty: made for the pod's node
    friend bool operator==(const VolumeBinding&, const VolumeBinding&) = default;
};

// A device that a claim is given.
struct ClaimedDevice {
    std::string request;
    std::string driver;
    std::string pool;
    std::string device;
    bool admin = false;
    std::map<std::string, std::string> share;  // amounts of a shared device; empty: all of it
    // Not printed; for the Sink.
    std::string cls;  // the DeviceClass that the request names
    std::vector<std::string> binding_conditions;
    std::vector<std::string> failure_conditions;
    friend bool operator==(const ClaimedDevice&, const ClaimedDevice&) = default;
};

// One requirement of a node selector.
struct NodeRule {
    std::string key;  // of a label; empty: the node's name
    std::string op;   // "In"
    std::vector<std::string> values;
    friend bool operator==(const NodeRule&, const NodeRule&) = default;
};

struct PlacedClaim {
    std::string claim;  // "ns/name"
    std::vector<ClaimedDevice> results;
    // Not printed; for the Sink.
    bool is_new = false;    // this plan allocates it; else it was allocated before
    bool extended = false;  // made for extended resources: where there is none, create it
    std::optional<std::vector<std::vector<NodeRule>>> nodes;  // that can use the devices: one list, all of its rules
    friend bool operator==(const PlacedClaim&, const PlacedClaim&) = default;
};

struct Placement {
    std::string pod;
    std::string node;
    std::string uid;                   // not printed; for the Sink
    std::vector<std::string> devices;  // "0", "1:4Gi"
    bool after_evictions = false;
    std::string owner;  // "for": the gang, where the group has a minimum
    std::string domain;
    std::string action;
    std::vector<VolumeBinding> volumes;  // not printed; for the Sink
    std::vector<PlacedClaim> claims;     // for devices, of the pod, also those allocated already
    friend bool operator==(const Placement&, const Placement&) = default;
};

// "driver/pool/device" of every device that the placement's claims are given by its plan, sorted.
[[nodiscard]] std::vector<std::string> promised_devices(const Placement& placement);

// The devices of a placement for people: "0", "1:4Gi", "gpu-0 of default/want (alternative small)".
[[nodiscard]] std::vector<std::string> device_words(const Placement& placement);

enum class UnitKind : std::uint8_t { kPod, kSafe, kWhole, kReplica };
enum class EvictionMode : std::uint8_t { kDelete, kEvict, kSoft, kScaleDown, kForceDelete };

struct Eviction {
    std::string pod;
    std::string node;
    std::string uid;  // not printed; for the Sink
    UnitKind unit = UnitKind::kPod;
    std::string group;
    std::string owner;  // "for"
    std::string action;
    EvictionMode mode = EvictionMode::kDelete;
    bool pdb_violation = false;
    std::string stage;
    std::string reason;
    std::vector<std::string> frees;  // claims that its going makes free, with the others that use them
    friend bool operator==(const Eviction&, const Eviction&) = default;
};

struct Unplaced {
    std::string pod;  // empty: replicas of a serving deployment
    std::string owner;
    std::int64_t replicas = 0;
    bool never = false;
    std::string reason;
    std::map<std::string, std::int64_t> nodes;  // reason -> how many nodes say so
    friend bool operator==(const Unplaced&, const Unplaced&) = default;
};

using CostVector = std::vector<std::pair<std::string, std::int64_t>>;
enum class CertificateStatus : std::uint8_t {
    kOptimal,     // a plan, and no set of victims costs less: proven
    kGap,         // a plan; nothing costs less than its bound
    kInfeasible,  // a refusal, and no set of victims helps: proven
    kHeuristic,   // a plan about which nothing is claimed
    kUnknown,     // a refusal without a proof
};

// About a demand that is not served.
[[nodiscard]] constexpr bool is_refusal(CertificateStatus status) {
    return status == CertificateStatus::kInfeasible || status == CertificateStatus::kUnknown;
}

struct Certificate {
    std::string owner;  // "for"
    std::string action;
    CertificateStatus status = CertificateStatus::kHeuristic;
    CostVector cost;
    CostVector bound;
    CostVector runner_up;
    std::string binding;
    friend bool operator==(const Certificate&, const Certificate&) = default;
};

using NamedAmounts = std::map<std::string, std::int64_t>;

struct QueueReport {
    std::string name;
    // Only those that mean something for this kind of queue are present.
    std::map<std::string, NamedAmounts>
        shares;  // "deserved", "allocated", "used", "usedLive", "preempting", "runtime", ...
    // Not printed; for the Sink: since when it is above its runtime, where that is news. Not set: it no longer is.
    std::optional<Time> over_since;
    friend bool operator==(const QueueReport&, const QueueReport&) = default;
};

struct ScaleChange {
    std::string deployment;
    std::string plane;
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::vector<std::string> hints;
    friend bool operator==(const ScaleChange&, const ScaleChange&) = default;
};

struct AnnotationChange {
    std::string pod;
    std::map<std::string, std::string> set;
    std::vector<std::string> remove;
    friend bool operator==(const AnnotationChange&, const AnnotationChange&) = default;
};

struct MatchVictim {
    std::string pod;
    std::string as;
    friend bool operator==(const MatchVictim&, const MatchVictim&) = default;
};

struct Match {
    std::string owner;
    std::string node;
    std::vector<MatchVictim> victims;
    std::int64_t uses_free = 0;
    friend bool operator==(const Match&, const Match&) = default;
};

// What is written on a pod that waits for evictions before any of them happens, so that whoever comes after a crash
// knows what is under way. Made by the control loop; not printed; for the Sink.
struct Intent {
    std::string pod;
    std::string uid;
    std::string node;
    std::vector<std::string> victims;  // UIDs
    std::vector<std::string> devices;  // promised_devices
    Time deadline;
    friend bool operator==(const Intent&, const Intent&) = default;
};

// A claim that was allocated for a pod which waits all the same: what was begun for a place that it does not get.
struct ClaimRelease {
    std::string claim;  // "ns/name"
    std::string pod;
    std::string uid;  // of the pod: its only user
    friend bool operator==(const ClaimRelease&, const ClaimRelease&) = default;
};

struct Plan {
    std::string id;
    Time now;
    std::vector<Placement> placements;
    std::vector<Eviction> evictions;
    std::vector<std::string> nominations_cleared;
    std::vector<ScaleChange> scale;
    std::vector<std::string> force_deletes;
    std::vector<AnnotationChange> annotations;
    std::vector<Match> matches;
    std::vector<QueueReport> queues;
    std::vector<Unplaced> unplaced;
    std::vector<Certificate> certificates;
    std::vector<std::string> warnings;
    std::vector<Intent> intents;
    std::vector<ClaimRelease> releases;  // not printed; for the Sink
    std::vector<std::string> deferred;   // demands that the cycle did not reach; not printed, for the loop
    friend bool operator==(const Plan&, const Plan&) = default;
};

void sort_plan(Plan& plan);

[[nodiscard]] const char* to_text(UnitKind kind);
[[nodiscard]] const char* to_text(EvictionMode mode);
[[nodiscard]] const char* to_text(CertificateStatus status);

}  // namespace reprieve
