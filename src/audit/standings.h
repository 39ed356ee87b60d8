// Standings: with which priority pods and gangs attack and defend themselves, how many members a gang needs, and which
// queues are above a queue. Worked out anew from pods, groups, PriorityClasses and Queues: what `state` made of them
// decides the plan and is not asked.
#pragma once

#include <cstdint>
#include <vector>

#include "state/cluster.h"

namespace reprieve {

class Standings {
public:
    explicit Standings(const Cluster& cluster);

    [[nodiscard]] std::int32_t own(PodId pod) const { return own_[pod]; }
    // As a victim: that of its gang, its own without one.
    [[nodiscard]] std::int32_t as_victim(PodId pod) const;
    [[nodiscard]] std::int32_t as_attacker(PodId pod) const;
    [[nodiscard]] std::int32_t as_attacker(GangId gang) const { return gangs_[gang].attack; }
    // 0: a set of single pods.
    [[nodiscard]] std::int32_t minimum(GangId gang) const { return gangs_[gang].minimum; }
    // The queue and those above it, itself first.
    [[nodiscard]] const std::vector<QueueId>& path(QueueId queue) const { return paths_[queue]; }
    // The class of a pod; null: it has none.
    [[nodiscard]] const PriorityClass* class_of(const Pod& pod) const;

private:
    struct GangStanding {
        std::int32_t minimum = 0;
        std::int32_t attack = 0;
        std::int32_t defence = 0;
        bool by_group = false;  // the group names a priority
    };

    void find_default_class();
    void work_out_gang(GangId gang);
    void work_out_paths();
    [[nodiscard]] std::int32_t priority_of(const Pod& pod) const;
    // What a group or the root above it names; null: nothing.
    [[nodiscard]] const std::int32_t* named(const std::optional<std::int32_t>& value, StringId cls) const;

    const Cluster& cluster_;
    const PriorityClass* default_class_ = nullptr;
    IdVector<PodId, std::int32_t> own_;
    IdVector<GangId, GangStanding> gangs_;
    IdVector<QueueId, std::vector<QueueId>> paths_;
};

}  // namespace reprieve
