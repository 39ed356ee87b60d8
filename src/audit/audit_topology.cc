// Hard topology: the members of a gang (of a sub-group, of a composite) stay inside one domain that its rule allows.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "audit/rules.h"

namespace reprieve {
namespace {

using Nodes = std::set<NodeId>;

// HyperNodes, or the configured levels of labels: two families of domains with tiers of their own.
bool in_family(const Case& judged, const Domain& domain, bool hyper_nodes) {
    if (hyper_nodes) return !domain.label_key;
    const auto& levels = judged.config.topology_levels;
    return domain.label_key && std::ranges::find(levels, judged.words.text(domain.label_key)) != levels.end();
}

struct Allowance {
    bool hyper_nodes = true;
    std::int32_t tier = 0;
};

// None: the rule names a tier that does not exist.
std::optional<Allowance> allowance_of(const Case& judged, const TopologyRule& rule) {
    const auto& domains = judged.snapshot.domains.domains;
    if (rule.highest_tier) {
        const bool hyper_nodes = std::ranges::any_of(domains, [](const Domain& d) { return !d.label_key; });
        return Allowance{hyper_nodes || judged.config.topology_levels.empty(), *rule.highest_tier};
    }
    for (const bool hyper_nodes : {true, false}) {
        for (const Domain& domain : domains) {
            if (domain.tier_name == rule.highest_tier_name && in_family(judged, domain, hyper_nodes)) {
                return Allowance{hyper_nodes, domain.tier};
            }
        }
    }
    return std::nullopt;
}

bool inside_one_domain(const Case& judged, const Allowance& allowed, const Nodes& nodes) {
    std::int32_t tallest = 0;
    for (const Domain& domain : judged.snapshot.domains.domains) {
        if (!in_family(judged, domain, allowed.hyper_nodes)) continue;
        tallest = std::max(tallest, domain.tier);
        if (domain.tier > allowed.tier) continue;
        const auto contains = [&](NodeId node) { return std::ranges::find(domain.nodes, node) != domain.nodes.end(); };
        if (std::ranges::all_of(nodes, contains)) return true;
    }
    return tallest + 1 <= allowed.tier;  // the cluster itself is the widest domain
}

bool one_value(const Case& judged, StringId key, const Nodes& nodes) {
    std::set<StringId> values;
    for (const NodeId node : nodes)
        values.insert(judged.cluster.node(node)->labels.get(key));
    return values.size() == 1 && values.begin()->valid();
}

// Empty: the rule is kept.
std::string trouble(const Case& judged, const TopologyRule& rule, const Nodes& nodes) {
    if (!rule.hard) return "";
    if (rule.label_key) {
        if (one_value(judged, rule.label_key, nodes)) return "";
        return fmt::format("the nodes do not share a value of {}", judged.words.text(rule.label_key));
    }
    if (!rule.highest_tier && !rule.highest_tier_name) return "";
    const std::optional<Allowance> allowed = allowance_of(judged, rule);
    if (!allowed) return fmt::format("no tier is called {}", judged.words.text(rule.highest_tier_name));
    if (inside_one_domain(judged, *allowed, nodes)) return "";
    return fmt::format("no domain up to tier {} holds all its nodes", allowed->tier);
}

Nodes nodes_of(const Scene& later, const std::vector<PodId>& pods) {
    Nodes nodes;
    for (const PodId pod : pods) {
        if (later.seat(pod).node) nodes.insert(later.seat(pod).node);
    }
    return nodes;
}

void judge_gang(const Scene& later, const Gang& gang, GangId id, const std::vector<PodId>& placed, Report& report) {
    const Case& judged = later.judged();
    const std::vector<PodId> members = gang_members(later, id);
    const auto complain = [&](const std::string& what) {
        if (!what.empty()) report.add("topology", judged.snapshot.gang_name(id), what);
    };
    if (gang.topology) complain(trouble(judged, *gang.topology, nodes_of(later, members)));
    std::map<SubGroup, std::vector<PodId>> subs;
    for (const PodId pod : members)
        subs[sub_group_of(judged, gang, pod)].push_back(pod);
    std::set<SubGroup> touched;
    for (const PodId pod : placed)
        touched.insert(sub_group_of(judged, gang, pod));
    for (const SubGroup& sub : touched) {
        if (sub.policy < 0) continue;
        const SubGroupPolicy& policy = gang.sub_groups[static_cast<std::size_t>(sub.policy)];
        if (policy.topology) complain(trouble(judged, *policy.topology, nodes_of(later, subs[sub])));
    }
}

void judge_composites(const Scene& later, GangId id, Report& report) {
    const Case& judged = later.judged();
    for (CompositeId at = judged.snapshot.gangs[id].composite; at; at = judged.snapshot.composites[at].parent) {
        const CompositeRow& row = judged.snapshot.composites[at];
        if (!row.fact->topology) continue;
        std::vector<PodId> members;
        for (const GangId gang : row.gangs) {
            const std::vector<PodId> some = gang_members(later, gang);
            members.insert(members.end(), some.begin(), some.end());
        }
        const std::string what = trouble(judged, *row.fact->topology, nodes_of(later, members));
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
    for (const auto& [id, pods] : placed) {
        const Gang* fact = judged.snapshot.gangs[id].fact;
        if (fact != nullptr) judge_gang(later, *fact, id, pods, report);
        judge_composites(later, id, report);
    }
}

}  // namespace reprieve
