#include "tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace reprieve::worlds {
namespace {

double percent(int part, int whole) { return whole == 0 ? 100.0 : 100.0 * part / whole; }

}  // namespace

void Tally::Line::add(const Fate& fate) {
    ++demands;
    feasible += fate.feasible ? 1 : 0;
    served += fate.feasible && fate.served ? 1 : 0;
    const bool evicts = fate.needs_victims && fate.served;
    evicting += evicts ? 1 : 0;
    optimal += evicts && fate.proven ? 1 : 0;
    impossible += !fate.feasible && !fate.served ? 1 : 0;
    refuted += !fate.feasible && !fate.served && fate.proven ? 1 : 0;
}

double Tally::Line::served_percent() const { return percent(served, feasible); }
double Tally::Line::proven_percent() const { return percent(optimal, evicting); }

std::string Tally::Line::text(const std::string& name) const {
    std::string out = fmt::format("{:<24}{:>8}{:>9}{:>8.1f}%{:>8.1f}%{:>8.1f}%",
                                  name,
                                  demands,
                                  feasible,
                                  served_percent(),
                                  percent(optimal, evicting),
                                  percent(refuted, impossible));
    for (int fault : faults)
        out += fault == 0 ? fmt::format("{:>9}", ".") : fmt::format("{:>9}", fault);
    return out + "\n";
}

void Tally::add(const World& world, const Judgement& judgement) {
    ++worlds_;
    bool has_gang = false;
    bool has_pod = false;
    for (const WorldDemand& demand : demands_of(world))
        (demand.gang >= 0 ? has_gang : has_pod) = true;
    for (const Fate& fate : judgement.fates) {
        // What a search was cut short by need not be found.
        if (!world.drawn_with(Rule::kShortSearch)) total_.add(fate);
        for (Rule rule : world.rules)
            lines_[{rule, fate.is_gang}].add(fate);
    }
    // A world counts once for each fault.
    std::set<Fault> faults;
    for (const Complaint& complaint : judgement.complaints)
        faults.insert(complaint.fault);
    for (Fault fault : faults) {
        ++total_.faults[static_cast<std::size_t>(fault)];
        for (Rule rule : world.rules) {
            if (has_pod) ++lines_[{rule, false}].faults[static_cast<std::size_t>(fault)];
            if (has_gang) ++lines_[{rule, true}].faults[static_cast<std::size_t>(fault)];
        }
    }
}

bool Tally::is_green(const std::vector<std::string>& except) const {
    for (int f = 0; f < kFaults; ++f) {
        const auto fault = static_cast<Fault>(f);
        if (fault == Fault::kRefused || std::ranges::find(except, to_text(fault)) != except.end()) continue;
        if (total_.faults[static_cast<std::size_t>(f)] > 0) return false;
    }
    return served_percent() >= 99 && proven_percent() >= 90;
}

std::string Tally::table() const {
    constexpr std::array<const char*, kFaults> kHeads{"refused",
                                                      "falseInf",
                                                      "falseOpt",
                                                      "bound",
                                                      "cost",
                                                      "illegal",
                                                      "needless",
                                                      "misfit",
                                                      "unexpect",
                                                      "stale",
                                                      "audit",
                                                      "abort"};
    std::string out = fmt::format(
        "{:<24}{:>8}{:>9}{:>9}{:>9}{:>9}", "rule, demand", "demands", "feasible", "served", "optimal", "refuted");
    for (const char* head : kHeads)
        out += fmt::format("{:>9}", head);
    out += "\n";
    for (const auto& [key, line] : lines_)
        out += line.text(fmt::format("{}, {}", to_text(key.first), key.second ? "gang" : "pod"));
    return out + total_.text(fmt::format("all of {} worlds", worlds_));
}

}  // namespace reprieve::worlds
