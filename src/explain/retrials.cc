#include "explain/retrials.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace reprieve {
namespace {

std::set<std::string> evicted_in(const Plan& plan) {
    std::set<std::string> out;
    for (const Eviction& e : plan.evictions)
        out.insert(e.pod);
    return out;
}

bool is_for(const Unplaced& item, const std::string& owner) { return item.pod == owner || item.owner == owner; }

// What room it gets: as pods, as replicas of a service, or as more room where it runs. Members beyond the minimum may
// stay unplaced all the same.
bool serves(const Plan& plan, const std::string& owner) {
    const auto placed = [&](const Placement& p) { return p.pod == owner || p.owner == owner; };
    return std::ranges::any_of(plan.placements, placed) || certificate_for(plan, owner) != nullptr ||
           std::ranges::find(plan.matches, owner, &Match::owner) != plan.matches.end() ||
           std::ranges::none_of(plan.unplaced, [&](const Unplaced& item) { return is_for(item, owner); });
}

// Whom evictions make room where it runs: without them it goes on as it is.
bool only_grows(const Plan& plan, const std::string& owner) {
    const bool given =
        std::ranges::any_of(plan.placements, [&](const Placement& p) { return p.pod == owner || p.owner == owner; }) ||
        std::ranges::find(plan.matches, owner, &Match::owner) != plan.matches.end();
    return !owner.empty() && !given &&
           std::ranges::find(plan.evictions, owner, &Eviction::owner) != plan.evictions.end();
}

std::set<std::string> unplaced_in(const Plan& plan, const std::string& but) {
    std::set<std::string> out;
    for (const Unplaced& item : plan.unplaced) {
        if (!is_for(item, but)) out.insert(item.pod.empty() ? item.owner : item.pod);
    }
    return out;
}

std::vector<std::string> difference(const std::set<std::string>& a, const std::set<std::string>& b) {
    std::vector<std::string> out;
    std::ranges::set_difference(a, b, std::back_inserter(out));
    return out;
}

}  // namespace

Retrials::Retrials(const Plan& plan, Cluster& cluster, const SchedulerConfig& config, std::int64_t most)
    : plan_(plan),
      cluster_(cluster),
      config_(config),
      most_(most) {}

std::optional<Plan> Retrials::with(const Change& change) {
    if (count_ >= most_) {
        refused_ = true;
        return std::nullopt;
    }
    ++count_;
    WhatIf other(cluster_);
    change(other);
    return other.plan(config_);
}

const Certificate* certificate_for(const Plan& plan, const std::string& owner) {
    const auto found = std::ranges::find_if(
        plan.certificates, [&](const Certificate& c) { return c.owner == owner && !is_refusal(c.status); });
    return found == plan.certificates.end() ? nullptr : &*found;
}

std::string worse_term(const CostVector& a, const CostVector& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (a[i].first != b[i].first) return "";
        if (a[i].second != b[i].second) return a[i].second < b[i].second ? a[i].first : "";
    }
    return "";
}

Consequence compare(const Plan& plan, const Plan& other, const std::string& owner) {
    Consequence out;
    const Certificate* before = certificate_for(plan, owner);
    const Certificate* after = certificate_for(other, owner);
    out.placed = serves(other, owner) && (!only_grows(plan, owner) || after != nullptr);
    if (after != nullptr) out.cost = after->cost;
    if (before != nullptr && after != nullptr) {
        out.worse_in = worse_term(before->cost, after->cost);
        out.cheaper_in = worse_term(after->cost, before->cost);
    }
    if (!out.placed) {
        const auto item = std::ranges::find_if(other.unplaced, [&](const Unplaced& u) { return is_for(u, owner); });
        if (item != other.unplaced.end()) out.why_not = item->reason;
    }
    const std::set<std::string> gone = evicted_in(plan);
    const std::set<std::string> gone_then = evicted_in(other);
    out.evicted = difference(gone_then, gone);
    out.spared = difference(gone, gone_then);
    for (const Eviction& e : other.evictions) {
        if (e.owner == owner) out.for_it.push_back(e.pod);
    }
    out.unplaced = difference(unplaced_in(other, owner), unplaced_in(plan, owner));
    return out;
}

}  // namespace reprieve
