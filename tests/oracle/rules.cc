#include "rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace reprieve::oracle {
namespace {

const RunningPod& pod_at(const Instance& instance, int pod) { return instance.pods[static_cast<std::size_t>(pod)]; }

// Which pods of a gang go first: most of the need covered, lowest priority, least waste, youngest.
void sort_for_split(const Instance& instance, const Amounts& need, std::vector<int>& pods) {
    const auto key = [&](int i) {
        const RunningPod& pod = pod_at(instance, i);
        // Shares of the need over one denominator.
        std::int64_t product = 1;
        for (std::int64_t n : need)
            product *= std::max<std::int64_t>(n, 1);
        std::int64_t covered = 0;
        std::int64_t size = 0;
        for (std::size_t d = 0; d < kDims; ++d) {
            if (need[d] <= 0) continue;
            covered += std::min(pod.ask[d], need[d]) * (product / need[d]);
            size += pod.ask[d] * (product / need[d]);
        }
        return std::tuple(-covered, pod.priority, size, -pod.start);
    };
    std::ranges::sort(pods, {}, key);
}

// How many the gang can lose, in all and of each role.
class Spare {
public:
    Spare(const Instance& instance, int gang) : gang_(instance.gangs[static_cast<std::size_t>(gang)]) {
        std::vector<int> live(gang_.role_minimums.size());
        for (const RunningPod& pod : instance.pods) {
            if (pod.gang != gang) continue;
            ++left_;
            if (pod.role >= 0 && static_cast<std::size_t>(pod.role) < live.size())
                ++live[static_cast<std::size_t>(pod.role)];
        }
        left_ -= gang_.min;
        broken_ = left_ < 0;
        const int sum = std::accumulate(gang_.role_minimums.begin(), gang_.role_minimums.end(), 0);
        if (gang_.min < sum) return;
        for (std::size_t role = 0; role < live.size(); ++role)
            by_role_[static_cast<int>(role)] = live[role] - gang_.role_minimums[role];
    }

    bool take(const RunningPod& pod) {
        if (broken_) return true;
        const auto role = by_role_.find(pod.role);
        if (left_ <= 0 || (role != by_role_.end() && role->second <= 0)) return false;
        --left_;
        if (role != by_role_.end()) --role->second;
        return true;
    }

private:
    const RunningGang& gang_;
    int left_ = 0;
    bool broken_ = false;
    std::map<int, int> by_role_;
};

std::int64_t gang_priority(const Instance& instance, int gang) {
    std::int64_t highest = INT64_MIN;
    for (const RunningPod& pod : instance.pods) {
        if (pod.gang == gang) highest = std::max(highest, pod.priority);
    }
    return highest;
}

class Splitter {
public:
    Splitter(const Instance& instance, const Domain& domain) : instance_(instance), domain_(domain) {}

    std::vector<Unit> run() {
        std::map<int, std::vector<int>> by_gang;
        for (int i = 0; i < static_cast<int>(instance_.pods.size()); ++i) {
            const RunningPod& pod = pod_at(instance_, i);
            if (!local(pod) || !takeable(pod)) continue;
            if (pod.gang < 0)
                add({.priority = pod.priority}, {i});
            else
                by_gang[pod.gang].push_back(i);
        }
        for (auto& [gang, pods] : by_gang)
            split(gang, pods);
        return std::move(units_);
    }

private:
    [[nodiscard]] bool local(const RunningPod& pod) const {
        return std::ranges::binary_search(domain_.nodes, pod.node);
    }
    [[nodiscard]] bool takeable(const RunningPod& pod) const {
        const std::int64_t standing = pod.gang < 0 ? pod.priority : gang_priority(instance_, pod.gang);
        return !pod.is_protected && standing < instance_.demand.priority;
    }

    void add(Unit unit, std::vector<int> pods) {
        unit.start = INT64_MAX;
        for (int i : pods)
            unit.start = std::min(unit.start, pod_at(instance_, i).start);
        unit.pods = std::move(pods);
        units_.push_back(std::move(unit));
    }

