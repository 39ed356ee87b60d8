// Domains: the sets of nodes within which a gang may have to fit.
//
// HyperNodes form one family; every configured topology label (or label key that a group names) another. Tier 1 is
// the tightest of a family. Domains of one family and tier need not cover all nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "model/node.h"
#include "model/objects.h"
#include "state/ids.h"

namespace reprieve {

class Vocabulary;

struct Domain {
    StringId name;
    StringId label_key;  // none: a HyperNode
    std::int32_t tier = 0;
    StringId tier_name;
    DomainId parent;  // the next wider one of its family, if any
    std::vector<NodeId> nodes;
    bool is_level = false;  // of labels that are configured as levels, innermost tier 1
};

struct DomainTable {
    IdVector<DomainId, Domain> domains;
    IdVector<NodeId, std::vector<DomainId>> of_node;

    // Among HyperNodes, or among levels of labels; 0 without any.
    [[nodiscard]] std::int32_t tallest_tier(bool levels) const;
};

struct DomainInput {
    std::vector<const HyperNode*> hyper_nodes;
    std::vector<const Node*> nodes;      // by NodeId; null: no such node any more
    std::vector<StringId> label_levels;  // outer to inner
    std::vector<StringId> label_keys;    // single keys that groups name
};

// HyperNodes that contain themselves or have a malformed regular expression are left out, and `warnings` says so; it
// also names members that do not exist.
[[nodiscard]] DomainTable build_domains(const DomainInput& input,
                                        Vocabulary& words,
                                        std::vector<std::string>& warnings);

}  // namespace reprieve
