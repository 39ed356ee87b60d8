// Judge: what is wrong with a decision, demand by demand, against everything that could have been done.
#pragma once

#include <string>
#include <vector>

#include "decision.h"
#include "solver.h"

namespace reprieve::worlds {

enum class Fault : std::uint8_t {
    kRefused,          // a set exists, and the demand waits
    kFalseInfeasible,  // a set exists, and the claim says none does
    kFalseOptimal,     // a cheaper set exists
    kWrongBound,       // the optimum is below the bound, or the gap is none
    kWrongCost,        // the victims do not cost what is printed
    kIllegal,          // somebody went who may not, or a gang was broken by halves
    kNeedless,         // somebody went who need not
    kMisfit,           // a placement breaks a filter
    kUnexpected,       // served where the judge finds no way
    kStale,            // changed fact by fact, the program knows another world than one built at once
    kAudit,            // the program's own audit complains
    kAbort,            // the program stopped
};
inline constexpr int kFaults = 12;
[[nodiscard]] const char* to_text(Fault fault);

struct Complaint {
    Fault fault = Fault::kAbort;
    std::string demand;
    std::string what;
};

// What one demand came to.
struct Fate {
    bool is_gang = false;
    bool feasible = false;
    bool needs_victims = false;  // feasible, but not without evictions
    bool served = false;
    bool proven = false;  // `optimal` for a plan that evicts, `infeasible` for a refusal
};

struct Judgement {
    std::vector<Fate> fates;
    std::vector<Complaint> complaints;
};

[[nodiscard]] Judgement judge(const World& world, const Decision& decision);

}  // namespace reprieve::worlds
