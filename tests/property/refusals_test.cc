// Why a pod is refused is the same whether it was remembered or asked afresh, whatever was tried in between.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "laboratory.h"
#include "search/placement.h"
#include "state/devices.h"

namespace reprieve::property {
namespace {

void expect_same_reasons(Session& session, Placer& remembers) {
    Placer fresh(session);
    const Snapshot& s = session.snapshot;
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        if (s.pods[pod].state != PodState::kPending) continue;
        const NodesRefusal known = remembers.refusal(pod);
        const NodesRefusal& asked = fresh.refusal(pod);
        RC_ASSERT(known.never == asked.never);
        RC_ASSERT(known.nodes == asked.nodes);
    }
}

PodId any_pod(const Snapshot& s) {
    return PodId(static_cast<std::uint32_t>(draw(0, static_cast<int>(s.pods.size()) - 1)));
}

RC_GTEST_PROP(Refusals, AreTheSameAsAskedAfresh, ()) {
    const auto lab = build(random_world());
    const SchedulerConfig config;
    Session session(lab->cluster(), config);
    Snapshot& s = session.snapshot;
    RC_PRE(s.pods.size() > 0);
    Placer remembers(session);
    expect_same_reasons(session, remembers);
    for (int step = draw(1, 12); step > 0; --step) {
        const auto mark = session.tx.checkpoint();
        const PodId pod = any_pod(s);
        if (s.pods[pod].state == PodState::kRunning) {
            session.tx.evict(pod);
        } else if (s.pods[pod].state == PodState::kPending) {
            const View view = draw(0, 1) == 0 ? View::kNow : View::kLater;
            if (const NodeId node = remembers.find(pod, view)) remembers.put(pod, node, view, 0);
        }
        session.commit(mark);
        if (rarely(4)) session.rollback(mark);
        expect_same_reasons(session, remembers);
    }
}

// A choice of devices is found exactly where it is said that there is one.
RC_GTEST_PROP(Refusals, OfDevicesAgreeWithTheirChoice, ()) {
    std::vector<Device> devices;
    std::vector<DeviceUse> now;
    std::vector<DeviceUse> later;
    const auto use = [] {
        return DeviceUse{
            .whole = rarely(3) ? 1 : 0, .shares = draw(0, 2), .memory = draw(0, 2) * 50, .milli = draw(0, 2) * 400};
    };
    for (std::int32_t i = draw(1, 6); i > 0; --i) {
        devices.push_back({.index = static_cast<std::int32_t>(devices.size()),
                           .memory = rarely(3) ? 0 : 100,
                           .group = draw(0, 2),
                           .sharers = rarely(3) ? 2 : 0});
        now.push_back(rarely(3) ? use() : DeviceUse{});
        later.push_back(rarely(3) ? use() : DeviceUse{});
    }
    DeviceAsk ask{.same_group = draw(0, 1) == 0};
    if (draw(0, 1) == 0)
        ask.whole = draw(0, 4);
    else
        ask.shares = draw(0, 3), ask.share_milli = draw(0, 3) * 300, ask.share_memory = draw(0, 2) * 50;
    std::vector<DeviceHold> chosen;
    const std::vector<DeviceUse> either = held_in_either(now, later);
    RC_ASSERT(devices_fit(devices, now, later, ask) == choose_devices(devices, either, ask, chosen));
    const std::vector<DeviceUse> idle(devices.size());
    RC_ASSERT(devices_could_ever_fit(devices, ask) == choose_devices(devices, idle, ask, chosen));
}

}  // namespace
}  // namespace reprieve::property
