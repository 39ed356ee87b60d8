// Node: what a node offers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/labels.h"
#include "model/pod_spec.h"
#include "model/resources.h"

namespace reprieve {

using NodeId = Id<struct NodeTag>;

struct Taint {
    StringId key;
    StringId value;
    TaintEffect effect = TaintEffect::kNoSchedule;
    friend auto operator<=>(const Taint&, const Taint&) = default;
};

// One GPU (or other device) of a node; `index` is what pods name.
struct Device {
    std::int32_t index = 0;
    std::int64_t memory = 0;  // bytes; 0: unknown
    std::int32_t numa = 0;
    std::int32_t group = 0;     // NVLink group
    std::int64_t milli = 1000;  // compute; some device plugins offer more than there is
    std::int32_t sharers = 0;   // so many shares at most, as its device plugin registered; 0: no such limit
    StringId id{};              // as its device plugin calls it; none: it has only the index
    friend auto operator<=>(const Device&, const Device&) = default;
};

struct Image {
    StringId name;
    std::int64_t bytes = 0;
    friend auto operator<=>(const Image&, const Image&) = default;
};

struct Node {
    StringId name;
    Labels labels;
    Resources allocatable;  // `pods` included
    std::vector<Taint> taints;
    std::vector<Device> devices;  // sorted by index; from the annotation, or made up from the device resource
    Dim device_dim;               // the resource those devices are counted by (nvidia.com/gpu)
    DialectSet dialects;          // in which its devices are registered
    std::vector<Image> images;
    bool unschedulable = false;
    bool ready = true;                        // condition Ready; absent counts as ready
    bool resize_preemption_disabled = false;  // spec.podPreemptionPolicy.disableResizePreemption is not empty
    friend bool operator==(const Node&, const Node&) = default;
};

}  // namespace reprieve
