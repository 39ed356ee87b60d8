#include "victims.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <tuple>

namespace reprieve::worlds {

Victims::Victims(const World& world, const WorldDemand& demand, const Places& places, Mask spent)
    : world_(world),
      demand_(demand),
      places_(places),
      spent_(spent) {
    for (int p = 0; p < world.pod_count(); ++p) {
        if (is_open(p)) open_ |= bit(p);
    }
    // Every subset of those who may go, from the empty one up.
    for (Mask set = 0;; set = (set - open_) & open_) {
        if (keeps_gangs(set) && keeps_budgets(set)) sets_.push_back(set);
        if (set == open_) break;
    }
}

// Running, not protected, strictly lower, of the same queue unless the configuration says otherwise.
bool Victims::is_open(int p) const {
    const WorldPod& pod = world_.pod(p);
    if (pod.node < 0 || places_[static_cast<std::size_t>(p)].node < 0 || pod.is_protected || pod.leaves) return false;
    const int queue = world_.pod(demand_.pods.front()).traits.queue;
    return standing(p) < demand_.priority && (world_.cross_queue || pod.traits.queue == queue);
}

Mask Victims::members_left(int gang) const {
    Mask out = 0;
    for (int p = 0; p < world_.pod_count(); ++p) {
        const WorldPod& pod = world_.pod(p);
        if (pod.gang == gang && pod.node >= 0 && places_[static_cast<std::size_t>(p)].node >= 0) out |= bit(p);
    }
    return out;
}

// How many pods a gang can lose and keep its minimum; all of them if it is below it already.
int Victims::spare(int gang) const {
    const int left = std::popcount(members_left(gang));
    const int min = world_.gang(gang).min;
    return left < min ? left : left - min;
}

// Attacked, a gang stands with its own priority, else with the highest of its members.
int Victims::standing(int p) const {
    const WorldPod& pod = world_.pod(p);
    if (pod.gang < 0) return pod.traits.priority;
    if (world_.gang(pod.gang).priority) return *world_.gang(pod.gang).priority;
    int highest = INT_MIN;
    for (const WorldPod& other : world_.pods) {
        if (other.gang == pod.gang) highest = std::max(highest, other.traits.priority);
    }
    return highest;
}

bool Victims::keeps_gangs(Mask set) const {
    for (int g = 0; g < static_cast<int>(world_.gangs.size()); ++g) {
        const Mask all = members_left(g);
        const Mask lost = set & all;
        if (lost == 0 || lost == all) continue;
        const GangKind kind = world_.gang(g).kind;
        if (kind == GangKind::kCoreAll) return false;
        if (kind == GangKind::kVolcano && std::popcount(lost) > spare(g)) return false;
    }
    return true;
}

int Victims::spends(Mask set, const WorldBudget& budget) const {
    int out = 0;
    each(set, [&](int, const WorldPod& pod) { out += pod.traits.app == budget.app ? 1 : 0; });
    return out;
}

bool Victims::keeps_budgets(Mask set) const {
    if (!world_.strict_budgets) return true;
    return std::ranges::all_of(world_.budgets, [&](const WorldBudget& budget) {
        return spends(set, budget) == 0 || spends(set | spent_, budget) <= budget.allowed;
    });
}

std::string Victims::complaint(Mask set) const {
    std::string out;
    each(set, [&](int p, const WorldPod& pod) {
        if (!may_go(p)) out = fmt::format("{} may not be evicted", pod.name);
    });
    if (!out.empty()) return out;
    if (!keeps_gangs(set)) return "takes from a gang what it can neither spare nor lose whole";
    if (!keeps_budgets(set)) return "takes more than a strict budget allows";
    return "";
}

Victims::Unit Victims::unit_of(Mask pods, bool in_group) const {
    Unit out{.pods = pods, .in_group = in_group, .start = INT_MAX};
    each(pods, [&](int p, const WorldPod& pod) {
        out.priority = standing(p);
        out.start = std::min(out.start, pod.start);
    });
    return out;
}

// Most of the need covered, lowest priority, least waste, youngest, later name.
void Victims::sort_for_split(std::vector<int>& pods, bool shares) const {
    const Amounts wanted = need(shares);
    std::int64_t product = 1;
    for (std::int64_t amount : wanted)
        product *= std::max<std::int64_t>(amount, 1);
    std::ranges::sort(pods, [&](int a, int b) {
        const auto key = [&](int p) {
            const Amounts own = amounts(world_.pod(p).traits, shares);
            std::int64_t covered = 0;
            std::int64_t size = 0;
            for (std::size_t d = 0; d < kDims; ++d) {
                if (wanted[d] == 0) continue;
                covered += std::min(own[d], wanted[d]) * (product / wanted[d]);
                size += own[d] * (product / wanted[d]);
            }
            return std::tuple(-covered, world_.pod(p).traits.priority, size, -world_.pod(p).start);
        };
        return key(a) != key(b) ? key(a) < key(b) : world_.pod(a).name > world_.pod(b).name;
    });
}

// Which of its pods here a gang can spare, by its own order; the rest of it is one unit wherever it runs.
void Victims::split(int gang, Mask here, bool shares, std::vector<Unit>& out) const {
    const Mask all = members_left(gang);
    const bool whole_may_go = (all & ~open_) == 0;
    const GangKind kind = world_.gang(gang).kind;
    if (kind == GangKind::kCoreAll) {
        if (whole_may_go) out.push_back(unit_of(all, true));
        return;
    }
    std::vector<int> order;
    each(here, [&](int p, const WorldPod&) { order.push_back(p); });
    sort_for_split(order, shares);
    int left = spare(gang);
    Mask safe = 0;
    for (int p : order) {
        const bool spared = left-- > 0;
        if (spared) safe |= bit(p);
        if (spared || kind == GangKind::kCoreSingle) out.push_back(unit_of(bit(p), true));
    }
    if (kind == GangKind::kVolcano && safe != here && whole_may_go) out.push_back(unit_of(all & ~safe, true));
}

std::vector<Victims::Unit> Victims::units_at(Mask site, bool shares) const {
    std::vector<Unit> out;
    Mask here = 0;
    each(open_, [&](int p, const WorldPod& pod) {
        if (!has(site, places_[static_cast<std::size_t>(p)].node)) return;
        here |= bit(p);
        if (pod.gang < 0) out.push_back(unit_of(bit(p), false));
    });
    for (int g = 0; g < static_cast<int>(world_.gangs.size()); ++g) {
        const Mask mine = here & members_left(g);
        if (mine != 0) split(g, mine, shares, out);
    }
    return out;
}

// The units that a set of victims is made of.
std::vector<Victims::Unit> Victims::units_in(Mask set) const {
    std::vector<Unit> out;
    each(set, [&](int p, const WorldPod& pod) {
        const Mask all = pod.gang < 0 ? 0 : members_left(pod.gang);
        const bool alone = pod.gang < 0 || world_.gang(pod.gang).kind == GangKind::kCoreSingle ||
                           std::popcount(set & all) <= spare(pod.gang);
        if (alone)
            out.push_back(unit_of(bit(p), pod.gang >= 0));
        else if ((set & all & (bit(p) - 1)) == 0)  // once for each gang
            out.push_back(unit_of(all, true));
    });
    return out;
}

}  // namespace reprieve::worlds
