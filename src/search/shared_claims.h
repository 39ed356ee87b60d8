// SharedClaims: units of a list whose pods use claims together (docs/decisions/0086).
//
// The devices of such a claim come free when all its users have gone. Where a demand needs them, the units that use the
// claim are one: a WHOLE unit, however many pods and gangs it is made of, but for gangs that go whole in it, each of
// which is one. Where the demand does not need them every unit is what it is by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "search/units.h"

namespace reprieve {

class SharedClaims {
public:
    struct Claim {
        DeviceClaimId id;
        std::vector<std::uint32_t> units;  // that use it, ascending
    };

    SharedClaims() = default;
    // `joins`: the demand claims devices, and what it costs depends on what is a unit.
    SharedClaims(const Snapshot& snapshot, const UnitList& list, bool joins);

    // Claims that pods of several units use. Sorted.
    [[nodiscard]] std::span<const DeviceClaimId> tied() const { return tied_; }
    // No units are joined.
    [[nodiscard]] bool empty() const { return claims_.empty(); }
    // Units with the same number (>= 0) may become one, if all of them go; -1: it is joined to nobody.
    [[nodiscard]] std::int32_t part_of(std::uint32_t unit) const { return parts_.empty() ? -1 : parts_[unit]; }

    // Which claims the demand needs free, of those whose users all go. REQUIRES: exactly these units are gone, and the
    // demand fits. A claim is not needed if the demand fits although it is held, one claim after another by name.
    [[nodiscard]] std::vector<const Claim*> needed(std::span<const std::uint32_t> units,
                                                   const std::function<void(DeviceClaimId, bool)>& hold,
                                                   const std::function<bool()>& fits) const;

private:
    std::vector<DeviceClaimId> tied_;
    std::vector<Claim> claims_;  // with several users, that units of the list free; in the order of names
    std::vector<std::int32_t> parts_;
};

// Units that are one because the demand needs claims that they share.
class JoinedUnits {
public:
    // `units`: all that go.
    JoinedUnits(const UnitList& list,
                std::span<const std::uint32_t> units,
                std::span<const SharedClaims::Claim* const> needed);

    [[nodiscard]] bool empty() const { return groups_.empty(); }
    struct Group {
        DeviceClaimId claim;  // the first by name
        std::vector<std::uint32_t> units;
    };
    [[nodiscard]] std::span<const Group> groups() const { return groups_; }
    // The group of the unit at this place of `units`; -1: none.
    [[nodiscard]] std::int32_t group_at(std::size_t place) const { return groups_.empty() ? -1 : group_at_[place]; }

private:
    std::vector<Group> groups_;
    std::vector<std::int32_t> group_at_;
};

// Whether a gang goes whole in this unit; pods that go one by one are none.
[[nodiscard]] bool is_whole_gang(const Snapshot& snapshot, const Unit& unit);

}  // namespace reprieve
