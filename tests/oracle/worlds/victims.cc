#include "victims.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <tuple>

namespace reprieve::worlds {

bool cheaper(const Price& a, const Price& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].second != b[i].second) return a[i].second < b[i].second;
    }
    return false;
}

Victims::Victims(const World& world, const WorldDemand& demand, const Places& places, Mask spent)
    : world_(world),
      demand_(demand),
      places_(places),
      spent_(spent) {
    for (int p : demand.pods)
        need_cpu_ += pod(p).traits.cpu;
    for (int p = 0; p < static_cast<int>(world.pods.size()); ++p) {
        const bool runs = pod(p).node >= 0 && places[static_cast<std::size_t>(p)] >= 0;
        if (runs && !pod(p).is_protected && standing(p) < demand.priority) open_ |= bit(p);
    }
    // Every subset of those who may go, from the empty one up.
    for (Mask set = 0;; set = (set - open_) & open_) {
        if (keeps_gangs(set) && keeps_budgets(set)) sets_.push_back(set);
        if (set == open_) break;
    }
}

Mask Victims::members_left(int gang) const {
    Mask out = 0;
    for (int p = 0; p < static_cast<int>(world_.pods.size()); ++p) {
        if (pod(p).gang == gang && pod(p).node >= 0 && places_[static_cast<std::size_t>(p)] >= 0) out |= bit(p);
    }
    return out;
}

// How many pods a gang can lose and keep its minimum; all of them if it is below it already.
int Victims::spare(int gang) const {
    const int left = std::popcount(members_left(gang));
    const int min = world_.gangs[static_cast<std::size_t>(gang)].min;
    return left < min ? left : left - min;
}

// Attacked, a gang stands with the highest priority of its members.
int Victims::standing(int p) const {
    if (pod(p).gang < 0) return pod(p).traits.priority;
    int highest = INT_MIN;
    for (const WorldPod& other : world_.pods) {
        if (other.gang == pod(p).gang) highest = std::max(highest, other.traits.priority);
    }
    return highest;
}

bool Victims::keeps_gangs(Mask set) const {
    for (int g = 0; g < static_cast<int>(world_.gangs.size()); ++g) {
        const Mask all = members_left(g);
        const Mask lost = set & all;
        if (lost == 0 || lost == all) continue;
        const GangKind kind = world_.gangs[static_cast<std::size_t>(g)].kind;
        if (kind == GangKind::kCoreAll) return false;
        if (kind == GangKind::kVolcano && std::popcount(lost) > spare(g)) return false;
    }
    return true;
}

bool Victims::keeps_budgets(Mask set) const {
    if (!world_.strict_budgets) return true;
    for (const WorldBudget& budget : world_.budgets) {
        int lost = 0;
        for (int p = 0; p < static_cast<int>(world_.pods.size()); ++p)
            lost += has(set | spent_, p) && pod(p).traits.app == budget.app ? 1 : 0;
        const bool spends =
            std::popcount(set) > 0 && std::ranges::any_of(world_.pods, [&](const WorldPod& other) {
                return has(set, static_cast<int>(&other - world_.pods.data())) && other.traits.app == budget.app;
            });
        if (spends && lost > budget.allowed) return false;
    }
    return true;
}

std::string Victims::complaint(Mask set) const {
    for (int p = 0; p < static_cast<int>(world_.pods.size()); ++p) {
        if (has(set, p) && !may_go(p)) return fmt::format("{} may not be evicted", pod(p).name);
    }
    if (!keeps_gangs(set)) return "takes from a gang what it can neither spare nor lose whole";
    if (!keeps_budgets(set)) return "takes more than a strict budget allows";
    return "";
}

Victims::Unit Victims::unit_of(Mask pods, bool in_group) const {
    Unit out{.pods = pods, .in_group = in_group, .start = INT_MAX};
    for (int p = 0; p < static_cast<int>(world_.pods.size()); ++p) {
        if (!has(pods, p)) continue;
        out.priority = standing(p);
        out.start = std::min(out.start, pod(p).start);
    }
    return out;
}

// Which of its pods here a gang can spare, by its own order; the rest of it is one unit wherever it runs.
void Victims::split(int gang, Mask here, std::vector<Unit>& out) const {
    const Mask all = members_left(gang);
    const GangKind kind = world_.gangs[static_cast<std::size_t>(gang)].kind;
    if (kind == GangKind::kCoreAll) {
        if ((all & ~open_) == 0) out.push_back(unit_of(all, true));
        return;
    }
    std::vector<int> order;
    for (int p = 0; p < static_cast<int>(world_.pods.size()); ++p) {
        if (has(here, p)) order.push_back(p);
    }
    // Most of the need covered, lowest priority, least waste, youngest, later name.
    std::ranges::sort(order, [&](int a, int b) {
        const auto key = [&](int p) {
            const int cpu = pod(p).traits.cpu;
            return std::tuple(-std::min(cpu, need_cpu_), pod(p).traits.priority, cpu, -pod(p).start);
        };
        return key(a) != key(b) ? key(a) < key(b) : pod(a).name > pod(b).name;
    });
    int left = spare(gang);
    Mask safe = 0;
    Mask core = 0;
    for (int p : order) {
        (left > 0 ? safe : core) |= bit(p);
        --left;
    }
    for (int p : order) {
        if (has(safe, p) || kind == GangKind::kCoreSingle) out.push_back(unit_of(bit(p), true));
    }
    if (kind == GangKind::kVolcano && core != 0 && (all & ~open_) == 0) out.push_back(unit_of(all & ~safe, true));
}

