// OthersDone: what a scheduler has decided for others, as if it were done, for the length of a thought: their pods run
// where they were placed, and their victims are gone. As before when it ends.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/plan.h"
#include "record/rebuild.h"

namespace reprieve {

// How much of what was decided for others in the same moment stands when one of the decisions is judged.
enum class OthersState : std::uint8_t { kAllDone, kThoseBeforeDone, kNoneDone };

// Pods that run, and that the rules of these placements count: required affinity where they were placed, hard spread
// anywhere. REQUIRES: the cluster was refreshed.
[[nodiscard]] std::set<std::string> pods_needed_by(const Cluster& cluster,
                                                   const std::vector<const Placement*>& placements);

class OthersDone {
public:
    explicit OthersDone(Rebuild& world) : world_(world) {}
    ~OthersDone();
    OthersDone(const OthersDone&) = delete;
    OthersDone& operator=(const OthersDone&) = delete;

    // A pod that is not there is left out. `stays`: nobody may take it, either.
    void bind(const Placement& placement, bool stays);
    // `frees`: claims that have their devices no longer, "ns/name".
    void remove(const std::string& pod, const std::vector<std::string>& frees = {});
    // Nobody may take it: what was decided for others needs it.
    void keep(const std::string& pod);

private:
    void lay(const std::string& pod, const std::string& fields);
    void hold_claims(const Placement& placement, const std::string& uid);
    void put(const std::string& key, const RecordedObject& object);
    void apply(const std::string& key, const RecordedObject& object);

    Rebuild& world_;
    std::map<std::string, RecordedObject> before_;
};

}  // namespace reprieve
