#include "judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>

namespace reprieve::worlds {

const char* to_text(Fault fault) {
    switch (fault) {
        case Fault::kRefused:
            return "refused";
        case Fault::kFalseInfeasible:
            return "false infeasible";
        case Fault::kFalseOptimal:
            return "false optimal";
        case Fault::kWrongBound:
            return "wrong bound";
        case Fault::kWrongCost:
            return "wrong cost";
        case Fault::kIllegal:
            return "illegal";
        case Fault::kNeedless:
            return "needless";
        case Fault::kMisfit:
            return "misfit";
        case Fault::kUnexpected:
            return "unexpected";
        case Fault::kStale:
            return "stale";
        case Fault::kAudit:
            return "audit";
        case Fault::kAbort:
            return "abort";
    }
    return "";
}

namespace {

std::string names(const World& world, Mask set) {
    std::vector<std::string> out;
    for (int p = 0; p < world.pod_count(); ++p) {
        if (has(set, p)) out.push_back(world.pod(p).name);
    }
    return fmt::format("{{{}}}", fmt::join(out, ", "));
}

std::string text(const Price& price) {
    std::vector<std::string> out;
    for (const auto& [name, value] : price)
        out.push_back(fmt::format("{} {}", name, value));
    return fmt::format("{}", fmt::join(out, " · "));
}

// What differs between a printed vector and a price, over the terms that both know.
enum class Order : std::uint8_t { kSame, kBelow, kAbove };
Order compare(const Price& printed, const Price& price) {
    for (const auto& [name, value] : printed) {
        const auto at = std::ranges::find(price, name, &Price::value_type::first);
        if (at == price.end()) continue;
        if (value != at->second) return value < at->second ? Order::kBelow : Order::kAbove;
    }
    return Order::kSame;
}

class Court {
public:
    Court(const World& world, const Decision& decision)
        : world_(world),
          decision_(decision),
          demands_(demands_of(world)),
          fates_(demands_.size()) {
        for (const WorldDemand& demand : demands_) {
            seats_.push_back(seats_of(demand));
            victims_.push_back(victims_of(demand));
            gone_ |= victims_.back();
        }
        // A gang that loses members in the same plan misses them as well.
        for (WorldDemand& demand : demands_) {
            if (demand.gang >= 0) demand.min += std::popcount(members_running(world, demand.gang) & gone_);
        }
    }

    Judgement run() {
        for (const std::string& violation : decision_.violations)
            complain(Fault::kAudit, "", violation);
        judge_form();
        judge_seats();
        if (world_.literal) judge_silence();
        Turn turn;
        for (std::size_t d = 0; d < demands_.size(); ++d) {
            judge_demand(d, turn);
            // Whoever the judge finds no way for, in any reading, was placed by a last look, after all others.
            if (!fates_[d].feasible && !(served(d) && feasible_somehow(d, turn))) continue;
            turn.spent |= victims_[d];
            turn.seats.insert(turn.seats.end(), seats_[d].begin(), seats_[d].end());
        }
        return {.fates = std::move(fates_), .complaints = std::move(complaints_)};
    }

private:
    void complain(Fault fault, const std::string& demand, std::string what) {
        complaints_.push_back({.fault = fault, .demand = demand, .what = std::move(what)});
    }

    [[nodiscard]] int pod_named(const std::string& name) const {
        for (int p = 0; p < world_.pod_count(); ++p) {
            if ("default/" + world_.pod(p).name == name) return p;
        }
        return -1;
    }

    [[nodiscard]] std::vector<Seat> seats_of(const WorldDemand& demand) const {
        std::vector<Seat> out;
        for (int p : demand.pods) {
            const auto at = decision_.places.find("default/" + world_.pod(p).name);
            if (at == decision_.places.end()) continue;
            const auto node = std::ranges::find(world_.nodes, at->second.node, &WorldNode::name);
            const Spot spot{.node = static_cast<int>(node - world_.nodes.begin()), .devices = at->second.devices};
            const auto turn =
                static_cast<int>(std::ranges::find(demands_, demand.name, &WorldDemand::name) - demands_.begin());
            out.push_back({.pod = p, .spot = spot, .later = at->second.later, .turn = turn});
        }
        return out;
    }

