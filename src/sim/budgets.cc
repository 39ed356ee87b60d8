#include "sim/budgets.h"

#include <algorithm>
#include <utility>

namespace reprieve {
namespace {

// Percentages are rounded up.
std::int64_t resolve(const IntOrPercent& amount, std::int64_t whole) {
    return amount.percent ? (amount.value * whole + 99) / 100 : amount.value;
}

}  // namespace

void Budgets::observe(SlotId slot) {
    const Store::Entry& entry = store_.at(slot);
    if (!entry.key.ns.empty()) dirty_.insert(entry.key.ns);
}

void Budgets::act() {
    const std::set<std::string> dirty = std::exchange(dirty_, {});
    if (dirty.empty()) return;
    for (SlotId budget : store_.of_kind("PodDisruptionBudget.policy")) {
        if (dirty.contains(store_.at(budget).key.ns)) update(budget);
    }
}

std::int64_t Budgets::expected(const std::vector<SlotId>& pods) const {
    std::set<ObjectKey> owners;
    std::int64_t sum = 0;
    for (SlotId slot : pods) {
        const ObjectKey& owner = store_.at(slot).owner;
        const SlotId known = store_.find(owner);
        if (!known)
            ++sum;
        else if (owners.insert(owner).second)
            sum += number_at(store_.at(known).body,
                             {"spec", "replicas"},
                             number_at(store_.at(known).body, {"spec", "parallelism"}, 1));
    }
    return sum;
}

void Budgets::update(SlotId slot) {
    const Store::Entry& entry = store_.at(slot);
    const auto& budget = std::get<DisruptionBudget>(entry.object);
    std::vector<SlotId> pods;
    std::int64_t healthy = 0;
    const auto& slots = store_.slots();
    for (auto at = slots.lower_bound({"Pod", entry.key.ns, ""});
         at != slots.end() && at->first.kind == "Pod" && at->first.ns == entry.key.ns;
         ++at) {
        if (!store_.at(at->second).present || budget.selector.empty()) continue;
        const Pod& pod = store_.at(at->second).pod();
        if (pod.finished() || !budget.selector.matches(store_.words().labels(pod.labels), store_.words())) continue;
        pods.push_back(at->second);
        if (pod.ready && !pod.terminating()) ++healthy;
    }
    std::int64_t expects = static_cast<std::int64_t>(pods.size());
    std::int64_t needs = 1;
    if (budget.max_unavailable) {
        expects = expected(pods);
        needs = std::max<std::int64_t>(0, expects - resolve(*budget.max_unavailable, expects));
    } else if (budget.min_available) {
        if (budget.min_available->percent) expects = expected(pods);
        needs = resolve(*budget.min_available, expects);
    }
    Json body = entry.body;
    Json& status = make_path(body, {"status"});
    if (!status.is_object()) status = Json::object();
    status["expectedPods"] = expects;
    status["currentHealthy"] = healthy;
    status["desiredHealthy"] = needs;
    status["disruptionsAllowed"] = std::max<std::int64_t>(0, healthy - needs);
    status.erase("disruptedPods");
    store_.edit(slot, std::move(body));
}

}  // namespace reprieve
