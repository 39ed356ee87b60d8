// Deployments, ReplicaSets and StatefulSets: so many pods, no more and no fewer.
#include <fmt/format.h>

#include <algorithm>

#include "sim/controllers.h"
#include "sim/deletion_order.h"

namespace reprieve {
namespace {

std::int64_t wanted(const Json& body) { return number_at(body, {"spec", "replicas"}, 1); }

// The number at the end of "web-3"; -1 if there is none.
std::int64_t ordinal_of(const std::string& name, const std::string& owner) {
    if (!name.starts_with(owner + "-")) return -1;
    std::int64_t number = 0;
    for (char c : name.substr(owner.size() + 1)) {
        if (c < '0' || c > '9') return -1;
        number = number * 10 + (c - '0');
    }
    return number;
}

}  // namespace

// Active pods of all ReplicaSets beside this one.
std::vector<SlotId> Controllers::related_pods(SlotId set) const {
    const ObjectKey& above = store_.at(set).owner;
    if (above.kind.empty()) return active_pods(store_.at(set).key);
    std::vector<SlotId> out;
    for (SlotId sibling : store_.children(above)) {
        const std::vector<SlotId> pods = active_pods(store_.at(sibling).key);
        out.insert(out.end(), pods.begin(), pods.end());
    }
    return out;
}

void Controllers::serve_replica_set(SlotId owner) {
    const ObjectKey key = store_.at(owner).key;
    std::vector<SlotId> active = active_pods(key);
    const std::int64_t want = wanted(store_.at(owner).body);
    const auto have = static_cast<std::int64_t>(active.size());
    for (std::int64_t i = have; i < want; ++i) {
        const Store::Entry& set = store_.at(owner);
        maker_.create(
            maker_.from_template(find_path(set.body, {"spec", "template"}), set, maker_.fresh_name(key.ns, key.name)));
    }
    if (have > want) {
        std::ranges::sort(active, DeletionOrder(store_, related_pods(owner)));
        active.resize(static_cast<std::size_t>(have - want));
        for (SlotId pod : active)
            remove(pod);
    }
    Json body = store_.at(owner).body;
    make_path(body, {"status", "replicas"}) = static_cast<std::int64_t>(active_pods(key).size());
    store_.edit(owner, std::move(body));
}

// A dump often has the pods but not the ReplicaSet between them and the Deployment: then it gets the name they know.
SlotId Controllers::make_replica_set(const Store::Entry& deployment) {
    const auto& fact = std::get<Workload>(deployment.object);
    Json set = {
        {"apiVersion", "apps/v1"},
        {"kind", "ReplicaSet"},
        {"metadata", {{"namespace", deployment.key.ns}, {"ownerReferences", Json::array({reference_to(deployment)})}}},
        {"spec", Json::object()}};
    std::string name;
    for (SlotId slot : store_.of_kind("Pod")) {
        const Store::Entry& pod = store_.at(slot);
        if (pod.key.ns != deployment.key.ns || pod.owner.kind != "ReplicaSet.apps" ||
            store_.slots().contains(pod.owner))
            continue;
        if (fact.selector.matches(store_.words().labels(pod.pod().labels), store_.words())) name = pod.owner.name;
    }
    set["metadata"]["name"] = name.empty() ? maker_.fresh_name(deployment.key.ns, deployment.key.name) : name;
    if (const Json* labels = find_path(deployment.body, {"spec", "template", "metadata", "labels"}))
        set["metadata"]["labels"] = *labels;
    for (const char* part : {"selector", "template"}) {
        if (const Json* given = find_path(deployment.body, {"spec", part})) set["spec"][part] = *given;
    }
    set["spec"]["replicas"] = 0;
    return store_.put(std::move(set)).value_or(SlotId());
}

void Controllers::serve_deployment(SlotId owner) {
    const ObjectKey key = store_.at(owner).key;
    std::vector<SlotId> sets;
    for (SlotId slot : store_.children(key)) {
        if (store_.at(slot).key.kind == "ReplicaSet.apps") sets.push_back(slot);
    }
    if (sets.empty()) {
        const SlotId made = make_replica_set(store_.at(owner));
        if (!made) return;
        sets.push_back(made);
    }
    // The newest has what the older ones leave to it.
    std::int64_t want = wanted(store_.at(owner).body);
    std::int64_t pods = 0;
    for (SlotId set : sets) {
        pods += static_cast<std::int64_t>(active_pods(store_.at(set).key).size());
        if (set != sets.back()) want -= wanted(store_.at(set).body);
    }
    Json newest = store_.at(sets.back()).body;
    make_path(newest, {"spec", "replicas"}) = std::max<std::int64_t>(0, want);
    store_.edit(sets.back(), std::move(newest));

    Json body = store_.at(owner).body;
    make_path(body, {"status", "replicas"}) = pods;
    make_path(body, {"status", "updatedReplicas"}) =
        static_cast<std::int64_t>(active_pods(store_.at(sets.back()).key).size());
    store_.edit(owner, std::move(body));
}

void Controllers::serve_stateful_set(SlotId owner) {
    const ObjectKey key = store_.at(owner).key;
    const std::int64_t want = wanted(store_.at(owner).body);
    for (std::int64_t i = 0; i < want; ++i) {
        const std::string name = fmt::format("{}-{}", key.name, i);
        if (store_.find({"Pod", key.ns, name})) continue;
        const Store::Entry& set = store_.at(owner);
        maker_.create(maker_.from_template(find_path(set.body, {"spec", "template"}), set, name));
    }
    for (SlotId pod : active_pods(key)) {
        if (ordinal_of(store_.at(pod).key.name, key.name) >= want) remove(pod);
    }
}

}  // namespace reprieve
