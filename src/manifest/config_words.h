// The words that a configuration may use for plugins, actions and modes, in the order of their enums where they have
// one.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace reprieve {

// Filters first: `plugins.only` takes these.
inline constexpr std::array<std::string_view, 27> kPluginNames{"NodeName",
                                                               "NodeUnschedulable",
                                                               "TaintToleration",
                                                               "NodeAffinity",
                                                               "NodePorts",
                                                               "NodeResourcesFit",
                                                               "VolumeRestrictions",
                                                               "NodeVolumeLimits",
                                                               "VolumeBinding",
                                                               "VolumeZone",
                                                               "PodTopologySpread",
                                                               "InterPodAffinity",
                                                               "SchedulingGates",
                                                               "Devices",
                                                               "DynamicResources",
                                                               "proportion",
                                                               "capacity",
                                                               "quota",
                                                               "gang",
                                                               "networkTopology",
                                                               "devices",
                                                               "pdb",
                                                               "minRuntime",
                                                               "protected",
                                                               "priority",
                                                               "lostWork",
                                                               "resources"};
inline constexpr std::span<const std::string_view> kFilterNames = std::span(kPluginNames).first<15>();

inline constexpr std::array<std::string_view, 9> kActionNames{"allocate",
                                                              "backfill",
                                                              "preempt",
                                                              "gangPreempt",
                                                              "gangReclaim",
                                                              "jobPreempt",
                                                              "revoke",
                                                              "servingPreempt",
                                                              "queueBalance"};
inline constexpr std::array<std::string_view, 2> kPdbModes{"bestEffort", "strict"};
inline constexpr std::array<std::string_view, 3> kEvictModes{"delete", "evict", "soft"};
inline constexpr std::array<std::string_view, 2> kDisruptions{"gang", "local"};
inline constexpr std::array<std::string_view, 2> kRequests{"written", "pods"};
inline constexpr std::array<std::string_view, 12> kCostTerms{"pdbViolations",
                                                             "breaksGangs",
                                                             "maxPriority",
                                                             "gangsBroken",
                                                             "prioritySum",
                                                             "queueOrder",
                                                             "lostWork",
                                                             "resources",
                                                             "pods",
                                                             "units",
                                                             "ownPriority",
                                                             "latestStart"};
inline constexpr std::array<std::string_view, 2> kQuotaLimits{"max", "runtime"};
inline constexpr std::array<std::string_view, 2> kQueueFallbacks{"default", "namespace"};
inline constexpr std::array<std::string_view, 2> kTrusted{"all", "none"};

}  // namespace reprieve