std::vector<Victims::Unit> Victims::units_at(int place) const {
    std::vector<Unit> out;
    Mask here = 0;
    for (int p = 0; p < static_cast<int>(world_.pods.size()); ++p) {
        if (may_go(p) && (place < 0 || places_[static_cast<std::size_t>(p)] == place)) here |= bit(p);
    }
    for (int p = 0; p < static_cast<int>(world_.pods.size()); ++p) {
        if (has(here, p) && pod(p).gang < 0) out.push_back(unit_of(bit(p), false));
    }
    for (int g = 0; g < static_cast<int>(world_.gangs.size()); ++g) {
        const Mask mine = here & members_left(g);
        if (mine != 0) split(g, mine, out);
    }
    return out;
}

// The units that a set of victims is made of.
std::vector<Victims::Unit> Victims::units_in(Mask set) const {
    std::vector<Unit> out;
    for (int p = 0; p < static_cast<int>(world_.pods.size()); ++p) {
        if (!has(set, p)) continue;
        const int g = pod(p).gang;
        const Mask all = g < 0 ? 0 : members_left(g);
        const bool alone = g < 0 || world_.gangs[static_cast<std::size_t>(g)].kind == GangKind::kCoreSingle ||
                           std::popcount(set & all) <= spare(g);
        if (alone)
            out.push_back(unit_of(bit(p), g >= 0));
        else if ((all & (bit(p) - 1)) == 0)  // once for each gang
            out.push_back(unit_of(all, true));
    }
    return out;
}

std::int64_t Victims::violations(Mask set, int place, const Reading& reading) const {
    using enum Reading::Walk;
    if (reading.walk == kNobody || world_.budgets.empty()) return 0;
    std::vector<Unit> units;
    if (reading.walk == kVictims) {
        units = units_in(set);
    } else {
        units = units_at(reading.walk == kPlace ? place : -1);
        // Victims elsewhere are candidates as well.
        Mask known = 0;
        for (const Unit& unit : units)
            known |= unit.pods;
        for (const Unit& unit : units_in(set & ~known))
            units.push_back(unit);
    }
    std::ranges::sort(units, [&](const Unit& a, const Unit& b) {
        const auto key = [](const Unit& u) {
            return std::tuple(-u.priority, !u.in_group, -std::popcount(u.pods), u.start, std::countr_zero(u.pods));
        };
        return key(a) < key(b);
    });
    std::vector<int> left;
    for (const WorldBudget& budget : world_.budgets) {
        left.push_back(budget.allowed);
        for (int p = 0; p < static_cast<int>(world_.pods.size()); ++p) {
            if (has(spent_, p) && pod(p).traits.app == budget.app) --left.back();
        }
    }
    Mask breaks = 0;
    for (const Unit& unit : units) {
        for (int p = 0; p < static_cast<int>(world_.pods.size()); ++p) {
            if (!has(unit.pods, p)) continue;
            for (std::size_t b = 0; b < left.size(); ++b) {
                if (world_.budgets[b].app == pod(p).traits.app && --left[b] < 0) breaks |= bit(p);
            }
        }
    }
    return std::popcount(breaks & set);
}

// Units that are more than their gang can spare; a pod by itself is one.
std::int64_t Victims::broken(Mask set) const {
    std::int64_t out = 0;
    for (int p = 0; p < static_cast<int>(world_.pods.size()); ++p)
        out += has(set, p) && pod(p).gang < 0 ? 1 : 0;
    for (int g = 0; g < static_cast<int>(world_.gangs.size()); ++g) {
        const int lost = std::popcount(set & members_left(g));
        if (lost == 0) continue;
        const GangKind kind = world_.gangs[static_cast<std::size_t>(g)].kind;
        if (kind == GangKind::kCoreAll)
            ++out;
        else if (lost > spare(g))
            out += kind == GangKind::kCoreSingle ? lost - spare(g) : 1;
    }
    return out;
}

std::int64_t Victims::first_start(Mask set, const Reading& reading) const {
    if (reading.start_of_unit) {
        const std::vector<Unit> units = units_in(set);
        const auto first = std::ranges::min_element(units, {}, [](const Unit& u) {
            return std::tuple(-u.priority, !u.in_group, -std::popcount(u.pods), u.start);
        });
        return first->start;
    }
    std::pair<int, int> best{INT_MAX, INT_MAX};
    for (int p = 0; p < static_cast<int>(world_.pods.size()); ++p) {
        if (has(set, p)) best = std::min(best, {-standing(p), pod(p).start});
    }
    return best.second;
}

Price Victims::price(Mask set, int place, const Reading& reading) const {
    std::int64_t highest = INT_MIN;
    std::int64_t sum = 0;
    std::int64_t cpu = 0;
    for (int p = 0; p < static_cast<int>(world_.pods.size()); ++p) {
        if (!has(set, p)) continue;
        highest = std::max<std::int64_t>(highest, standing(p));
        sum += standing(p) + (std::int64_t{1} << 31U);
        cpu += pod(p).traits.cpu;
    }
    Price out{{"pdbViolations", violations(set, place, reading)}};
    if (demand_.gang < 0) {
        out.insert(out.end(),
                   {{"maxPriority", highest},
                    {"prioritySum", sum},
                    {"pods", std::popcount(set)},
                    {"latestStart", set == 0 ? 0 : -(kBegin + first_start(set, reading))}});
        return out;
    }
    const std::int64_t units = broken(set);
    out.insert(out.end(),
               {{"breaksGangs", units > 0 ? 1 : 0},
                {"maxPriority", highest},
                {"gangsBroken", units},
                {"resources", 1000 * cpu / need_cpu_},
                {"pods", std::popcount(set)}});
    return out;
}

}  // namespace reprieve::worlds
