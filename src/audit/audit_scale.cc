// Scale: numbers of replicas follow from who is claimed and from free room, and claims are written where they hold.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "audit/serving_case.h"

namespace reprieve {
namespace {

constexpr const char* kClaim = "reprieve.dev/claimed-by";
constexpr const char* kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
constexpr const char* kHint = "-1000";

struct Loss {
    std::vector<std::string> normal;  // pods
    std::int64_t surplus = 0;
};
using Losses = std::map<const ServingBranch*, Loss>;

Losses losses_of(const ServingCase& serving, const Case& judged) {
    Losses out;
    for (const Match& match : judged.plan.matches) {
        for (const MatchVictim& victim : match.victims) {
            const PodId pod = judged.find_pod(victim.pod);
            const ServingMember* member = pod ? serving.member(pod) : nullptr;
            if (member == nullptr) continue;
            if (victim.as == "Normal") out[member->branch].normal.push_back(victim.pod);
            if (victim.as == "Surplus") ++out[member->branch].surplus;
        }
    }
    for (auto& [branch, loss] : out)
        std::ranges::sort(loss.normal);
    return out;
}

class ScaleJudge {
public:
    ScaleJudge(const ServingCase& serving, const Scene& now, Report& report)
        : serving_(serving),
          judged_(now.judged()),
          now_(now),
          report_(report),
          losses_(losses_of(serving, now.judged())) {}

    void judge() {
        for (const ScaleChange& change : judged_.plan.scale)
            judge_change(change);
        for (const auto& [branch, loss] : losses_) {
            if (!loss.normal.empty() && !scaled_.contains(branch))
                report_.add("scale", loss.normal.front(), "is claimed and its deployment is not scaled down");
        }
        std::map<std::string_view, std::int64_t> added;
        for (const ScaleChange& change : judged_.plan.scale)
            added[change.deployment] += std::max<std::int64_t>(0, change.to - change.from);
        for (const ServingRow& row : serving_.roster.rows) {
            if (const auto more = added.find(row.name); more != added.end()) judge_total(row, more->second);
        }
    }

private:
    void judge_change(const ScaleChange& change) {
        const ServingRow* row = serving_.row(change.deployment);
        if (row == nullptr) return report_.add("scale", change.deployment, "is no serving deployment");
        const auto at = row->branches.find(change.plane);
        if (at == row->branches.end())
            return report_.add("scale", change.deployment, fmt::format("is not in plane {}", change.plane));
        const ServingBranch& branch = at->second;
        if (!scaled_.insert(&branch).second) report_.add("scale", change.deployment, "is scaled twice in one plane");
        if (change.from != branch.commit)
            report_.add(
                "scale", change.deployment, fmt::format("its commit is {}, not {}", branch.commit, change.from));
        if (change.to < change.from)
            judge_down(change, branch);
        else
            judge_up(change, *row, branch);
    }

    void judge_down(const ScaleChange& change, const ServingBranch& branch) {
        const auto loss = losses_.find(&branch);
        std::vector<std::string> claimed;
        if (loss != losses_.end()) claimed = loss->second.normal;
        std::vector<std::string> hints = change.hints;
        std::ranges::sort(hints);
        if (claimed.empty() || hints != claimed)
            report_.add("scale", change.deployment, "its hints are not the replicas that are claimed");
        const std::int64_t target =
            std::min(branch.commit, serving_.active(branch)) - static_cast<std::int64_t>(claimed.size());
        if (change.to != target)
            report_.add("scale", change.deployment, fmt::format("is scaled to {} instead of {}", change.to, target));
        if (change.to < 1) report_.add("last-replica", change.deployment, "is scaled to nothing");
    }

    void judge_up(const ScaleChange& change, const ServingRow& row, const ServingBranch& branch) {
        if (change.to == change.from) report_.add("scale", change.deployment, "is not changed");
        if (!change.hints.empty()) report_.add("scale", change.deployment, "grows and names replicas to stop");
        if (!branch.allowed) report_.add("scale", change.deployment, fmt::format("may not use {}", change.plane));
        for (const auto& [plane, own] : row.branches) {
            if (losses_.contains(&own)) report_.add("scale", change.deployment, "grows while it makes room for others");
        }
        const std::int64_t back = std::max<std::int64_t>(0, serving_.active(branch) - branch.commit);
        const std::int64_t fresh = change.to - change.from - back;
        if (fresh > places_in(change.plane, row))
            report_.add(
                "room", change.deployment, fmt::format("{} more replicas do not fit in {}", fresh, change.plane));
    }

    // How many replicas have free room in a plane, if nobody else takes it.
    [[nodiscard]] std::int64_t places_in(const std::string& plane, const ServingRow& row) const {
        std::int64_t sum = 0;
        for (const NodeId node : judged_.snapshot.nodes_by_name) {
            const Node& fact = *judged_.cluster.node(node);
            if (serving_.roster.planes[node] != plane || !fact.ready || fact.unschedulable) continue;
            std::int64_t here = INT64_MAX;
            for (const auto& [dim, value] : row.need)
                here =
                    std::min(here, std::max<std::int64_t>(0, fact.allocatable.get(dim) - now_.used(node, dim)) / value);
            sum = saturating_add(sum, here);
        }
        return sum;
    }

    void judge_total(const ServingRow& row, std::int64_t added) {
        std::int64_t before = 0;
        for (const auto& [plane, branch] : row.branches)
            before += branch.commit;
        if (added > 0 && before + added > row.desired)
            report_.add("scale", row.name, fmt::format("grows to {}, {} are wanted", before + added, row.desired));
    }

    const ServingCase& serving_;
    const Case& judged_;
    const Scene& now_;
    Report& report_;
    Losses losses_;
    std::set<const ServingBranch*> scaled_;
};

}  // namespace

void judge_scale(const ServingCase& serving, const Scene& now, Report& report) {
    ScaleJudge(serving, now, report).judge();
}

// A claim stands on the pods of the matches, the hint on those that a scale-down is to hit.
void judge_marks(const Case& judged, Report& report) {
    std::map<std::string, std::pair<std::string, bool>> wanted;  // pod -> claimed by, hinted
    for (const Match& match : judged.plan.matches) {
        for (const MatchVictim& victim : match.victims)
            wanted[victim.pod] = {match.owner, victim.as == "Normal"};
    }
    std::map<std::string, const AnnotationChange*> changes;
    for (const AnnotationChange& change : judged.plan.annotations)
        changes[change.pod] = &change;
    for (const auto& [name, mark] : wanted) {
        const PodId pod = judged.find_pod(name);
        if (!pod) continue;
        const PodExtras& notes = judged.fact(pod).more();
        const auto change = changes.find(name);
        const auto after = [&](const char* key, std::string before) {
            if (change == changes.end()) return before;
            if (const auto set = change->second->set.find(key); set != change->second->set.end()) return set->second;
            return std::ranges::count(change->second->remove, key) > 0 ? std::string() : before;
        };
        if (after(kClaim, notes.claimed_by) != mark.first) report.add("claim", name, "is matched and not claimed");
        const std::string cost = notes.has_deletion_cost ? fmt::format("{}", notes.deletion_cost) : std::string();
        if (mark.second && after(kDeletionCost, cost) != kHint)
            report.add("claim", name, "is claimed without the hint");
    }
    for (const auto& [name, change] : changes) {
        if (change->set.contains(kClaim) && !wanted.contains(name)) report.add("claim", name, "is claimed for nobody");
        if (!judged.find_pod(name)) report.add("claim", name, "does not exist");
    }
}

}  // namespace reprieve
