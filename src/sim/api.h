// Api: what the API server of the embedded cluster does when asked to. Every request can be repeated: asking for what
// is so already succeeds. A request that names a uid is about that pod and no later one of the same name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "manifest/queue_notes.h"
#include "model/plan.h"
#include "sim/store.h"

namespace reprieve {

// The annotation that keeps, on the pod that is to be placed, which plan intends what for it.
inline constexpr const char* kPlanNote = "reprieve.dev/plan";

// A pod as a plan names it.
struct PodRef {
    std::string name;  // "ns/name"
    std::string uid;   // empty: whichever has the name
};

class Api {
public:
    explicit Api(Store& store) : store_(store) {}

    [[nodiscard]] Result<void> annotate(const PodRef& pod,
                                        const std::map<std::string, std::string>& set,
                                        const std::vector<std::string>& remove);
    [[nodiscard]] Result<void> annotate_queue(const std::string& queue, const QueueNotes& notes);
    // Sets the condition DisruptionTarget.
    [[nodiscard]] Result<void> mark(const PodRef& pod);
    // DELETE; without a grace, with the pod's own. A pod that is on no node, or finished, is gone at once.
    [[nodiscard]] Result<void> remove(const PodRef& pod, std::optional<std::int64_t> grace_seconds = {});
    // The Eviction API: as remove, but refused where a budget has no disruption left.
    [[nodiscard]] Result<void> evict(const PodRef& pod);
    // status.nominatedNodeName; empty clears it and what was recorded about it.
    [[nodiscard]] Result<void> nominate(const PodRef& pod, const std::string& node);
    // Refused where the node has no room, as its kubelet would. The pod's claims are given their devices first; where
    // one cannot be, nothing is written.
    [[nodiscard]] Result<void> bind(const PodRef& pod,
                                    const std::string& node,
                                    const std::vector<std::string>& devices,
                                    const std::vector<PlacedClaim>& claims = {});
    // The pod leaves a claim that it waits with; with nobody left the claim has no devices.
    [[nodiscard]] Result<void> release_claim(const std::string& claim, const PodRef& pod);
    // The number of replicas of one plane of a serving deployment.
    [[nodiscard]] Result<void> scale(const ScaleChange& change);

    // As people do it: the fields given replace those of the object there is; without one it is created.
    [[nodiscard]] Result<void> apply(const Json& manifest);
    // Needs apiVersion, kind and metadata. What the object controls goes with it.
    [[nodiscard]] Result<void> erase(const Json& manifest);

private:
    void write_annotations(SlotId slot,
                           const std::map<std::string, std::string>& set,
                           const std::vector<std::string>& remove);
    [[nodiscard]] Result<SlotId> find(const PodRef& pod) const;
    [[nodiscard]] SlotId find_claim(const std::string& full_name) const;
    [[nodiscard]] Result<void> check_claim(const PlacedClaim& claim, const Store::Entry& pod) const;
    void give_devices(const PlacedClaim& claim, const Store::Entry& pod);
    [[nodiscard]] SlotId find_like(const Json& manifest) const;
    void remove_pod(SlotId slot, std::optional<std::int64_t> grace_seconds);
    void erase_all(SlotId slot);
    [[nodiscard]] SlotId workload_of(const ScaleChange& change) const;

    Store& store_;
};

}  // namespace reprieve
