// Instance: a small cluster and one demand, as plain numbers; the manifests for the program and the model of the oracle
// are both made from it.
//
// Amounts are whole cores, GiB and GPUs; start times are minutes, no two alike, so that importance is never a matter of
// names.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace reprieve::oracle {

using Json = nlohmann::json;

inline constexpr std::size_t kDims = 3;
using Amounts = std::array<std::int64_t, kDims>;  // cores, GiB, GPUs

struct HostNode {
    std::string name;
    Amounts size{};
    int rack = 0;
    int row = 0;
};

struct RunningPod {
    std::string name;
    int node = 0;
    int gang = -1;
    std::int64_t priority = 0;
    Amounts ask{};
    std::int64_t start = 0;
    int app = -1;  // label that budgets select
    int role = -1;
    int quota = -1;         // by place in Instance::quotas; -1: in none
    bool is_fixed = false;  // its quota counts it as non-preemptible
    bool is_protected = false;
};

enum class GangMode { kVolcano, kCoreAll, kCoreSingle };

struct RunningGang {
    std::string name;
    int min = 1;
    GangMode mode = GangMode::kVolcano;
    std::vector<int> role_minimums;  // by role; empty: none
};

// An ElasticQuota, or a Queue that has a limit alone. Quotas stand after their parents.
struct Quota {
    std::string name;
    int parent = -1;
    bool elastic = true;
    Amounts least{};
    Amounts most{};
    std::array<bool, kDims> managed{};  // resources that it lists
};

struct Budget {
    int app = 0;
    std::int64_t allowed = 0;
};

// The action that serves the demand.
enum class Way { kPreempt, kGangPreempt, kJobPreempt };

struct Demand {
    Way way = Way::kPreempt;
    bool is_gang = false;
    std::vector<Amounts> members;  // those that must come together
    int surplus = 0;               // more like the last one; they take idle room only
    std::int64_t priority = 0;
    int quota = -1;
    bool is_fixed = false;
    int tier = 0;                   // hard topology: 0 anywhere, 1 one rack, 2 one rack or row
    std::vector<std::string> cost;  // terms in their order; empty: those of the action
};

struct Instance {
    std::vector<HostNode> nodes;
    std::vector<RunningPod> pods;
    std::vector<RunningGang> gangs;
    std::vector<Quota> quotas;
    std::vector<Budget> budgets;
    Demand demand;

    [[nodiscard]] std::vector<Json> documents() const;
};

inline constexpr const char* kDemandName = "default/newcomer";

// Seconds since 1970 of a pod's start.
[[nodiscard]] constexpr std::int64_t start_seconds(std::int64_t minutes) { return 1'748'736'000 + 60 * minutes; }

}  // namespace reprieve::oracle
