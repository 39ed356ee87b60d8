#include "search/shared_claims.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace reprieve {
namespace {

// The leader of a set that was made by joining.
std::uint32_t leader(std::vector<std::uint32_t>& of, std::uint32_t at) {
    while (of[at] != at)
        at = of[at] = of[of[at]];
    return at;
}

void join(std::vector<std::uint32_t>& of, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t x = leader(of, a);
    const std::uint32_t y = leader(of, b);
    of[std::max(x, y)] = std::min(x, y);
}

struct Use {
    DeviceClaimId claim;
    std::uint32_t unit = 0;
    friend auto operator<=>(const Use&, const Use&) = default;
};

// Of claims that several running pods use; a unit once for each of its pods.
std::vector<Use> uses_of(const Snapshot& s, const UnitList& list) {
    std::vector<Use> out;
    for (std::uint32_t u = 0; u < list.units.size(); ++u) {
        for (PodId pod : list.pods_of(list.units[u])) {
            for (DeviceClaimId id : s.device_claims.of(pod).holds) {
                if (s.device_claims.row(id).pods.size() > 1) out.push_back({id, u});
            }
        }
    }
    std::ranges::sort(out);
    return out;
}

// Whether so many pods are all that use it, and something is held that others want.
bool comes_free(const Snapshot& s, DeviceClaimId id, std::size_t users) {
    const ClaimRow& row = s.device_claims.row(id);
    return row.given && static_cast<std::size_t>(s.later.claim_book().users(id)) == users &&
           std::ranges::any_of(row.given->devices, [](const GivenDevice& given) { return !given.admin; });
}

}  // namespace

SharedClaims::SharedClaims(const Snapshot& s, const UnitList& list, bool joins) {
    if (s.device_claims.empty()) return;
    const std::vector<Use> uses = uses_of(s, list);
    for (std::size_t first = 0; first < uses.size();) {
        std::size_t last = first;
        while (last < uses.size() && uses[last].claim == uses[first].claim)
            ++last;
        const DeviceClaimId id = uses[first].claim;
        Claim claim{.id = id, .units = {}};
        for (std::size_t i = first; i < last; ++i) {
            if (claim.units.empty() || claim.units.back() != uses[i].unit) claim.units.push_back(uses[i].unit);
        }
        const std::size_t users = last - first;
        first = last;
        if (claim.units.size() > 1) tied_.push_back(id);
        if (joins && comes_free(s, id, users)) claims_.push_back(std::move(claim));
    }
    // Those of one unit join nobody; yet whether others are needed depends on them.
    if (std::ranges::none_of(claims_, [](const Claim& claim) { return claim.units.size() > 1; })) claims_.clear();
    if (claims_.empty()) return;
    std::ranges::sort(claims_, [&](const Claim& a, const Claim& b) {
        const ClaimRow& x = s.device_claims.row(a.id);
        const ClaimRow& y = s.device_claims.row(b.id);
        return std::tuple(s.words->text(x.ns), std::string_view(x.name)) <
               std::tuple(s.words->text(y.ns), std::string_view(y.name));
    });
    std::vector<std::uint32_t> of(list.units.size());
    std::iota(of.begin(), of.end(), 0U);
    parts_.assign(list.units.size(), -1);
    for (const Claim& claim : claims_) {
        for (std::uint32_t unit : claim.units)
            join(of, claim.units.front(), unit);
    }
    for (const Claim& claim : claims_) {
        if (claim.units.size() < 2) continue;
        for (std::uint32_t unit : claim.units)
            parts_[unit] = static_cast<std::int32_t>(leader(of, unit));
    }
    // A gang that goes whole takes its surplus along: what is joined to the one is joined to the other.
    for (std::uint32_t u = 0; u < list.units.size(); ++u) {
        const std::int32_t whole = list.units[u].whole;
        if (whole < 0) continue;
        const auto gang = static_cast<std::uint32_t>(whole);
        if (parts_[u] < 0 && parts_[gang] < 0) continue;
        join(of, u, gang);
        parts_[u] = parts_[gang] = 0;
    }
    for (std::uint32_t u = 0; u < list.units.size(); ++u) {
        if (parts_[u] >= 0) parts_[u] = static_cast<std::int32_t>(leader(of, u));
    }
}

std::vector<const SharedClaims::Claim*> SharedClaims::needed(std::span<const std::uint32_t> units,
                                                             const std::function<void(DeviceClaimId, bool)>& hold,
                                                             const std::function<bool()>& fits) const {
    std::vector<const Claim*> out;
    std::vector<DeviceClaimId> held;
    const auto goes = [&](std::uint32_t unit) { return std::ranges::find(units, unit) != units.end(); };
    for (const Claim& claim : claims_) {
        if (!std::ranges::all_of(claim.units, goes)) continue;
        hold(claim.id, true);
        if (fits()) {
            held.push_back(claim.id);
        } else {
            hold(claim.id, false);
            if (claim.units.size() > 1) out.push_back(&claim);
        }
    }
    for (DeviceClaimId id : held)
        hold(id, false);
    return out;
}

JoinedUnits::JoinedUnits(const UnitList& list,
                         std::span<const std::uint32_t> units,
                         std::span<const SharedClaims::Claim* const> needed) {
    if (needed.empty()) return;
    std::vector<std::uint32_t> of(units.size());
    std::iota(of.begin(), of.end(), 0U);
    const auto place = [&](std::uint32_t unit) {
        return static_cast<std::uint32_t>(std::ranges::find(units, unit) - units.begin());
    };
    std::vector<bool> in_group(units.size());
    for (const SharedClaims::Claim* claim : needed) {
        for (std::uint32_t unit : claim->units) {
            join(of, place(claim->units.front()), place(unit));
            in_group[place(unit)] = true;
        }
    }
    for (std::uint32_t i = 0; i < units.size(); ++i) {
        const std::int32_t whole = list.units[units[i]].whole;
        const std::uint32_t gang = whole < 0 ? 0 : place(static_cast<std::uint32_t>(whole));
        if (!in_group[i] || whole < 0 || gang == units.size()) continue;
        join(of, i, gang);
        in_group[gang] = true;
    }
    group_at_.assign(units.size(), -1);
    std::vector<std::uint32_t> leaders;
    for (const SharedClaims::Claim* claim : needed) {
        const std::uint32_t head = leader(of, place(claim->units.front()));
        if (std::ranges::find(leaders, head) != leaders.end()) continue;
        leaders.push_back(head);
        Group& group = groups_.emplace_back(Group{.claim = claim->id, .units = {}});
        for (std::uint32_t i = 0; i < units.size(); ++i) {
            if (!in_group[i] || leader(of, i) != head) continue;
            group.units.push_back(units[i]);
            group_at_[i] = static_cast<std::int32_t>(groups_.size() - 1);
        }
    }
}

bool is_whole_gang(const Snapshot& s, const Unit& unit) {
    if (unit.kind != UnitKind::kWhole || !unit.gang) return false;
    const Gang* fact = s.gangs[unit.gang].fact;
    return fact == nullptr || fact->disruption != DisruptionMode::kSingle;
}

}  // namespace reprieve
