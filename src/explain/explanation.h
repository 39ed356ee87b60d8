// Explanation: what a plan means for one pod or gang, as plain data. Words and JSON are made from it elsewhere.
//
// Everything about "what if" was found by planning again with that one thing different, never by guessing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/plan.h"

namespace reprieve {

enum class Outcome : std::uint8_t {
    kEvicted,
    kPlaced,
    kNominated,
    kUnplaced,
    kGrowing,    // runs, and is made the room that a resize asks for
    kSpared,     // runs where room was made, and stays
    kUntouched,  // runs where nothing happens
    kLeaving,    // is being deleted already
    kEnded,
    kGated,
    kForeign,   // waits for another scheduler
    kServing,   // a replica that its deployment speaks for
    kNoMembers  // a gang without pods
};
[[nodiscard]] const char* to_text(Outcome outcome);

// How another plan differs from the one that is explained, seen from whoever the evictions were for.
struct Consequence {
    bool placed = false;                // the beneficiary has its room all the same
    std::string why_not;                // else: why it stays without
    CostVector cost;                    // of making room for it; empty: nobody goes for it
    std::string worse_in;               // the first term in which that costs more than the plan
    std::string cheaper_in;             // ... or less
    std::vector<std::string> evicted;   // who goes then and not now
    std::vector<std::string> for_it;    // who goes then for the beneficiary, whether it goes now or not
    std::vector<std::string> spared;    // who goes now and not then
    std::vector<std::string> unplaced;  // who has a place now and not then, the beneficiary aside
};

enum class Lever : std::uint8_t { kPriority, kCheckpointAge, kMinRuntime, kNode };
[[nodiscard]] const char* to_text(Lever lever);

// The smallest change of one thing that gives another outcome: one less does not.
struct Remedy {
    Lever lever = Lever::kPriority;
    std::string of;         // "ns/name" of what must change: the pod, or the gang that has the say
    std::int64_t from = 0;  // priority, or seconds
    std::int64_t to = 0;
    std::vector<std::string> nodes;  // kNode: where it would have to run, each once
    std::string domain;              // kNode: the domain that they are in
    Consequence then;
};

struct Margin {
    std::optional<Consequence> without;  // nobody may take it; absent: nothing can forbid it
    std::vector<Remedy> remedies;
    std::int64_t plans = 0;  // made to find this out
    bool complete = true;    // false: the allowance of plans was used up
};

// What a running pod puts on the scale.
struct Standing {
    std::int32_t priority = 0;
    std::int64_t ran_seconds = 0;
    bool has_started = true;
    std::optional<std::int64_t> checkpoint_age;
    std::optional<std::int64_t> lost_work;  // resource-seconds, where that is counted
    std::string lost_resource;
    std::int64_t grace_seconds = 0;
    std::string queue;
};

// A unit among those that could have gone.
struct OrderedUnit {
    std::vector<std::string> pods;
    bool evicted = false;
    bool subject = false;
};

struct EvictionStory {
    std::string owner;   // whom it makes room for
    bool grows = false;  // who runs already, and asks for more where it runs
    std::optional<std::int32_t> owner_priority;
    std::string action;
    std::string rule;    // what made it eligible, a sentence
    std::string reason;  // the plan's
    UnitKind unit = UnitKind::kPod;
    std::string group;
    bool one_by_one = false;  // the group's pods go alone, even those that it cannot spare
    bool broken = false;      // the group had lost its minimum before: what is left of it goes like surplus
    EvictionMode mode = EvictionMode::kDelete;
    bool pdb_violation = false;
    std::vector<std::string> pods;   // of the subject
    std::vector<std::string> nodes;  // where they run
    std::vector<std::string> with;   // who else goes for the same owner
    std::vector<std::string> frees;  // what it gives up: "gpu-0 of claim ns/c"
    // Claims that it uses with others, which is why they go as one unit: "ns/c with ns/b".
    std::vector<std::string> shared;
    // Its gang goes whole; else pods of a gang go for themselves, or with those who use their claims.
    [[nodiscard]] bool takes_gang() const {
        return unit == UnitKind::kWhole && (shared.empty() || reason.find("its gang goes whole") != std::string::npos);
    }
    std::vector<OrderedUnit> order;  // first to go first, on these nodes
    std::optional<Certificate> certificate;
    std::string proof_scope;  // where it holds; empty: everywhere
    std::optional<Standing> standing;
    std::optional<Margin> margin;
};

struct SparedStory {
    std::string owner;  // for whom somebody goes where it runs
    std::string action;
    std::string node;                  // where that is
    std::string rule;                  // the name of the rule that protects it; empty: it could have been taken
    std::string why;                   // that rule, a sentence
    std::vector<std::string> instead;  // who goes for that owner
    bool next = false;                 // were those protected, it would go
    std::optional<Consequence> then;   // what protecting those leads to
};

struct UnplacedStory {
    std::vector<std::string> pods;
    std::int64_t replicas = 0;
    bool never = false;
    std::string reason;
    std::map<std::string, std::int64_t> nodes;
    std::vector<Certificate> certificates;
    std::vector<Remedy> remedies;
    std::int64_t plans = 0;
};

struct PlacementStory {
    std::vector<Placement> placements;
    std::vector<Eviction> expense;  // who goes for it
    std::optional<Certificate> certificate;
    std::string proof_scope;                     // where it holds; empty: everywhere
    std::int64_t nodes = 0;                      // of the cluster
    std::int64_t fitting = 0;                    // that have room for it now, before the plan
    std::map<std::string, std::int64_t> others;  // why the rest has not
    std::string limit;                           // of a queue or quota that nobody's place helps against, a sentence
    bool kept = false;                           // where an earlier plan had promised it room
    std::vector<std::string> alternatives;       // of claims: which was taken instead of which, sentences
};

struct Explanation {
    std::string name;  // "ns/name"
    bool gang = false;
    Outcome outcome = Outcome::kUntouched;
    std::string plan;  // its id
    Time now;
    std::string node;                         // where it runs
    std::string detail;                       // what else there is to say, a sentence
    bool deployment = false;                  // a serving deployment
    std::vector<std::string> serving;         // about it, or about a replica, a sentence each
    std::map<Outcome, std::int64_t> members;  // of a gang
    std::vector<EvictionStory> evictions;     // for a gang: one for each owner
    std::optional<PlacementStory> placement;
    std::vector<UnplacedStory> unplaced;
    std::vector<SparedStory> spared;
};

}  // namespace reprieve
