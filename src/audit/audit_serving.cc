// Serving: who waits for whose going, and whether the room adds up.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "audit/rules.h"
#include "audit/serving_case.h"

namespace reprieve {
namespace {

// Deleted with a grace of a second or less.
constexpr std::int64_t kForcedGrace = 1;

std::string stage_of(const Pod& pod, const std::string& told) {
    if (!pod.terminating()) return told == "Surplus" ? "Surplus" : "Normal";
    return pod.grace_seconds <= kForcedGrace ? "ForceDelete" : "Terminating";
}

class MatchJudge {
public:
    MatchJudge(const ServingCase& serving, const Scene& now, Report& report)
        : serving_(serving),
          judged_(now.judged()),
          now_(now),
          report_(report) {}

    void judge() {
        for (const Match& match : judged_.plan.matches)
            judge_match(match);
        for (const auto& [branch, count] : claimed_)
            judge_last_replica(branch, count);
        for (const auto& [node, sum] : sums_)
            judge_room(node, sum);
        judge_evictions();
    }

private:
    struct Count {
        std::int64_t normal = 0;
        std::int64_t surplus = 0;
    };
    struct Sum {
        Resources asked;
        Resources freed;
        std::int64_t from_free = 0;
    };

    void judge_match(const Match& match) {
        const ServingRow* winner = serving_.row(match.owner);
        if (winner == nullptr) return report_.add("match", match.owner, "is no serving deployment");
        const StringId name = judged_.words.find_string(match.node);
        const NodeId node = name ? judged_.cluster.find_node(name) : NodeId();
        if (!node) return report_.add("match", match.owner, fmt::format("node {} does not exist", match.node));
        const Node& fact = *judged_.cluster.node(node);
        if (!fact.ready || fact.unschedulable)
            report_.add("match", match.owner, fmt::format("waits for {}, which takes no pods", match.node));
        const auto branch = winner->branches.find(serving_.roster.planes[node]);
        if (branch == winner->branches.end() || !branch->second.allowed)
            report_.add("match", match.owner, fmt::format("may not use the plane of {}", match.node));
        Sum& sum = sums_[node];
        for (const auto& [dim, value] : winner->need)
            sum.asked.add(dim, value);
        sum.from_free += match.uses_free;
        for (const MatchVictim& victim : match.victims)
            judge_victim(match, *winner, node, victim);
    }

    void judge_victim(const Match& match, const ServingRow& winner, NodeId node, const MatchVictim& victim) {
        const PodId pod = judged_.find_pod(victim.pod);
        const ServingMember* member = pod ? serving_.member(pod) : nullptr;
        if (member == nullptr) return report_.add("match", victim.pod, "is no replica of a serving deployment");
        if (!matched_.insert(pod).second) report_.add("match", victim.pod, "is in two matches");
        const Pod& fact = judged_.fact(pod);
        if (judged_.words.text(fact.node) != match.node)
            report_.add("match", victim.pod, fmt::format("does not run on {}", match.node));
        if (victim.as != stage_of(fact, victim.as))
            report_.add("match", victim.pod, fmt::format("is told to be {}", victim.as));
        as_[pod] = victim.as;
        for (const auto& [dim, value] : judged_.spec(pod).requests)
            sums_[node].freed.add(dim, value);
        if (victim.as == "ForceDelete") return;
        if (member->row == &winner) report_.add("match", victim.pod, "belongs to the deployment it makes room for");
        if (member->row->priority >= winner.priority) {
            report_.add(
                "priority",
                victim.pod,
                fmt::format(
                    "has priority {}, not below the {} of {}", member->row->priority, winner.priority, winner.name));
        }
        if (victim.as == "Surplus") ++claimed_[member->branch].surplus;
        if (victim.as != "Normal") return;
        ++claimed_[member->branch].normal;
        if (member->branch->unclear)
            report_.add("rollout", victim.pod, "several workloads are the commit of its deployment");
        if (member->branch->rollout) report_.add("rollout", victim.pod, "its deployment is in a rollout");
    }

