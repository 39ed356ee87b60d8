#include "actions/serving/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "actions/serving/stays.h"

namespace reprieve::serving {
namespace {

constexpr const char* kClaim = "reprieve.dev/claimed-by";
constexpr const char* kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

class Writing {
public:
    Writing(const Snapshot& snapshot, const View& view, const Outcome& outcome)
        : snapshot_(snapshot),
          view_(view),
          world_(view.world),
          outcome_(outcome) {}

    Plan write() {
        for (const serving::Match& match : outcome_.matches)
            write(match);
        for (std::size_t i = 0; i < world_.deployments.size(); ++i) {
            write_scale(DeploymentIndex(i));
            write_unmet(DeploymentIndex(i));
        }
        write_annotations();
        return std::move(plan_);
    }

private:
    using BranchKey = std::pair<DeploymentIndex, std::size_t>;

    [[nodiscard]] PodId pod_of(ReplicaIndex i) const { return view_.pods[i.index()]; }
    [[nodiscard]] std::string name_of(ReplicaIndex i) const { return snapshot_.pod_name(pod_of(i)); }
    [[nodiscard]] Category category(ReplicaIndex i) const { return outcome_.categories[i.index()]; }

    void write(const serving::Match& match) {
        reprieve::Match& entry = plan_.matches.emplace_back();
        entry.owner = world_.at(match.preemptor).name;
        entry.node = world_.at(match.node).name;
        entry.uses_free = match.uses_free;
        for (ReplicaIndex victim : match.victims) {
            entry.victims.push_back({.pod = name_of(victim), .as = to_text(category(victim))});
            claims_[pod_of(victim)] = entry.owner;
            const Replica& replica = world_.at(victim);
            if (category(victim) == Category::kNormal) {
                hints_[{replica.deployment, replica.branch}].push_back(name_of(victim));
                hinted_.insert(pod_of(victim));
                evict(match, victim, EvictionMode::kScaleDown);
            }
            if (!replica.can_be_forced) continue;
            plan_.force_deletes.push_back(name_of(victim));
            if (category(victim) == Category::kTerminating) evict(match, victim, EvictionMode::kForceDelete);
        }
    }

    void evict(const serving::Match& match, ReplicaIndex victim, EvictionMode mode) {
        const Deployment& winner = world_.at(match.preemptor);
        const Deployment& loser = world_.at(world_.at(victim).deployment);
        const char* what = mode == EvictionMode::kScaleDown ? "replica" : "terminating replica";
        plan_.evictions.push_back({.pod = name_of(victim),
                                   .node = world_.at(match.node).name,
                                   .uid = snapshot_.facts->pod(pod_of(victim)).uid,
                                   .unit = UnitKind::kReplica,
                                   .group = {},
                                   .owner = winner.name,
                                   .action = to_text(ActionKind::kServingPreempt),
                                   .mode = mode,
                                   .pdb_violation = false,
                                   .stage = {},
                                   .reason = fmt::format("{} of {} (priority {}) makes room for {} (priority {}) on {}",
                                                         what,
                                                         loser.name,
                                                         loser.priority,
                                                         winner.name,
                                                         winner.priority,
                                                         world_.at(match.node).name)});
    }

    void write_scale(DeploymentIndex d) {
        const Deployment& deployment = world_.at(d);
        for (std::size_t b = 0; b < deployment.branches.size(); ++b) {
            const std::int64_t to = outcome_.decisions[d.index()].commits[b];
            if (to == deployment.branches[b].commit) continue;
            const auto hints = hints_.find({d, b});
            plan_.scale.push_back({.deployment = deployment.name,
                                   .plane = deployment.branches[b].plane,
                                   .from = deployment.branches[b].commit,
                                   .to = to,
                                   .hints = hints == hints_.end() ? std::vector<std::string>() : hints->second});
        }
    }

    void write_unmet(DeploymentIndex d) {
        const Deployment& deployment = world_.at(d);
        const Decision& decision = outcome_.decisions[d.index()];
        if (decision.unmet == 0 || !deployment.asked) return;
        Unplaced entry{.pod = {}, .owner = deployment.name, .replicas = decision.unmet, .never = true};
        for (std::size_t i = 0; i < world_.nodes.size(); ++i) {
            if (!view_.nodes[i]) continue;
            const NodeRefusal refused = refusal(deployment, i);
            ++entry.nodes[refused.why];
            entry.never = entry.never && refused.never;
        }
        if (snapshot_.nodes_by_name.empty()) {
            entry.never = false;
            entry.reason = "there are no nodes";
        } else if (decision.preemptee) {
            entry.reason = "makes room for others in this cycle";
        } else if (entry.never) {
            entry.reason = "no node of its planes can take a replica";
        } else {
            entry.reason = "servingPreempt: there is no room in its planes, and nobody of lower priority can make room";
            if (const std::string stay = who_stays(d); !stay.empty()) entry.reason += " (stay: " + stay + ")";
        }
        plan_.unplaced.push_back(std::move(entry));
    }

