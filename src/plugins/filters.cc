#include "plugins/filters.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "plugins/monotone.h"
#include "state/claim_questions.h"

namespace reprieve {
namespace {

constexpr const char* kNames[] = {"NodeName",
                                  "NodeUnschedulable",
                                  "TaintToleration",
                                  "NodeAffinity",
                                  "VolumeBinding",
                                  "VolumeZone",
                                  "NodePorts",
                                  "NodeResourcesFit",
                                  "VolumeRestrictions",
                                  "NodeVolumeLimits",
                                  "PodTopologySpread",
                                  "InterPodAffinity",
                                  "Devices",
                                  "DynamicResources"};

}  // namespace

Filters::Filters(const PluginsConfig& config) : only_nodes_(config.only_nodes) {
    for (int i = 0; i < kFilterCount; ++i) {
        const std::string_view name = kNames[i];
        const auto listed = [&](const std::vector<std::string>& names) {
            return std::ranges::any_of(
                names, [&](const std::string& n) { return n == name || (name == "Devices" && n == "devices"); });
        };
        if (config.only && !listed(*config.only)) continue;
        if (listed(config.disable)) continue;
        on_ |= 1U << static_cast<unsigned>(i);
    }
}

Answer Filters::check_facts(const Candidate& candidate, NodeId node) const {
    using Filter = Answer (*)(const Candidate&, NodeId);
    static constexpr Filter kFilters[kFactFilterCount] = {filter_node_name,
                                                          filter_node_unschedulable,
                                                          filter_taint_toleration,
                                                          filter_node_affinity,
                                                          filter_volume_binding,
                                                          filter_volume_zone};
    if (!only_nodes_.empty() && std::ranges::find(only_nodes_, candidate.snapshot.node_name(node)) == only_nodes_.end())
        return {Fit::kNever, FilterId::kNodeName, 0};
    for (int i = 0; i < kFactFilterCount; ++i) {
        if (!on(static_cast<FilterId>(i))) continue;
        if (const Answer answer = kFilters[i](candidate, node); !answer.fits()) return answer;
    }
    return {};
}

bool Filters::monotone(const Snapshot& s, PodId pod) const {
    const PodClass& cls = s.class_of(pod);
    return std::ranges::all_of(kRuleNatures, [&](const RuleNature& nature) {
        if (nature.monotone || !on(nature.rule)) return true;
        if (nature.rule == FilterId::kInterPodAffinity) return cls.affinity.empty();
        if (nature.rule == FilterId::kDynamicResources) return !cls.has_claims || !free_devices_can_harm(s, pod);
        return std::ranges::none_of(cls.spread, &ClassSpread::hard);
    });
}

Answer Filters::check(const Candidate& c,
                      const Occupancy& view,
                      const Occupancy& later,
                      NodeId node,
                      bool monotone_part,
                      bool local_part) const {
    Answer first;
    // Keeps the first "not now"; says whether a "never" ends the walk.
    const auto ends = [&](const Answer& answer) {
        if (answer.fit == Fit::kNever) {
            first = answer;
            return true;
        }
        if (first.fits()) first = answer;
        return false;
    };
    if (c.cls.has_ports && on(FilterId::kNodePorts) && ends(filter_node_ports(c, view, node))) return first;
    if (on(FilterId::kNodeResourcesFit) && ends(filter_node_resources_fit(c, view, node))) return first;
    if (!c.cls.volumes.empty()) {
        if (on(FilterId::kVolumeRestrictions) && ends(filter_volume_restrictions(c, view, node))) return first;
        if (on(FilterId::kNodeVolumeLimits) && ends(filter_node_volume_limits(c, view, node))) return first;
        if (c.cls.has_waiting_claims && on(FilterId::kVolumeBinding) && ends(filter_promised_volumes(c, later, node)))
            return first;
    }
    if (!monotone_part && !c.cls.spread.empty() && on(FilterId::kPodTopologySpread) &&
        ends(filter_pod_topology_spread(c, later, spread_, node)))
        return first;
    if (!local_part && on(FilterId::kInterPodAffinity)) {
        if (!monotone_part && ends(filter_pod_affinity(c, view, node))) return first;
        if (first.filter != FilterId::kInterPodAffinity && ends(filter_pod_anti_affinity(c, view, node))) return first;
    }
    if (c.cls.has_devices && on(FilterId::kDevices) && ends(filter_devices(c, view, later, node))) return first;
    if (c.cls.has_claims && on(FilterId::kDynamicResources) &&
        !(monotone_part && free_devices_can_harm(c.snapshot, c.pod))) {
        ends(filter_dynamic_resources(c, view, later, node));
        uncertain_ += first.certain() ? 0 : 1;
    }
    return first;
}

bool Filters::holds_without_nominated(const Candidate& c,
                                      const Occupancy& later,
                                      const PromisedCounts& promised,
                                      NodeId node) const {
    if (monotone_only_) return true;
    const auto leans = [&](TermId term) { return promised.nominated_total(term) > 0; };
    if (on(FilterId::kInterPodAffinity) && std::ranges::any_of(c.cls.affinity, leans) &&
        !affinity_without_nominated(c, later, promised, node))
        return false;
    if (!on(FilterId::kPodTopologySpread) || std::ranges::none_of(c.cls.spread, leans, &ClassSpread::term)) return true;
    return std::ranges::all_of(spread_.tallies(c, later, &promised),
                               [&](const SpreadBook::Tally& tally) { return within_skew(tally, c, node); });
}

bool Filters::holds_in_domains(const Candidate& c,
                               const Occupancy& later,
                               const PromisedCounts& promised,
                               std::span<const TopologyKeyId> keys,
                               NodeId node) const {
    const Snapshot& s = c.snapshot;
    const auto listed = [&](TopologyKeyId key) { return key && std::ranges::find(keys, key) != keys.end(); };
    const auto place = [&](TopologyKeyId key) { return s.topology.domain(key, node.index()); };
    if (on(FilterId::kInterPodAffinity)) {
        for (TermId term : c.cls.anti_affinity) {
            const TopologyKeyId key = s.terms[term].key;
            if (listed(key) && place(key) != TopologyIndex::kNoDomain && later.matching(term, place(key)) > 0)
                return false;
        }
        for (TermId term : c.cls.matched) {
            const TopologyKeyId key = s.terms[term].key;
            if (listed(key) && place(key) != TopologyIndex::kNoDomain && later.holders(term, place(key)) > 0)
                return false;
        }
        // Terms of affinity hold together or not at all: those of other keys are asked on the node.
        const auto alone = [&](TermId term) {
            const TopologyKeyId key = s.terms[term].key;
            if (!listed(key)) return false;
            if (place(key) == TopologyIndex::kNoDomain) return true;
            return later.matching(term, place(key)) <= promised.nominated(term, place(key));
        };
        const auto anywhere = [&](TermId term) { return later.matching_total(term) > promised.nominated_total(term); };
        if (std::ranges::any_of(c.cls.affinity, alone) &&
            (!c.cls.affinity_to_itself || std::ranges::any_of(c.cls.affinity, anywhere)))
            return false;
    }
    if (c.cls.spread.empty() || !on(FilterId::kPodTopologySpread)) return true;
    const auto within = [&](const SpreadBook::Tally& tally) {
        return !listed(tally.constraint->key) || within_skew(tally, c, node);
    };
    return std::ranges::all_of(spread_.tallies(c, later), within) &&
           std::ranges::all_of(spread_.tallies(c, later, &promised), within);
}

bool Filters::far_by_terms_only(const PodClass& cls) const {
    if (std::ranges::any_of(cls.volumes, &ClassVolume::single_pod) && on(FilterId::kVolumeRestrictions)) return false;
    if (cls.has_claims && !cls.claims_local && on(FilterId::kDynamicResources)) return false;
    return !(cls.has_waiting_claims && on(FilterId::kVolumeBinding));
}

bool Filters::node_local(const Snapshot& snapshot, const PodClass& cls) const {
    if (!cls.spread.empty() && on(FilterId::kPodTopologySpread)) return false;
    if (std::ranges::any_of(cls.volumes, [](const ClassVolume& v) { return v.single_pod; }) &&
        on(FilterId::kVolumeRestrictions))
        return false;
    // A claim may be shared between nodes, and so may devices and counters.
    if (cls.has_claims && !cls.claims_local && on(FilterId::kDynamicResources)) return false;
    // A volume promised to a pod on one node may be missing on others.
    if (cls.has_waiting_claims && on(FilterId::kVolumeBinding)) return false;
    if (!on(FilterId::kInterPodAffinity)) return true;
    if (!cls.affinity.empty() || !cls.anti_affinity.empty()) return false;
    return std::ranges::none_of(cls.matched, [&](TermId t) {
        return snapshot.now.holders_total(t) > 0 || snapshot.later.holders_total(t) > 0;
    });
}

bool Filters::amounts_only(const Snapshot& snapshot, const PodClass& cls) const {
    return !cls.has_ports && !cls.has_devices && !cls.has_claims && cls.volumes.empty() && node_local(snapshot, cls);
}

std::string describe(const Answer& answer, const Candidate& c) {
    switch (answer.filter) {
        case FilterId::kNodeName:
            return "node(s) other than the one the pod names";
        case FilterId::kNodeUnschedulable:
            return "node(s) were unschedulable";
        case FilterId::kTaintToleration:
            return fmt::format("node(s) had untolerated taint {}", c.snapshot.words->text(StringId(answer.detail)));
        case FilterId::kNodeAffinity:
            return "node(s) didn't match the pod's node affinity/selector";
        case FilterId::kNodePorts:
            return fmt::format("node(s) without free host port {}", answer.detail);
        case FilterId::kNodeResourcesFit:
            return describe_resources_fit(answer.detail, c);
        case FilterId::kVolumeBinding:
        case FilterId::kVolumeZone:
        case FilterId::kVolumeRestrictions:
        case FilterId::kNodeVolumeLimits:
            return describe_volumes(answer.filter, answer.detail);
        case FilterId::kPodTopologySpread:
            return answer.detail == 0 ? "node(s) didn't match pod topology spread constraints"
                                      : "node(s) without the topology key of a spread constraint";
        case FilterId::kInterPodAffinity:
            if (answer.detail == 0) return "node(s) didn't match pod affinity rules";
            return answer.detail == 1 ? "node(s) didn't match pod anti-affinity rules"
                                      : "node(s) with pods whose anti-affinity forbids it";
        case FilterId::kDevices:
            if (answer.detail == kNoDeviceMemory)
                return "node(s) that do not say how much memory a device has (no label nvidia.com/gpu.memory)";
            if (answer.detail != 0) {
                return fmt::format("node(s) not registered for such shares of devices (no {} that can be read)",
                                   registration_of(DeviceDialect{static_cast<std::uint8_t>(answer.detail)}));
            }
            return answer.fit == Fit::kNever ? "node(s) without the devices asked for" : "Insufficient free devices";
        case FilterId::kDynamicResources:
            return "node(s) without the claimed devices";
        case FilterId::kNone:
            break;
    }
    return "";
}

}  // namespace reprieve
