#include "explain/proof_scope.h"

#include <fmt/format.h>

#include <algorithm>

#include "explain/levers.h"
#include "plugins/network_topology.h"

namespace reprieve {

std::string proof_scope(const Retrials& trials, const std::string& owner) {
    const GangId gang = gang_named(trials.cluster(), owner);
    const auto placed = std::ranges::find_if(trials.plan().placements,
                                             [&](const Placement& p) { return p.owner == owner && !p.domain.empty(); });
    if (!gang || placed == trials.plan().placements.end()) return "";
    const SearchSpace space = network_search_space(trials.snapshot(), gang);
    const auto chosen = std::ranges::find(space.domains, placed->domain, &SearchDomain::name);
    if (chosen == space.domains.end()) return "";
    if (chosen->promised && !std::ranges::all_of(space.domains, &SearchDomain::promised))
        return fmt::format("in {}, where an earlier plan made room for it", chosen->name);
    const bool wider = std::ranges::any_of(space.domains, [&](const SearchDomain& d) { return d.tier > chosen->tier; });
    return space.soft && wider ? "in the smallest tier that could be had" : "";
}

}  // namespace reprieve
