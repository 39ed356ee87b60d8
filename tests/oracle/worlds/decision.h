// Decision: a plan as scripts read it, in the words of the worlds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "world.h"

namespace reprieve::worlds {

struct PlannedPlace {
    std::string node;
    bool later = false;  // after evictions
    Mask devices = 0;
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

}  // namespace reprieve::worlds
