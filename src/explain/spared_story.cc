#include <algorithm>
#include <map>

#include "explain/levers.h"
#include "explain/set_exemption.h"
#include "explain/stories.h"
#include "explain/victim_order.h"

namespace reprieve {
namespace {

// What would happen to the pod if those who go were protected.
void ask_who_is_next(Retrials& trials, const std::vector<std::string>& pods, SparedStory& story) {
    const auto change = protect(trials, story.instead);
    if (!change) return;
    const auto plan = trials.with(*change);
    if (!plan) return;
    story.then = compare(trials.plan(), *plan, story.owner);
    story.next = std::ranges::any_of(plan->evictions,
                                     [&](const Eviction& e) { return std::ranges::find(pods, e.pod) != pods.end(); });
}

// What is given back for nobody by name, each queue gives for itself.
bool same_bill(const Cluster& cluster, const Eviction& e, const std::string& spared) {
    if (!e.owner.empty()) return true;
    const PodId goes = pod_named(cluster, e.pod);
    const PodId stays = pod_named(cluster, spared);
    const Snapshot& s = cluster.snapshot();
    return goes && stays && s.pods[goes].queue == s.pods[stays].queue;
}

// Where room is made: the node of one of its victims only where the beneficiary comes to run there.
std::string where_room_is_made(const Plan& plan, const Eviction& e) {
    std::vector<std::string> nodes;
    for (const Placement& p : plan.placements) {
        if (p.pod == e.owner || (!e.owner.empty() && p.owner == e.owner)) nodes.push_back(p.node);
    }
    for (const Match& m : plan.matches) {
        if (m.owner == e.owner) nodes.push_back(m.node);
    }
    const bool there = nodes.empty() || std::ranges::find(nodes, e.node) != nodes.end();
    return there ? e.node : *std::ranges::min_element(nodes);
}

}  // namespace

std::vector<SparedStory> spared_stories(Retrials& trials, const Subject& subject) {
    const Snapshot& s = trials.snapshot();
    std::map<std::string, std::string> at_home;  // node -> the first pod there
    for (const std::string& name : subject.pods) {
        const PodId pod = pod_named(trials.cluster(), name);
        if (pod && s.pods[pod].node) at_home.emplace(s.node_name(s.pods[pod].node), name);
    }
    std::vector<SparedStory> out;
    for (const Eviction& e : trials.plan().evictions) {
        if (!at_home.contains(e.node) || std::ranges::any_of(out, [&](const auto& t) { return t.owner == e.owner; }))
            continue;
        SparedStory& story = out.emplace_back();
        story.owner = e.owner;
        story.action = e.action;
        story.node = where_room_is_made(trials.plan(), e);
        for (const Eviction& other : trials.plan().evictions) {
            if (other.owner == e.owner && same_bill(trials.cluster(), other, at_home.begin()->second))
                story.instead.push_back(other.pod);
        }
        if (story.instead.empty()) {
            out.pop_back();
            continue;
        }
        Exemption exempt = exemption(trials, e.owner, e.action, at_home.at(e.node));
        if (exempt.rule.empty()) exempt = exemption_from_sets(trials, e, story.instead, at_home.at(e.node));
        story.rule = exempt.rule;
        story.why = exempt.why;
        if (story.rule.empty()) ask_who_is_next(trials, subject.pods, story);
    }
    return out;
}

}  // namespace reprieve
