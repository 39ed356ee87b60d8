// PodDraft: a pod spec while it is being read. What can only be settled at the end (sums over containers, host ports,
// selectors that take values from the pod's labels) waits here until the whole pod is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/cursor.h"
#include "manifest/metadata.h"
#include "model/pod.h"
#include "model/pod_spec.h"
#include "model/resources.h"

namespace reprieve {

// What a container (or its status) says about resources.
struct ContainerDraft {
    std::string_view name;
    Resources requests;
    Resources limits;
    bool init = false;
    bool restartable = false;  // an init container that keeps running beside the others
};

// What the kubelet reports that a container has.
struct ContainerStatusDraft {
    std::string_view name;
    Resources allocated;
    Resources actual;
};

struct PortDraft {
    HostPort port;
    std::uint16_t container_port = 0;
    bool counts = true;  // false: of an init container that ends
};

// A term of pod affinity with the keys whose values come from the pod's own labels.
struct AffinityDraft {
    enum class Kind : std::uint8_t { kAffinity, kAntiAffinity, kPreferred } kind = Kind::kAffinity;
    std::int32_t weight = 0;
    PodAffinityTerm term;
    std::vector<StringId> match_keys;
    std::vector<StringId> mismatch_keys;
};

struct SpreadDraft {
    SpreadConstraint constraint;
    std::vector<StringId> match_keys;
};

struct VolumeDraft {
    VolumeUse use;
    std::string_view ephemeral_name;  // not empty: a claim named after the pod and this volume
};

struct PodDraft {
    const char* containers_at = nullptr;  // where an error about all of them belongs
    PodSpec shape;
    std::vector<ContainerDraft> containers;  // init containers in their order
    std::vector<ContainerStatusDraft> statuses;
    std::optional<Resources> pod_requests;
    std::optional<Resources> pod_limits;
    Resources overhead;
    std::vector<PortDraft> ports;
    std::vector<AffinityDraft> affinity;
    std::vector<SpreadDraft> spread;
    std::vector<VolumeDraft> volumes;
    bool host_network = false;

    // Of the pod rather than of its shape.
    std::optional<std::int32_t> priority;
    StringId priority_class;
    std::optional<PreemptionPolicy> preemption_policy;
    StringId node;
    StringId group;
    bool gated = false;
    std::optional<std::int64_t> grace_seconds;
    std::string unsupported;  // what the pod asks for that is not done here; a sentence

    void clear();
};

void decode_pod_spec(Cursor& at, PodDraft& draft);
// One field of a pod spec; objects that have a pod spec among other fields (a Knative Revision) call it.
void decode_pod_spec_field(Fields& f, PodDraft& draft);
void decode_affinity(Cursor& at, PodDraft& draft);
void decode_spread(Cursor& at, PodDraft& draft);
void decode_volumes(Cursor& at, PodDraft& draft);
void decode_container_statuses(Cursor& at, PodDraft& draft);
void decode_claim_entries(Cursor& at, PodDraft& draft);
// What the containers ask for by name where a DeviceClass may stand behind it; before the draft becomes a shape.
void find_extended_asks(PodDraft& draft, Vocabulary& words);

// How far an in-place resize has come.
enum class Resize : std::uint8_t { kNone, kDeferred, kInfeasible };

// Sums over the containers.
struct PodRequests {
    Resources requests;  // overhead included; shares of devices too
    std::int64_t score_cpu = 0;
    std::int64_t score_memory = 0;
    std::optional<Resources> held;  // with a deferred resize: what the pod has now
};
[[nodiscard]] PodRequests sum_requests(const PodDraft& draft, Resize resize, const Vocabulary& words);

// A resource whose units are whole devices of a node, and the one that is meant where nothing else is said.
[[nodiscard]] bool is_device_resource(std::string_view name);
inline constexpr std::string_view kUsualDevice = "nvidia.com/gpu";
// Moves what is asked of devices out of `requests`; empty, or what is wrong with it. What annotations ask for is in
// `out` already.
[[nodiscard]] std::string take_device_ask(const Vocabulary& words, Resources& requests, DeviceAsk& out);

// Fills in namespaces and the values of matchLabelKeys.
void finish_affinity(PodDraft& draft, StringId ns, const Labels& labels);
// Settles the rest of the draft into its shape.
void finish_shape(Reading& reading, PodDraft& draft, const Metadata& metadata, PodRequests requests);

}  // namespace reprieve
