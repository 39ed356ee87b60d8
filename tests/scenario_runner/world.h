// World: the manifests of a scenario between cycles. It follows a plan as API server, kubelets and controllers would,
// and lets the scenario's events happen.
//
// Following: victims get a deletion time and the condition of the preempted and keep their room until an event lets
// them go (those of soft evictions get the annotation alone); placements `now` run from then on and hold their devices;
// those `afterEvictions` are nominated. What a balanced queue was granted is written on it. Replicas of serving
// deployments come and go by events alone; claims, hints and numbers of replicas are written.
//
// Events, each a map with one key:
//   time: +30s             the clock
//   create: {...}          an object, or a list of them
//   delete: x              a pod; or {kind: Node, name: n1}
//   finish: x              a pod runs to its end
//   stop: x                its controller deletes a pod; it is terminating from then on
//   set: {kind: Node, metadata: {name: n1}, spec: {...}}    merged into the object
//   victimsGone: true      everything that is terminating is gone; or a list of pods
//   victimsReturn: true    those gone so far are created anew, pending, named NAME-again
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "strict.h"

namespace reprieve::scenario {

class World {
public:
    World(std::vector<Json> documents, Time now);

    [[nodiscard]] const std::vector<Json>& documents() const { return documents_; }
    [[nodiscard]] Time now() const { return now_; }

    void follow(const Json& plan, Faults& faults);
    void happen(const Json& event, Faults& faults);
    // Everything that is terminating is gone. False: there was nothing.
    bool let_victims_go();

private:
    [[nodiscard]] Json* find(const std::string& kind, const std::string& name);
    [[nodiscard]] Json* find_pod(const std::string& name) { return find("Pod", name); }
    void evict(const Json& eviction, Faults& faults);
    void place(const Json& placement, Faults& faults);
    void grant(const Json& queue, Faults& faults);
    void start_leaving(Json& pod) const;
    // Whether some document stands for pods that are not among the documents.
    [[nodiscard]] bool makes_pods() const;
    void remove(const Json* object);
    void create(const Json& object, Faults& faults);
    void erase(const Json& what, Faults& faults);
    void merge(const Json& change, Faults& faults);
    void return_victims();

    std::vector<Json> documents_;
    std::vector<Json> gone_;
    Time now_;
};

}  // namespace reprieve::scenario