    [[nodiscard]] Mask victims_of(const WorldDemand& demand) const {
        Mask out = 0;
        for (const PlannedEviction& eviction : decision_.evictions) {
            if (eviction.owner == demand.name) out |= bit(pod_named(eviction.pod));
        }
        return out;
    }

    // The nodes among which the demand was placed; 0: its places are in no domain that it may use.
    [[nodiscard]] Mask site_of(std::size_t d) const {
        for (Mask site : sites_of(world_, demands_[d], gone_)) {
            if (std::ranges::all_of(seats_[d], [&](const Seat& seat) { return has(site, seat.spot.node); }))
                return site;
        }
        return 0;
    }

    [[nodiscard]] bool served(std::size_t d) const { return std::ssize(seats_[d]) >= demands_[d].min; }

    // The literal algorithms claim nothing.
    void judge_silence() {
        for (const Claim& claim : decision_.claims) {
            if (claim.status != "heuristic" && claim.status != "unknown")
                complain(Fault::kFalseOptimal, claim.owner, "improve: false, and it claims " + claim.status);
        }
    }

    // Every eviction is for somebody who is placed, a gang is placed as a whole or not at all.
    void judge_form() {
        for (const PlannedEviction& eviction : decision_.evictions) {
            const auto at = std::ranges::find(demands_, eviction.owner, &WorldDemand::name);
            if (at == demands_.end()) {
                complain(Fault::kIllegal, eviction.owner, eviction.pod + " goes for nobody that waits");
            } else if (!served(static_cast<std::size_t>(at - demands_.begin()))) {
                complain(Fault::kIllegal, eviction.owner, eviction.pod + " goes for somebody who is not placed");
            }
        }
        for (std::size_t d = 0; d < demands_.size(); ++d) {
            if (!seats_[d].empty() && !served(d)) complain(Fault::kMisfit, demands_[d].name, "placed by halves");
        }
    }

    [[nodiscard]] std::vector<Seat> all_seats() const {
        std::vector<Seat> out;
        for (const std::vector<Seat>& seats : seats_)
            out.insert(out.end(), seats.begin(), seats.end());
        return out;
    }

    [[nodiscard]] Places without(Mask gone) const {
        Places out = places_later(world_);
        for (std::size_t p = 0; p < out.size(); ++p) {
            if (has(gone, static_cast<int>(p))) out[p] = {};
        }
        return out;
    }

    // In the end everybody has passed in some order; who starts now also passes while the victims are still there.
    void judge_seats() {
        const Mask gone = gone_;
        const std::vector<Seat> seats = all_seats();
        if (!can_follow(world_, without(gone), seats, false)) {
            complain(Fault::kMisfit, "", "the placements pass in no order once the victims are gone");
            return;
        }
        std::vector<Seat> now = seats;
        std::erase_if(now, [](const Seat& seat) { return seat.later; });
        if (!can_follow(world_, places_of(world_), now, false))
            complain(Fault::kMisfit, "", "what starts now does not fit beside those who have not left yet");
        judge_leaning(gone);
        judge_need(gone, seats);
    }

    // Whoever evicts must pass without those of other demands that are nominated only: they may never come.
    void judge_leaning(Mask gone) {
        // Without them the first free devices are others: those that are given then count.
        const bool choose = std::ranges::any_of(world_.nodes, &WorldNode::order_matters);
        for (std::size_t d = 0; d < demands_.size(); ++d) {
            if (victims_[d] != 0 && !stands_alone(d, gone, choose))
                complain(Fault::kMisfit, demands_[d].name, "evicts, and leans on pods that are nominated only");
        }
    }

    [[nodiscard]] bool stands_alone(std::size_t d, Mask gone, bool choose) const {
        std::vector<Seat> firm = seats_[d];
        for (std::size_t other = 0; other < demands_.size(); ++other) {
            if (other == d) continue;
            std::ranges::copy_if(seats_[other], std::back_inserter(firm), [](const Seat& seat) { return !seat.later; });
        }
        return can_follow(world_, without(gone), firm, choose);
    }

