// Which rules are monotone: where one says yes, it still does when more pods are evicted.
//
// For a monotone rule "everything that may go was removed and it still says no" is a proof. For the others it is none:
// the pods that were removed may be those that satisfy the rule. Every shortcut that rests on monotonicity names this
// table; the search over sets (search/set_search.h) is for rules that are not monotone.
#pragma once

#include <string_view>

#include "plugins/filter.h"

namespace reprieve {

struct RuleNature {
    FilterId rule;
    bool monotone;
    std::string_view because;
};

inline constexpr RuleNature kRuleNatures[kFilterCount] = {
    {FilterId::kNodeName, true, "looks at facts alone"},
    {FilterId::kNodeUnschedulable, true, "looks at facts alone"},
    {FilterId::kTaintToleration, true, "looks at facts alone"},
    {FilterId::kNodeAffinity, true, "looks at facts alone"},
    {FilterId::kVolumeBinding, true, "an evicted pod gives back the volumes that were promised to it"},
    {FilterId::kVolumeZone, true, "looks at facts alone"},
    {FilterId::kNodePorts, true, "an evicted pod frees its ports"},
    {FilterId::kNodeResourcesFit, true, "an evicted pod frees its requests"},
    {FilterId::kVolumeRestrictions, true, "an evicted pod no longer uses its disks and claims"},
    {FilterId::kNodeVolumeLimits, true, "an evicted pod detaches its volumes"},
    {FilterId::kPodTopologySpread,
     false,
     "an eviction in another domain lowers the count that the skew is measured from"},
    {FilterId::kInterPodAffinity,
     false,
     "an evicted pod no longer satisfies required affinity (anti-affinity is monotone)"},
    {FilterId::kDevices, true, "an evicted pod frees its devices"},
    {FilterId::kDynamicResources,
     false,
     "an evicted pod frees a device on which a selector fails, or one of all that a constraint excludes"},
};

// A new filter says here what it is.
static_assert([] {
    for (int i = 0; i < kFilterCount; ++i) {
        if (kRuleNatures[i].rule != static_cast<FilterId>(i) || kRuleNatures[i].because.empty()) return false;
    }
    return true;
}());

}  // namespace reprieve
