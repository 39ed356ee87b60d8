// Engine: the program's own way from manifests to a plan, and the plan as scripts read it.
//
// This is the one place that knows the engine's types. The plan comes back as the JSON of the contract.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "world.h"

namespace reprieve::worlds {

struct PlannedPlace {
    std::string node;
    bool later = false;  // after evictions
    std::vector<std::string> devices;
};

struct PlannedEviction {
    std::string pod;
    std::string owner;
};

struct Claim {
    std::string owner;
    std::string action;
    std::string status;
    std::vector<std::pair<std::string, std::int64_t>> cost;
    std::vector<std::pair<std::string, std::int64_t>> bound;
};

struct Decision {
    std::map<std::string, PlannedPlace> places;  // by "ns/name"
    std::vector<PlannedEviction> evictions;
    std::vector<Claim> claims;
    std::vector<std::string> violations;  // what the program's own audit says
    std::string text;                     // the plan as it is printed
};

// REQUIRES: documents that the program reads.
[[nodiscard]] Decision decide(const std::vector<Json>& documents, const Json& config);

}  // namespace reprieve::worlds