    [[nodiscard]] bool all_stand_alone(Mask gone) const {
        for (std::size_t d = 0; d < demands_.size(); ++d) {
            if (!stands_alone(d, gone, true)) return false;
        }
        return true;
    }

    // Sparing one unit: a pod alone, a pod of a gang's surplus, a gang whole or all of it that it can keep. What goes
    // for others must still be allowed then: a gang that another demand takes whole goes whole.
    void judge_need(Mask gone, const std::vector<Seat>& seats) {
        for (std::size_t d = 0; d < demands_.size(); ++d) {
            // Every subset of its victims, from the empty one up to all but one.
            for (Mask set = 0; set != victims_[d]; set = (set - victims_[d]) & victims_[d]) {
                if (!is_one_unit(victims_[d] & ~set) || !may_go_instead(d, set)) continue;
                const Mask fewer = (gone & ~victims_[d]) | set;
                if (!can_follow(world_, without(fewer), seats, true) || !all_stand_alone(fewer)) continue;
                complain(Fault::kNeedless,
                         demands_[d].name,
                         fmt::format("{} need not go", names(world_, victims_[d] & ~set)));
                break;
            }
        }
    }

    // Whether the rules allow the plan's victims with this set for one of its demands.
    [[nodiscard]] bool may_go_instead(std::size_t d, Mask set) const {
        Mask spent = 0;
        for (std::size_t e = 0; e < demands_.size(); ++e) {
            const Places places = without(spent);
            const Mask next = e == d ? set : victims_[e];
            if (!Victims(world_, demands_[e], places, spent).complaint(next).empty()) return false;
            spent |= next;
        }
        return true;
    }

    [[nodiscard]] bool is_one_unit(Mask set) const {
        const int first = std::countr_zero(set);
        const int gang = world_.pod(first).gang;
        for (int p = first + 1; p < world_.pod_count(); ++p) {
            if (has(set, p) && (gang < 0 || world_.pod(p).gang != gang)) return false;
        }
        return true;
    }

    // The reading that is judged by first, then all others that may make a difference here.
    [[nodiscard]] std::vector<Reading> readings(const WorldDemand& demand) const {
        const bool gang = demand.gang >= 0;
        std::vector<Reading> out{{}};
        const auto vary = [&](bool when, auto change) {
            if (!when) return;
            for (std::size_t i = 0, count = out.size(); i < count; ++i) {
                Reading other = out[i];
                change(other);
                out.push_back(other);
            }
        };
        using enum Reading::Walk;
        if (world_.strict_budgets) {
            out.front().walk = kNobody;
            vary(!world_.budgets.empty(), [](Reading& r) { r.walk = kSite; });
        } else if (!world_.budgets.empty()) {
            for (const Reading::Walk walk : {kSiteFirst, kEverywhere, kVictims})
                out.emplace_back().walk = walk;
        }
        vary(!gang && !world_.gangs.empty(), [](Reading& r) { r.start_of_unit = true; });
        vary(gang, [](Reading& r) { r.never_is_final = false; });
        vary(world_.drawn_with(Rule::kShares), [](Reading& r) { r.shares_count = true; });
        using enum Reading::Own;
        vary(true, [](Reading& r) { r.own = kHighestOfAll; });
        vary(true, [](Reading& r) { r.own = r.own == kSumOfAll ? kSumOfMembers : kHighestOfMembers; });
        return out;
    }

    [[nodiscard]] bool feasible_somehow(std::size_t d, const Turn& turn) const {
        Solver solver(world_, demands_[d], turn);
        return std::ranges::any_of(readings(demands_[d]),
                                   [&](const Reading& reading) { return solver.optimum(reading).has_value(); });
    }

