#include "explain/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "manifest/suggest.h"
#include "state/serving.h"

namespace reprieve {
namespace {

constexpr std::size_t kMostNames = 3;

std::string_view bare(std::string_view full) { return full.substr(full.find('/') + 1); }

bool is_name_of(std::string_view name, std::string_view full) { return name == full || name == bare(full); }

struct Names {
    std::set<std::string> pods;
    std::set<std::string> gangs;
};

void note(std::set<std::string>& names, const std::string& name) {
    if (!name.empty()) names.insert(name);
}

Names names_in(const Plan& plan) {
    Names out;
    for (const Eviction& e : plan.evictions) {
        note(out.pods, e.pod);
        note(out.gangs, e.group);
    }
    for (const Placement& p : plan.placements) {
        note(out.pods, p.pod);
        note(out.gangs, p.owner);
    }
    for (const Unplaced& u : plan.unplaced) {
        note(out.pods, u.pod);
        note(out.gangs, u.owner);
    }
    for (const ScaleChange& change : plan.scale) {
        note(out.gangs, change.deployment);
        for (const std::string& pod : change.hints)
            note(out.pods, pod);
    }
    for (const Match& m : plan.matches) {
        note(out.gangs, m.owner);
        for (const MatchVictim& victim : m.victims)
            note(out.pods, victim.pod);
    }
    return out;
}

void add_names(const Cluster& cluster, Names& out) {
    const Snapshot& s = cluster.snapshot();
    for (const ServingRow& row : read_servings(cluster, kAnyPlaneLabel).rows)
        out.gangs.insert(row.name);
    for (PodId id : IdRange<PodId>(s.pods.size())) {
        if (s.pods[id].state != PodState::kAbsent) out.pods.insert(s.pod_name(id));
    }
    for (GangId id : IdRange<GangId>(s.gangs.size())) {
        if (s.gangs[id].alive) out.gangs.insert(s.gang_name(id));
    }
}

std::vector<std::string> matches(const std::set<std::string>& names, const std::string& name) {
    if (names.contains(name)) return {name};
    std::vector<std::string> out;
    std::ranges::copy_if(
        names, std::back_inserter(out), [&](const std::string& full) { return is_name_of(name, full); });
    return out;
}

// Names of which this is a part; those that begin with it first.
std::vector<std::size_t> partly_named(std::string_view part, std::span<const std::string_view> known) {
    std::vector<std::size_t> out;
    for (const bool at_front : {true, false}) {
        for (std::size_t i = 0; i < known.size() && out.size() < kMostNames; ++i) {
            const std::size_t at = known[i].find(part);
            if (at != std::string_view::npos && (at == 0) == at_front) out.push_back(i);
        }
    }
    return out;
}

std::string hint(const Names& names, const std::string& name) {
    std::vector<std::string_view> known(names.gangs.begin(), names.gangs.end());
    known.insert(known.end(), names.pods.begin(), names.pods.end());
    std::vector<std::string_view> compared;
    const bool full = name.find('/') != std::string::npos;
    for (std::string_view other : known)
        compared.push_back(full ? other : bare(other));
    std::vector<std::string_view> near;
    for (const std::size_t at : partly_named(name, compared))
        near.push_back(known[at]);
    for (const std::size_t at : nearest_places(name, compared, kMostNames)) {
        if (near.size() < kMostNames && std::ranges::find(near, known[at]) == near.end()) near.push_back(known[at]);
    }
    return near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "));
}

bool is_queue(const Cluster& cluster, const std::string& name) {
    const Snapshot& s = cluster.snapshot();
    return std::ranges::any_of(s.queues,
                               [&](const QueueRow& row) { return row.alive && s.words->text(row.name) == name; });
}

std::vector<std::string> members(const Plan& plan, const Cluster* cluster, const std::string& gang) {
    std::set<std::string> pods;
    for (const Eviction& e : plan.evictions)
        if (e.group == gang) pods.insert(e.pod);
    for (const Placement& p : plan.placements)
        if (p.owner == gang) pods.insert(p.pod);
    for (const Unplaced& u : plan.unplaced)
        if (u.owner == gang) note(pods, u.pod);
    for (const ScaleChange& change : plan.scale)
        if (change.deployment == gang) pods.insert(change.hints.begin(), change.hints.end());
    if (cluster != nullptr) {
        const Snapshot& s = cluster->snapshot();
        for (const ServingRow& row : read_servings(*cluster, kAnyPlaneLabel).rows) {
            for (const auto& [plane, branch] : row.branches) {
                if (row.name != gang) continue;
                for (PodId pod : branch.pods)
                    pods.insert(s.pod_name(pod));
            }
        }
        for (GangId id : IdRange<GangId>(s.gangs.size())) {
            if (!s.gangs[id].alive || s.gang_name(id) != gang) continue;
            for (PodId pod : s.gangs[id].pods)
                pods.insert(s.pod_name(pod));
        }
    }
    return {pods.begin(), pods.end()};
}

}  // namespace

Result<Subject> find_subject(const Plan& plan, const Cluster* cluster, const std::string& name, bool gang) {
    Names names = names_in(plan);
    if (cluster != nullptr) add_names(*cluster, names);
    if (gang) names.pods.clear();
    std::vector<std::string> found = matches(names.pods, name);
    const bool is_pod = !found.empty();
    if (!is_pod) found = matches(names.gangs, name);
    if (found.size() > 1)
        return fail(fmt::format("{} is a name in several namespaces; which one: {}?", name, fmt::join(found, ", ")));
    if (found.empty() && cluster != nullptr && is_queue(*cluster, name))
        return fail(
            fmt::format("{} is a queue: `plan` lists what it deserves and uses; explain tells of pods, gangs and "
                        "serving deployments",
                        name));
    if (found.empty()) {
        const char* what = gang ? "gang" : "pod or gang";
        return fail(fmt::format("{}: {} such {}{}",
                                name,
                                cluster != nullptr ? "there is no" : "the plan knows no",
                                what,
                                hint(names, name)));
    }
    Subject out{.name = found.front(), .gang = !is_pod};
    out.pods = is_pod ? found : members(plan, cluster, out.name);
    return out;
}

}  // namespace reprieve
