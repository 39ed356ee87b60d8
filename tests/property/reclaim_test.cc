// gangReclaim against all sets of victims: whoever is called cheapest is, among those that the shares allow in any
// order.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "actions/cycle.h"
#include "laboratory.h"
#include "manifest/plan_json.h"

namespace reprieve::property {
namespace {

struct Tenant {
    int node = 0;
    int cpu = 1;
    int priority = 0;
    bool lends = true;  // in the queue that gives
    bool is_protected = false;
};

// Gangs broken, share of the need in thousandths, highest priority, pods.
using Price = std::array<std::int64_t, 4>;

struct ReclaimWorld {
    std::vector<int> nodes;  // cpu
    std::vector<Tenant> tenants;
    int members = 1;
    int member_cpu = 1;
    int deserved_by_lender = 0;
    int guaranteed = 0;

    [[nodiscard]] int used(bool lender) const {
        int sum = 0;
        for (const Tenant& t : tenants)
            sum += t.lends == lender ? t.cpu : 0;
        return sum;
    }
    [[nodiscard]] int asked() const { return members * member_cpu; }

    [[nodiscard]] bool fits_without(unsigned gone) const {
        std::vector<int> free = nodes;
        for (std::size_t i = 0; i < tenants.size(); ++i) {
            if ((gone >> i & 1U) == 0) free[static_cast<std::size_t>(tenants[i].node)] -= tenants[i].cpu;
        }
        int seats = 0;
        for (int cpu : free)
            seats += cpu / member_cpu;
        return seats >= members;
    }
    // Whatever the order of the vote: the queue is above its share before even the largest of them goes last.
    [[nodiscard]] bool allowed_in_any_order(unsigned gone) const {
        int sum = 0;
        int smallest = INT32_MAX;
        for (std::size_t i = 0; i < tenants.size(); ++i) {
            if ((gone >> i & 1U) == 0) continue;
            if (!tenants[i].lends || tenants[i].is_protected) return false;
            sum += tenants[i].cpu;
            smallest = std::min(smallest, tenants[i].cpu);
        }
        const int left = used(true) - sum;
        return left + smallest > deserved_by_lender && left >= guaranteed;
    }
    [[nodiscard]] Price price(unsigned gone) const {
        Price out{0, 0, INT32_MIN, 0};
        for (std::size_t i = 0; i < tenants.size(); ++i) {
            if ((gone >> i & 1U) == 0) continue;
            out[0] += 1;
            out[1] += tenants[i].cpu;
            out[2] = std::max<std::int64_t>(out[2], tenants[i].priority);
            out[3] += 1;
        }
        out[1] = 1000 * out[1] / asked();
        return out;
    }
};

ReclaimWorld random_reclaim_world() {
    ReclaimWorld world;
    const int nodes = draw(2, 3);
    for (int n = 0; n < nodes; ++n)
        world.nodes.push_back(draw(2, 5));
    std::vector<int> free = world.nodes;
    for (int tries = draw(3, 8); tries > 0; --tries) {
        const auto node = static_cast<std::size_t>(draw(0, nodes - 1));
        const int cpu = std::min(free[node], draw(1, 3));
        if (cpu == 0) continue;
        free[node] -= cpu;
        world.tenants.push_back({.node = static_cast<int>(node),
                                 .cpu = cpu,
                                 .priority = 10 * draw(0, 3),
                                 .lends = draw(0, 4) > 0,
                                 .is_protected = draw(0, 4) == 0});
    }
    world.members = draw(1, 2);
    world.member_cpu = draw(1, 3);
    world.deserved_by_lender = std::max(0, world.used(true) - draw(0, 4));
    world.guaranteed = draw(0, 1) == 0 ? 0 : std::max(0, world.deserved_by_lender - draw(0, 3));
    return world;
}

Json pod_of(const std::string& name, const std::string& queue, int cpu, int priority) {
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", name}, {"annotations", {{"scheduling.volcano.sh/queue-name", queue}}}}},
            {"spec",
             {{"priority", priority},
              {"containers",
               Json::array({{{"name", "c"}, {"resources", {{"requests", {{"cpu", std::to_string(cpu)}}}}}}})}}}};
}

Json queue_of(const std::string& name, int deserved, int guaranteed) {
    Json out = {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                {"kind", "Queue"},
                {"metadata", {{"name", name}}},
                {"spec", {{"deserved", {{"cpu", deserved}}}}}};
    if (guaranteed > 0) out["spec"]["guarantee"] = {{"resource", {{"cpu", guaranteed}}}};
    return out;
}

std::vector<Json> documents(const ReclaimWorld& world) {
    std::vector<Json> out;
    for (std::size_t n = 0; n < world.nodes.size(); ++n) {
        out.push_back({{"apiVersion", "v1"},
                       {"kind", "Node"},
                       {"metadata", {{"name", "n" + std::to_string(n)}}},
                       {"status", {{"allocatable", {{"cpu", world.nodes[n]}, {"pods", 110}}}}}});
    }
    out.push_back(queue_of("lender", world.deserved_by_lender, world.guaranteed));
    out.push_back(queue_of("owner", world.used(false) + world.asked(), 0));
    for (std::size_t i = 0; i < world.tenants.size(); ++i) {
        const Tenant& t = world.tenants[i];
        Json pod = pod_of("t" + std::to_string(i), t.lends ? "lender" : "owner", t.cpu, t.priority);
        if (t.is_protected) pod["metadata"]["annotations"]["reprieve.dev/preemptible"] = "false";
        pod["spec"]["nodeName"] = "n" + std::to_string(t.node);
        pod["status"] = {{"phase", "Running"}, {"startTime", "2026-01-01T10:00:00Z"}};
        out.push_back(std::move(pod));
    }
    out.push_back({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                   {"kind", "PodGroup"},
                   {"metadata", {{"name", "g"}}},
                   {"spec", {{"minMember", world.members}, {"queue", "owner"}}}});
    for (int m = 0; m < world.members; ++m) {
        Json pod = pod_of("g-" + std::to_string(m), "owner", world.member_cpu, 0);
        pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = "g";
        out.push_back(std::move(pod));
    }
    return out;
}

RC_GTEST_PROP(Reclaim, WhatIsCalledCheapestIs, ()) {
    const ReclaimWorld world = random_reclaim_world();
    const auto lab = build(documents(world));
    const Plan plan = run_cycle(
        lab->cluster(), read_config({{"actions", Json::array({{{"name", "allocate"}}, {{"name", "gangReclaim"}}})}}));
    RC_LOG() << as_text(documents(world)) << plan_to_json(plan);
    if (world.fits_without(0)) {
        RC_ASSERT(plan.evictions.empty());
        return;
    }
    unsigned gone = 0;
    for (std::size_t i = 0; i < world.tenants.size(); ++i) {
        if (std::ranges::any_of(plan.evictions,
                                [&](const Eviction& e) { return e.pod == "default/t" + std::to_string(i); }))
            gone |= 1U << i;
    }
    RC_ASSERT(gone == 0 || world.fits_without(gone));
    const bool optimal = !plan.certificates.empty() && plan.certificates.front().status == CertificateStatus::kOptimal;
    for (unsigned set = 1; set < 1U << world.tenants.size(); ++set) {
        if (!world.allowed_in_any_order(set) || !world.fits_without(set)) continue;
        RC_ASSERT(gone != 0U);
        RC_ASSERT(!optimal || !(world.price(set) < world.price(gone)));
    }
}

}  // namespace
}  // namespace reprieve::property
