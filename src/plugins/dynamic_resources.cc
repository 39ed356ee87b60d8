// The filter DynamicResources: the devices that a pod claims, by upstream's choice.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plugins/filter.h"
#include "state/claim_questions.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

// Now: free both now and when the nominated have come.
DeviceChoice choose(const Candidate& c, const Occupancy& view, const Occupancy& later, NodeId node, std::string* why) {
    const ClaimBook* const both[] = {&view.claim_book(), &later.claim_book()};
    std::vector<ClaimGrant> unused;
    return choose_claimed_devices(
        c.snapshot, c.pod, node, std::span(both).subspan(&view == &later ? 1 : 0), unused, why);
}

bool nothing_held(const Snapshot& s, const Occupancy& view, NodeId node) {
    const DevicePools& pools = s.device_claims.pools;
    return std::ranges::all_of(pools.on_node(node), [&](const NodePool& pool) {
        return std::ranges::all_of(
            pool.offers, [&](OfferId offer) { return view.claim_book().held(pools.offer(offer).device).idle(); });
    });
}

}  // namespace

bool Answer::certain() const {
    return filter != FilterId::kDynamicResources || fit != Fit::kNotNow ||
           detail != static_cast<std::uint32_t>(DeviceChoice::kGaveUp);
}

Answer filter_dynamic_resources(const Candidate& c, const Occupancy& view, const Occupancy& later, NodeId node) {
    const DeviceChoice choice = choose(c, view, later, node, nullptr);
    if (choice == DeviceChoice::kFound) return {};
    const auto detail = static_cast<std::uint32_t>(choice);
    switch (choice) {
        case DeviceChoice::kTrouble:
        case DeviceChoice::kElsewhere:
            return {Fit::kNever, FilterId::kDynamicResources, detail};
        default:
            break;
    }
    // Where nothing that can be freed is in the way, evictions do not help. That the attempt would end on a device that
    // is held says nothing about the others.
    const DeviceChoice ever = could_ever_be_given(c.snapshot, c.pod, node);
    const bool never = ever == DeviceChoice::kNotMet || ever == DeviceChoice::kElsewhere ||
                       (ever == DeviceChoice::kHarmed && nothing_held(c.snapshot, view, node));
    return {never ? Fit::kNever : Fit::kNotNow, FilterId::kDynamicResources, detail};
}

std::string describe_on(const Answer& answer, const Candidate& c, NodeId node) {
    if (answer.filter != FilterId::kDynamicResources) return describe(answer, c);
    std::string why;
    if (choose(c, c.snapshot.later, c.snapshot.later, node, &why) == DeviceChoice::kFound)
        static_cast<void>(choose(c, c.snapshot.now, c.snapshot.later, node, &why));
    return why.empty() ? describe(answer, c) : why;
}

std::string describe_blocking_claims(const Candidate& c) {
    constexpr std::size_t kMost = 4;
    const Snapshot& s = c.snapshot;
    const ClaimTable& table = s.device_claims;
    std::set<std::string> found;
    const auto look_at = [&](DeviceClaimId id) {
        const ClaimRow& row = table.row(id);
        if (row.strangers > 0) {
            found.insert(fmt::format("claim {} is {}", table.name_of(id, *s.words), row.stranger));
        } else if (row.pods.size() > 1) {
            std::string users;
            for (PodId pod : std::span(row.pods).first(std::min(row.pods.size(), kMost)))
                users += (users.empty() ? "" : ", ") + s.pod_name(pod);
            if (row.pods.size() > kMost) users += fmt::format(" and {} others", row.pods.size() - kMost);
            found.insert(
                fmt::format("claim {} is free only when all of {} are gone", table.name_of(id, *s.words), users));
        }
    };
    std::set<DeviceClaimId> seen;
    for (NodeId node : s.nodes_by_name) {
        for (const NodePool& pool : table.pools.on_node(node)) {
            for (OfferId offer : pool.offers) {
                for (DeviceClaimId id : table.holders(table.pools.offer(offer).device)) {
                    if (seen.insert(id).second) look_at(id);
                }
            }
        }
        if (found.size() >= kMost) break;
    }
    std::string out;
    std::size_t listed = 0;
    for (const std::string& sentence : found) {
        if (listed++ == kMost) break;
        out += (out.empty() ? "" : "; ") + sentence;
    }
    return out;
}

}  // namespace reprieve