    // The replicas in its planes that do not go for it, by what keeps them.
    [[nodiscard]] std::string who_stays(DeploymentIndex d) const {
        std::set<ReplicaIndex> taken;
        for (const serving::Match& match : outcome_.matches)
            taken.insert(match.victims.begin(), match.victims.end());
        const StayRules rules(world_, outcome_.categories, taken);
        std::map<std::string, std::int64_t> reasons;
        for (std::size_t i = 0; i < world_.replicas.size(); ++i) {
            const Replica& r = world_.replicas[i];
            if (r.deployment == d || !is_active(r) || taken.contains(ReplicaIndex(i)) || !may_use(d, r.node)) continue;
            if (const std::string why = stay_words(rules.why(d, ReplicaIndex(i)), r); !why.empty()) ++reasons[why];
        }
        std::string out;
        for (const auto& [why, count] : reasons)
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, why);
        return out;
    }

    [[nodiscard]] bool may_use(DeploymentIndex d, NodeIndex node) const {
        if (!world_.at(node).usable) return false;
        const std::vector<Branch>& branches = world_.at(d).branches;
        const auto branch = std::ranges::find(branches, world_.at(node).plane, &Branch::plane);
        return branch != branches.end() && branch->allowed;
    }

    [[nodiscard]] std::string stay_words(Stays why, const Replica& r) const {
        switch (why) {
            case Stays::kPriority:
                return "of equal or higher priority";
            case Stays::kProtected:
                return "protected";
            case Stays::kRollout:
                return "in a rollout";
            case Stays::kUnclear:
                return fmt::format("of {}, which is not scaled because several workloads are its commit",
                                   world_.at(r.deployment).name);
            case Stays::kLastReplica:
                return fmt::format("the last replica of {} in its plane", world_.at(r.deployment).name);
            case Stays::kCouldGo:
                break;
        }
        return "";
    }

    struct NodeRefusal {
        const char* why;
        bool never;
    };

    [[nodiscard]] NodeRefusal refusal(const Deployment& deployment, std::size_t index) const {
        const reprieve::Node& node = *snapshot_.facts->node(view_.nodes[index]);
        const auto branch = std::ranges::find(deployment.branches, world_.nodes[index].plane, &Branch::plane);
        if (branch == deployment.branches.end() || !branch->allowed) return {"in a plane it may not use", true};
        if (node.unschedulable) return {"cordoned", true};
        for (std::size_t i = 0; i < view_.dims.size(); ++i) {
            if (deployment.need[i] > node.allocatable.get(view_.dims[i])) return {"too small for a replica", true};
        }
        if (!node.ready) return {"not ready", false};
        const Node& place = world_.nodes[index];
        if (!covers(place.free, deployment.need) || !covers(place.later, deployment.need))
            return {"too little room, and nobody there makes room", false};
        Amounts left = place.free;
        subtract(left, outcome_.held_now[index]);
        Amounts left_later = place.later;
        subtract(left_later, outcome_.held_later[index]);
        const bool is_free = covers(left, deployment.need) && covers(left_later, deployment.need);
        return {is_free ? "room that it does not take while it makes room for others" : "room that is held for others",
                false};
    }

    // Who is in a match is marked; whoever is not loses the marks of earlier cycles.
    void write_annotations() {
        const Cluster& facts = *snapshot_.facts;
        std::set<PodId> concerned = facts.marked();
        for (const auto& [id, owner] : claims_)
            concerned.insert(id);
        for (PodId id : concerned) {
            const PodExtras& notes = facts.pod(id).more();
            const auto claim = claims_.find(id);
            AnnotationChange change;
            const bool has_hint = notes.has_deletion_cost && notes.deletion_cost == kHintCost;
            if (claim != claims_.end()) {
                if (notes.claimed_by != claim->second) change.set[kClaim] = claim->second;
                if (hinted_.contains(id) && !has_hint) change.set[kDeletionCost] = fmt::format("{}", kHintCost);
            } else if (may_clean(id)) {
                if (!notes.claimed_by.empty()) change.remove.emplace_back(kClaim);
                if (has_hint) change.remove.emplace_back(kDeletionCost);
            }
            if (change.set.empty() && change.remove.empty()) continue;
            change.pod = snapshot_.pod_name(id);
            plan_.annotations.push_back(std::move(change));
        }
    }

    // Marks on pods that are nobody's replicas and were never claimed are somebody else's. A deployment that was not
    // asked keeps its claims.
    [[nodiscard]] bool may_clean(PodId id) const {
        const std::string& owner = snapshot_.facts->pod(id).more().claimed_by;
        if (owner.empty()) return snapshot_.pods[id].has(kServing);
        const auto known = std::ranges::find(world_.deployments, owner, &Deployment::name);
        return known == world_.deployments.end() || known->asked;
    }

    const Snapshot& snapshot_;
    const View& view_;
    const World& world_;
    const Outcome& outcome_;
    Plan plan_;
    std::map<PodId, std::string> claims_;  // pod -> who claims it
    std::set<PodId> hinted_;
    std::map<BranchKey, std::vector<std::string>> hints_;
};

}  // namespace

Plan report(const Snapshot& snapshot, const View& view, const Outcome& outcome) {
    return Writing(snapshot, view, outcome).write();
}

}  // namespace reprieve::serving
