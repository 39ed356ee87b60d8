#include <map>

#include "base/utf8.h"
#include "state/pod_named.h"
#include "window/decisions.h"
#include "window/documents.h"
#include "window/facts_json.h"

namespace reprieve::window {
namespace {

void put_amounts(OrderedJson& by_resource, const char* key, const Vocabulary& words, const Resources& amounts) {
    for (const Resources::Amount& amount : amounts)
        by_resource[valid_utf8(words.text(amount.dim))][key] = amount.value;
}

// Pods of each queue, ancestors not counted.
struct QueuePods {
    std::int64_t running = 0;
    std::int64_t pending = 0;
    std::int64_t leaving = 0;
};

std::map<QueueId, QueuePods> pods_by_queue(const Snapshot& s) {
    std::map<QueueId, QueuePods> counts;
    for (const PodRow& row : s.pods) {
        if (!row.queue) continue;
        if (row.state == PodState::kRunning) ++counts[row.queue].running;
        if (row.state == PodState::kPending || row.state == PodState::kNominated) ++counts[row.queue].pending;
        if (row.state == PodState::kTerminating) ++counts[row.queue].leaving;
    }
    return counts;
}

}  // namespace

void count_taken(const Cluster& cluster, const std::vector<Eviction>& evictions, Taken& taken) {
    const Snapshot& s = cluster.snapshot();
    for (const Eviction& eviction : evictions) {
        const PodId victim = pod_named(cluster, eviction.pod);
        if (!victim) continue;
        const std::string by = owner_facts(cluster, eviction.owner).queue;
        ++taken[{by.empty() ? "-" : by, queue_name(s, s.pods[victim].queue)}];
    }
}

std::string queues_document(const Cluster& cluster,
                            const Plan& plan,
                            const Taken& taken,
                            const std::string& samples_json) {
    const Snapshot& s = cluster.snapshot();
    const std::map<QueueId, QueuePods> pods = pods_by_queue(s);
    std::map<std::string, const QueueReport*> reports;
    for (const QueueReport& report : plan.queues)
        reports[report.name] = &report;
    OrderedJson list = OrderedJson::array();
    for (const QueueId id : IdRange<QueueId>(s.queues.size())) {
        const QueueRow& row = s.queues[id];
        if (!row.alive) continue;
        const std::string name = queue_name(s, id);
        OrderedJson queue = OrderedJson::object();
        put(queue, "name", name);
        put(queue, "parent", queue_name(s, row.parent));
        OrderedJson resources = OrderedJson::object();
        if (row.fact != nullptr) {
            queue["kind"] = row.fact->is_quota ? "ElasticQuota" : "Queue";
            queue["weight"] = row.fact->weight;
            queue["reclaimable"] = row.fact->reclaimable;
            if (row.fact->deserved) put_amounts(resources, "deserved", *s.words, *row.fact->deserved);
            put_amounts(resources, "guarantee", *s.words, row.fact->guarantee);
            put_amounts(resources, "limit", *s.words, row.fact->limit);
        }
        // Shares and use as the plan found them are what decided.
        if (const auto found = reports.find(name); found != reports.end()) {
            for (const auto& [share, amounts] : found->second->shares) {
                for (const auto& [resource, amount] : amounts)
                    resources[valid_utf8(resource)][valid_utf8(share)] = amount;
            }
        } else {
            for (std::size_t dim = 0; dim < s.dims; ++dim) {
                const std::int64_t used = s.now.queue_used(id, Dim(dim));
                if (used != 0) resources[valid_utf8(s.words->text(Dim(dim)))]["used"] = used;
            }
        }
        queue["resources"] = std::move(resources);
        const auto counts = pods.find(id);
        const QueuePods none;
        const QueuePods& count = counts == pods.end() ? none : counts->second;
        queue["pods"] = {{"running", count.running}, {"pending", count.pending}, {"leaving", count.leaving}};
        list.push_back(std::move(queue));
    }
    OrderedJson took = OrderedJson::array();
    for (const auto& [pair, count] : taken)
        took.push_back({{"by", valid_utf8(pair.first)}, {"from", valid_utf8(pair.second)}, {"pods", count}});
    OrderedJson out = OrderedJson::object();
    out["apiVersion"] = "reprieve.dev/v1";
    out["kind"] = "Queues";
    out["now"] = time_json(s.now_time);
    out["queues"] = std::move(list);
    out["taken"] = std::move(took);
    out["samples"] = samples_json.empty() ? OrderedJson::array() : OrderedJson::parse(samples_json);
    return out.dump();
}

}  // namespace reprieve::window
