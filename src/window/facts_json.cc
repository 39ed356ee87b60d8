#include "window/facts_json.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "plugins/cost.h"

namespace reprieve::window {
namespace {

// Labels that name a rack where neither HyperNodes nor configured levels do.
constexpr std::array<const char*, 4> kRackWords{"rack", "row", "block", "topology.kubernetes.io/zone"};

bool names_a_rack(std::string_view key, std::string_view word) {
    return key == word || (key.size() > word.size() && key.ends_with(word) && key[key.size() - word.size() - 1] == '/');
}

}  // namespace

OrderedJson amounts_json(const Vocabulary& words, const Resources& amounts) {
    OrderedJson out = OrderedJson::object();
    for (const Resources::Amount& amount : amounts)
        out[valid_utf8(words.text(amount.dim))] = amount.value;
    return out;
}

OrderedJson time_json(Time time) { return time.is_set() ? OrderedJson(format_time(time)) : OrderedJson(nullptr); }

std::string queue_name(const Snapshot& snapshot, QueueId queue) {
    return queue ? valid_utf8(snapshot.words->text(snapshot.queues[queue].name)) : std::string();
}

OrderedJson pod_json(const Cluster& cluster, PodId id) {
    const Snapshot& s = cluster.snapshot();
    const PodRow& row = s.pods[id];
    const Pod& pod = cluster.pod(id);
    OrderedJson out = OrderedJson::object();
    put(out, "pod", s.pod_name(id));
    if (row.node) put(out, "node", std::string(s.node_name(row.node)));
    out["priority"] = row.priority;
    put(out, "queue", queue_name(s, row.queue));
    if (row.gang) put(out, "gang", s.gang_name(row.gang));
    out["requests"] = amounts_json(*s.words, s.spec_of(id).requests);
    if (s.holds.contains(id) && !s.holds[id].empty()) {
        OrderedJson devices = OrderedJson::array();
        for (const DeviceHold& hold : s.holds[id])
            devices.push_back(hold.index);
        out["devices"] = std::move(devices);
    }
    if (pod.owner.kind) {
        put(out, "ownerKind", cluster.words().str(pod.owner.kind));
        put(out, "owner", cluster.words().str(pod.owner.name));
    }
    out["created"] = time_json(row.created);
    // The plan counts whoever has not said when it started as started now; here that is not known.
    out["started"] = time_json(pod.started);
    if (pod.started.is_set() && s.now_time >= pod.started) out["ranSeconds"] = (s.now_time - pod.started).seconds();
    out["graceSeconds"] = pod.grace_seconds;
    if (row.state == PodState::kTerminating) out["leaving"] = true;
    return out;
}

std::string rack_of(const Snapshot& s, NodeId node) {
    // HyperNodes and configured levels: the narrowest that is not the node itself.
    const Domain* best = nullptr;
    for (const DomainId id : s.domains.of_node[node]) {
        const Domain& domain = s.domains.domains[id];
        if (domain.nodes.size() < 2 && s.nodes_by_name.size() > 1) continue;
        if (best == nullptr || domain.nodes.size() < best->nodes.size()) best = &domain;
    }
    if (best != nullptr) return valid_utf8(s.words->text(best->name));
    const Node* fact = s.facts->node(node);
    if (fact == nullptr) return {};
    for (const char* word : kRackWords) {
        for (const auto& [key, value] : fact->labels) {
            if (names_a_rack(s.words->text(key), word)) return valid_utf8(s.words->text(value));
        }
    }
    return {};
}

std::string namespace_of(std::string_view full_name) { return std::string(full_name.substr(0, full_name.find('/'))); }

}  // namespace reprieve::window
