// Claims: what certificates say, held against nodes that the plan left as they were.
//
// A node where the plan evicts and places nobody, and where nobody was promised room, looked the same at every step of
// the plan. If evicting some of its pods makes room for a pod that was refused as `infeasible`, the claim is false; if
// pods of a lower priority than the chosen victims suffice there, `optimal` is. Only the plainest cases are looked at:
// a single pod that asks for amounts alone, victims that are single pods under no budget. That is enough to contradict
// a claim and never contradicts a true one. The number of looks is bounded, so that an audit stays linear.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "audit/budget_index.h"
#include "audit/rules.h"

namespace reprieve {
namespace {

constexpr std::int64_t kMostLooks = 1'000'000;  // at pods, in one audit

bool asks_for_amounts_alone(const PodSpec& spec) {
    return spec.affinity.empty() && spec.anti_affinity.empty() && spec.spread.empty() && spec.ports.empty() &&
           spec.volumes.empty() && !spec.devices.any() && spec.claims.empty() && spec.extended.empty();
}

class ClaimJudge {
public:
    ClaimJudge(const Scene& later, Report& report)
        : later_(later),
          judged_(later.judged()),
          report_(report),
          touched_(judged_.snapshot.nodes.size(), false) {
        for (const EvictedPod& item : judged_.evicted)
            touch(judged_.cluster.find_node(judged_.fact(item.pod).node));
        for (const PlacedPod& item : judged_.placed)
            touch(item.node);
        for (const PodId pod : IdRange<PodId>(judged_.cluster.pod_slots())) {
            if (judged_.exists(pod) && judged_.fact(pod).nominated)
                touch(judged_.cluster.find_node(judged_.fact(pod).nominated));
        }
    }

    void judge() {
        for (const ActionConfig& action : judged_.actions) {
            if (action.kind == ActionKind::kPreempt) preempt_ = &action;
        }
        if (preempt_ == nullptr || !world_is_plain()) return;
        for (const Certificate& item : judged_.plan.certificates) {
            if (item.action == to_text(ActionKind::kPreempt)) judge_claim(item);
        }
    }

private:
    void touch(NodeId node) {
        if (node) touched_[node.index()] = true;
    }

    // Rules that could have spoken against a node although its amounts suffice.
    bool world_is_plain() const {
        const PluginsConfig& plugins = judged_.config.plugins;
        if (plugins.only || !plugins.disable.empty() || judged_.has_quotas) return false;
        if (!preempt_->improve || preempt_->min_candidate_nodes_absolute || preempt_->min_candidate_nodes_percentage)
            return false;
        if (judged_.cluster.servings().size() > 0 || later_.neighbours().anybody_repels()) return false;
        // A victim may have kept the pod away from nodes that the plan did not touch.
        if (std::ranges::any_of(judged_.evicted,
                                [&](const EvictedPod& item) { return !judged_.spec(item.pod).anti_affinity.empty(); }))
            return false;
        // A pod that was placed before may need the company of a victim.
        return std::ranges::all_of(judged_.placed, [&](const PlacedPod& item) {
            const PodSpec& spec = judged_.spec(item.pod);
            return spec.affinity.empty() && spec.spread.empty();
        });
    }

    bool is_plain(PodId pod) const {
        const Pod& fact = judged_.fact(pod);
        const PodRow& row = judged_.row(pod);
        if (!judged_.waits(pod) || fact.group || fact.nominated || fact.more().can_preempt) return false;
        if (row.has(kNeverPreempts) || row.has(kQueueMissing) || row.has(kForeign) || row.has(kServing)) return false;
        if (!row.queue || !judged_.snapshot.queues[row.queue].takes_pods()) return false;
        const auto unlimited = [&](QueueId queue) {
            const Queue* said = judged_.snapshot.queues[queue].fact;
            return said == nullptr || said->limit.empty();
        };
        return asks_for_amounts_alone(judged_.spec(pod)) && !is_balanced(row.queue) &&
               std::ranges::all_of(judged_.path(row.queue), unlimited);
    }

    bool is_balanced(QueueId queue) const {
        const QueueReport* told = judged_.told(queue);
        return told != nullptr && told->shares.contains("preempting");
    }

    void judge_claim(const Certificate& item) {
        const PodId pod = judged_.find_pod(item.owner);
        if (!pod || !is_plain(pod)) return;
        std::int32_t below = judged_.standings.as_attacker(pod);
        const bool refused = item.status == CertificateStatus::kInfeasible;
        if (!refused) {
            // Whoever costs less must do so in the first term that differs.
            const bool by_priority = item.cost.size() > 1 && item.cost[0].first == "pdbViolations" &&
                                     item.cost[1].first == "maxPriority" && item.cost[1].second <= below;
            if (item.status != CertificateStatus::kOptimal || !by_priority) return;
            below = static_cast<std::int32_t>(item.cost[1].second);
        }
        const NodeId node = find_room(pod, below);
        if (!node) return;
        report_.add("certificate",
                    item.owner,
                    fmt::format("is called {}; {} has room without pods of a priority below {}",
                                to_text(item.status),
                                judged_.words.text(judged_.cluster.node(node)->name),
                                below));
    }

    // A node left as it was where the pod fits once single pods of lower priority are gone; none: not found.
    NodeId find_room(PodId pod, std::int32_t below) {
        const auto [at, fresh] = found_.try_emplace({judged_.fact(pod).spec, judged_.row(pod).queue, below}, NodeId());
        if (!fresh) return at->second;
        for (const NodeId node : judged_.snapshot.nodes_by_name) {
            if (looks_ <= 0) break;
            if (touched_[node.index()] || !judged_.cluster.node(node)->ready || !has_room(node, pod, below)) continue;
            at->second = node;
            break;
        }
        return at->second;
    }

    bool has_room(NodeId node, PodId pod, std::int32_t below) {
        Findings against;
        judge_node_facts(judged_, PlacedPod{nullptr, pod, node, {}, false}, against);
        --looks_;
        if (!against.empty()) return false;
        Resources left = judged_.cluster.node(node)->allocatable;
        for (const PodId other : later_.on(node)) {
            --looks_;
            if (judged_.resizes(other)) return false;
            if (!may_go(other, pod, below)) left.subtract(judged_.spec(other).requests);
        }
        return std::ranges::all_of(judged_.spec(pod).requests,
                                   [&](const auto& asked) { return left.get(asked.dim) >= asked.value; });
    }

    bool may_go(PodId victim, PodId attacker, std::int32_t below) const {
        return !judged_.row(victim).gang && judged_.standings.own(victim) < below &&
               (preempt_->cross_queue || judged_.row(victim).queue == judged_.row(attacker).queue) &&
               may_be_evicted(judged_, victim) && !judged_.is_fixed(victim) && judged_.budgets().over(victim).empty();
    }

    const Scene& later_;
    const Case& judged_;
    Report& report_;
    const ActionConfig* preempt_ = nullptr;
    std::vector<bool> touched_;  // by node
    std::map<std::tuple<SpecId, QueueId, std::int32_t>, NodeId> found_;
    std::int64_t looks_ = kMostLooks;
};

}  // namespace

void judge_claims(const Scene& later, Report& report) { ClaimJudge(later, report).judge(); }

}  // namespace reprieve
