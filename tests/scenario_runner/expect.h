// Expect: what a scenario demands. Read strictly: an unknown key is an error, so that a check cannot be lost by a typo.
//
//   kind: Expect
//   now: 2026-01-01T12:00:00Z       # the clock of the first cycle; this one if not written
//   config: {actions: [...]}        # a SchedulerConfig without its header
//   only: [pod]                     # plan for these alone
//   golden: true                    # the plan is also kept byte for byte beside the file, as NAME.plan.json
//
// then what one cycle must show:
//
//   plan:
//     evict: [b, {pod: c, unit: safe, pdbViolation: true}]   # exactly these; or their number
//     evictFrom: {gang: 2}                                   # pods of these groups, whichever
//     place: {a: n1, c: [n1, n2], d: any, ...: any}          # exactly these unless `...` is there; or a list of
//     entries; `claims: {claim: [device]}` of a placement names the devices of each of its claims   placeOf: {gang:
//     {count: 3, domain: rack-1}}            # members of these gangs, whichever when: afterEvictions # of every
//     placement scale, forceDeletes, annotations, matches # the same arrays as in a plan, in part; absent: empty
//   untouched: [x]                  # neither evicted nor robbed of a nomination
//   unplaced: [a, {pod: c, verdict: never, reason: ..., nodes: {...: 2}}]    # exactly these; `reason` and keys of
//   `nodes` are parts of texts certificates: [{for: a, status: optimal, cost: {pods: 1}}]               # these among
//   others nominationsCleared: [x]         # exactly these; absent: none warnings: [part of one]         # one for each
//   warning; absent: none; `any`: not compared queues: {q: {used: {cpu: 1000}}} exit: 3 error: part of the message #
//   the input is refused
//
// `cycles` is a list of such checks, each with the `events` before it (see world.h). `settled` is a `plan` over all
// cycles until nothing moves any more: every eviction on the way, every pod bound in the end.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "strict.h"

namespace reprieve::scenario {

// What is demanded of the decisions of one plan, or of several taken together.
struct Decisions {
    std::vector<Json> evict;  // each with "pod" and whatever else is written of it
    std::optional<std::size_t> evict_count;
    std::map<std::string, std::size_t> evict_from;
    std::vector<Json> place;
    std::optional<std::size_t> place_count;
    std::map<std::string, Json> place_of;
    bool other_placements = false;
    std::string when;
    std::map<std::string, Json> arrays;  // "scale" and the like
};

struct CycleExpect {
    Json events = Json::array();
    std::optional<Decisions> plan;
    std::vector<std::string> untouched;
    std::optional<std::vector<Json>> unplaced;
    std::vector<Json> certificates;
    std::vector<std::string> nominations_cleared;
    std::optional<std::vector<std::string>> warnings = std::vector<std::string>{};  // none: not compared
    Json queues = Json::object();
    std::optional<int> exit;
    std::string error;
};

struct Expect {
    std::string now = "2026-01-01T12:00:00Z";
    Json config = Json::object();
    std::vector<std::string> only;
    bool golden = false;
    std::vector<CycleExpect> cycles;
    std::optional<Decisions> settled;
};

// The arrays of a plan that `plan` compares in part.
inline constexpr const char* kPartialArrays[] = {"scale", "forceDeletes", "annotations", "matches"};

[[nodiscard]] Expect read_expect(const Json& document, Faults& faults);

}  // namespace reprieve::scenario
