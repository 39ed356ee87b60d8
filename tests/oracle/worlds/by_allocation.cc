#include "by_allocation.h"

#include <algorithm>
#include <utility>

#include "engine.h"

namespace reprieve::worlds {
namespace {

class Comparison {
public:
    Comparison(const World& world, const Decision& decision)
        : world_(world),
          decision_(decision),
          demand_(demands_of(world).front()),
          places_(places_later(world)),
          victims_(world, demand_, places_, 0) {}

    Judgement run() {
        for (const std::string& violation : decision_.violations)
            complain(Fault::kAudit, violation);
        Fate& fate = out_.fates.emplace_back();
        fate.is_gang = demand_.gang >= 0;
        fate.served = count_placed(decision_) >= demand_.min;
        const Mask gone = evicted();
        const std::optional<Mask> best = cheapest();
        fate.feasible = best.has_value();
        fate.needs_victims = best && *best != 0;
        fate.proven = claims("optimal") || claims("infeasible");
        if (!fate.served)
            judge_refusal(best);
        else if (gone != 0)
            judge_victims(gone, best);
        return std::move(out_);
    }

private:
    void complain(Fault fault, std::string what) {
        out_.complaints.push_back({.fault = fault, .demand = demand_.name, .what = std::move(what)});
    }

    [[nodiscard]] int count_placed(const Decision& decision) const {
        return static_cast<int>(std::ranges::count_if(
            demand_.pods, [&](int p) { return decision.places.contains("default/" + world_.pod(p).name); }));
    }

    [[nodiscard]] bool claims(const char* status) const {
        return std::ranges::any_of(decision_.claims, [&](const Claim& claim) { return claim.status == status; });
    }

    [[nodiscard]] Mask evicted() const {
        Mask out = 0;
        for (const PlannedEviction& eviction : decision_.evictions) {
            for (int p = 0; p < world_.pod_count(); ++p) {
                if ("default/" + world_.pod(p).name == eviction.pod) out |= bit(p);
            }
        }
        return out;
    }

    [[nodiscard]] std::string names(Mask set) const {
        std::string out;
        for (int p = 0; p < world_.pod_count(); ++p) {
            if (has(set, p)) out += (out.empty() ? "" : ", ") + world_.pod(p).name;
        }
        return out.empty() ? "nobody" : out;
    }

    // A set that keeps strict budgets breaks none, whoever's turn it was.
    [[nodiscard]] Price price(Mask set) const {
        Reading reading;
        if (world_.strict_budgets) reading.walk = Reading::Walk::kNobody;
        return victims_.price(set, world_.all_nodes(), reading, {});
    }

    [[nodiscard]] bool fits_without(Mask set) const {
        World rest = world_;
        for (int p = world_.pod_count() - 1; p >= 0; --p) {
            if (has(set, p)) rest.pods.erase(rest.pods.begin() + p);
        }
        return count_placed(decide({documents(rest)}, config_to_allocate())) >= demand_.min;
    }

    // Of the sets that let the demand in the cheapest.
    [[nodiscard]] std::optional<Mask> cheapest() const {
        std::vector<std::pair<Price, Mask>> sets;
        for (Mask set : victims_.sets())
            sets.emplace_back(price(set), set);
        std::ranges::stable_sort(sets, [](const auto& a, const auto& b) {
            if ((a.second == 0) != (b.second == 0)) return a.second == 0;
            return cheaper(a.first, b.first);
        });
        const auto at = std::ranges::find_if(sets, [&](const auto& set) { return fits_without(set.second); });
        if (at == sets.end()) return std::nullopt;
        return at->second;
    }

    void judge_refusal(const std::optional<Mask>& best) {
        if (best)
            complain(claims("infeasible") ? Fault::kFalseInfeasible : Fault::kRefused, names(*best) + " gone, it fits");
    }

    void judge_victims(Mask gone, const std::optional<Mask>& best) {
        if (const std::string what = victims_.complaint(gone); !what.empty())
            complain(Fault::kIllegal, names(gone) + ": " + what);
        else if (!fits_without(gone))
            complain(Fault::kMisfit, names(gone) + " gone, it does not fit");
        else if (best && claims("optimal") && *best == 0)
            complain(Fault::kFalseOptimal, "it fits without evictions");
        else if (best && *best != 0 && claims("optimal") && cheaper(price(*best), price(gone)))
            complain(Fault::kFalseOptimal, names(gone) + " gone; cheaper: " + names(*best));
    }

    const World& world_;
    const Decision& decision_;
    const WorldDemand demand_;
    const Places places_;
    const Victims victims_;
    Judgement out_;
};

}  // namespace

Judgement judge_by_allocation(const World& world, const Decision& decision) {
    return Comparison(world, decision).run();
}

}  // namespace reprieve::worlds
