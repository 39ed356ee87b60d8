// Hard topology: the members of a gang (of a sub-group, of a composite) stay inside one domain that its rule allows.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "audit/rules.h"

namespace reprieve {
namespace {

using Nodes = std::set<NodeId>;

struct Allowance {
    bool hyper_nodes = true;
    std::int32_t tier = 0;
};

// HyperNodes, or the configured levels of labels: two families of domains with tiers of their own. Read once.
class Families {
public:
    explicit Families(const Case& judged) : judged_(judged), domains_of_(judged.snapshot.nodes.size()) {
        const auto& domains = judged.snapshot.domains.domains;
        for (std::size_t i = 0; i < domains.size(); ++i) {
            const Domain& domain = domains[DomainId(i)];
            has_hyper_nodes_ = has_hyper_nodes_ || !domain.label_key;
            for (const bool hyper_nodes : {true, false}) {
                if (!belongs(domain, hyper_nodes)) continue;
                tallest_[hyper_nodes] = std::max(tallest_[hyper_nodes], domain.tier);
                names_.emplace(std::pair(!hyper_nodes, domain.tier_name), domain.tier);
            }
            for (const NodeId node : domain.nodes)
                domains_of_[node].push_back(i);
        }
    }

    // None: the rule names a tier that does not exist.
    [[nodiscard]] std::optional<Allowance> allowance(const TopologyRule& rule) const {
        if (rule.highest_tier)
            return Allowance{has_hyper_nodes_ || judged_.config.topology_levels.empty(), *rule.highest_tier};
        for (const bool hyper_nodes : {true, false}) {
            const auto at = names_.find(std::pair(!hyper_nodes, rule.highest_tier_name));
            if (at != names_.end()) return Allowance{hyper_nodes, at->second};
        }
        return std::nullopt;
    }

    [[nodiscard]] bool inside_one_domain(const Allowance& allowed, const Nodes& nodes) const {
        const auto tallest = tallest_.find(allowed.hyper_nodes);
        // The cluster itself is the widest domain.
        if ((tallest == tallest_.end() ? 0 : tallest->second) + 1 <= allowed.tier) return true;
        if (nodes.empty()) return !judged_.snapshot.domains.domains.empty();
        return std::ranges::any_of(domains_of_[*nodes.begin()], [&](std::size_t i) {
            const Domain& domain = judged_.snapshot.domains.domains[DomainId(i)];
            return belongs(domain, allowed.hyper_nodes) && domain.tier <= allowed.tier &&
                   std::ranges::all_of(nodes,
                                       [&](NodeId node) { return std::ranges::binary_search(domains_of_[node], i); });
        });
    }

private:
    [[nodiscard]] bool belongs(const Domain& domain, bool hyper_nodes) const {
        if (hyper_nodes) return !domain.label_key;
        const auto& levels = judged_.config.topology_levels;
        return domain.label_key && std::ranges::find(levels, judged_.words.text(domain.label_key)) != levels.end();
    }

    const Case& judged_;
    bool has_hyper_nodes_ = false;
    std::map<bool, std::int32_t> tallest_;
    std::map<std::pair<bool, StringId>, std::int32_t> names_;
    IdVector<NodeId, std::vector<std::size_t>> domains_of_;  // ascending
};

bool one_value(const Case& judged, StringId key, const Nodes& nodes) {
    std::set<StringId> values;
    for (const NodeId node : nodes)
        values.insert(judged.cluster.node(node)->labels.get(key));
    return values.size() == 1 && values.begin()->valid();
}

// Empty: the rule is kept.
std::string trouble(const Case& judged, const Families& families, const TopologyRule& rule, const Nodes& nodes) {
    if (!rule.hard) return "";
    if (rule.label_key) {
        if (one_value(judged, rule.label_key, nodes)) return "";
        return fmt::format("the nodes do not share a value of {}", judged.words.text(rule.label_key));
    }
    if (!rule.highest_tier && !rule.highest_tier_name) return "";
    const std::optional<Allowance> allowed = families.allowance(rule);
    if (!allowed) return fmt::format("no tier is called {}", judged.words.text(rule.highest_tier_name));
    if (families.inside_one_domain(*allowed, nodes)) return "";
    return fmt::format("no domain up to tier {} holds all its nodes", allowed->tier);
}

Nodes nodes_of(const Scene& later, const std::vector<PodId>& pods) {
    Nodes nodes;
    for (const PodId pod : pods) {
        if (later.seat(pod).node) nodes.insert(later.seat(pod).node);
    }
    return nodes;
}

void judge_gang(const Scene& later,
                const Families& families,
                const Gang& gang,
                GangId id,
                const std::vector<PodId>& placed,
                Report& report) {
    const Case& judged = later.judged();
    const std::vector<PodId> members = gang_members(later, id);
    const auto complain = [&](const std::string& what) {
        if (!what.empty()) report.add("topology", judged.snapshot.gang_name(id), what);
    };
    if (gang.topology) complain(trouble(judged, families, *gang.topology, nodes_of(later, members)));
    std::map<SubGroup, std::vector<PodId>> subs;
    for (const PodId pod : members)
        subs[sub_group_of(judged, gang, pod)].push_back(pod);
    std::set<SubGroup> touched;
    for (const PodId pod : placed)
        touched.insert(sub_group_of(judged, gang, pod));
    for (const SubGroup& sub : touched) {
        if (sub.policy < 0) continue;
        const SubGroupPolicy& policy = gang.sub_groups[static_cast<std::size_t>(sub.policy)];
        if (policy.topology) complain(trouble(judged, families, *policy.topology, nodes_of(later, subs[sub])));
    }
}

void judge_composites(
    const Scene& later, const Families& families, GangId id, std::set<CompositeId>& seen, Report& report) {
    const Case& judged = later.judged();
    for (CompositeId at = judged.snapshot.gangs[id].composite; at; at = judged.snapshot.composites[at].parent) {
        const CompositeRow& row = judged.snapshot.composites[at];
        if (!row.fact->topology || !seen.insert(at).second) continue;
        std::vector<PodId> members;
        for (const GangId gang : row.gangs) {
            const std::vector<PodId> some = gang_members(later, gang);
            members.insert(members.end(), some.begin(), some.end());
        }
        const std::string what = trouble(judged, families, *row.fact->topology, nodes_of(later, members));
        if (!what.empty()) {
            report.add("topology",
                       fmt::format("{}/{}", judged.words.text(row.fact->ns), judged.words.text(row.fact->name)),
                       what);
        }
    }
}

}  // namespace

void judge_topology(const Scene& later, Report& report) {
    const Case& judged = later.judged();
    if (!judged.enabled("networkTopology")) return;
    std::map<GangId, std::vector<PodId>> placed;
    for (const PlacedPod& item : judged.placed) {
        const GangId gang = judged.row(item.pod).gang;
        if (gang && !item.in_flight) placed[gang].push_back(item.pod);
    }
    if (placed.empty()) return;
    const Families families(judged);
    std::set<CompositeId> seen;
    for (const auto& [id, pods] : placed) {
        const Gang* fact = judged.snapshot.gangs[id].fact;
        if (fact != nullptr) judge_gang(later, families, *fact, id, pods, report);
        judge_composites(later, families, id, seen, report);
    }
}

}  // namespace reprieve