    void judge_last_replica(const ServingBranch* branch, const Count& count) {
        const std::int64_t active = serving_.active(*branch);
        const std::string name = judged_.name(branch->pods.front());
        if (count.normal + count.surplus > active - 1)
            report_.add("last-replica", name, "no active replica of its deployment stays in the plane");
        if (count.normal > std::min(branch->commit, active) - 1 && count.normal > 0)
            report_.add("last-replica", name, "its deployment is left without a commit in the plane");
        if (count.surplus > std::max<std::int64_t>(0, active - branch->commit))
            report_.add("match", name, "more replicas are told to be surplus than there are");
    }

    void judge_room(NodeId node, const Sum& sum) {
        const Node& fact = *judged_.cluster.node(node);
        const std::string name = judged_.words.str(fact.name);
        for (const auto& [dim, asked] : sum.asked) {
            const std::int64_t free = fact.allocatable.get(dim) - now_.used(node, dim);
            if (free + sum.freed.get(dim) < asked)
                report_.add("room",
                            name,
                            fmt::format("{} of {} waited for, {} will be there",
                                        asked,
                                        judged_.words.text(dim),
                                        free + sum.freed.get(dim)));
            if (dim == fact.device_dim && sum.from_free > std::max<std::int64_t>(0, free))
                report_.add("room", name, fmt::format("{} free devices used of {}", sum.from_free, free));
        }
    }

    // Committed and terminating victims stand among the evictions, nobody else.
    void judge_evictions() {
        std::set<PodId> listed;
        for (const EvictedPod& item : judged_.evicted) {
            if (item.action != ActionKind::kServingPreempt) continue;
            listed.insert(item.pod);
            const auto as = as_.find(item.pod);
            const bool scales = item.entry->mode == EvictionMode::kScaleDown;
            if (as == as_.end() || as->second != (scales ? "Normal" : "Terminating"))
                report_.add("match", item.entry->pod, "is evicted without a match of that kind");
        }
        for (const auto& [pod, as] : as_) {
            if (as == "Normal" && !listed.contains(pod))
                report_.add("match", judged_.name(pod), "makes room and is not evicted");
        }
        for (const std::string& name : judged_.plan.force_deletes) {
            const auto as = as_.find(judged_.find_pod(name));
            if (as == as_.end() || (as->second != "Terminating" && as->second != "ForceDelete"))
                report_.add("match", name, "is deleted by force and nobody waits for it");
        }
    }

    const ServingCase& serving_;
    const Case& judged_;
    const Scene& now_;
    Report& report_;
    std::set<PodId> matched_;
    std::map<PodId, std::string> as_;
    std::map<const ServingBranch*, Count> claimed_;
    std::map<NodeId, Sum> sums_;
};

}  // namespace

ServingCase::ServingCase(const Case& judged)
    : roster(read_servings(judged.cluster, judged.config.plugins.plane_label)),
      judged_(judged) {
    for (const ServingRow& item : roster.rows) {
        by_name_.emplace(item.name, &item);
        for (const auto& [plane, branch] : item.branches) {
            for (const PodId pod : branch.pods)
                members_[pod] = {&item, &branch};
        }
    }
}

const ServingRow* ServingCase::row(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
}

const ServingMember* ServingCase::member(PodId pod) const {
    const auto found = members_.find(pod);
    return found == members_.end() ? nullptr : &found->second;
}

std::int64_t ServingCase::active(const ServingBranch& branch) const {
    return std::ranges::count_if(branch.pods, [&](PodId pod) { return judged_.runs(pod); });
}

void judge_serving(const Scene& now, Report& report) {
    const Plan& plan = now.judged().plan;
    const bool evicts = std::ranges::any_of(
        now.judged().evicted, [](const EvictedPod& item) { return item.action == ActionKind::kServingPreempt; });
    if (!evicts && plan.matches.empty() && plan.scale.empty() && plan.force_deletes.empty() && plan.annotations.empty())
        return;
    const ServingCase serving(now.judged());
    MatchJudge(serving, now, report).judge();
    judge_scale(serving, now, report);
    judge_marks(now.judged(), report);
}

}  // namespace reprieve
