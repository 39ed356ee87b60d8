#include "search/give_rules.h"

#include <algorithm>
#include <map>

namespace reprieve {
namespace {

std::vector<std::int32_t> wholes(const UnitList& list) {
    std::vector<std::int32_t> out;
    for (const Unit& unit : list.units)
        out.push_back(unit.whole);
    return out;
}

std::vector<GiveRules::Rule> joined(std::vector<GiveRules::Rule> rules, std::span<const GiveRules::Rule> more) {
    rules.insert(rules.end(), more.begin(), more.end());
    return rules;
}

}  // namespace

std::vector<GiveRules::Rule> rules_of_units(const Snapshot& s, const UnitList& list, std::span<const GiveRule> rules) {
    std::vector<GiveRules::Rule> out;
    if (rules.empty()) return out;
    std::map<QueueId, std::vector<std::size_t>> counting;  // rules, by the queue whose pods count
    std::map<QueueId, std::vector<std::size_t>> giving;    // by the queue with whose pods they hold
    for (std::size_t r = 0; r < rules.size(); ++r) {
        out.push_back({.at_least = rules[r].at_least,
                       .amount = rules[r].amount,
                       .gifts = {},
                       .always = rules[r].givers.empty(),
                       .givers = {}});
        counting[rules[r].queue].push_back(r);
        for (QueueId giver : rules[r].givers)
            giving[giver].push_back(r);
    }
    for (std::uint32_t u = 0; u < list.units.size(); ++u) {
        for (PodId pod : list.pods_of(list.units[u])) {
            const QueueId queue = s.pods[pod].queue;
            if (!queue) continue;
            for (QueueId above : s.queue_path[queue]) {
                const auto at = counting.find(above);
                if (at == counting.end()) continue;
                for (std::size_t r : at->second) {
                    const std::int64_t amount = room_of(s, pod, rules[r].dim);
                    std::vector<GiveRules::Gift>& gifts = out[r].gifts;
                    if (amount <= 0) continue;
                    if (gifts.empty() || gifts.back().unit != u) gifts.push_back({.unit = u});
                    gifts.back().amount = saturating_add(gifts.back().amount, amount);
                }
            }
            const auto at = giving.find(queue);
            if (at == giving.end()) continue;
            for (std::size_t r : at->second) {
                if (out[r].givers.empty() || out[r].givers.back() != u) out[r].givers.push_back(u);
            }
        }
    }
    return out;
}

bool gives_what_it_asks(const Snapshot& s, const UnitList& list) {
    return std::ranges::all_of(list.pods, [&](PodId pod) {
        return std::ranges::all_of(s.class_of(pod).requests,
                                   [&](const auto& a) { return room_of(s, pod, a.dim) == a.value; });
    });
}

GiveRules::GiveRules(std::vector<std::int32_t> whole_of, std::vector<Rule> rules)
    : whole_of_(std::move(whole_of)),
      along_of_(whole_of_.size()),
      gifts_of_(whole_of_.size()) {
    for (std::uint32_t u = 0; u < whole_of_.size(); ++u) {
        if (whole_of_[u] >= 0) along_of_[static_cast<std::size_t>(whole_of_[u])].push_back(u);
    }
    for (Rule& rule : rules) {
        std::int64_t all = 0;
        for (const Gift& gift : rule.gifts)
            all = saturating_add(all, gift.amount);
        const bool idle = rule.at_least ? !rule.always && rule.givers.empty() : all <= rule.amount;
        if (idle) continue;
        size_ += rule.gifts.size() + rule.givers.size();
        const auto number = static_cast<std::int64_t>(rules_.size());
        for (const Gift& gift : rule.gifts)
            gifts_of_[gift.unit].insert(gifts_of_[gift.unit].end(), {number, gift.amount});
        for (std::uint32_t u : rule.givers)
            gifts_of_[u].insert(gifts_of_[u].end(), {number, -1});
        rules_.push_back({std::move(rule)});
    }
}

GiveRules::GiveRules(const Snapshot& s,
                     const UnitList& list,
                     std::span<const GiveRule> rules,
                     std::span<const Rule> more)
    : GiveRules(wholes(list), joined(rules_of_units(s, list, rules), more)) {}

GiveRules::Sums GiveRules::sums_of(const Rule& rule, std::span<const UnitState> states) {
    Sums sums{.applies = rule.always};
    for (const Gift& gift : rule.gifts) {
        if (states[gift.unit] == UnitState::kGone) sums.gone = saturating_add(sums.gone, gift.amount);
        if (states[gift.unit] == UnitState::kOpen) sums.open = saturating_add(sums.open, gift.amount);
    }
    for (std::uint32_t u : rule.givers)
        sums.applies = sums.applies || states[u] == UnitState::kGone;
    return sums;
}

GiveRules::Sums GiveRules::sums_of(const Rule& rule, const std::vector<bool>& gone) {
    Sums sums{.applies = rule.always};
    for (const Gift& gift : rule.gifts)
        sums.gone = saturating_add(sums.gone, gone[gift.unit] ? gift.amount : 0);
    for (std::uint32_t u : rule.givers)
        sums.applies = sums.applies || gone[u];
    return sums;
}

bool GiveRules::holds(const Rule& rule, const Sums& sums) {
    return !sums.applies || (rule.at_least ? sums.gone >= rule.amount : sums.gone <= rule.amount);
}

bool GiveRules::hold(const std::vector<bool>& gone) const {
    return std::ranges::all_of(rules_, [&](const Rule& rule) { return holds(rule, sums_of(rule, gone)); });
}

std::int64_t GiveRules::given_with(const Rule& rule, const Gift& gift, std::span<const UnitState> states) const {
    std::int64_t sum = gift.amount;
    for (std::uint32_t u : along_of_[gift.unit]) {
        const auto other = std::ranges::lower_bound(rule.gifts, u, {}, &Gift::unit);
        if (other != rule.gifts.end() && other->unit == u && states[u] == UnitState::kOpen)
            sum = saturating_add(sum, other->amount);
    }
    return sum;
}

void GiveRules::stay(std::vector<UnitState>& states, std::uint32_t unit) const {
    states[unit] = UnitState::kStays;
    // A gang does not go without its surplus here.
    if (whole_of_[unit] >= 0) states[static_cast<std::size_t>(whole_of_[unit])] = UnitState::kStays;
}

void GiveRules::go(std::vector<UnitState>& states, std::uint32_t unit) const {
    states[unit] = UnitState::kGone;
    for (std::uint32_t u : along_of_[unit])
        states[u] = UnitState::kGone;
}

bool GiveRules::settle(const Rule& rule, std::vector<UnitState>& states, bool& changed) const {
    Sums sums = sums_of(rule, states);
    if (!rule.at_least) {
        if (sums.gone > rule.amount) return false;
        for (const Gift& gift : rule.gifts) {
            if (states[gift.unit] != UnitState::kOpen) continue;
            if (saturating_add(sums.gone, given_with(rule, gift, states)) <= rule.amount) continue;
            stay(states, gift.unit);
            changed = true;
        }
        return true;
    }
    const bool can_hold = saturating_add(sums.gone, sums.open) >= rule.amount;
    if (!sums.applies) {
        if (can_hold) return true;
        for (std::uint32_t u : rule.givers) {
            if (states[u] != UnitState::kOpen) continue;
            stay(states, u);
            changed = true;
        }
        return true;
    }
    if (!can_hold) return false;
    for (const Gift& gift : rule.gifts) {
        const bool needed = saturating_add(sums.gone, sums.open) - gift.amount < rule.amount;
        if (states[gift.unit] != UnitState::kOpen || !needed) continue;
        const std::int64_t given = given_with(rule, gift, states);
        go(states, gift.unit);
        sums.gone = saturating_add(sums.gone, given);
        sums.open -= given;
        changed = true;
    }
    return true;
}

bool GiveRules::settle(std::vector<UnitState>& states) const {
    for (bool changed = !rules_.empty(); changed;) {
        changed = false;
        for (const Rule& rule : rules_) {
            if (!settle(rule, states, changed)) return false;
        }
    }
    return true;
}

void GiveRules::give_enough(std::span<const UnitState> states,
                            std::span<const Wide> weights,
                            std::vector<bool>& gone) const {
    for (const Rule& rule : rules_) {
        Sums sums = sums_of(rule, gone);
        if (!rule.at_least || holds(rule, sums)) continue;
        std::vector<Gift> offers;
        std::ranges::copy_if(rule.gifts, std::back_inserter(offers), [&](const Gift& gift) {
            return states[gift.unit] == UnitState::kOpen && !gone[gift.unit];
        });
        std::ranges::stable_sort(offers, [&](const Gift& a, const Gift& b) {
            return weights[a.unit] / static_cast<Wide>(a.amount) < weights[b.unit] / static_cast<Wide>(b.amount);
        });
        for (const Gift& gift : offers) {
            if (sums.gone >= rule.amount) break;
            gone[gift.unit] = true;
            for (std::uint32_t u : along_of_[gift.unit])
                gone[u] = true;
            sums = sums_of(rule, gone);
        }
    }
}

std::optional<GiveRules::Question> GiveRules::undecided(std::span<const UnitState> states,
                                                        const std::vector<bool>& gone) const {
    for (const Rule& rule : rules_) {
        if (holds(rule, sums_of(rule, gone))) continue;
        const auto is_open = [&](std::uint32_t u, bool picked) {
            return states[u] == UnitState::kOpen && gone[u] == picked;
        };
        // Whether anybody gives at all, then who gives most of what is too much or too little.
        if (rule.at_least) {
            for (std::uint32_t u : rule.givers) {
                if (is_open(u, true)) return Question{.unit = u};
            }
        }
        const Gift* most = nullptr;
        for (const Gift& gift : rule.gifts) {
            if (!is_open(gift.unit, !rule.at_least)) continue;
            if (most == nullptr || gift.amount > most->amount) most = &gift;
        }
        if (most != nullptr) return Question{.unit = most->unit, .stay = !rule.at_least};
    }
    return std::nullopt;
}

bool GiveRules::priced() const {
    return std::ranges::any_of(rules_, [](const Rule& rule) { return !rule.at_least; });
}

// Amounts are counted in parts, rounded down for those who pay and up for what is given back: prices stay admissible.
void GiveRules::limit_prices(std::span<const Wide> weights, Wide most) {
    constexpr std::int64_t kParts = 1000;
    for (Priced& rule : rules_) {
        if (rule.at_least) continue;
        std::int64_t largest = 0;
        std::int64_t all = rule.amount;
        Wide dearest = 0;
        for (const Gift& gift : rule.gifts) {
            largest = std::max(largest, gift.amount);
            all = saturating_add(all, gift.amount);
            dearest = std::max(dearest, weights[gift.unit]);
        }
        rule.part = std::max<std::int64_t>(1, largest / kParts);
        // What everybody pays, and what is given back, adds up over the rules.
        const Wide fair = dearest / static_cast<Wide>(std::max<std::int64_t>(1, largest / rule.part));
        const Wide safe = most / static_cast<Wide>(rules_.size()) / static_cast<Wide>(all / rule.part + 1);
        rule.most_price = std::min(fair, safe);
        rule.price = 0;
    }
}

void GiveRules::add_prices(std::span<Wide> weights) const {
    for (const Priced& rule : rules_) {
        for (const Gift& gift : rule.gifts)
            weights[gift.unit] += rule.price * static_cast<Wide>(gift.amount / rule.part);
    }
}

Wide GiveRules::refund(std::span<const UnitState> states) const {
    Wide sum = 0;
    for (const Priced& rule : rules_) {
        if (rule.price == 0) continue;
        std::int64_t left = rule.amount;
        for (const Gift& gift : rule.gifts)
            left -= states[gift.unit] == UnitState::kGone ? gift.amount : 0;
        sum += rule.price * static_cast<Wide>((left + rule.part - 1) / rule.part);
    }
    return sum;
}

void GiveRules::adjust_prices(const std::vector<bool>& gone, std::int64_t rate) {
    constexpr Wide kWholeRate = 1000;
    for (Priced& rule : rules_) {
        if (rule.at_least) continue;
        const std::int64_t given = sums_of(rule, gone).gone;
        const std::int64_t large = std::max({rule.amount, given, rule.part});
        const Wide step = rule.most_price / kWholeRate * rate * static_cast<Wide>((given - rule.amount) / rule.part) /
                          static_cast<Wide>((large + rule.part - 1) / rule.part);
        rule.price = std::clamp<Wide>(rule.price + step, 0, rule.most_price);
    }
}

}  // namespace reprieve