    // All pods of the gang wherever they run; empty if one of them may not go.
    [[nodiscard]] std::vector<int> everybody(int gang) const {
        std::vector<int> all;
        for (int i = 0; i < static_cast<int>(instance_.pods.size()); ++i) {
            if (pod_at(instance_, i).gang != gang) continue;
            if (!takeable(pod_at(instance_, i))) return {};
            all.push_back(i);
        }
        return all;
    }

    void split(int gang, std::vector<int>& here) {
        const RunningGang& rules = instance_.gangs[static_cast<std::size_t>(gang)];
        const Unit like{.in_group = true, .gang = gang, .priority = gang_priority(instance_, gang)};
        if (rules.mode == GangMode::kCoreAll) {
            if (const std::vector<int> all = everybody(gang); !all.empty()) add(like, all);
            return;
        }
        sort_for_split(instance_, need_of(instance_.demand), here);
        Spare spare(instance_, gang);
        std::vector<int> safe;
        std::vector<int> core;
        for (int i : here)
            (spare.take(pod_at(instance_, i)) ? safe : core).push_back(i);
        int whole = -1;
        if (rules.mode == GangMode::kCoreSingle) {
            for (int i : core)
                add(like, {i});
        } else if (!core.empty()) {
            std::vector<int> all = everybody(gang);
            std::erase_if(all, [&](int i) { return std::ranges::find(safe, i) != safe.end(); });
            if (!all.empty()) {
                whole = static_cast<int>(units_.size());
                add(like, all);
            }
        }
        for (int i : safe) {
            Unit unit = like;
            unit.safe = true;
            unit.whole = whole;
            add(unit, {i});
        }
    }

    const Instance& instance_;
    const Domain& domain_;
    std::vector<Unit> units_;
};

// Walks the units from most to least important; whoever finds its budget spent breaks it.
void count_violations(const Instance& instance, std::vector<Unit>& units) {
    std::vector<std::size_t> order(units.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) {
        const Unit& u = units[i];
        return std::tuple(-u.priority, !u.in_group, -static_cast<std::int64_t>(u.pods.size()), u.start);
    });
    std::map<int, std::int64_t> left;
    for (const Budget& budget : instance.budgets)
        left[budget.app] = budget.allowed;
    for (std::size_t i : order) {
        for (int pod : units[i].pods) {
            const auto budget = left.find(pod_at(instance, pod).app);
            if (budget != left.end() && --budget->second < 0) ++units[i].violations;
        }
    }
}

// Members one after another, equal ones in one order of nodes only.
bool place(const std::vector<Amounts>& members, std::size_t at, std::size_t first, std::vector<Amounts>& room) {
    if (at == members.size()) return true;
    const bool like_last = at > 0 && members[at] == members[at - 1];
    for (std::size_t n = like_last ? first : 0; n < room.size(); ++n) {
        bool holds = true;
        for (std::size_t d = 0; d < kDims; ++d)
            holds = holds && (members[at][d] == 0 || members[at][d] <= room[n][d]);
        if (!holds) continue;
        for (std::size_t d = 0; d < kDims; ++d)
            room[n][d] -= members[at][d];
        const bool placed = place(members, at + 1, n, room);
        for (std::size_t d = 0; d < kDims; ++d)
            room[n][d] += members[at][d];
        if (placed) return true;
    }
    return false;
}

}  // namespace

std::vector<Domain> domains_of(const Instance& instance) {
    std::map<std::string, std::vector<int>> found;
    for (int n = 0; n < static_cast<int>(instance.nodes.size()); ++n) {
        const HostNode& node = instance.nodes[static_cast<std::size_t>(n)];
        if (!instance.demand.is_gang) {
            found[node.name] = {n};
            continue;
        }
        if (instance.demand.tier == 0) found[""].push_back(n);
        if (instance.demand.tier >= 1) found[fmt::format("rack-{}", node.rack)].push_back(n);
        if (instance.demand.tier >= 2) found[fmt::format("row-{}", node.row)].push_back(n);
    }
    std::vector<Domain> out;
    for (auto& [name, nodes] : found)
        out.push_back({name, std::move(nodes)});
    return out;
}

