#include "app/asked_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "manifest/suggest.h"
#include "state/serving.h"

namespace reprieve {
namespace {

constexpr std::size_t kMostNames = 3;

std::string_view bare(std::string_view full) { return full.substr(full.find('/') + 1); }

bool is_name_of(std::string_view name, std::string_view full) { return name == full || name == bare(full); }

// Of pods, gangs and serving deployments.
std::set<std::string> waiting_names(const Cluster& cluster) {
    const Snapshot& snapshot = cluster.snapshot();
    std::set<std::string> names;
    for (PodId pod : cluster.pending()) {
        names.insert(snapshot.pod_name(pod));
        if (const GangId gang = snapshot.pods[pod].gang) names.insert(snapshot.gang_name(gang));
    }
    for (const ServingRow& row : read_servings(cluster, "").rows)
        names.insert(row.name);
    return names;
}

// Of the controllers of pods that wait.
std::set<std::string> waiting_owners(const Cluster& cluster) {
    std::set<std::string> names;
    for (PodId id : cluster.pending()) {
        const Pod& pod = cluster.pod(id);
        if (pod.owner.name)
            names.insert(fmt::format("{}/{}", cluster.words().text(pod.ns), cluster.words().text(pod.owner.name)));
    }
    return names;
}

std::string why_not(const Snapshot& snapshot, PodId id) {
    const PodRow& row = snapshot.pods[id];
    const Pod& pod = snapshot.facts->pod(id);
    if (pod.finished()) return "it has ended";
    if (pod.terminating()) return "it is being deleted";
    if (pod.node) return fmt::format("it is bound to {}", snapshot.words->text(pod.node));
    if (pod.gated) return "it has scheduling gates";
    return row.has(kForeign) ? "it belongs to another scheduler" : "it is not to be placed";
}

// Empty: nothing has that name.
std::string known_but_idle(const Snapshot& snapshot, const std::string& name) {
    for (GangId id : IdRange<GangId>(snapshot.gangs.size())) {
        if (!snapshot.gangs[id].alive || !is_name_of(name, snapshot.gang_name(id))) continue;
        return fmt::format("gang {} does not wait: none of its pods is pending", snapshot.gang_name(id));
    }
    for (PodId id : IdRange<PodId>(snapshot.pods.size())) {
        if (snapshot.pods[id].state == PodState::kAbsent || !is_name_of(name, snapshot.pod_name(id))) continue;
        return fmt::format("pod {} does not wait: {}", snapshot.pod_name(id), why_not(snapshot, id));
    }
    return "";
}

std::string hint(const std::set<std::string>& waiting, const std::string& name) {
    if (waiting.empty()) return "nothing waits";
    const bool full = name.find('/') != std::string::npos;
    std::vector<std::string_view> known;
    std::vector<std::string_view> compared;
    for (const std::string& other : waiting) {
        known.push_back(other);
        compared.push_back(full ? std::string_view(other) : bare(other));
    }
    std::vector<std::string_view> near;
    for (const std::size_t at : nearest_places(name, compared, kMostNames))
        near.push_back(known[at]);
    if (!near.empty()) return fmt::format("nearest that wait: {}", fmt::join(near, ", "));
    const std::size_t more = known.size() - std::min(known.size(), kMostNames);
    known.resize(known.size() - more);
    return fmt::format(
        "waiting: {}{}", fmt::join(known, ", "), more == 0 ? std::string() : fmt::format(" and {} more", more));
}

}  // namespace

Result<void> check_asked_names(const Cluster& cluster, const std::vector<std::string>& names) {
    if (names.empty()) return {};
    const std::set<std::string> waiting = waiting_names(cluster);
    const std::set<std::string> owners = waiting_owners(cluster);
    for (const std::string& name : names) {
        const auto is_it = [&](const std::string& full) { return is_name_of(name, full); };
        if (std::ranges::any_of(waiting, is_it) || std::ranges::any_of(owners, is_it)) continue;
        const std::string idle = known_but_idle(cluster.snapshot(), name);
        return fail(fmt::format("--for {}: {}; {}",
                                name,
                                idle.empty() ? "no such pod, gang, workload or serving deployment" : idle,
                                hint(waiting, name)));
    }
    return {};
}

}  // namespace reprieve
