// What units free of counted devices (state/counted_claims.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "state/counted_claims.h"

namespace reprieve {

// Walks the devices of a node that suit a kind and are held, and calls `add(unit, kind, alone)` for each unit that
// frees one. `unit_of` says which unit a pod is part of, -1: it stays. A claim is free when its last user is gone; so a
// device is freed by nobody if one of its users stays, and by one unit alone if all of them are its pods. Not alone:
// the device becomes free only when several units have gone. It is added to each of them, which is the most that each
// can do.
template <class UnitOf, class Add>
void add_device_gifts(const Snapshot& s, CountedClaims& claims, NodeId node, const UnitOf& unit_of, const Add& add) {
    const ClaimBook& later = s.later.claim_book();
    for (const CountedClaims::Suiting& suiting : claims.suiting(node)) {
        const HeldDevice& held = later.held(suiting.device);
        if (held.idle()) continue;
        std::int32_t holders = 0;
        std::int32_t first = -1;
        bool several = false;
        bool stays = false;
        for (DeviceClaimId id : s.device_claims.holders(suiting.device)) {
            if (later.users(id) == 0) continue;
            ++holders;
            std::int32_t users = 0;
            for (PodId pod : s.device_claims.row(id).pods) {
                if (s.pods[pod].state != PodState::kRunning) continue;
                ++users;
                const std::int32_t unit = unit_of(pod);
                stays = stays || unit < 0;
                several = several || (first >= 0 && unit != first);
                first = unit;
            }
            stays =
                stays || users != later.users(id);  // a pod of the plan uses it, or somebody that no eviction removes
        }
        // What is held beyond these claims was promised in this plan.
        if (stays || holders != held.whole + held.shares) continue;
        if (!several) {
            add(static_cast<std::uint32_t>(first), suiting.kind, true);
            continue;
        }
        std::vector<std::int32_t> units;
        for (DeviceClaimId id : s.device_claims.holders(suiting.device)) {
            for (PodId pod : s.device_claims.row(id).pods) {
                if (s.pods[pod].state == PodState::kRunning) units.push_back(unit_of(pod));
            }
        }
        std::ranges::sort(units);
        const auto repeated = std::ranges::unique(units);
        units.erase(repeated.begin(), repeated.end());
        for (std::int32_t unit : units)
            add(static_cast<std::uint32_t>(unit), suiting.kind, false);
    }
}

}  // namespace reprieve