    void judge_demand(std::size_t d, const Turn& turn) {
        const WorldDemand& demand = demands_[d];
        Fate& fate = fates_[d];
        Solver solver(world_, demand, turn);
        const std::vector<Reading> all = readings(demand);
        const auto best = solver.optimum(all.front());
        fate.is_gang = demand.gang >= 0;
        fate.feasible = best.has_value();
        fate.needs_victims = best && best->set != 0;
        fate.served = served(d);
        if (!fate.served) {
            judge_refusal(demand, best, fate);
            return;
        }
        if (victims_[d] == 0) return;
        if (const std::string what = solver.victims().complaint(victims_[d]); !what.empty()) {
            complain(Fault::kIllegal, demand.name, fmt::format("{}: {}", names(world_, victims_[d]), what));
            return;
        }
        judge_claims(d, solver, all, fate);
    }

    void judge_refusal(const WorldDemand& demand, const std::optional<Optimum>& best, Fate& fate) {
        bool claims = false;
        for (const Claim& claim : decision_.claims)
            claims = claims || (claim.owner == demand.name && claim.status == "infeasible");
        fate.proven = claims;
        if (!best) return;
        const std::string way =
            best->set == 0 ? "it fits without evictions" : fmt::format("without {} it fits", names(world_, best->set));
        complain(claims ? Fault::kFalseInfeasible : Fault::kRefused, demand.name, way);
    }

    // The claim must hold in one of the readings; what is said is what the first one finds.
    void judge_claims(std::size_t d, Solver& solver, const std::vector<Reading>& all, Fate& fate) {
        const WorldDemand& demand = demands_[d];
        const auto claim = std::ranges::find(decision_.claims, demand.name, &Claim::owner);
        if (claim == decision_.claims.end()) {
            complain(Fault::kWrongCost, demand.name, "evictions without a certificate");
            return;
        }
        fate.proven = claim->status == "optimal";
        std::optional<Complaint> first;
        for (const Reading& reading : all) {
            const auto found = judge_reading(*claim, d, solver, reading);
            if (!found) return;
            if (!first) first = found;
        }
        complaints_.push_back(*first);
    }

    std::optional<Complaint> judge_reading(const Claim& claim, std::size_t d, Solver& solver, const Reading& reading) {
        const WorldDemand& demand = demands_[d];
        const auto say = [&](Fault fault, std::string what) {
            return Complaint{.fault = fault, .demand = demand.name, .what = std::move(what)};
        };
        // The literal algorithms price each pod of such a group as what its order calls it.
        if (world_.literal &&
            std::ranges::find(world_.gangs, GangKind::kCoreSingle, &WorldGang::kind) != world_.gangs.end())
            return std::nullopt;
        const Price price = solver.price(victims_[d], site_of(d), reading);
        if (compare(claim.cost, price) != Order::kSame)
            return say(Fault::kWrongCost, fmt::format("costs {}, says {}", text(price), text(claim.cost)));
        const auto best = solver.optimum(reading);
        // Beside others of the plan there may be an order that the solver does not try; then there is nothing to
        // compare.
        if (!best && d > 0) return std::nullopt;
        if (!best) return say(Fault::kUnexpected, fmt::format("{}: no set lets it fit", names(world_, victims_[d])));
        const std::string cheapest = fmt::format("{} costs {}", names(world_, best->set), text(best->price));
        if (best->set == 0 && claim.status == "optimal") return say(Fault::kFalseOptimal, "it fits without evictions");
        if (best->set == 0) return std::nullopt;
        if (claim.status == "optimal" && cheaper(best->price, price))
            return say(Fault::kFalseOptimal,
                       fmt::format("{} costs {}; {}", names(world_, victims_[d]), text(price), cheapest));
        if (claim.status != "gap") return std::nullopt;
        if (compare(claim.bound, best->price) == Order::kAbove)
            return say(Fault::kWrongBound, fmt::format("the bound is {}; {}", text(claim.bound), cheapest));
        return std::nullopt;
    }

    const World& world_;
    const Decision& decision_;
    std::vector<WorldDemand> demands_;
    std::vector<std::vector<Seat>> seats_;
    std::vector<Mask> victims_;
    Mask gone_ = 0;  // all victims of the plan
    std::vector<Fate> fates_;
    std::vector<Complaint> complaints_;
};

}  // namespace

Judgement judge(const World& world, const Decision& decision) { return Court(world, decision).run(); }

}  // namespace reprieve::worlds
