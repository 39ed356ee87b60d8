// Devices by claim (Dynamic Resource Allocation, resource.k8s.io) as facts: what drivers offer, what claims ask for,
// and what has been allocated. All versions of the API are one model.
//
// What a cluster holds may be newer than this program, or make no sense: such an object is still a fact. What is wrong
// with it stands in `trouble`, and whoever needs it waits with that sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/rare.h"
#include "base/semver.h"
#include "base/time.h"
#include "base/wide.h"
#include "model/labels.h"
#include "model/node.h"
#include "model/pod.h"

namespace reprieve {

// "gpu.example.com/memory"; a name without a domain belongs to the driver's, which is filled in.
struct QualifiedName {
    StringId domain;
    StringId id;
    friend auto operator<=>(const QualifiedName&, const QualifiedName&) = default;
};

struct VersionText {
    std::string text;    // compared as text by constraints
    Rare<Semver> value;  // there are many attributes, and few are versions
    friend bool operator==(const VersionText& a, const VersionText& b) { return a.text == b.text; }
};

struct DeviceAttribute {
    QualifiedName name;
    std::variant<bool, std::int64_t, std::string, VersionText> value;
    friend bool operator==(const DeviceAttribute&, const DeviceAttribute&) = default;
};

// How much of a capacity one share takes.
struct SharePolicy {
    std::optional<Wide> usual;  // where the request names no amount
    std::vector<Wide> valid;    // ascending
    bool has_range = false;
    std::optional<Wide> least;
    std::optional<Wide> most;
    std::optional<Wide> step;
    friend bool operator==(const SharePolicy&, const SharePolicy&) = default;
};

struct DeviceCapacity {
    QualifiedName name;
    Wide value = 0;
    Rare<SharePolicy> policy;
    friend bool operator==(const DeviceCapacity&, const DeviceCapacity&) = default;
};

struct NamedCounter {
    StringId name;
    Wide value = 0;
    friend bool operator==(const NamedCounter&, const NamedCounter&) = default;
};

struct CounterSet {
    StringId name;
    std::vector<NamedCounter> counters;
    friend bool operator==(const CounterSet&, const CounterSet&) = default;
};

enum class DeviceTaintEffect : std::uint8_t { kOther, kNoSchedule, kNoExecute };

struct DeviceTaint {
    StringId key;
    StringId value;
    DeviceTaintEffect effect = DeviceTaintEffect::kOther;
    friend bool operator==(const DeviceTaint&, const DeviceTaint&) = default;
};

// Which nodes can use a slice or a device. None of them: no node.
struct DeviceReach {
    StringId node;
    bool all_nodes = false;
    std::optional<std::vector<NodeSelectorTerm>> terms;
    friend bool operator==(const DeviceReach&, const DeviceReach&) = default;
};

// What must be true of a device before its pod is bound, or must not become true.
struct BindingCondition {
    std::string type;
    bool is_failure = false;
    friend bool operator==(const BindingCondition&, const BindingCondition&) = default;
};

// There are as many of these as devices in the cluster: what few of them have takes a pointer.
struct PooledDevice {
    StringId name;
    std::vector<DeviceAttribute> attributes;  // sorted by name
    std::vector<DeviceCapacity> capacity;     // sorted by name
    Rare<std::vector<CounterSet>> consumes;
    Rare<std::vector<DeviceTaint>> taints;
    Rare<std::vector<BindingCondition>> binding;
    Rare<DeviceReach> reach;  // where the slice leaves it to its devices
    bool binds_to_node = false;
    bool shareable = false;  // allowMultipleAllocations
    friend bool operator==(const PooledDevice&, const PooledDevice&) = default;
};

struct ResourceSlice {
    StringId name;
    StringId driver;
    StringId pool;
    std::int64_t generation = 0;
    std::int64_t slice_count = 0;
    DeviceReach reach;
    bool per_device = false;  // each device has a reach of its own
    std::vector<PooledDevice> devices;
    std::vector<CounterSet> counters;
    std::string trouble;
    friend bool operator==(const ResourceSlice&, const ResourceSlice&) = default;
};

struct DeviceSelector {
    std::string expression;  // empty: no selector that we know
    friend bool operator==(const DeviceSelector&, const DeviceSelector&) = default;
};

struct DeviceClass {
    StringId name;
    std::vector<DeviceSelector> selectors;
    StringId extended_resource;
    Time created;
    friend bool operator==(const DeviceClass&, const DeviceClass&) = default;
};

struct DeviceToleration {
    StringId key;  // none: every key
    bool exists = false;
    StringId value;
    std::optional<DeviceTaintEffect> effect;  // nothing: every effect
    friend bool operator==(const DeviceToleration&, const DeviceToleration&) = default;
};

enum class DeviceCount : std::uint8_t { kExact, kAll };

// One way to meet a request.
struct DeviceWish {
    StringId name;  // of the alternative; none where the request has only one
    StringId cls;
    std::vector<DeviceSelector> selectors;
    DeviceCount mode = DeviceCount::kExact;
    std::int64_t count = 1;
    bool admin = false;
    std::vector<DeviceToleration> tolerations;
    std::vector<std::pair<std::string, Wide>> amounts;  // of capacities, by the name as written; sorted
    std::string trouble;
    friend bool operator==(const DeviceWish&, const DeviceWish&) = default;
};

struct DeviceRequest {
    StringId name;
    std::vector<DeviceWish> wishes;  // firstAvailable in order, or the one of `exactly`
    bool first_available = false;
    // Of a claim for extended resources: the resource it stands for. A node that has the resource itself is not asked.
    Dim resource;
    friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
};

struct DeviceConstraint {
    std::vector<StringId> requests;  // "request" or "request/alternative"; empty: all
    QualifiedName attribute;
    bool distinct = false;  // else they must match
    friend bool operator==(const DeviceConstraint&, const DeviceConstraint&) = default;
};

struct ClaimSpec {
    std::vector<DeviceRequest> requests;
    std::vector<DeviceConstraint> constraints;
    std::string trouble;
    friend bool operator==(const ClaimSpec&, const ClaimSpec&) = default;
};

struct ConsumedAmount {
    QualifiedName name;
    Wide value = 0;
    friend bool operator==(const ConsumedAmount&, const ConsumedAmount&) = default;
};

struct AllocatedDevice {
    StringId request;  // "request" or "request/alternative"
    StringId driver;
    StringId pool;
    StringId device;
    bool admin = false;
    bool share = false;
    std::vector<ConsumedAmount> consumed;
    friend bool operator==(const AllocatedDevice&, const AllocatedDevice&) = default;
};

struct ClaimAllocation {
    std::vector<AllocatedDevice> devices;
    std::optional<std::vector<NodeSelectorTerm>> nodes;  // nothing: every node
    // The first binding condition that is in the way of binding its pods, as a sentence after the claim's name; empty:
    // none is. `failed`: waiting does not help.
    std::string not_ready;
    bool failed = false;
    Time since;
    friend bool operator==(const ClaimAllocation&, const ClaimAllocation&) = default;
};

struct ClaimConsumer {
    bool is_pod = true;
    std::string resource;
    std::string name;
    std::string uid;
    friend bool operator==(const ClaimConsumer&, const ClaimConsumer&) = default;
};

struct ResourceClaim {
    StringId ns;
    StringId name;
    std::string uid;
    OwnerRef owner;
    bool deleting = false;
    bool for_extended_resources = false;  // made by a scheduler for a pod's extended resources
    ClaimSpec spec;
    std::optional<ClaimAllocation> allocation;
    std::vector<ClaimConsumer> consumers;  // reservedFor
    friend bool operator==(const ResourceClaim&, const ResourceClaim&) = default;
};

struct ResourceClaimTemplate {
    StringId ns;
    StringId name;
    ClaimSpec spec;
    friend bool operator==(const ResourceClaimTemplate&, const ResourceClaimTemplate&) = default;
};

// Adds a taint to devices; a name that is not given selects all.
struct DeviceTaintRule {
    StringId name;
    bool selects = false;
    StringId driver;
    StringId pool;
    StringId device;
    DeviceTaint taint;
    friend bool operator==(const DeviceTaintRule&, const DeviceTaintRule&) = default;
};

}  // namespace reprieve
