// Gangs: enough members run, they start together, and those that lose a member they need go whole.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "audit/rules.h"

namespace reprieve {

SubGroup sub_group_of(const Case& judged, const Gang& gang, PodId pod) {
    const Labels& labels = judged.labels(pod);
    for (std::size_t i = 0; i < gang.sub_groups.size(); ++i) {
        const SubGroupPolicy& policy = gang.sub_groups[i];
        if (!policy.selector.null && !policy.selector.matches(labels, judged.words)) continue;
        SubGroup found{static_cast<int>(i), {}};
        for (const StringId key : policy.match_label_keys)
            found.values.push_back(labels.get(key));
        if (std::ranges::all_of(found.values, [](StringId value) { return value.valid(); })) return found;
    }
    return {};
}

namespace {

using SubGroupSizes = std::map<SubGroup, std::int64_t>;

std::int64_t size_wanted(const Gang& gang, const SubGroup& sub) {
    return std::max(1, gang.sub_groups[static_cast<std::size_t>(sub.policy)].size);
}

// For how many of `least` members those stand that have succeeded, among the members that `counts` speaks of: for those
// that did not run before the plan, not for those whom the plan evicts.
template <class Counts>
std::int64_t stood_in_for(const Case& judged, GangId gang, std::int64_t least, Counts counts) {
    if (judged.snapshot.gangs[gang].done == 0) return 0;
    std::int64_t ran = 0;
    std::int64_t done = 0;
    for (const PodId pod : judged.snapshot.gangs[gang].pods) {
        if (!judged.has_succeeded(pod) && (!judged.runs(pod) || judged.leaves(pod))) continue;
        if (!counts(pod)) continue;
        ++(judged.has_succeeded(pod) ? done : ran);
    }
    return std::min(done, std::max<std::int64_t>(0, least - ran));
}

std::int64_t stood_in_for(const Case& judged, GangId gang) {
    return stood_in_for(judged, gang, judged.minimum(gang), [](PodId) { return true; });
}

SubGroupSizes sub_group_sizes(const Case& judged, GangId id, const std::vector<PodId>& live) {
    const Gang& gang = *judged.snapshot.gangs[id].fact;
    SubGroupSizes sizes;
    for (const PodId pod : live) {
        const SubGroup sub = sub_group_of(judged, gang, pod);
        if (sub.policy >= 0) ++sizes[sub];
    }
    for (const PodId pod : judged.snapshot.gangs[id].pods) {
        if (!judged.has_succeeded(pod)) continue;
        if (const SubGroup sub = sub_group_of(judged, gang, pod); sub.policy >= 0) sizes.try_emplace(sub, 0);
    }
    for (auto& [sub, size] : sizes) {
        const auto is_in = [&](PodId pod) { return sub_group_of(judged, gang, pod) == sub; };
        size += stood_in_for(judged, id, size_wanted(gang, sub), is_in);
    }
    return sizes;
}

std::string roles_lack(const Case& judged, GangId id, const std::vector<PodId>& live) {
    const Gang& gang = *judged.snapshot.gangs[id].fact;
    std::int64_t sum = 0;
    for (const auto& [role, least] : gang.role_minimums)
        sum += least;
    if (gang.min_members < sum) return "";  // then they are not enforced
    for (const auto& [role, least] : gang.role_minimums) {
        const auto has_role = [&](PodId pod) { return judged.fact(pod).role == role; };
        const auto count = std::ranges::count_if(live, has_role) + stood_in_for(judged, id, least, has_role);
        if (count < least) return fmt::format("{} of {} members in role {}", count, least, judged.words.text(role));
    }
    return "";
}

std::string sub_groups_lack(const Case& judged, GangId id, const std::vector<PodId>& live) {
    const Gang& gang = *judged.snapshot.gangs[id].fact;
    if (gang.sub_groups.empty()) return "";
    const SubGroupSizes sizes = sub_group_sizes(judged, id, live);
    for (std::size_t i = 0; i < gang.sub_groups.size(); ++i) {
        const auto complete = std::ranges::count_if(sizes, [&](const auto& item) {
            return std::cmp_equal(item.first.policy, i) && item.second >= size_wanted(gang, item.first);
        });
        const SubGroupPolicy& policy = gang.sub_groups[i];
        if (complete >= policy.min_sub_groups) continue;
        return fmt::format("{} of {} sub-groups {}", complete, policy.min_sub_groups, judged.words.text(policy.name));
    }
    return "";
}

// Gangs with a minimum that the plan places members of, with those members; nothing in flight.
std::map<GangId, std::vector<const PlacedPod*>> gangs_placed(const Case& judged) {
    std::map<GangId, std::vector<const PlacedPod*>> found;
    for (const PlacedPod& item : judged.placed) {
        const GangId gang = judged.gang_with_minimum(item.pod);
        if (gang && !item.in_flight) found[gang].push_back(&item);
    }
    return found;
}

void judge_minimum(const Scene& later, GangId gang, Report& report) {
    const Case& judged = later.judged();
    for (const GangId member : judged.together(gang)) {
        const std::string lacks = gang_lacks(judged, member, gang_members(later, member));
        if (lacks.empty()) continue;
        report.add("gang-minimum",
                   judged.snapshot.gang_name(gang),
                   fmt::format("{} would run with {}", judged.snapshot.gang_name(member), lacks));
    }
}

void judge_started_sub_groups(const Scene& later,
                              GangId gang,
                              const std::vector<const PlacedPod*>& pods,
                              Report& report) {
    const Case& judged = later.judged();
    const Gang* fact = judged.snapshot.gangs[gang].fact;
    if (fact == nullptr || fact->sub_groups.empty()) return;
    const SubGroupSizes sizes = sub_group_sizes(judged, gang, gang_members(later, gang));
    for (const PlacedPod* item : pods) {
        const SubGroup sub = sub_group_of(judged, *fact, item->pod);
        if (sub.policy < 0 || sizes.at(sub) >= size_wanted(*fact, sub)) continue;
        report.add(
            "sub-group",
            item->entry->pod,
            fmt::format("its sub-group would run with {} of {} members", sizes.at(sub), size_wanted(*fact, sub)));
    }
}

void judge_when(const Case& judged, GangId gang, const std::vector<const PlacedPod*>& pods, Report& report) {
    std::set<bool> times;
    for (const PlacedPod* item : pods)
        times.insert(item->entry->after_evictions);
    if (times.size() > 1)
        report.add("gang-when", judged.snapshot.gang_name(gang), "its members are not placed at one time");
}

void judge_min_resources(const Case& judged, GangId gang, PodId member, Report& report) {
    const Gang* fact = judged.snapshot.gangs[gang].fact;
    if (fact == nullptr || !fact->min_resources) return;
    const auto complain = [&](std::string_view whose, Dim dim) {
        report.add("min-resources",
                   judged.snapshot.gang_name(gang),
                   fmt::format("minResources exceed what {} has of {}", whose, judged.words.text(dim)));
    };
    for (const auto& [dim, value] : *fact->min_resources) {
        if (value > judged.offered().get(dim)) complain("the cluster", dim);
        if (!judged.row(member).queue) continue;
        for (const QueueId queue : judged.path(judged.row(member).queue)) {
            const QueueRow& row = judged.snapshot.queues[queue];
            const std::int64_t* limit = row.fact == nullptr ? nullptr : row.fact->limit.find(dim);
            if (limit != nullptr && value > *limit) complain(judged.words.text(row.name), dim);
        }
    }
}

// All gangs that go together with this one if any of them is attacked.
std::vector<GangId> unit_of(const Case& judged, GangId gang) {
    const CompositeId root = judged.snapshot.gangs[gang].whole_root;
    return root ? judged.snapshot.composites[root].gangs : std::vector<GangId>{gang};
}

bool evicted_locally(const Case& judged, GangId gang) {
    return std::ranges::any_of(judged.evicted_of(gang), [&](const EvictedPod* item) {
        const auto local = [](const ActionConfig& action) { return action.disruption == Disruption::kLocal; };
        return item->action && judged.configured(*item->action, local);
    });
}

void judge_one_unit(const Scene& later, GangId attacked, Report& report) {
    const Case& judged = later.judged();
    for (const GangId gang : unit_of(judged, attacked)) {
        for (const PodId pod : judged.snapshot.gangs[gang].pods) {
            if (!judged.runs(pod) || judged.eviction_of(pod) != nullptr) continue;
            report.add("broken-gang",
                       judged.snapshot.gang_name(attacked),
                       fmt::format("is disrupted as one, but {} stays", judged.name(pod)));
        }
    }
}

}  // namespace

std::vector<PodId> gang_members(const Scene& scene, GangId gang) {
    std::vector<PodId> found;
    for (const PodId pod : scene.judged().snapshot.gangs[gang].pods) {
        if (scene.has(pod)) found.push_back(pod);
    }
    return found;
}

std::string gang_lacks(const Case& judged, GangId gang, const std::vector<PodId>& live) {
    const GangRow& row = judged.snapshot.gangs[gang];
    const std::int64_t members = std::ssize(live) + stood_in_for(judged, gang);
    if (members < judged.minimum(gang)) return fmt::format("{} of {} members", members, judged.minimum(gang));
    if (row.fact == nullptr) return "";
    const std::string roles = roles_lack(judged, gang, live);
    return roles.empty() ? sub_groups_lack(judged, gang, live) : roles;
}

bool may_lose_members(const Case& judged, GangId gang) {
    const GangRow& row = judged.snapshot.gangs[gang];
    if (judged.minimum(gang) < 1) return true;
    if (row.fact != nullptr && row.fact->disruption == DisruptionMode::kSingle) return true;
    if (evicted_locally(judged, gang)) return true;
    std::vector<PodId> before;
    for (const PodId pod : row.pods) {
        if (judged.runs(pod)) before.push_back(pod);
    }
    return !gang_lacks(judged, gang, before).empty();  // it was broken already
}

bool gang_is_whole(const Scene& scene, GangId gang) {
    const Gang* fact = scene.judged().snapshot.gangs[gang].fact;
    // Where only their number counts, nobody need be looked at.
    if (fact == nullptr || (fact->role_minimums.empty() && fact->sub_groups.empty()))
        return scene.members(gang) + stood_in_for(scene.judged(), gang) >= scene.judged().minimum(gang);
    return gang_lacks(scene.judged(), gang, gang_members(scene, gang)).empty();
}

void judge_gangs(const Scene& later, Report& report) {
    const Case& judged = later.judged();
    if (!judged.enabled("gang")) return;
    for (const auto& [gang, pods] : gangs_placed(judged)) {
        judge_minimum(later, gang, report);
        judge_started_sub_groups(later, gang, pods, report);
        judge_when(judged, gang, pods, report);
        judge_min_resources(judged, gang, pods.front()->pod, report);
    }
}

void judge_broken_gangs(const Scene& later, Report& report) {
    const Case& judged = later.judged();
    if (!judged.enabled("gang")) return;
    std::set<GangId> attacked;
    for (const EvictedPod& item : judged.evicted) {
        const GangId gang = judged.row(item.pod).gang;
        if (gang && item.entry->unit != UnitKind::kReplica) attacked.insert(gang);
    }
    for (const GangId gang : attacked) {
        if (judged.snapshot.gangs[gang].one_unit()) {
            judge_one_unit(later, gang, report);
            continue;
        }
        const std::vector<PodId> left = gang_members(later, gang);
        const std::string lacks = gang_lacks(judged, gang, left);
        if (left.empty() || lacks.empty() || may_lose_members(judged, gang)) continue;
        report.add("broken-gang", judged.snapshot.gang_name(gang), fmt::format("is left running with {}", lacks));
    }
}

}  // namespace reprieve
