// Deeds: a plan as single requests, in the order that is safe to be interrupted anywhere:
//
//   1. record what is intended, and annotate; what queues were granted stands on them
//   2. mark all victims, then delete them; scale; delete by force
//   3. nominate, and clear nominations that were dropped
//   4. bind
//
// Each can be repeated. Whoever comes after a crash finds in the objects how far it went.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/plan.h"
#include "model/world.h"
#include "sim/api.h"

namespace reprieve {

struct Deed {
    SinkStep step = SinkStep::kBind;
    PodRef pod;                                 // kStatus: the queue
    std::string node;                           // kNominate, kBind
    std::vector<std::string> devices;           // kBind
    EvictionMode mode = EvictionMode::kDelete;  // kEvict
    std::map<std::string, std::string> set;     // kRecord, kAnnotate, kStatus
    std::vector<std::string> remove;            // kAnnotate
    std::optional<ScaleChange> scale;           // kScale
    std::vector<PlacedClaim> claims;            // kBind: what they are given first
    std::string release;                        // kStatus: a claim that the pod gives back
};

[[nodiscard]] std::vector<Deed> deeds_of(const Plan& plan);

[[nodiscard]] SinkReport perform(const Deed& deed, Api& api);

}  // namespace reprieve
