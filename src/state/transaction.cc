#include "state/transaction.h"

#include <algorithm>

#include "base/check.h"
#include "state/budgets.h"
#include "state/cluster.h"
#include "state/volume_choice.h"

namespace reprieve {

void Transaction::push(Op op) {
    journal_.push_back(op);
    run(journal_.back(), op.sign);
}

void Transaction::evict(PodId pod, std::uint32_t note) {
    const PodRow& row = snapshot_.pods[pod];
    REPRIEVE_CHECK(row.state == PodState::kRunning, "{} is not running", snapshot_.pod_name(pod));
    push({.kind = OpKind::kEvict, .sign = +1, .pod = pod, .node = row.node, .note = note});
}

void Transaction::restore(PodId pod) {
    const PodRow& row = snapshot_.pods[pod];
    REPRIEVE_CHECK(row.state == PodState::kEvicted, "{} was not evicted", snapshot_.pod_name(pod));
    push({.kind = OpKind::kEvict, .sign = -1, .pod = pod, .node = row.node});
}

void Transaction::place(PodId pod,
                        NodeId node,
                        std::span<const DeviceHold> devices,
                        std::uint32_t note,
                        std::span<const DeviceId> claimed) {
    put(OpKind::kPlace, pod, node, devices, note, claimed);
}

void Transaction::nominate(PodId pod,
                           NodeId node,
                           std::span<const DeviceHold> devices,
                           std::uint32_t note,
                           std::span<const DeviceId> claimed) {
    put(OpKind::kNominate, pod, node, devices, note, claimed);
}

void Transaction::put(OpKind kind,
                      PodId pod,
                      NodeId node,
                      std::span<const DeviceHold> devices,
                      std::uint32_t note,
                      std::span<const DeviceId> claimed) {
    const PodRow& row = snapshot_.pods[pod];
    REPRIEVE_CHECK(row.state == PodState::kPending, "{} is not pending", snapshot_.pod_name(pod));
    Op op{.kind = kind,
          .sign = +1,
          .pod = pod,
          .node = node,
          .note = note,
          .position = static_cast<std::uint32_t>(snapshot_.node_pods[node].size()),
          .holds_at = static_cast<std::uint32_t>(hold_pool_.size()),
          .holds_count = static_cast<std::uint32_t>(devices.size())};
    hold_pool_.insert(hold_pool_.end(), devices.begin(), devices.end());
    if (snapshot_.classes[row.cls].has_waiting_claims) {
        op.binds_at = static_cast<std::uint32_t>(bind_pool_.size());
        // Where not every claim finds a volume, the pod was put here against the rules; it holds what there is.
        static_cast<void>(
            choose_volumes(snapshot_, snapshot_.classes[row.cls], node, snapshot_.later.bindings(), bind_pool_));
        op.binds_count = static_cast<std::uint32_t>(bind_pool_.size()) - op.binds_at;
    }
    if (snapshot_.classes[row.cls].has_claims) {
        const ClaimBook* const both[] = {&snapshot_.now.claim_book(), &snapshot_.later.claim_book()};
        op.claims_at = static_cast<std::uint32_t>(grant_pool_.size());
        // Like volumes: a pod that was put here against the rules holds nothing.
        const std::span<const ClaimBook* const> views = std::span(both).subspan(kind == OpKind::kPlace ? 0 : 1);
        if (choose_claimed_devices(snapshot_, pod, node, views, grant_pool_, nullptr, claimed) != DeviceChoice::kFound)
            grant_pool_.resize(op.claims_at);
        op.claims_count = static_cast<std::uint32_t>(grant_pool_.size()) - op.claims_at;
    }
    push(op);
}

void Transaction::unplace(PodId pod) {
    const PodRow& row = snapshot_.pods[pod];
    const bool placed = row.state == PodState::kPlaced;
    REPRIEVE_CHECK(placed || row.state == PodState::kNominated, "{} was not placed", snapshot_.pod_name(pod));
    const std::vector<PodId>& there = snapshot_.node_pods[row.node];
    // Usually it came last.
    const auto position = there.back() == pod
                              ? static_cast<std::uint32_t>(there.size() - 1)
                              : static_cast<std::uint32_t>(std::ranges::find(there, pod) - there.begin());
    const std::vector<DeviceHold>& holds = snapshot_.holds[pod];
    const auto at = static_cast<std::uint32_t>(hold_pool_.size());
    if (!holds.empty()) hold_pool_.insert(hold_pool_.end(), holds.begin(), holds.end());
    Op op{.kind = placed ? OpKind::kPlace : OpKind::kNominate,
          .sign = -1,
          .pod = pod,
          .node = row.node,
          .note = 0,
          .position = position,
          .holds_at = at,
          .holds_count = static_cast<std::uint32_t>(holds.size())};
    if (const PodClass& cls = snapshot_.classes[row.cls]; cls.has_waiting_claims) {
        op.binds_at = static_cast<std::uint32_t>(bind_pool_.size());
        snapshot_.later.bindings().list(cls, bind_pool_);
        op.binds_count = static_cast<std::uint32_t>(bind_pool_.size()) - op.binds_at;
    }
    if (snapshot_.classes[row.cls].has_claims) {
        // What it took when it came is what it gives back.
        const ClaimBook& book = snapshot_.later.claim_book();
        const auto placing = std::ranges::find_if(
            journal_.rbegin(), journal_.rend(), [&](const Op& o) { return o.pod == pod && o.sign > 0; });
        REPRIEVE_CHECK(placing != journal_.rend());
        op.claims_at = static_cast<std::uint32_t>(grant_pool_.size());
        for (std::uint32_t i = 0; i < placing->claims_count; ++i) {
            const DeviceClaimId claim = grant_pool_[placing->claims_at + i].claim;
            const std::optional<GivenDevices>& fact = snapshot_.device_claims.row(claim).given;
            grant_pool_.push_back({claim, *book.allocation(claim, fact), book.promised_to(claim)});
        }
        op.claims_count = placing->claims_count;
    }
    push(op);
}

void Transaction::grow(PodId pod, std::uint32_t note) {
    push({.kind = OpKind::kGrow, .sign = +1, .pod = pod, .node = snapshot_.pods[pod].node, .note = note});
}

void Transaction::pretend_user(DeviceClaimId claim, int sign) {
    const ClaimRow& row = snapshot_.device_claims.row(claim);
    snapshot_.later.claim_book().use(claim, *row.given, sign);
    for (PodId pod : row.pods) {
        if (snapshot_.pods[pod].node) touches_.note(snapshot_.pods[pod].node);
    }
}

void Transaction::rollback(Checkpoint to) {
    REPRIEVE_CHECK(to <= journal_.size());
    while (journal_.size() > to) {
        Op& op = journal_.back();
        run(op, -op.sign);
        if (op.holds_count > 0) hold_pool_.resize(op.holds_at);
        if (op.binds_count > 0) bind_pool_.resize(op.binds_at);
        if (op.claims_count > 0) grant_pool_.resize(op.claims_at);
        journal_.pop_back();
    }
}

void Transaction::spend_budgets(PodId pod, int sign) {
    for (BudgetId id : snapshot_.class_of(pod).budgets) {
        if (takes_from(snapshot_, pod, id)) snapshot_.budgets[id].left -= sign;
    }
}

void Transaction::put_in(Op& op, PodState state) {
    PodRow& row = snapshot_.pods[op.pod];
    std::vector<PodId>& there = snapshot_.node_pods[op.node];
    // Nearly always at the end.
    if (op.position == there.size())
        there.push_back(op.pod);
    else
        there.insert(there.begin() + op.position, op.pod);
    row.node = op.node;
    row.state = state;
    if (op.holds_count == 0) return;
    const auto devices = devices_of(op);
    snapshot_.holds[op.pod].assign(devices.begin(), devices.end());
}

void Transaction::take_out(Op& op) {
    PodRow& row = snapshot_.pods[op.pod];
    std::vector<PodId>& there = snapshot_.node_pods[op.node];
    REPRIEVE_CHECK(there[op.position] == op.pod);
    if (op.position + 1 == there.size())
        there.pop_back();
    else
        there.erase(there.begin() + op.position);
    row.node = {};
    row.state = PodState::kPending;
    if (op.holds_count > 0) snapshot_.holds[op.pod].clear();
}

void Transaction::use_claims(const Op& op, int sign) {
    for (const ClaimGrant& grant : grants_of(op)) {
        snapshot_.later.claim_book().use(grant.claim, grant.given, sign, grant.promised_to);
        if (op.kind == OpKind::kPlace)
            snapshot_.now.claim_book().use(grant.claim, grant.given, sign, grant.promised_to);
    }
}

void Transaction::run(Op& op, int sign) {
    touches_.note(op.node);
    PodRow& row = snapshot_.pods[op.pod];
    const PodClass& cls = snapshot_.classes[row.cls];
    const PodSpec& spec = snapshot_.words->spec(cls.spec);
    const Geometry geometry = snapshot_.geometry();
    switch (op.kind) {
        case OpKind::kEvict:
            snapshot_.later.apply(geometry, cls, spec, op.node, row.queue, snapshot_.holds[op.pod], -sign);
            if (row.has(kResizing))
                snapshot_.later.grow(geometry, cls, op.node, row.queue, snapshot_.facts->resize_delta(op.pod), sign);
            for (DeviceClaimId claim : snapshot_.device_claims.of(op.pod).holds)
                snapshot_.later.claim_book().use(claim, *snapshot_.device_claims.row(claim).given, -sign);
            row.state = sign > 0 ? PodState::kEvicted : PodState::kRunning;
            spend_budgets(op.pod, sign);
            break;
        case OpKind::kPlace:
        case OpKind::kNominate:
            if (sign > 0) put_in(op, op.kind == OpKind::kPlace ? PodState::kPlaced : PodState::kNominated);
            snapshot_.later.apply(geometry, cls, spec, op.node, row.queue, devices_of(op), sign);
            if (op.kind == OpKind::kPlace)
                snapshot_.now.apply(geometry, cls, spec, op.node, row.queue, devices_of(op), sign);
            promised_.add(geometry, cls, op.node, op.kind == OpKind::kNominate, sign);
            if (op.binds_count > 0) snapshot_.later.bind(bindings_of(op), sign);
            if (op.claims_count > 0) use_claims(op, sign);
            if (sign < 0) take_out(op);
            break;
        case OpKind::kGrow:
            snapshot_.later.grow(geometry, cls, op.node, row.queue, snapshot_.facts->resize_delta(op.pod), sign);
            break;
    }
    if (row.gang && op.kind != OpKind::kGrow)
        snapshot_.gangs[row.gang].live += op.kind == OpKind::kEvict ? -sign : sign;
}

}  // namespace reprieve
