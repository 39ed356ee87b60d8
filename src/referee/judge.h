// Judge: what one decision to evict was worth, by the yardsticks of docs/referee.md.
//
// It plans the same demand on the world in which the decision was made, twice: freely, which gives the least that would
// have done, with its proof; and with nobody to take but the victims, on the nodes that were chosen, which gives what
// the decision itself cost and who of them could have stayed. Both are plans of our engine: what it cannot express it
// does not judge.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/config.h"
#include "model/plan.h"
#include "record/rebuild.h"

namespace reprieve {

enum class CaseVerdict : std::uint8_t {
    kNeedless,
    kUnlawful,
    kTooMany,
    kNotCheapest,
    kWasted,
    kRepeated,
    kFair,
    kUnclear
};
[[nodiscard]] const char* to_text(CaseVerdict verdict);
[[nodiscard]] inline bool is_against(CaseVerdict verdict) {
    return verdict != CaseVerdict::kFair && verdict != CaseVerdict::kUnclear;
}

// A decision to be judged.
struct EvictionCase {
    std::string owner;              // for whom: a pod or gang, "ns/name"
    std::set<std::string> victims;  // "ns/name"
    std::set<std::string> nodes;    // on which the beneficiary was to run; empty: those of the victims
};

struct Ruling {
    CaseVerdict verdict = CaseVerdict::kUnclear;
    std::string evidence;
    bool heard = true;  // false: the beneficiary was not there, or a victim did not run: nobody decided then
    std::vector<std::string> could_have_stayed;
    // What would have done; the status of its certificate is empty where nobody had to go.
    std::vector<std::string> cheaper;
    CostVector cheaper_cost;
    std::string cheaper_status;
    bool has_cheaper = false;
    std::int64_t least_pods = 0;
    double gpu_hours_lost = 0;
    double least_gpu_hours = 0;
    std::string queue;
    std::int32_t priority = 0;
    std::set<std::string> nodes;
};

// Judges on the cluster as it stands: the victims run, the beneficiary waits. It is as before afterwards.
[[nodiscard]] Result<Ruling> judge(Rebuild& world, const EvictionCase& what, const SchedulerConfig& config, Time now);

}  // namespace reprieve
