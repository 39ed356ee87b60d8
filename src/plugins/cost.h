// Cost: what a set of victims costs, as a lexicographic vector of integers; smaller is better.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/config.h"
#include "model/plan.h"
#include "state/device_need.h"
#include "state/snapshot.h"

namespace reprieve {

inline constexpr std::size_t kMaxTerms = 12;

// One value per term of the action's order; unused places are 0.
struct Cost {
    std::array<std::int64_t, kMaxTerms> terms{};
    friend auto operator<=>(const Cost&, const Cost&) = default;
};

// What a set of victims adds up to, before it is put in an order of terms.
struct Toll {
    std::int64_t pdb_violations = 0;
    std::int64_t max_priority = INT64_MIN;
    std::int64_t priority_sum = 0;
    std::int64_t pods = 0;
    std::int64_t units = 0;
    std::int64_t whole_units = 0;
    std::int64_t lost_work = 0;
    std::int64_t resources = 0;
    std::int64_t queue_order = 0;
    std::int64_t own_priority = 0;
    std::int64_t first_start_us = INT64_MAX;  // of the victims of the highest priority

    // Counts a pod of a unit of that priority.
    void add_pod(std::int64_t unit_priority, std::int64_t start_us);
};

class CostOrder {
public:
    CostOrder(const ActionConfig& action, const PluginsConfig& plugins);
    // For this world: where some pod's own priority differs from that of its gang, `ownPriority` stands before
    // `latestStart`, or last. Elsewhere it would be the same for all and is left out.
    CostOrder(const ActionConfig& action, const PluginsConfig& plugins, const Snapshot& snapshot);

    [[nodiscard]] Cost cost(const Toll& toll) const;
    [[nodiscard]] CostVector print(const Cost& cost) const;
    [[nodiscard]] bool has(CostTerm term) const;
    [[nodiscard]] std::span<const CostTerm> terms() const { return terms_; }

private:
    std::vector<CostTerm> terms_;
};

// Adds up what a set of victims costs, unit by unit. A device of a claim that several victims use counts once, and its
// work with the longest time that one of them loses.
class VictimBill {
public:
    // `need`: outlives the bill.
    VictimBill(const Snapshot& snapshot,
               const CostOrder& order,
               const WorkResource& work,
               const DemandNeed& need,
               std::span<const QueueId> queue_order);
    // Devices of these claims do not count: what is left is what the victims cost whoever else goes with them. Sorted.
    void leave_out(std::span<const DeviceClaimId> claims) { left_out_ = claims; }

    // `whole`: more than its gang can spare. `queue`: whose pods they are.
    void add_unit(bool whole, std::int64_t violations, QueueId queue);
    // Part of a unit that is counted by itself.
    void add_part(std::int64_t violations, QueueId queue);
    void add_units(std::int64_t units, std::int64_t whole);
    void add_pod(PodId pod, std::int64_t unit_priority);
    [[nodiscard]] Cost cost();

private:
    // A claim that other pods use as well.
    struct Shared {
        DeviceClaimId claim;
        std::int64_t devices = 0;  // of the class that work is counted by
        std::int64_t seconds = 0;
    };
    void add_devices(PodId pod);

    const Snapshot& snapshot_;
    const CostOrder& order_;
    WorkResource work_;
    const DemandNeed& need_;
    std::span<const QueueId> queue_order_;  // reclaim: most over its share first
    std::span<const DeviceClaimId> left_out_;
    Toll toll_;
    bool counts_resources_;
    bool counts_work_;
    bool counts_own_;
    std::vector<std::int64_t> gone_;          // by dimension
    std::vector<std::int64_t> devices_gone_;  // by place in the need
    std::vector<Shared> shared_;
    std::vector<std::int64_t> places_;
};

// What the pods' devices are of the need, by place: those of claims, but for these, and of extended resources. A claim
// that several of them use counts once.
void add_devices_of(const Snapshot& snapshot,
                    std::span<const PodId> pods,
                    const DemandNeed& need,
                    std::span<const DeviceClaimId> left_out,
                    std::span<std::int64_t> out);

// Resource-seconds lost if the pod goes now: since its last checkpoint (else its start), plus what any restart costs.
// `resource` is what is counted; cpu in whole cores. What exceeds 64 bits is the largest number.
[[nodiscard]] std::int64_t lost_work(const Snapshot& snapshot, PodId pod, const WorkResource& resource);
[[nodiscard]] std::int64_t lost_seconds(const Snapshot& snapshot, PodId pod);
// What it has of the resource: requested, and by claim.
[[nodiscard]] std::int64_t amount_held(const Snapshot& snapshot, PodId pod, const WorkResource& resource);

// floor(1000 * destroyed / needed), summed over the dimensions the demand asks for; `pods` left out.
[[nodiscard]] std::int64_t destroyed(const DemandNeed& needed,
                                     std::span<const std::int64_t> destroyed_by_dim,
                                     std::span<const std::int64_t> devices_destroyed);

}  // namespace reprieve
