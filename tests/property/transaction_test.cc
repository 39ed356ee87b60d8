// Whatever is tried in a transaction, rolling back gives back every byte.
#include "state/transaction.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "laboratory.h"

namespace reprieve::property {
namespace {

std::vector<PodId> in_state(const Snapshot& s, PodState state) {
    std::vector<PodId> out;
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        if (s.pods[pod].state == state) out.push_back(pod);
    }
    return out;
}

PodId one_of(const std::vector<PodId>& pods) {
    return pods[static_cast<std::size_t>(draw(0, static_cast<int>(pods.size()) - 1))];
}

// The devices it would get there, or none where there are not enough: the transaction does not ask whether it fits.
std::vector<DeviceHold> devices_for(const Snapshot& s, PodId pod, NodeId node) {
    std::vector<DeviceHold> holds;
    const DeviceAsk& ask = s.spec_of(pod).devices;
    if (!ask.any() || !choose_devices(s.devices[node], s.later.use(node).devices, ask, holds)) holds.clear();
    return holds;
}

class Walk {
public:
    explicit Walk(Cluster& cluster) : snapshot_(cluster.snapshot()), tx_(snapshot_) { mark(); }

    void step() {
        switch (draw(0, 7)) {
            case 0:
            case 1:
                with(PodState::kRunning, [&](PodId pod) { tx_.evict(pod); });
                break;
            case 2:
                with(PodState::kEvicted, [&](PodId pod) { tx_.restore(pod); });
                break;
            case 3:
                with(PodState::kPending, [&](PodId pod) { put(pod, true); });
                break;
            case 4:
                with(PodState::kPending, [&](PodId pod) { put(pod, false); });
                break;
            case 5:
                with(draw(0, 1) == 0 ? PodState::kPlaced : PodState::kNominated, [&](PodId pod) { tx_.unplace(pod); });
                break;
            case 6:
                mark();
                break;
            default:
                go_back(static_cast<std::size_t>(draw(0, static_cast<int>(marks_.size()) - 1)));
        }
    }

    void finish() { go_back(0); }

private:
    struct Mark {
        Transaction::Checkpoint checkpoint;
        Snapshot copy;
    };

    template <class Act>
    void with(PodState state, Act act) {
        const std::vector<PodId> pods = in_state(snapshot_, state);
        if (!pods.empty()) act(one_of(pods));
    }

    void put(PodId pod, bool now) {
        const NodeId node =
            snapshot_
                .nodes_by_name[static_cast<std::size_t>(draw(0, static_cast<int>(snapshot_.nodes_by_name.size()) - 1))];
        const std::vector<DeviceHold> holds = devices_for(snapshot_, pod, node);
        if (now)
            tx_.place(pod, node, holds);
        else
            tx_.nominate(pod, node, holds);
    }

    void mark() { marks_.push_back({tx_.checkpoint(), snapshot_}); }

    void go_back(std::size_t to) {
        tx_.rollback(marks_[to].checkpoint);
        RC_ASSERT(same_occupation(snapshot_, marks_[to].copy));
        marks_.resize(to + 1);
    }

    Snapshot& snapshot_;
    Transaction tx_;
    std::vector<Mark> marks_;
};

RC_GTEST_PROP(Transaction, RollbackGivesBackEveryByte, ()) {
    const std::vector<Json> world = random_world();
    const auto lab = build(world);
    Walk walk(lab->cluster());
    const int steps = draw(1, 60);
    for (int i = 0; i < steps; ++i)
        walk.step();
    walk.finish();
}

// What is evicted and restored, or placed and taken back, has never happened.
RC_GTEST_PROP(Transaction, EveryOpIsUndoneByItsOpposite, ()) {
    const std::vector<Json> world = random_world();
    const auto lab = build(world);
    Snapshot& snapshot = lab->cluster().snapshot();
    const Snapshot before = snapshot;
    Transaction tx(snapshot);
    for (PodId pod : in_state(snapshot, PodState::kRunning)) {
        tx.evict(pod);
        tx.restore(pod);
        RC_ASSERT(same_occupation(snapshot, before));
    }
    for (PodId pod : in_state(snapshot, PodState::kPending)) {
        for (NodeId node : snapshot.nodes_by_name) {
            const std::vector<DeviceHold> holds = devices_for(snapshot, pod, node);
            if (draw(0, 1) == 0)
                tx.place(pod, node, holds);
            else
                tx.nominate(pod, node, holds);
            tx.unplace(pod);
            RC_ASSERT(same_occupation(snapshot, before));
        }
    }
}

}  // namespace
}  // namespace reprieve::property
