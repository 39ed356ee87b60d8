// Random quota trees of three levels with their pods, and an independent computation of what follows from them.
//
// The oracle is written to be read, not to be fast: maps by name, one resource at a time, straight from the rule.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "random_world.h"

namespace reprieve::property {

using Amounts = std::map<std::string, std::int64_t>;  // resource -> amount

struct QuotaShape {
    std::string name;
    std::string parent;  // empty: at the top
    Amounts low;
    Amounts high;
    Amounts weight;  // empty: the maximum
    bool lends = true;
    bool scales = true;
};

struct QuotaPod {
    std::string name;
    std::string quota;  // empty: in none
    std::string node;   // empty: waits
    std::string gang;
    int gang_size = 0;
    int priority = 0;
    bool fixed = false;  // non-preemptible
    Amounts requests;
};

struct QuotaWorld {
    std::vector<Amounts> nodes;
    std::vector<QuotaShape> quotas;
    std::vector<QuotaPod> pods;

    [[nodiscard]] std::vector<Json> documents() const;
    [[nodiscard]] const QuotaShape& quota(const std::string& name) const;
    [[nodiscard]] const QuotaPod& pod(const std::string& name) const;  // "default/name"
    // The quota and all above it.
    [[nodiscard]] std::vector<std::string> path(const std::string& quota) const;
};

[[nodiscard]] QuotaWorld random_quota_world();

struct QuotaNumbers {
    Amounts request;
    Amounts least;  // scaled
    Amounts runtime;
};

// By name of the quota.
[[nodiscard]] std::map<std::string, QuotaNumbers> expected_numbers(const QuotaWorld& world);

}  // namespace reprieve::property
