#include "window/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/utf8.h"
#include "state/pod_named.h"
#include "window/decisions.h"
#include "window/facts_json.h"

namespace reprieve::window {
namespace {

constexpr std::size_t kMostWaiting = 500;  // pods listed in one group
constexpr std::size_t kMostLines = 300;    // lifelines in one answer
constexpr std::size_t kMostLeaving = 100;

struct PodCounts {
    std::int64_t running = 0;
    std::int64_t pending = 0;
    std::int64_t leaving = 0;
    std::int64_t gated = 0;
    std::int64_t foreign = 0;  // pending pods of other schedulers
};

PodCounts count_pods(const Cluster& cluster) {
    PodCounts counts;
    const Snapshot& s = cluster.snapshot();
    for (const PodId id : IdRange<PodId>(s.pods.size())) {
        const PodRow& row = s.pods[id];
        switch (row.state) {
            case PodState::kRunning:
                ++counts.running;
                break;
            case PodState::kTerminating:
                ++counts.leaving;
                break;
            case PodState::kPending:
            case PodState::kNominated:
                ++(row.has(kForeign) ? counts.foreign : counts.pending);
                break;
            case PodState::kIgnored:
                if (!row.has(kFinished) && cluster.pod(id).gated) ++counts.gated;
                break;
            default:
                break;
        }
    }
    return counts;
}

// What all nodes offer together, and what is held of it.
OrderedJson capacity_json(const Cluster& cluster) {
    const Snapshot& s = cluster.snapshot();
    std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> sums;
    for (const NodeId id : s.nodes_by_name) {
        const Node* node = cluster.node(id);
        if (node == nullptr) continue;
        for (const Resources::Amount& amount : node->allocatable) {
            auto& [total, used] = sums[amount.dim.value()];
            total = saturating_add(total, amount.value);
            used = saturating_add(used, amount.value - s.now.free(id, amount.dim));
        }
    }
    OrderedJson out = OrderedJson::array();
    for (const auto& [dim, sum] : sums) {
        if (sum.first == 0) continue;
        out.push_back({{"resource", valid_utf8(s.words->text(Dim(dim)))},
                       {"allocatable", sum.first},
                       {"used", std::max<std::int64_t>(0, sum.second)}});
    }
    return out;
}

OrderedJson leaving_json(const Cluster& cluster, const Plan& plan) {
    const Snapshot& s = cluster.snapshot();
    OrderedJson out = OrderedJson::array();
    const auto add_until = [&](OrderedJson& entry, const Pod& pod) {
        // deletionTimestamp is when it should be gone.
        entry["until"] = time_json(pod.deleting);
        if (pod.deleting.is_set() && s.now_time > pod.deleting)
            entry["overdueSeconds"] = (s.now_time - pod.deleting).seconds();
    };
    std::set<std::string> told;
    for (const Eviction& eviction : plan.evictions) {
        if (out.size() == kMostLeaving) return out;
        OrderedJson entry = OrderedJson::object();
        put(entry, "pod", eviction.pod);
        put(entry, "node", eviction.node);
        put(entry, "for", eviction.owner);
        put(entry, "action", eviction.action);
        entry["when"] = "next";
        // Whoever is leaving already is told once: it is made to leave faster.
        const PodId id = pod_named(cluster, eviction.pod);
        if (id && s.pods[id].state == PodState::kTerminating) add_until(entry, cluster.pod(id));
        told.insert(eviction.pod);
        out.push_back(std::move(entry));
    }
    for (const PodId id : IdRange<PodId>(s.pods.size())) {
        if (s.pods[id].state != PodState::kTerminating) continue;
        if (out.size() == kMostLeaving) return out;
        if (told.contains(s.pod_name(id))) continue;
        OrderedJson entry = OrderedJson::object();
        put(entry, "pod", s.pod_name(id));
        if (s.pods[id].node) put(entry, "node", std::string(s.node_name(s.pods[id].node)));
        entry["when"] = "leaving";
        add_until(entry, cluster.pod(id));
        out.push_back(std::move(entry));
    }
    return out;
}

OrderedJson health_json(const Health& health) {
    OrderedJson out = OrderedJson::object();
    out["loop"] = health.loop;
    if (health.leads) out["leads"] = *health.leads;
    if (health.synced) out["synced"] = *health.synced;
    out["recording"] = health.recording;
    out["cycle"] = health.cycle;
    out["plansRefused"] = health.plans_refused;
    if (health.plan_ms) out["planMilliseconds"] = *health.plan_ms;
    out["troubles"] = list_of(health.troubles);
    return out;
}

// What binds a pod that waits, in words short enough for a heading: what most nodes say, else the reason up to its
// first clause.
std::string binding_words(const Unplaced& item) {
    const auto most = std::ranges::max_element(item.nodes, {}, [](const auto& entry) { return entry.second; });
    if (most != item.nodes.end()) return most->first;
    return item.reason.substr(0, item.reason.find("; "));
}

class WaitingWriter {
public:
    WaitingWriter(const Cluster& cluster, const Plan& plan) : cluster_(cluster), s_(cluster.snapshot()), plan_(plan) {}

