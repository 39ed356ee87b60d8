#include "explain/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/check.h"
#include "explain/stories.h"

namespace reprieve {
namespace {

Outcome of_running(const Plan& plan, const std::string& node) {
    const bool room_made = std::ranges::any_of(plan.evictions, [&](const Eviction& e) { return e.node == node; });
    return room_made ? Outcome::kSpared : Outcome::kUntouched;
}

// What the plan leaves out is as the facts have it.
Outcome of_fact(const Plan& plan, const Cluster* cluster, const std::string& name) {
    const PodId pod = cluster == nullptr ? PodId() : pod_named(*cluster, name);
    if (!pod) return Outcome::kUntouched;
    const Snapshot& s = cluster->snapshot();
    const Pod& fact = cluster->pod(pod);
    const PodRow& row = s.pods[pod];
    if (fact.finished()) return Outcome::kEnded;
    if (fact.terminating()) return Outcome::kLeaving;
    if (row.state == PodState::kRunning)
        return row.node ? of_running(plan, std::string(s.node_name(row.node))) : Outcome::kUntouched;
    if (fact.gated) return Outcome::kGated;
    return row.has(kServing) ? Outcome::kServing : Outcome::kForeign;
}

Outcome outcome_of(const Plan& plan, const Cluster* cluster, const std::string& pod) {
    if (std::ranges::find(plan.evictions, pod, &Eviction::pod) != plan.evictions.end()) return Outcome::kEvicted;
    const auto placed = std::ranges::find(plan.placements, pod, &Placement::pod);
    if (placed != plan.placements.end()) return placed->after_evictions ? Outcome::kNominated : Outcome::kPlaced;
    if (std::ranges::find(plan.unplaced, pod, &Unplaced::pod) != plan.unplaced.end()) return Outcome::kUnplaced;
    if (std::ranges::find(plan.evictions, pod, &Eviction::owner) != plan.evictions.end()) return Outcome::kGrowing;
    return of_fact(plan, cluster, pod);
}

// Of a gang's members the one that says most about the gang.
Outcome of_gang(const std::map<Outcome, std::int64_t>& members) {
    static constexpr std::array kOrder{Outcome::kEvicted,
                                       Outcome::kNominated,
                                       Outcome::kPlaced,
                                       Outcome::kUnplaced,
                                       Outcome::kGrowing,
                                       Outcome::kSpared,
                                       Outcome::kUntouched};
    for (const Outcome outcome : kOrder)
        if (members.contains(outcome)) return outcome;
    return members.empty() ? Outcome::kNoMembers : members.begin()->first;
}

// A deployment speaks for replicas that have no pods, too.
Outcome of_deployment(const Plan& plan, const Explanation& told) {
    if (told.members.contains(Outcome::kEvicted)) return Outcome::kEvicted;
    if (!told.unplaced.empty()) return Outcome::kUnplaced;
    if (std::ranges::find(plan.matches, told.name, &Match::owner) != plan.matches.end()) return Outcome::kNominated;
    const bool grows = std::ranges::any_of(
        plan.scale, [&](const ScaleChange& c) { return c.deployment == told.name && c.to > c.from; });
    return grows ? Outcome::kGrowing : of_gang(told.members);
}

// Who waits for the room that a leaving pod still holds.
std::string waits_for(const Plan& plan, const std::string& node) {
    std::vector<std::string> waiting;
    for (const Placement& p : plan.placements) {
        if (p.after_evictions && p.node == node) waiting.push_back(p.pod);
    }
    return waiting.empty() ? "" : fmt::format("; {} waits for room there", fmt::join(waiting, ", "));
}

std::string detail_of(const Plan& plan, const Cluster& cluster, PodId pod, Outcome outcome) {
    const Snapshot& s = cluster.snapshot();
    const Pod& fact = cluster.pod(pod);
    switch (outcome) {
        case Outcome::kLeaving:
            return fmt::format("its deletion was asked for and is due at {}{}",
                               format_time(fact.deleting),
                               fact.node ? waits_for(plan, s.words->str(fact.node)) : "");
        case Outcome::kEnded:
            return fact.phase == PodPhase::kSucceeded ? "it has succeeded" : "it has failed";
        case Outcome::kGated:
            return "nobody plans for it until its scheduling gates are lifted";
        case Outcome::kForeign:
            return fmt::format("its schedulerName is {}", s.words->text(s.spec_of(pod).scheduler));
        case Outcome::kServing:
            return "its deployment is planned for as a whole";
        default:
            return "";
    }
}

// Where the pods run; empty: nowhere, or in several places.
std::string node_of(const Cluster& cluster, const Subject& subject) {
    std::set<std::string> nodes;
    for (const std::string& name : subject.pods) {
        const PodId pod = pod_named(cluster, name);
        if (pod && cluster.pod(pod).node) nodes.insert(cluster.words().str(cluster.pod(pod).node));
    }
    return nodes.size() == 1 ? *nodes.begin() : "";
}

}  // namespace

const char* to_text(Outcome outcome) {
    switch (outcome) {
        case Outcome::kEvicted:
            return "evicted";
        case Outcome::kPlaced:
            return "placed";
        case Outcome::kNominated:
            return "nominated";
        case Outcome::kUnplaced:
            return "unplaced";
        case Outcome::kGrowing:
            return "growing";
        case Outcome::kSpared:
            return "spared";
        case Outcome::kUntouched:
            return "untouched";
        case Outcome::kLeaving:
            return "leaving";
        case Outcome::kEnded:
            return "ended";
        case Outcome::kGated:
            return "gated";
        case Outcome::kForeign:
            return "foreign";
        case Outcome::kServing:
            return "serving";
        case Outcome::kNoMembers:
            return "noMembers";
    }
    REPRIEVE_CHECK(false, "outcome {}", static_cast<int>(outcome));
}

const char* to_text(Lever lever) {
    switch (lever) {
        case Lever::kPriority:
            return "priority";
        case Lever::kCheckpointAge:
            return "checkpointAge";
        case Lever::kMinRuntime:
            return "minRuntime";
        case Lever::kNode:
            return "node";
    }
    REPRIEVE_CHECK(false, "lever {}", static_cast<int>(lever));
}

Explanation explain(const Plan& plan, Retrials* trials, const Subject& subject) {
    const Cluster* cluster = trials == nullptr ? nullptr : &trials->cluster();
    Explanation out{.name = subject.name, .gang = subject.gang, .plan = plan.id, .now = plan.now};
    for (const std::string& pod : subject.pods)
        ++out.members[outcome_of(plan, cluster, pod)];
    out.unplaced = unplaced_stories(plan, trials, subject);
    out.deployment = is_deployment(plan, cluster, subject);
    out.outcome = out.deployment ? of_deployment(plan, out) : of_gang(out.members);
    out.evictions = eviction_stories(plan, trials, subject);
    out.placement = placement_story(plan, trials, subject);
    out.serving = serving_sentences(plan, trials, subject);
    if (cluster == nullptr) return out;
    out.node = node_of(*cluster, subject);
    if (out.outcome == Outcome::kSpared) out.spared = spared_stories(*trials, subject);
    if (!subject.pods.empty()) {
        if (const PodId pod = pod_named(*cluster, subject.pods.front()))
            out.detail = detail_of(plan, *cluster, pod, out.outcome);
    }
    return out;
}

}  // namespace reprieve
