// Random instances, each told by its number alone.
#pragma once

#include <cstdint>

#include "instance.h"

namespace reprieve::oracle {

// A few nodes and pods, one pending pod.
[[nodiscard]] Instance small_pod_instance(std::uint64_t number);
// A few nodes in racks and rows, singles and gangs with surplus, roles and budgets, one pending gang.
[[nodiscard]] Instance small_gang_instance(std::uint64_t number);
// The same under a tree of quotas or queues, some of them full: one pending job or pod.
[[nodiscard]] Instance small_quota_instance(std::uint64_t number);

// The same with a cost of its own: some terms, in any order.
void draw_cost(Instance& instance, std::uint64_t number);

// Hosts of 8 GPUs in racks of 16 and rows of 64, nearly full of jobs of 1 to 64 GPUs; a third of them may not go. Where
// small pods are scattered fewer may not, or no host could be cleared.
struct MediumShape {
    int hosts = 64;
    int members = 16;
    int gpus_each = 8;
    int tier = 1;
    bool scattered = false;  // small pods anywhere, instead of packed side by side
    bool budgets = false;
    bool roles = false;    // a third of the running gangs have two roles with minimums
    int surplus = 0;       // members beyond the minimum of the pending gang
    bool one_pod = false;  // one pod waits instead of a gang
    bool quotas = false;   // two organisations with three teams each; a non-preemptible job of the first team
};
[[nodiscard]] Instance medium_instance(const MediumShape& shape, std::uint64_t number);
// A shape and an instance of it: a gang, without and with quotas; one pod.
[[nodiscard]] Instance medium_instance(std::uint64_t number, int most_hosts);
[[nodiscard]] Instance medium_quota_instance(std::uint64_t number, int most_hosts);
[[nodiscard]] Instance medium_pod_instance(std::uint64_t number, int most_hosts);

}  // namespace reprieve::oracle
