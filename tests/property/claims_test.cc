// Devices by claim: a cluster that was changed fact by fact knows the same as one that was built from the facts as they
// are in the end, and whatever is tried in a transaction, the very same devices come back.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "claims_world.h"
#include "laboratory.h"
#include "state/counted_claims.h"
#include "state/device_choice.h"
#include "state/transaction.h"

namespace reprieve::property {
namespace {

bool is_same_object(const Json& a, const Json& b) {
    return a["kind"] == b["kind"] && a["metadata"]["name"] == b["metadata"]["name"];
}

std::string device_name(const Snapshot& s, DeviceId id) {
    const auto& [driver, pool, name] = s.device_claims.pools.key(id);
    return fmt::format("{}/{}", s.words->text(pool), s.words->text(name));
}

// Everything that is known of claims, by name.
std::string claim_numbers(const Cluster& cluster) {
    const Snapshot& s = cluster.snapshot();
    const ClaimTable& table = s.device_claims;
    std::set<std::string> rows;
    const auto names = [&](const std::vector<DeviceClaimId>& claims) {
        std::vector<std::string> out;
        for (DeviceClaimId id : claims)
            out.push_back(table.name_of(id, *s.words));
        return out;
    };
    for (DeviceClaimId id : IdRange<DeviceClaimId>(table.size())) {
        const ClaimRow& row = table.row(id);
        if (row.spec == nullptr) continue;  // nobody's
        std::vector<std::string> users;
        for (PodId pod : row.pods)
            users.push_back(s.pod_name(pod));
        std::vector<std::string> devices;
        if (row.given) {
            for (const GivenDevice& given : row.given->devices)
                devices.push_back(device_name(s, given.device));
        }
        rows.insert(fmt::format("claim {} users={} leaving={} strangers={} {} devices={} now={} later={} fixed={}",
                                table.name_of(id, *s.words),
                                users,
                                row.leaving,
                                row.strangers,
                                row.stranger,
                                devices,
                                s.now.claim_book().users(id),
                                s.later.claim_book().users(id),
                                s.fixed_claims.users(id)));
    }
    for (DeviceId id : IdRange<DeviceId>(table.pools.device_count())) {
        const auto held = [&](const ClaimBook& book) {
            return fmt::format("{}+{}", book.held(id).whole, book.held(id).shares);
        };
        std::set<std::string> holders;
        for (DeviceClaimId claim : table.holders(id))
            holders.insert(table.name_of(claim, *s.words));
        const bool idle = s.now.claim_book().held(id).idle() && holders.empty() && table.pools.offers_of(id).empty();
        if (idle) continue;  // a device that is gone, and that nobody names
        rows.insert(fmt::format("device {} now={} later={} fixed={} holders={} offers={}",
                                device_name(s, id),
                                held(s.now.claim_book()),
                                held(s.later.claim_book()),
                                held(s.fixed_claims),
                                holders,
                                table.pools.offers_of(id).size()));
    }
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        if (s.pods[pod].state == PodState::kAbsent) continue;
        const PodClaims& claims = table.of(pod);
        rows.insert(fmt::format("pod {} wants={} holds={} trouble={} alternatives={} local={}",
                                s.pod_name(pod),
                                names(claims.wants),
                                names(claims.holds),
                                claims.trouble,
                                claims.has_alternatives,
                                s.class_of(pod).claims_local));
    }
    for (NodeId node : s.nodes_by_name) {
        for (const NodePool& pool : table.pools.on_node(node)) {
            const auto offers = [&](const std::vector<OfferId>& list) {
                std::vector<std::string> out;
                for (OfferId offer : list)
                    out.push_back(fmt::format("{}:{}",
                                              device_name(s, table.pools.offer(offer).device),
                                              table.pools.offer(offer).taints->size()));
                return out;
            };
            rows.insert(fmt::format("node {} pool {} {} {} elsewhere={} counters={}",
                                    s.node_name(node),
                                    s.words->text(pool.name),
                                    pool.trouble,
                                    offers(pool.offers),
                                    offers(pool.elsewhere),
                                    pool.counters.size()));
        }
    }
    return fmt::format("{}\n", fmt::join(rows, "\n"));
}

RC_GTEST_PROP(Claims, ChangedStepByStepEqualBuiltFromNothing, ()) {
    std::vector<Json> documents = random_claims_world();
    const auto lab = build(documents);
    const SchedulerConfig config = read_config(random_config());
    const int rounds = draw(1, 5);
    for (int round = 0; round < rounds; ++round) {
        const int changes = draw(1, 6);
        for (int i = 0; i < changes; ++i) {
            if (rarely(4) && !documents.empty()) {
                const int at = draw(0, static_cast<int>(documents.size()) - 1);
                lab->remove(documents[static_cast<std::size_t>(at)]);
                documents.erase(documents.begin() + at);
                continue;
            }
            const Json object = random_claims_object();
            std::erase_if(documents, [&](const Json& known) { return is_same_object(known, object); });
            documents.push_back(object);
            lab->apply(object);
        }
        lab->refresh();
        if (rarely(2)) lab->sweep();
        const auto fresh = build(documents);
        RC_LOG() << as_text(documents);
        RC_ASSERT(difference(claim_numbers(lab->cluster()), claim_numbers(fresh->cluster())) == "");
        RC_ASSERT(difference(numbers(lab->cluster()), numbers(fresh->cluster())) == "");
        RC_ASSERT(difference(lab->plan(config), fresh->plan(config)) == "");
        RC_ASSERT(lab->cluster().rebuilds() == 1);
    }
}

// Victims in any order, back in any order: what they held is what they hold.
RC_GTEST_PROP(Claims, WhoeverComesBackHasTheVeryDevicesItHad, ()) {
    const auto lab = build(random_claims_world());
    Snapshot& s = lab->cluster().snapshot();
    const Snapshot before = s;
    const std::string known = claim_numbers(lab->cluster());
    Transaction tx(s);
    std::vector<PodId> gone;
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        if (s.pods[pod].state == PodState::kRunning) gone.push_back(pod);
    }
    const auto shuffle = [](std::vector<PodId>& pods) {
        for (std::size_t i = pods.size(); i > 1; --i)
            std::swap(pods[i - 1], pods[static_cast<std::size_t>(draw(0, static_cast<int>(i) - 1))]);
    };
    shuffle(gone);
    for (PodId pod : gone)
        tx.evict(pod);
    // Those who wait take what is free now, and give it back.
    std::vector<PodId> placed;
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        if (s.pods[pod].state != PodState::kPending || rarely(3)) continue;
        const NodeId node =
            s.nodes_by_name[static_cast<std::size_t>(draw(0, static_cast<int>(s.nodes_by_name.size()) - 1))];
        if (rarely(2))
            tx.place(pod, node, {});
        else
            tx.nominate(pod, node, {});
        placed.push_back(pod);
    }
    if (rarely(2)) {
        tx.rollback(0);
    } else {
        shuffle(placed);
        for (PodId pod : placed)
            tx.unplace(pod);
        shuffle(gone);
        for (PodId pod : gone)
            tx.restore(pod);
    }
    RC_ASSERT(s.now.claim_book() == before.now.claim_book());
    RC_ASSERT(s.later.claim_book() == before.later.claim_book());
    RC_ASSERT(difference(claim_numbers(lab->cluster()), known) == "");
}

