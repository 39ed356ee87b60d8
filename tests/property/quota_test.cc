// Random quota trees: the numbers are those of an independent computation; nothing is admitted above a maximum, a
// runtime that limits, or (non-preemptible) a minimum; nobody is robbed of its minimum.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "actions/cycle.h"
#include "audit/audit.h"
#include "laboratory.h"
#include "manifest/plan_json.h"
#include "quota_world.h"

namespace reprieve::property {
namespace {

Json random_quota_config() {
    Json args = {{"improve", rarely(2)}, {"reserveForPendingNonPreemptible", !rarely(3)}};
    Json actions = Json::array({{{"name", "allocate"}}, {{"name", "jobPreempt"}, {"args", args}}});
    if (rarely(3)) actions.push_back({{"name", "revoke"}, {"args", {{"delayEvictTime", "0s"}}}});
    Json config = {{"actions", actions}};
    if (rarely(3)) config["plugins"] = {{"args", {{"quota", {{"limit", "runtime"}}}}}};
    return config;
}

bool by_runtime(const Json& config) { return config.contains("plugins"); }

std::int64_t amount_in(const Amounts& amounts, const std::string& resource) {
    const auto at = amounts.find(resource);
    return at == amounts.end() ? 0 : at->second;
}

// Who holds room once the plan is carried out.
struct After {
    const QuotaWorld& world;
    std::set<std::string> gone;
    std::set<std::string> placed;

    After(const QuotaWorld& facts, const Plan& plan) : world(facts) {
        for (const Eviction& eviction : plan.evictions)
            gone.insert(eviction.pod);
        for (const Placement& placement : plan.placements)
            placed.insert(placement.pod);
    }

    [[nodiscard]] std::int64_t use(const std::string& quota, const std::string& resource, bool fixed_only) const {
        std::int64_t sum = 0;
        for (const QuotaPod& pod : world.pods) {
            const std::string name = "default/" + pod.name;
            const bool there = pod.node.empty() ? placed.contains(name) : !gone.contains(name);
            const std::vector<std::string> path = world.path(pod.quota);
            if (there && (pod.fixed || !fixed_only) && std::ranges::find(path, quota) != path.end())
                sum += amount_in(pod.requests, resource);
        }
        return sum;
    }
};

std::string over_a_limit(const QuotaWorld& world, const Plan& plan, bool runtime_limits) {
    const After after(world, plan);
    const auto numbers = expected_numbers(world);
    for (const Placement& placement : plan.placements) {
        const QuotaPod& pod = world.pod(placement.pod);
        for (const std::string& quota : world.path(pod.quota)) {
            const QuotaShape& shape = world.quota(quota);
            for (const auto& [resource, asked] : pod.requests) {
                const auto high = shape.high.find(resource);
                const std::int64_t used = after.use(quota, resource, false);
                if (high != shape.high.end() && used > high->second) return quota + " above its maximum";
                if (high != shape.high.end() && runtime_limits && used > amount_in(numbers.at(quota).runtime, resource))
                    return quota + " above its runtime";
                const auto low = shape.low.find(resource);
                if (pod.fixed && low != shape.low.end() && after.use(quota, resource, true) > low->second)
                    return quota + " above its minimum with non-preemptible pods";
            }
        }
    }
    return "";
}

// Evictions for a job of another quota leave every quota below the common ancestor its minimum.
std::string robbed(const QuotaWorld& world, const Plan& plan) {
    const After after(world, plan);
    for (const Eviction& eviction : plan.evictions) {
        if (eviction.action != "jobPreempt") continue;
        const QuotaPod& victim = world.pod(eviction.pod);
        if (victim.fixed) return eviction.pod + " is non-preemptible";
        const auto owner = std::ranges::find_if(world.pods, [&](const QuotaPod& p) {
            return "default/" + (p.gang.empty() ? p.name : p.gang) == eviction.owner;
        });
        const std::vector<std::string> theirs = world.path(owner->quota);
        for (const std::string& quota : world.path(victim.quota)) {
            if (std::ranges::find(theirs, quota) != theirs.end()) break;
            for (const auto& [resource, low] : world.quota(quota).low) {
                std::int64_t left = after.use(quota, resource, false);
                // What the quota gives up for its own jobs is its own affair.
                for (const Eviction& other : plan.evictions) {
                    const std::vector<std::string> from = world.path(world.pod(other.pod).quota);
                    if (other.owner != eviction.owner && std::ranges::find(from, quota) != from.end())
                        left += amount_in(world.pod(other.pod).requests, resource);
                }
                if (amount_in(victim.requests, resource) > 0 && left < low)
                    return quota + " is left without its minimum";
            }
        }
    }
    return "";
}

RC_GTEST_PROP(Quota, NumbersAreThoseOfTheRule, ()) {
    const QuotaWorld world = random_quota_world();
    const auto lab = build(world.documents());
    const Plan plan = run_cycle(lab->cluster(), read_config({{"actions", Json::array({{{"name", "allocate"}}})}}));
    RC_LOG() << as_text(world.documents()) << plan_to_json(plan);
    for (const auto& [name, want] : expected_numbers(world)) {
        const auto shown = std::ranges::find(plan.queues, name, &QueueReport::name);
        RC_ASSERT(shown != plan.queues.end());
        RC_ASSERT(shown->shares.at("request") == want.request);
        RC_ASSERT(shown->shares.at("min") == want.least);
        RC_ASSERT(shown->shares.at("runtime") == want.runtime);
    }
}

RC_GTEST_PROP(Quota, NothingAboveALimitAndNobodyRobbed, ()) {
    const QuotaWorld world = random_quota_world();
    const Json config_text = random_quota_config();
    const SchedulerConfig config = read_config(config_text);
    const auto lab = build(world.documents());
    const Snapshot before = lab->cluster().snapshot();
    const Plan plan = run_cycle(lab->cluster(), config);
    RC_LOG() << as_text(world.documents()) << config_text.dump() << "\n" << plan_to_json(plan);
    RC_ASSERT(same_occupation(lab->cluster().snapshot(), before));
    std::string wrongs;
    for (const Violation& violation : audit(lab->cluster(), plan, config))
        wrongs += format_violation(violation) + "\n";
    RC_ASSERT(wrongs == "");
    RC_ASSERT(over_a_limit(world, plan, by_runtime(config_text)) == "");
    RC_ASSERT(robbed(world, plan) == "");
    RC_ASSERT(difference(plan_to_json(run_cycle(lab->cluster(), config)), plan_to_json(plan)) == "");
}

}  // namespace
}  // namespace reprieve::property
