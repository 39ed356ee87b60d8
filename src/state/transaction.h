// Transaction: tentative changes on a Snapshot, with a journal.
//
// The journal is the plan: one list of ops is undo log, engine output and what is executed. Each op is applied and
// undone by the same code with a sign; rolling back to any checkpoint gives back every byte, devices included.
// A destroyed Transaction rolls back everything. Only one may be open on a Snapshot.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "state/device_choice.h"
#include "state/promised_counts.h"
#include "state/snapshot.h"
#include "state/touch_log.h"

namespace reprieve {

enum class OpKind : std::uint8_t {
    kEvict,     // a running pod goes (sign -1: it is restored)
    kPlace,     // a pending pod is bound now (sign -1: it is taken back)
    kNominate,  // a pending pod will be bound when the room is free
    kGrow       // a running pod gets the room its resize waits for
};

struct Op {
    OpKind kind = OpKind::kEvict;
    std::int8_t sign = +1;
    PodId pod;
    NodeId node;
    std::uint32_t note = 0;      // what the caller wants to remember of it
    std::uint32_t position = 0;  // in the node's list of pods
    std::uint32_t holds_at = 0;  // devices, in the journal's pool
    std::uint32_t holds_count = 0;
    std::uint32_t binds_at = 0;  // claims bound with the pod, in the journal's pool
    std::uint32_t binds_count = 0;
    std::uint32_t claims_at = 0;  // claims for devices that the pod uses, in the journal's pool
    std::uint32_t claims_count = 0;
};

class Transaction {
public:
    using Checkpoint = std::size_t;

    explicit Transaction(Snapshot& snapshot) : snapshot_(snapshot), touches_(snapshot.nodes.size()) {}
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction() { rollback(0); }

    // REQUIRES: the pod is running.
    void evict(PodId pod, std::uint32_t note = 0);
    // REQUIRES: the pod was evicted in this transaction. It goes back to the devices it had.
    void restore(PodId pod);
    // REQUIRES: the pod is pending. `devices` are those it will hold there.
    // `claimed`: the devices that its claims are given if they will do; none: the first ones that suit.
    void place(PodId pod,
               NodeId node,
               std::span<const DeviceHold> devices,
               std::uint32_t note = 0,
               std::span<const DeviceId> claimed = {});
    void nominate(PodId pod,
                  NodeId node,
                  std::span<const DeviceHold> devices,
                  std::uint32_t note = 0,
                  std::span<const DeviceId> claimed = {});
    // REQUIRES: the pod was placed or nominated in this transaction.
    void unplace(PodId pod);
    void grow(PodId pod, std::uint32_t note = 0);

    // The claim's devices stay held though its users have gone, until the same is taken back with the other sign. No
    // op: it answers what would be if they were not free. REQUIRES: the claim is allocated as a fact.
    void pretend_user(DeviceClaimId claim, int sign);

    [[nodiscard]] Checkpoint checkpoint() const { return journal_.size(); }
    void rollback(Checkpoint to);
    [[nodiscard]] std::span<const Op> journal() const { return journal_; }
    [[nodiscard]] std::span<const Op> since(Checkpoint from) const { return std::span(journal_).subspan(from); }
    [[nodiscard]] std::span<const DeviceHold> devices_of(const Op& op) const {
        return std::span(hold_pool_).subspan(op.holds_at, op.holds_count);
    }

    [[nodiscard]] std::span<const ClaimBinding> bindings_of(const Op& op) const {
        return std::span(bind_pool_).subspan(op.binds_at, op.binds_count);
    }

    // The nodes of every op that was applied or undone. Others may note nodes whose verdicts depend on an op elsewhere.
    [[nodiscard]] TouchLog& touches() { return touches_; }
    [[nodiscard]] const TouchLog& touches() const { return touches_; }
    // Claims for devices that a placed pod uses, with what they are given.
    [[nodiscard]] std::span<const ClaimGrant> grants_of(const Op& op) const {
        return std::span(grant_pool_).subspan(op.claims_at, op.claims_count);
    }

    // Of the pods that terms match, those that stand in this journal.
    [[nodiscard]] const PromisedCounts& promised() const { return promised_; }

    [[nodiscard]] Snapshot& snapshot() { return snapshot_; }
    [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }

private:
    void run(Op& op, int sign);
    void push(Op op);
    void put(OpKind kind,
             PodId pod,
             NodeId node,
             std::span<const DeviceHold> devices,
             std::uint32_t note,
             std::span<const DeviceId> claimed);
    void put_in(Op& op, PodState state);
    void take_out(Op& op);
    void spend_budgets(PodId pod, int sign);
    void use_claims(const Op& op, int sign);

    Snapshot& snapshot_;
    TouchLog touches_;
    PromisedCounts promised_;
    std::vector<Op> journal_;
    std::vector<DeviceHold> hold_pool_;
    std::vector<ClaimBinding> bind_pool_;
    std::vector<ClaimGrant> grant_pool_;
};

}  // namespace reprieve
