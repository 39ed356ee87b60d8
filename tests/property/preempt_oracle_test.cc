// preempt against an oracle that tries everything: the search is never beaten, never lies about it, and without the
// search the plan is the definition's.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "actions/cycle.h"
#include "laboratory.h"
#include "manifest/plan_json.h"
#include "small_world.h"

namespace reprieve::property {
namespace {

SchedulerConfig preempt_only(bool improve) {
    return read_config(
        {{"actions", Json::array({{{"name", "allocate"}}, {{"name", "preempt"}, {"args", {{"improve", improve}}}}})}});
}

struct Answer {
    Plan plan;
    std::vector<bool> gone;
    int node = -1;  // of the newcomer
};

Answer answer_of(const SmallWorld& world, bool improve) {
    const auto lab = build(world.documents());
    Answer out{.plan = run_cycle(lab->cluster(), preempt_only(improve)), .gone = {}};
    for (const SmallPod& pod : world.pods) {
        out.gone.push_back(
            std::ranges::any_of(out.plan.evictions, [&](const Eviction& e) { return e.pod == "default/" + pod.name; }));
    }
    if (!out.plan.placements.empty()) out.node = std::stoi(out.plan.placements.front().node.substr(1));
    RC_LOG() << as_text(world.documents()) << plan_to_json(out.plan);
    return out;
}

// A world in which the newcomer has to make room: nodes that have some are closed by what they miss.
SmallWorld crowded_world() {
    SmallWorld world = random_small_world(false);
    const std::vector<bool> nobody(world.pods.size(), false);
    for (std::size_t n = 0; n < world.nodes.size(); ++n) {
        while (world.fits(static_cast<int>(n), nobody))
            --world.nodes[n].first;
    }
    return world;
}

RC_GTEST_PROP(PreemptOracle, NobodyIsEvictedWhereANodeFits, ()) {
    const SmallWorld world = random_small_world(true);
    if (!world.fits_somewhere()) return;
    const Answer answer = answer_of(world, true);
    RC_ASSERT(answer.plan.evictions.empty());
    RC_ASSERT(answer.node >= 0);
    RC_ASSERT(!answer.plan.placements.front().after_evictions);
}

RC_GTEST_PROP(PreemptOracle, TheSearchFindsTheCheapestSet, ()) {
    const SmallWorld world = crowded_world();
    const Oracle oracle(world);
    const auto best = oracle.cheapest();
    const Answer answer = answer_of(world, true);
    RC_ASSERT(answer.plan.evictions.empty() == !best.has_value());
    RC_ASSERT((answer.node >= 0) == best.has_value());
    if (!best) return;
    RC_ASSERT(world.fits(answer.node, answer.gone));
    RC_ASSERT(oracle.cost(answer.node, answer.gone) == best->cost);
    RC_ASSERT(answer.node == best->node);
    RC_ASSERT(answer.plan.certificates.size() == 1U);
    RC_ASSERT(answer.plan.certificates.front().status == CertificateStatus::kOptimal);
}

RC_GTEST_PROP(PreemptOracle, TheCertificateSaysWhatThePlanCosts, ()) {
    const SmallWorld world = crowded_world();
    const Oracle oracle(world);
    const Answer answer = answer_of(world, draw(0, 1) == 0);
    if (answer.plan.evictions.empty()) return;
    const SmallCost price = oracle.cost(answer.node, answer.gone);
    std::map<std::string, std::int64_t> terms;
    for (const auto& [term, value] : answer.plan.certificates.front().cost)
        terms[term] = value;
    RC_ASSERT(terms.at("pdbViolations") == price.violations);
    RC_ASSERT(terms.at("maxPriority") == price.max_priority);
    RC_ASSERT(terms.at("prioritySum") == price.priority_sum);
    RC_ASSERT(terms.at("pods") == price.pods);
    const auto marked = std::ranges::count_if(answer.plan.evictions, [](const Eviction& e) { return e.pdb_violation; });
    RC_ASSERT(marked == price.violations);
}

RC_GTEST_PROP(PreemptOracle, WithoutTheSearchItIsTheDefinition, ()) {
    const SmallWorld world = crowded_world();
    const auto defined = Oracle(world).literal();
    const Answer answer = answer_of(world, false);
    RC_ASSERT(answer.plan.evictions.empty() == !defined.has_value());
    if (!defined) return;
    RC_ASSERT(answer.node == defined->node);
    RC_ASSERT(answer.gone == defined->gone);
    RC_ASSERT(answer.plan.certificates.front().status == CertificateStatus::kHeuristic);
}

RC_GTEST_PROP(PreemptOracle, WithoutAnyOneVictimItWouldNotFit, ()) {
    const SmallWorld world = crowded_world();
    const Answer answer = answer_of(world, draw(0, 1) == 0);
    for (std::size_t i = 0; i < answer.gone.size(); ++i) {
        if (!answer.gone[i]) continue;
        std::vector<bool> spared = answer.gone;
        spared[i] = false;
        RC_ASSERT(!world.fits(answer.node, spared));
        RC_ASSERT(world.pods[i].priority < world.newcomer.priority);
    }
}

}  // namespace
}  // namespace reprieve::property