    std::string write() {
        for (const Unplaced& item : plan_.unplaced)
            groups_[{!item.never, binding_words(item)}].push_back(&item);
        OrderedJson out = OrderedJson::object();
        out["apiVersion"] = "reprieve.dev/v1";
        out["kind"] = "Waiting";
        out["now"] = time_json(s_.now_time);
        out["never"] = groups(false);
        out["notNow"] = groups(true);
        out["promised"] = promised();
        out["total"] = plan_.unplaced.size();
        return out.dump();
    }

private:
    using Items = std::vector<const Unplaced*>;

    // The largest group first.
    OrderedJson groups(bool not_now) {
        std::vector<std::pair<std::string, Items>> chosen;
        for (auto& [key, items] : groups_) {
            if (key.first == not_now) chosen.emplace_back(key.second, items);
        }
        std::ranges::stable_sort(chosen, std::ranges::greater{}, [](const auto& g) { return g.second.size(); });
        OrderedJson out = OrderedJson::array();
        for (const auto& [binding, items] : chosen) {
            OrderedJson group = OrderedJson::object();
            put(group, "binding", binding);
            group["count"] = items.size();
            OrderedJson pods = OrderedJson::array();
            for (std::size_t i = 0; i < items.size() && i < kMostWaiting; ++i)
                pods.push_back(pod(*items[i]));
            group["pods"] = std::move(pods);
            out.push_back(std::move(group));
        }
        return out;
    }

    OrderedJson pod(const Unplaced& item) {
        const PodId id = item.pod.empty() ? PodId() : pod_named(cluster_, item.pod);
        OrderedJson out = id ? pod_json(cluster_, id) : OrderedJson::object();
        put(out, "pod", item.pod);
        put(out, "for", item.owner);
        if (item.replicas > 0) out["replicas"] = item.replicas;
        out["verdict"] = item.never ? "never" : "notNow";
        put(out, "reason", item.reason);
        put(out, "nodes", item.nodes);
        for (const Certificate& certificate : plan_.certificates) {
            if ((certificate.owner == item.pod || certificate.owner == item.owner) && is_refusal(certificate.status))
                out["proof"] = to_text(certificate.status);
        }
        return out;
    }

    // Room that is kept for somebody until others have left it.
    OrderedJson promised() {
        OrderedJson out = OrderedJson::array();
        for (const Placement& placement : plan_.placements) {
            if (!placement.after_evictions) continue;
            const PodId id = pod_named(cluster_, placement.pod);
            OrderedJson entry = id ? pod_json(cluster_, id) : OrderedJson::object();
            put(entry, "pod", placement.pod);
            put(entry, "for", placement.owner);
            put(entry, "node", placement.node);
            OrderedJson waits_for = OrderedJson::array();
            const std::string& owner = placement.owner.empty() ? placement.pod : placement.owner;
            for (const Eviction& eviction : plan_.evictions) {
                if (eviction.owner == owner && eviction.node == placement.node)
                    waits_for.push_back(valid_utf8(eviction.pod));
            }
            add_leaving(placement.node, waits_for);
            entry["waitsFor"] = std::move(waits_for);
            out.push_back(std::move(entry));
        }
        return out;
    }

    void add_leaving(const std::string& node, OrderedJson& names) {
        const StringId word = cluster_.words().find_string(node);
        const NodeId id = word ? cluster_.find_node(word) : NodeId();
        if (!id) return;
        for (const PodId pod : s_.node_pods[id]) {
            if (s_.pods[pod].state == PodState::kTerminating) names.push_back(valid_utf8(s_.pod_name(pod)));
        }
    }

