// DomainContest: the cheapest victims for one gang over all domains that could hold it.
//
// Domains enter with a bound below which no set of victims there costs. The one with the lowest is looked at first;
// whoever cannot be cheaper than the best is left out. All share one budget of work: each domain gets a part of it, and
// what is left goes to those that may still be cheaper.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/gang_victims.h"

namespace reprieve {

struct ContestRules {
    bool improve = true;
    std::size_t max_domains = 0;
    std::int64_t budget = 0;  // of work, in about as many microseconds, for every 16 nodes, up to 16 times
};

class DomainContest {
public:
    explicit DomainContest(const ContestRules& rules) : rules_(rules) {}

    void enter(std::unique_ptr<GangVictims> victims);
    // A choice that the rules allow, from elsewhere, and the next best there: only what costs less is looked for.
    void defend(GangChoice choice, const std::optional<Cost>& runner_up);
    // Nullopt: no domain has victims that the rules allow.
    [[nodiscard]] std::optional<GangChoice> run();

    // No set of victims costs less, in any domain. REQUIRES: run() found something.
    [[nodiscard]] const Cost& bound() const { return bound_; }
    [[nodiscard]] const std::optional<Cost>& runner_up() const { return runner_up_; }
    // Every domain is proven to have no victims that the rules allow. REQUIRES: run() found nothing.
    [[nodiscard]] const std::optional<Proof>& proven_none() const { return none_; }
    // What stands in the way in the first domain that was out, of those that would be large enough if there are any;
    // empty: none was out.
    [[nodiscard]] const std::string& why_not() const { return why_not_; }
    // No domain would hold the members, whoever leaves.
    [[nodiscard]] bool all_too_small() const { return any_too_small_ && !any_large_; }

private:
    struct Entrant {
        std::unique_ptr<GangVictims> victims;
        bool left_out = false;
        bool ruled_out = false;
        Cost bound;
    };
    void note_why(const GangVictims& victims);
    void look_once();
    void look_again();
    void challenge(Entrant& entrant, std::optional<GangChoice> choice);
    void look_for_runner_up();
    void lost(const std::optional<Cost>& cost);
    [[nodiscard]] bool may_be_cheaper(const Entrant& entrant) const;

    ContestRules rules_;
    std::vector<Entrant> entrants_;
    std::vector<Cost> uncertain_;  // bounds of domains that do not hold the gang as far as is known
    std::size_t nodes_ = 0;
    std::int64_t left_ = 0;  // of the budget
    std::optional<GangChoice> best_;
    std::optional<Cost> runner_up_;
    Cost bound_;
    std::optional<Proof> none_;
    std::string why_not_;
    bool why_too_small_ = false;  // that is what `why_not_` says
    bool any_too_small_ = false;
    bool any_large_ = false;
};

}  // namespace reprieve
