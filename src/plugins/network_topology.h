// networkTopology: the domains within which a gang must fit, in order of preference.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "state/snapshot.h"

namespace reprieve {

struct SearchDomain {
    std::string name;  // empty: the whole cluster
    DomainId domain;   // none: the whole cluster
    std::int32_t tier = 0;
    bool promised = false;      // an earlier plan made room for the gang in it
    std::vector<NodeId> nodes;  // empty: all nodes
};

struct SearchSpace {
    std::vector<SearchDomain> domains;
    bool soft = false;    // wider tiers are a fallback, not an alternative
    std::string missing;  // the rule names a tier that does not exist: the gang is never placed

    [[nodiscard]] bool anywhere() const {
        return domains.size() == 1 && domains.front().name.empty() && domains.front().nodes.empty();
    }
};

// Tightest tier first, inside a tier the fullest domain, then by name. A gang without a rule may use the whole cluster.
// Members that run already pin the domain they are in.
[[nodiscard]] SearchSpace network_search_space(const Snapshot& snapshot, GangId gang);

// The domains of one sub-group with a rule of its own, inside the domain its gang sits in.
struct SubGroupKey;
[[nodiscard]] SearchSpace sub_group_space(const Snapshot& snapshot,
                                          GangId gang,
                                          const SubGroupKey& key,
                                          const TopologyRule& rule,
                                          const SearchDomain& inside);

}  // namespace reprieve
