// Why a replica stays where a deployment waits for room: the rules of the match, asked once all matches are made.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "actions/serving/categories.h"
#include "actions/serving/world.h"

namespace reprieve::serving {

enum class Stays : std::uint8_t {
    kCouldGo,  // no rule keeps it
    kPriority,
    kProtected,
    kRollout,
    kUnclear,
    kLastReplica
};

class StayRules {
public:
    // `taken` are the victims of all matches. REQUIRES: the world and the categories outlive it.
    StayRules(const World& world, std::span<const Category> categories, const std::set<ReplicaIndex>& taken);

    [[nodiscard]] Stays why(DeploymentIndex preemptor, ReplicaIndex replica) const;

private:
    struct Left {
        std::int64_t active = 0;
        std::int64_t committed = 0;  // of those that the commit covers
    };

    const World& world_;
    std::span<const Category> categories_;
    std::map<std::pair<DeploymentIndex, std::size_t>, Left> left_;  // by deployment and branch
};

}  // namespace reprieve::serving
