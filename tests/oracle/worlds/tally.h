// Tally: what became of many worlds, by the rules they were drawn with.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "judge.h"

namespace reprieve::worlds {

class Tally {
public:
    void add(const World& world, const Judgement& judgement);

    // Lines of equal width: rule and kind of demand, then counts.
    [[nodiscard]] std::string table() const;
    // No fault but those named and refusals that claim nothing, and few of these; nearly all that evicts is proven.
    [[nodiscard]] bool is_green(const std::vector<std::string>& except) const;
    // Of the demands for which there is a way, and of those that were served by evictions.
    [[nodiscard]] double served_percent() const { return total_.served_percent(); }
    [[nodiscard]] double proven_percent() const { return total_.proven_percent(); }

private:
    struct Line {
        int demands = 0;
        int feasible = 0;
        int served = 0;    // of the feasible ones
        int evicting = 0;  // feasible, served, with evictions needed
        int optimal = 0;   // of these
        int impossible = 0;
        int refuted = 0;  // of these: `infeasible` was said
        std::array<int, kFaults> faults{};

        void add(const Fate& fate);
        [[nodiscard]] double served_percent() const;
        [[nodiscard]] double proven_percent() const;
        [[nodiscard]] std::string text(const std::string& name) const;
    };

    std::map<std::pair<Rule, bool>, Line> lines_;
    Line total_;
    int worlds_ = 0;
};

}  // namespace reprieve::worlds