    const Cluster& cluster_;
    const Snapshot& s_;
    const Plan& plan_;
    std::map<std::pair<bool, std::string>, Items> groups_;  // (not now, what binds)
};

}  // namespace

std::string summary_document(const Cluster& cluster, const Plan& plan, const Health& health, const std::string& kind) {
    const PodCounts pods = count_pods(cluster);
    const auto later = std::ranges::count_if(plan.placements, &Placement::after_evictions);
    const auto never = std::ranges::count_if(plan.unplaced, &Unplaced::never);
    OrderedJson out = OrderedJson::object();
    out["apiVersion"] = "reprieve.dev/v1";
    out["kind"] = "Now";
    out["source"] = kind;
    out["now"] = time_json(cluster.snapshot().now_time);
    out["plan"] = plan.id;
    out["cluster"] = {{"nodes", cluster.snapshot().nodes_by_name.size()},
                      {"running", pods.running},
                      {"pending", pods.pending},
                      {"leaving", pods.leaving},
                      {"gated", pods.gated},
                      {"otherSchedulers", pods.foreign},
                      {"capacity", capacity_json(cluster)}};
    out["counts"] = {{"placedNow", std::ssize(plan.placements) - later},
                     {"placedAfterEvictions", later},
                     {"evicted", plan.evictions.size()},
                     {"unplaced", plan.unplaced.size()},
                     {"never", never},
                     {"notNow", std::ssize(plan.unplaced) - never},
                     {"evictionsInAll", health.evictions_in_all},
                     {"decisionsInAll", health.decisions_in_all}};
    out["health"] = health_json(health);
    out["leaving"] = leaving_json(cluster, plan);
    out["warnings"] = list_of(plan.warnings);
    return out.dump();
}

std::string waiting_document(const Cluster& cluster, const Plan& plan) { return WaitingWriter(cluster, plan).write(); }

std::string lifelines_document(const Cluster& cluster, const Plan& plan, const std::string& queue) {
    const Snapshot& s = cluster.snapshot();
    std::map<std::string, const Eviction*> evicted;
    for (const Eviction& eviction : plan.evictions)
        evicted[eviction.pod] = &eviction;
    std::vector<PodId> pods;
    for (const PodId id : IdRange<PodId>(s.pods.size())) {
        const PodRow& row = s.pods[id];
        const bool lives = row.state == PodState::kRunning || row.state == PodState::kTerminating ||
                           row.state == PodState::kPending || row.state == PodState::kNominated;
        if (lives && row.created.is_set() && (queue.empty() || queue_name(s, row.queue) == queue)) pods.push_back(id);
    }
    // Whoever leaves or waits first, then the youngest: where something happens stands on top.
    std::set<PodId> leaves;
    for (const Eviction& eviction : plan.evictions) {
        if (const PodId pod = pod_named(cluster, eviction.pod)) leaves.insert(pod);
    }
    const auto rank = [&](PodId id) {
        const PodState state = s.pods[id].state;
        return leaves.contains(id) ? 0 : state == PodState::kPending || state == PodState::kNominated ? 1 : 2;
    };
    std::ranges::sort(pods, [&](PodId a, PodId b) {
        const auto key = [&](PodId id) { return std::pair(rank(id), -s.pods[id].created.us); };
        return key(a) != key(b) ? key(a) < key(b) : s.name_less(a, b);
    });
    OrderedJson lines = OrderedJson::array();
    for (const PodId id : pods) {
        if (lines.size() == kMostLines) break;
        const PodRow& row = s.pods[id];
        OrderedJson line = OrderedJson::object();
        put(line, "pod", s.pod_name(id));
        if (row.gang) put(line, "gang", s.gang_name(row.gang));
        put(line, "queue", queue_name(s, row.queue));
        line["priority"] = row.priority;
        OrderedJson spans = OrderedJson::array();
        const bool bound = row.state == PodState::kRunning || row.state == PodState::kTerminating;
        // The plan counts a pod whose start nobody wrote down as started now; it has been there since it was made.
        const Time started = cluster.pod(id).started.is_set() ? cluster.pod(id).started : row.created;
        const Time waited_to = bound ? started : s.now_time;
        if (waited_to > row.created) {
            spans.push_back({{"state", "waited"}, {"from", format_time(row.created)}, {"to", format_time(waited_to)}});
        }
        if (bound) {
            const Time from = started;
            OrderedJson span{{"state", row.state == PodState::kTerminating ? "leaving" : "ran"},
                             {"from", format_time(from)},
                             {"to", format_time(std::max(from, s.now_time))}};
            if (row.node) put(span, "node", std::string(s.node_name(row.node)));
            spans.push_back(std::move(span));
        }
        line["spans"] = std::move(spans);
        OrderedJson marks = OrderedJson::array();
        if (const auto found = evicted.find(s.pod_name(id)); found != evicted.end()) {
            OrderedJson mark{{"at", format_time(s.now_time)}, {"what", "evicted"}};
            put(mark, "for", found->second->owner);
            put(mark, "action", found->second->action);
            marks.push_back(std::move(mark));
        }
        line["marks"] = std::move(marks);
        lines.push_back(std::move(line));
    }
    OrderedJson out = OrderedJson::object();
    out["apiVersion"] = "reprieve.dev/v1";
    out["kind"] = "Lifelines";
    out["now"] = time_json(s.now_time);
    out["total"] = pods.size();
    out["lines"] = std::move(lines);
    return out.dump();
}

}  // namespace reprieve::window
