// Policies: what can be simulated: a configuration of Reprieve, a stand-in for what people use today, or a placement
// score alone.
//
// Stand-ins are our own engine with the other scheduler's literal algorithm (`improve: false`), and see only what that
// scheduler knows. docs/simulate.md says what each of them leaves out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/config.h"
#include "simulate/yard.h"

namespace reprieve {

enum class PlaceScore : std::uint8_t { kRandom, kDotProd, kGpuClustering, kGpuPacking, kBestFit, kFgd };

struct Policy {
    std::string name;
    SchedulerConfig config;
    std::string config_text;  // as written in its file, or what stands for it
    YardView view;
    std::optional<PlaceScore> place;  // placement alone: nobody is evicted, nobody leaves
};

// "reprieve" and the names of stand-ins and placements; none: there is no such policy built in.
[[nodiscard]] std::optional<Policy> built_in_policy(std::string_view name);
[[nodiscard]] std::vector<std::string> built_in_policies();

// What of the world the policy's rules read, where the configuration decides it.
void settle_view(Policy& policy);

}  // namespace reprieve