// How many of these pods the allocator finds devices for on the node, one after the other.
std::int64_t placed_one_by_one(Snapshot& s, Transaction& tx, std::span<const PodId> pods, NodeId node) {
    const auto mark = tx.checkpoint();
    const ClaimBook* const later[] = {&s.later.claim_book()};
    std::int64_t placed = 0;
    for (PodId pod : pods) {
        std::vector<ClaimGrant> unused;
        if (choose_claimed_devices(s, pod, node, later, unused) != DeviceChoice::kFound) break;
        tx.nominate(pod, node, {});
        ++placed;
    }
    tx.rollback(mark);
    return placed;
}

// Where devices are counted, as many pods fit as the allocator finds devices for, whoever has gone and come.
RC_GTEST_PROP(Claims, AsManyAreCountedAsCanBePlaced, ()) {
    const auto lab = build(random_claims_world());
    Snapshot& s = lab->cluster().snapshot();
    Transaction tx(s);
    std::map<SpecId, std::vector<PodId>> waiting;
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        if (s.pods[pod].state == PodState::kRunning && rarely(2)) tx.evict(pod);
        if (s.pods[pod].state != PodState::kPending) continue;
        // One of them may have been planned before.
        if (rarely(5))
            tx.nominate(pod, s.nodes_by_name.front(), {});
        else if (s.class_of(pod).has_claims)
            waiting[s.class_of(pod).spec].push_back(pod);
    }
    for (const auto& [spec, pods] : waiting) {
        std::optional<CountedClaims> counted = CountedClaims::of(s, pods);
        if (!counted) continue;
        for (NodeId node : s.nodes_by_name) {
            if (!counted->counts_on(node)) continue;
            const std::int64_t fit = counted->fit(node, s.later.claim_book(), std::ssize(pods));
            RC_ASSERT(fit == placed_one_by_one(s, tx, pods, node));
        }
    }
}

// What is refused for several pods together cannot be had one after the other, in whichever order.
RC_GTEST_PROP(Claims, WhatIsRefusedTogetherIsNotHadOneByOne, ()) {
    const auto lab = build(random_claims_world());
    Snapshot& s = lab->cluster().snapshot();
    Transaction tx(s);
    std::vector<PodId> waiting;
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        if (s.pods[pod].state == PodState::kRunning && rarely(2)) tx.evict(pod);
        if (s.pods[pod].state == PodState::kPending && s.class_of(pod).has_claims && waiting.size() < 4)
            waiting.push_back(pod);
    }
    std::ranges::sort(waiting);
    for (NodeId node : s.nodes_by_name) {
        std::vector<PodId> order = waiting;
        do {
            const std::int64_t placed = placed_one_by_one(s, tx, order, node);
            const std::span<const PodId> first = std::span(order).first(static_cast<std::size_t>(placed));
            const ClaimBook* const later[] = {&s.later.claim_book()};
            std::int64_t steps = 0;
            RC_ASSERT(choose_for_all(s, first, node, later, nullptr, steps) == DeviceChoice::kFound);
        } while (std::ranges::next_permutation(order).found);
    }
}

}  // namespace
}  // namespace reprieve::property
