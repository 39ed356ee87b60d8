// Victims: who may be evicted for a demand, in which sets, and what a set costs.
//
// A set is a mask over the pods of the world. The rules of who may go are those of units: a pod by itself; of a gang
// any pods that it can spare, whichever they are, or the gang whole; of a core group all or each by itself. Where the
// text of the rules can be read in two ways that both make sense, a Reading names the choice, and a claim is called
// false only if it is false in every reading.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "filters.h"

namespace reprieve::worlds {

struct Reading {
    // Whose turn it is to spend a budget: the candidates of the site with the victims elsewhere among them, or these
    // after them, all that may go, the victims alone, or nobody.
    enum class Walk : std::uint8_t { kSite, kSiteFirst, kEverywhere, kVictims, kNobody } walk = Walk::kSite;
    // The own priorities of the victims that are compared: those of all or of members of gangs, their sum or the
    // highest.
    enum class Own : std::uint8_t { kSumOfAll, kHighestOfAll, kSumOfMembers, kHighestOfMembers } own = Own::kSumOfAll;
    // The most important victim's start: the earliest among those of the highest priority, or that of the first unit.
    bool start_of_unit = false;
    // Nodes that say never to a member before anybody is evicted are out for it.
    bool never_is_final = true;
    // Whether a share of a device is something that is needed and destroyed.
    bool shares_count = false;
};

// The terms in the order of the action's default, by name.
using Price = std::vector<std::pair<std::string, std::int64_t>>;
// Smaller is cheaper. REQUIRES: both have the same terms.
[[nodiscard]] bool cheaper(const Price& a, const Price& b);

class Victims {
public:
    // `places`: what is left when it is the demand's turn; `spent`: who was evicted in this plan before.
    Victims(const World& world, const WorldDemand& demand, const Places& places, Mask spent);

    // Every set that the rules allow, the empty one first.
    [[nodiscard]] const std::vector<Mask>& sets() const { return sets_; }
    // What is wrong with the set; empty: nothing.
    [[nodiscard]] std::string complaint(Mask set) const;
    // `site`: the nodes among which the demand is placed.
    // `needed`: of the claims that the set frees and several of its pods use, those whose devices the demand needs,
    // each by the pods that use it: they are one unit then.
    [[nodiscard]] Price price(Mask set, Mask site, const Reading& reading, const std::vector<Mask>& needed) const;
    // Claims with several users at this moment, each by these, in the order of names.
    [[nodiscard]] std::vector<Mask> shared_claims() const;
    // Whether what is one unit makes a difference to the price.
    [[nodiscard]] bool counts_units() const;

private:
    struct Unit {
        Mask pods = 0;
        bool in_group = false;
        int priority = 0;
        int start = 0;
    };
    static constexpr std::size_t kDims = 5;
    using Amounts = std::array<std::int64_t, kDims>;  // cpu, memory, devices, shares in milli and in GiB

    [[nodiscard]] Amounts amounts(const Traits& traits, bool shares) const;
    [[nodiscard]] Amounts need(bool shares) const;
    [[nodiscard]] bool may_go(int pod) const { return has(open_, pod); }
    [[nodiscard]] bool is_open(int pod) const;
    [[nodiscard]] Mask members_left(int gang) const;
    [[nodiscard]] int spare(int gang) const;
    [[nodiscard]] int standing(int pod) const;
    [[nodiscard]] bool keeps_gangs(Mask set) const;
    [[nodiscard]] bool keeps_budgets(Mask set) const;
    [[nodiscard]] int spends(Mask set, const WorldBudget& budget) const;
    [[nodiscard]] Unit unit_of(Mask pods, bool in_group) const;
    [[nodiscard]] std::vector<Unit> units_at(Mask site, bool shares) const;
    [[nodiscard]] std::vector<Unit> units_in(Mask set) const;
    void split(int gang, Mask here, bool shares, std::vector<Unit>& out) const;
    void sort_for_split(std::vector<int>& pods, bool shares) const;
    [[nodiscard]] std::int64_t violations(Mask set, Mask site, const Reading& reading) const;
    struct Count {
        std::int64_t broken = 0;  // more than their gang can spare; a pod by itself is one
        std::int64_t units = 0;
    };
    [[nodiscard]] Count count(Mask set, const std::vector<Mask>& needed) const;
    [[nodiscard]] std::int64_t claimed(Mask set) const;
    [[nodiscard]] std::int64_t lost_work(Mask set) const;
    [[nodiscard]] std::int64_t own_priority(Mask set, Reading::Own own) const;
    [[nodiscard]] std::int64_t first_start(Mask set, const Reading& reading) const;
    [[nodiscard]] std::int64_t destroyed(Mask set, bool shares) const;
    // Calls with every pod of the set.
    template <class F>
    void each(Mask set, F&& f) const {
        for (int p = 0; p < world_.pod_count(); ++p) {
            if (has(set, p)) f(p, world_.pod(p));
        }
    }

    const World& world_;
    const WorldDemand& demand_;
    const Places& places_;
    Mask spent_;
    Mask open_ = 0;
    std::vector<Mask> sets_;
};

}  // namespace reprieve::worlds
