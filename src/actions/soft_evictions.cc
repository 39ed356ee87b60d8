#include "actions/soft_evictions.h"

#include <fmt/format.h>

#include <algorithm>

namespace reprieve {
namespace {

// The text of one field of a flat JSON object; names and times need no escapes.
std::string field(std::string_view object, std::string_view name) {
    const std::size_t key = object.find(fmt::format("\"{}\"", name));
    if (key == std::string_view::npos) return "";
    const std::size_t colon = object.find_first_not_of(" \t\n", key + name.size() + 2);
    if (colon == std::string_view::npos || object[colon] != ':') return "";
    const std::size_t open = object.find_first_not_of(" \t\n", colon + 1);
    if (open == std::string_view::npos || object[open] != '"') return "";
    const std::size_t close = object.find('"', open + 1);
    return close == std::string_view::npos ? "" : std::string(object.substr(open + 1, close - open - 1));
}

}  // namespace

std::optional<SoftEviction> soft_eviction_of(const Pod& pod) {
    const std::string& text = pod.more().soft_eviction;
    if (text.empty()) return std::nullopt;
    const auto since = parse_time(field(text, "timestamp"));
    return SoftEviction{
        .job = field(text, "preemptJob"), .initiator = field(text, "initiator"), .since = since ? *since : Time{}};
}

void delete_overdue(Desk& desk, const ActionConfig& action, std::span<const Demand> waiting) {
    if (!action.soft_eviction_deadline) return;
    const Snapshot& s = desk.snapshot();
    for (NodeId node : s.nodes_by_name) {
        for (PodId pod : s.node_pods[node]) {
            const Pod& fact = s.facts->pod(pod);
            const auto asked = soft_eviction_of(fact);
            if (!asked || fact.terminating() || asked->initiator != "reprieve" || !asked->since.is_set()) continue;
            if (s.now_time < asked->since + *action.soft_eviction_deadline) continue;
            const auto is_owner = [&](const Demand& demand) { return owner_name(s, demand) == asked->job; };
            if (std::ranges::none_of(waiting, is_owner)) continue;
            const GangId gang = s.pods[pod].gang;
            desk.plan.eviction(
                {.pod = s.pod_name(pod),
                 .node = std::string(s.node_name(node)),
                 .uid = fact.uid,
                 .unit = gang ? UnitKind::kWhole : UnitKind::kPod,
                 .group = gang ? s.gang_name(gang) : "",
                 .owner = asked->job,
                 .action = to_text(action.kind),
                 .mode = EvictionMode::kDelete,
                 .pdb_violation = false,
                 .stage = "",
                 .reason = fmt::format("was asked to make room for {} at {}, and the deadline for that is over",
                                       asked->job,
                                       format_time(asked->since))});
        }
    }
}

}  // namespace reprieve