std::vector<Unit> units_of(const Instance& instance, const Domain& domain) {
    std::vector<Unit> units = Splitter(instance, domain).run();
    count_violations(instance, units);
    return units;
}

Amounts need_of(const Demand& demand) {
    Amounts need{};
    for (const Amounts& member : demand.members) {
        for (std::size_t d = 0; d < kDims; ++d)
            need[d] += member[d];
    }
    return need;
}

std::vector<std::string> term_names(const Demand& demand) {
    if (demand.is_gang) return {"pdbViolations", "breaksGangs", "maxPriority", "gangsBroken", "resources", "pods"};
    return {"pdbViolations", "maxPriority", "prioritySum", "pods", "latestStart"};
}

Price price_of(const Instance& instance, const std::vector<Unit>& units, const std::vector<bool>& gone) {
    std::int64_t violations = 0;
    std::int64_t highest = INT64_MIN;
    std::int64_t sum = 0;
    std::int64_t broken = 0;
    std::int64_t pods = 0;
    std::int64_t first_start = 0;
    Amounts destroyed{};
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (!gone[i]) continue;
        const Unit& unit = units[i];
        violations += unit.violations;
        broken += unit.safe ? 0 : 1;
        if (unit.priority > highest || (unit.priority == highest && unit.start < first_start)) first_start = unit.start;
        highest = std::max(highest, unit.priority);
        for (int pod : unit.pods) {
            ++pods;
            sum += unit.priority + (std::int64_t{1} << 31);
            for (std::size_t d = 0; d < kDims; ++d)
                destroyed[d] += pod_at(instance, pod).ask[d];
        }
    }
    if (!instance.demand.is_gang) return {violations, highest, sum, pods, -start_seconds(first_start)};
    std::int64_t resources = 0;
    const Amounts need = need_of(instance.demand);
    for (std::size_t d = 0; d < kDims; ++d)
        resources += need[d] > 0 ? 1000 * destroyed[d] / need[d] : 0;
    return {violations, broken > 0 ? 1 : 0, highest, broken, resources, pods};
}

Amounts free_on(const Instance& instance, int node) {
    Amounts room = instance.nodes[static_cast<std::size_t>(node)].size;
    for (const RunningPod& pod : instance.pods) {
        if (pod.node != node) continue;
        for (std::size_t d = 0; d < kDims; ++d)
            room[d] -= pod.ask[d];
    }
    return room;
}

bool links_hold(const std::vector<Unit>& units, const std::vector<bool>& gone) {
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (units[i].whole >= 0 && gone[static_cast<std::size_t>(units[i].whole)] && !gone[i]) return false;
    }
    return true;
}

bool fits(const Instance& instance,
          const Domain& domain,
          const std::vector<Unit>& units,
          const std::vector<bool>& gone) {
    std::vector<Amounts> room;
    for (int node : domain.nodes)
        room.push_back(free_on(instance, node));
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (!gone[i]) continue;
        for (int p : units[i].pods) {
            const auto at = std::ranges::lower_bound(domain.nodes, pod_at(instance, p).node);
            if (at == domain.nodes.end() || *at != pod_at(instance, p).node) continue;
            for (std::size_t d = 0; d < kDims; ++d)
                room[static_cast<std::size_t>(at - domain.nodes.begin())][d] += pod_at(instance, p).ask[d];
        }
    }
    std::vector<Amounts> members = instance.demand.members;
    std::ranges::sort(members, std::greater());
    return place(members, 0, 0, room);
}

}  // namespace reprieve::oracle
