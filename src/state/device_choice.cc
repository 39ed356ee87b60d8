#include "state/device_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "state/claim_questions.h"
#include "state/cluster.h"
#include "state/device_chooser.h"
#include "state/device_match.h"

namespace reprieve {
namespace {

// What stands between a pod and one of its claims on a node, before any device is chosen.
struct Gate {
    DeviceChoice answer = DeviceChoice::kFound;
    std::string why;
    const GivenDevices* given = nullptr;  // allocated already, and of use; null: it has to be given devices
    PodId promised_to;
};

// Whether the claim is reserved for the pod as a fact.
bool stands_in(const Snapshot& s, const ClaimRow& row, PodId pod) {
    const auto& claims = s.facts->resource_claims();
    const ResourceClaim* fact = claims.get(claims.find(row.ns, s.words->find_string(row.name)));
    return fact != nullptr && std::ranges::any_of(fact->consumers, [&](const ClaimConsumer& consumer) {
               return consumer.is_pod && s.facts->find_pod(row.ns, consumer.name) == pod;
           });
}

Gate look_at(const Snapshot& s, PodId pod, DeviceClaimId id, const Node& on, std::span<const ClaimBook* const> views) {
    const ClaimRow& row = s.device_claims.row(id);
    const std::string full = fmt::format("is reserved for {} users, and takes no more", kMostClaimUsers);
    const auto refuse = [&](DeviceChoice answer, std::string_view what) {
        return Gate{.answer = answer, .why = fmt::format("claim {} {}", s.device_claims.name_of(id, *s.words), what)};
    };
    const std::size_t users = row.pods.size() + static_cast<std::size_t>(row.leaving + row.strangers);
    if (users >= static_cast<std::size_t>(kMostClaimUsers) && !stands_in(s, row, pod))
        return refuse(DeviceChoice::kTrouble, full);
    const bool in_use = !row.pods.empty() || row.strangers > 0;
    if (row.given && in_use && row.given->nodes && !matches_any(*row.given->nodes, on, *s.words))
        return refuse(DeviceChoice::kElsewhere, "is allocated for other nodes");
    Gate gate;
    std::size_t allocated = 0;
    for (const ClaimBook* view : views) {
        const GivenDevices* held = view->allocation(id, row.given);
        if (held == nullptr) continue;
        gate.given = held;
        ++allocated;
    }
    if (allocated == 0) return gate;
    if (allocated < views.size()) return refuse(DeviceChoice::kBusy, "is being freed or allocated");
    gate.promised_to = views.back()->promised_to(id);
    const GangId gang = s.pods[pod].gang;
    const PodId promised = gate.promised_to;
    if (promised && promised != pod && !(gang && s.pods[promised].gang == gang))
        return refuse(DeviceChoice::kBusy, "is being allocated for another pod");
    if (std::ranges::any_of(views, [&](const ClaimBook* view) { return view->users(id) >= kMostClaimUsers; }) &&
        !stands_in(s, row, pod))
        return refuse(DeviceChoice::kBusy, full);
    if (!promised && row.given && !row.not_ready.empty()) return refuse(DeviceChoice::kBusy, row.not_ready);
    if (gate.given->nodes && !matches_any(*gate.given->nodes, on, *s.words))
        return refuse(DeviceChoice::kElsewhere, "is allocated for other nodes");
    return gate;
}

}  // namespace

DeviceChoice choose_claimed_devices(const Snapshot& s,
                                    PodId pod,
                                    NodeId node,
                                    std::span<const ClaimBook* const> views,
                                    std::vector<ClaimGrant>& out,
                                    std::string* why,
                                    std::span<const DeviceId> preferred) {
    const PodClaims& claims = s.device_claims.of(pod);
    const auto tell = [&](DeviceChoice choice, std::string_view what) {
        if (why != nullptr) *why = what;
        return choice;
    };
    if (!claims.trouble.empty()) return tell(DeviceChoice::kTrouble, claims.trouble);
    DeviceChooser chooser(s, node, views);
    for (DeviceClaimId id : claims.wants) {
        const Gate gate = look_at(s, pod, id, *s.facts->node(node), views);
        if (gate.answer != DeviceChoice::kFound) return tell(gate.answer, gate.why);
        if (gate.given != nullptr)
            out.push_back({id, *gate.given, gate.promised_to});
        else if (!chooser.add(id, pod))
            return tell(DeviceChoice::kTrouble, chooser.trouble());
    }
    const DeviceChoice answer = chooser.run(
        preferred.empty() ? devices_promised(s, pod, node) : std::vector<DeviceId>(preferred.begin(), preferred.end()));
    if (answer == DeviceChoice::kFound) {
        chooser.take(out);
    } else if (why != nullptr) {
        *why = answer == DeviceChoice::kHarmed ? chooser.trouble() : chooser.explain();
    }
    return answer;
}

DeviceChoice choose_for_all(const Snapshot& s,
                            std::span<const PodId> pods,
                            NodeId node,
                            std::span<const ClaimBook* const> views,
                            std::vector<std::vector<DeviceId>>* out,
                            std::int64_t& steps) {
    DeviceChooser chooser(s, node, views, DeviceChooser::Strictness::kLenient);
    std::vector<std::pair<DeviceClaimId, std::size_t>> chosen;  // with the place of its pod
    for (std::size_t i = 0; i < pods.size(); ++i) {
        const PodClaims& claims = s.device_claims.of(pods[i]);
        if (!claims.trouble.empty()) return DeviceChoice::kNotMet;
        for (DeviceClaimId id : claims.wants) {
            const Gate gate = look_at(s, pods[i], id, *s.facts->node(node), views);
            if (gate.answer != DeviceChoice::kFound) return DeviceChoice::kNotMet;
            if (gate.given != nullptr ||
                std::ranges::find(chosen, id, [](const auto& c) { return c.first; }) != chosen.end())
                continue;
            if (!chooser.add(id, pods[i])) return DeviceChoice::kNotMet;
            chosen.emplace_back(id, i);
        }
    }
    const DeviceChoice answer = chooser.run();
    steps += chooser.steps();
    if (answer != DeviceChoice::kFound || out == nullptr) return answer;
    std::vector<ClaimGrant> grants;
    chooser.take(grants);
    out->assign(pods.size(), {});
    for (const ClaimGrant& grant : grants) {
        const auto at = std::ranges::find(chosen, grant.claim, [](const auto& c) { return c.first; });
        for (const GivenDevice& given : grant.given.devices)
            (*out)[at->second].push_back(given.device);
    }
    return answer;
}

}  // namespace reprieve
