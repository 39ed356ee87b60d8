#include "rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "quota_rules.h"
#include "spare.h"

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

std::int64_t gang_priority(const Instance& instance, int gang) {
    std::int64_t highest = INT64_MIN;
    for (const RunningPod& pod : instance.pods) {
        if (pod.gang == gang) highest = std::max(highest, pod.priority);
    }
    return highest;
}

std::int64_t standing_of(const Instance& instance, const RunningPod& pod) {
    return pod.gang < 0 ? pod.priority : gang_priority(instance, pod.gang);
}

class Splitter {
public:
    Splitter(const Instance& instance, const Domain& domain, bool open = false)
        : instance_(instance),
          takeable_(takeable_pods(instance)),
          candidates_(candidates_in(instance, domain)),
          open_(open) {}

    std::vector<Unit> run() {
        std::map<int, std::vector<int>> by_gang;
        for (int i : candidates_) {
            const RunningPod& pod = pod_at(instance_, i);
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
            if (!std::ranges::binary_search(takeable_, i)) return {};
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
        for (int i : here) {
            const bool spared =
                open_ ? Spare(instance_, gang).take(pod_at(instance_, i)) : spare.take(pod_at(instance_, i));
            (spared ? safe : core).push_back(i);
        }
        int whole = -1;
        if (rules.mode == GangMode::kCoreSingle) {
            for (int i : core)
                add(like, {i});
        } else if (open_ || !core.empty()) {
            std::vector<int> all = everybody(gang);
            if (!all.empty()) {
                std::erase_if(all, [&](int i) { return std::ranges::find(safe, i) != safe.end(); });
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
    std::vector<int> takeable_;
    std::vector<int> candidates_;
    bool open_;
    std::vector<Unit> units_;
};

void sort_by_importance(std::vector<Unit>& units) {
    std::ranges::sort(units, {}, [](const Unit& u) {
        return std::tuple(-u.priority, !u.in_group, -static_cast<std::int64_t>(u.pods.size()), u.start);
    });
}

// Walks the units from most to least important, then the late ones in the same way; a pod that finds its budget spent
// breaks it. By pod.
std::vector<bool> who_breaks_budgets(const Instance& instance, std::vector<Unit> units, std::vector<Unit> late = {}) {
    sort_by_importance(units);
    sort_by_importance(late);
    units.insert(units.end(), late.begin(), late.end());
    std::vector<bool> breaks(instance.pods.size());
    std::map<int, std::int64_t> left;
    for (const Budget& budget : instance.budgets)
        left[budget.app] = budget.allowed;
    for (const Unit& unit : units) {
        for (int pod : unit.pods) {
            const auto budget = left.find(pod_at(instance, pod).app);
            if (budget != left.end() && --budget->second < 0) breaks[static_cast<std::size_t>(pod)] = true;
        }
    }
    return breaks;
}

bool holds(const Amounts& room, const Amounts& member) {
    for (std::size_t d = 0; d < kDims; ++d) {
        if (member[d] > 0 && member[d] > room[d]) return false;
    }
    return true;
}

// Whether so many equal members fit: what each node holds adds up.
bool place_equal(const Amounts& member, std::int64_t count, const std::vector<Amounts>& room) {
    for (const Amounts& r : room)
        count -= std::min(count, how_many(r, member));
    return count == 0;
}

// Members one after another, equal ones in one order of nodes only; the last kind is only counted.
bool place(const std::vector<Amounts>& members, std::size_t at, std::size_t first, std::vector<Amounts>& room) {
    if (at == members.size()) return true;
    const bool like_last = at > 0 && members[at] == members[at - 1];
    if (!like_last && members[at] == members.back())
        return place_equal(members[at], std::ssize(members) - static_cast<std::int64_t>(at), room);
    for (std::size_t n = like_last ? first : 0; n < room.size(); ++n) {
        if (!holds(room[n], members[at])) continue;
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
        if (instance.demand.way == Way::kPreempt) {
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
    const std::vector<bool> breaks = who_breaks_budgets(instance, units);
    for (Unit& unit : units)
        unit.violations = std::ranges::count_if(unit.pods, [&](int p) { return breaks[static_cast<std::size_t>(p)]; });
    return units;
}

std::vector<Unit> open_units_of(const Instance& instance, const Domain& domain) {
    std::vector<Unit> units = Splitter(instance, domain, true).run();
    const std::vector<bool> breaks = budget_breakers(instance, domain);
    for (Unit& unit : units)
        unit.violations = std::ranges::count_if(unit.pods, [&](int p) { return breaks[static_cast<std::size_t>(p)]; });
    return units;
}

std::vector<bool> budget_breakers(const Instance& instance, const Domain& domain) {
    std::vector<Unit> units = Splitter(instance, domain).run();
    // Where a gang cannot go whole, the pods behind its surplus are in no unit of the order's split, but another split
    // may take them: they find what the order's units leave of each budget.
    std::vector<Unit> late = Splitter(instance, domain, true).run();
    std::erase_if(late, [&](const Unit& unit) {
        return std::ranges::any_of(units, [&](const Unit& settled) {
            return std::ranges::find_first_of(settled.pods, unit.pods) != settled.pods.end();
        });
    });
    return who_breaks_budgets(instance, std::move(units), std::move(late));
}

std::vector<int> takeable_pods(const Instance& instance) {
    const QuotaRules quotas(instance);
    std::vector<int> out;
    for (int i = 0; i < static_cast<int>(instance.pods.size()); ++i) {
        const RunningPod& pod = pod_at(instance, i);
        if (!pod.is_protected && quotas.may_take(pod, standing_of(instance, pod))) out.push_back(i);
    }
    if (instance.demand.way == Way::kJobPreempt) quotas.drop_vain(out);
    return out;
}

std::vector<int> candidates_in(const Instance& instance, const Domain& domain) {
    std::vector<int> out = takeable_pods(instance);
    // Over a limit, whoever counts towards it frees it, wherever it runs.
    if (QuotaRules(instance).over_limit()) return out;
    std::erase_if(out, [&](int i) { return !std::ranges::binary_search(domain.nodes, pod_at(instance, i).node); });
    return out;
}

Amounts need_of(const Demand& demand) {
    Amounts need{};
    for (const Amounts& member : demand.members) {
        for (std::size_t d = 0; d < kDims; ++d)
            need[d] += member[d];
    }
    return need;
}

namespace {

std::vector<std::string> terms_of_the_action(const Demand& demand) {
    if (!demand.cost.empty()) return demand.cost;
    switch (demand.way) {
        case Way::kPreempt:
            return {"pdbViolations", "maxPriority", "prioritySum", "pods", "latestStart"};
        case Way::kGangPreempt:
            return {"pdbViolations", "breaksGangs", "maxPriority", "gangsBroken", "resources", "pods"};
        case Way::kJobPreempt:
            break;
    }
    return {"pdbViolations", "maxPriority", "gangsBroken", "prioritySum", "pods"};
}

}  // namespace

std::vector<std::string> term_names(const Instance& instance) {
    std::vector<std::string> names = terms_of_the_action(instance.demand);
    const bool mixed = std::ranges::any_of(
        instance.pods, [&](const RunningPod& pod) { return pod.priority != standing_of(instance, pod); });
    if (mixed) names.insert(std::ranges::find(names, "latestStart"), "ownPriority");
    return names;
}

void Bill::add(int p, bool breaks_budget) {
    const RunningPod& pod = pod_at(instance_, p);
    const std::int64_t priority = standing_of(instance_, pod);
    violations_ += breaks_budget ? 1 : 0;
    if (priority > highest_ || (priority == highest_ && pod.start < first_start_)) first_start_ = pod.start;
    highest_ = std::max(highest_, priority);
    ++pods_;
    priorities_ += priority + (std::int64_t{1} << 31);
    own_ += pod.priority + (std::int64_t{1} << 31);
    for (std::size_t d = 0; d < kDims; ++d)
        destroyed_[d] += pod.ask[d];
}

Price Bill::price() const {
    std::int64_t resources = 0;
    const Amounts need = need_of(instance_.demand);
    for (std::size_t d = 0; d < kDims; ++d)
        resources += need[d] > 0 ? 1000 * destroyed_[d] / need[d] : 0;
    const std::map<std::string, std::int64_t> values{{"pdbViolations", violations_},
                                                     {"breaksGangs", broken_ > 0 ? 1 : 0},
                                                     {"maxPriority", highest_},
                                                     {"gangsBroken", broken_},
                                                     {"prioritySum", priorities_},
                                                     {"resources", resources},
                                                     {"pods", pods_},
                                                     {"ownPriority", own_},
                                                     {"latestStart", -start_seconds(first_start_)}};
    Price out;
    for (const std::string& term : term_names(instance_))
        out.push_back(values.at(term));
    return out;
}

Price price_of(const Instance& instance, const std::vector<Unit>& units, const std::vector<bool>& gone) {
    const std::vector<bool> breaks = who_breaks_budgets(instance, units);
    Bill bill(instance);
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (!gone[i]) continue;
        bill.add_broken(units[i].safe ? 0 : 1);
        for (int pod : units[i].pods)
            bill.add(pod, breaks[static_cast<std::size_t>(pod)]);
    }
    return bill.price();
}

std::int64_t how_many(const Amounts& room, const Amounts& member) {
    std::int64_t most = INT64_MAX;
    for (std::size_t d = 0; d < kDims; ++d) {
        if (member[d] > 0) most = std::min(most, std::max<std::int64_t>(room[d], 0) / member[d]);
    }
    return most;
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

bool fits_without(const Instance& instance, const Domain& domain, const std::vector<int>& gone) {
    if (!QuotaRules(instance).hold(gone)) return false;
    std::vector<bool> runs(instance.pods.size(), true);
    for (int p : gone)
        runs[static_cast<std::size_t>(p)] = false;
    std::vector<Amounts> room;
    for (int node : domain.nodes)
        room.push_back(instance.nodes[static_cast<std::size_t>(node)].size);
    for (std::size_t p = 0; p < instance.pods.size(); ++p) {
        const RunningPod& pod = instance.pods[p];
        const auto at = std::ranges::lower_bound(domain.nodes, pod.node);
        if (!runs[p] || at == domain.nodes.end() || *at != pod.node) continue;
        for (std::size_t d = 0; d < kDims; ++d)
            room[static_cast<std::size_t>(at - domain.nodes.begin())][d] -= pod.ask[d];
    }
    std::vector<Amounts> members = instance.demand.members;
    std::ranges::sort(members, std::greater());
    return place(members, 0, 0, room);
}

bool fits(const Instance& instance,
          const Domain& domain,
          const std::vector<Unit>& units,
          const std::vector<bool>& gone) {
    std::vector<int> pods;
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (gone[i]) pods.insert(pods.end(), units[i].pods.begin(), units[i].pods.end());
    }
    return fits_without(instance, domain, pods);
}

}  // namespace reprieve::oracle
