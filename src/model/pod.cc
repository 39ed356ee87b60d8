#include "model/pod.h"

#include <tuple>

namespace reprieve {
namespace {

auto facts(const Pod& pod) {
    return std::tie(pod.ns,
                    pod.name,
                    pod.uid,
                    pod.labels,
                    pod.spec,
                    pod.priority,
                    pod.priority_class,
                    pod.preemption_policy,
                    pod.node,
                    pod.nominated,
                    pod.phase,
                    pod.created,
                    pod.started,
                    pod.deleting,
                    pod.grace_seconds,
                    pod.owner,
                    pod.group,
                    pod.role,
                    pod.queue,
                    pod.queue_is_quota,
                    pod.gated,
                    pod.mirror,
                    pod.ready,
                    pod.disruption_target);
}

}  // namespace

Pod::Pod(const Pod& other) { *this = other; }

Pod& Pod::operator=(const Pod& other) {
    if (this == &other) return *this;
    ns = other.ns;
    name = other.name;
    uid = other.uid;
    labels = other.labels;
    spec = other.spec;
    priority = other.priority;
    priority_class = other.priority_class;
    preemption_policy = other.preemption_policy;
    node = other.node;
    nominated = other.nominated;
    phase = other.phase;
    created = other.created;
    started = other.started;
    deleting = other.deleting;
    grace_seconds = other.grace_seconds;
    owner = other.owner;
    group = other.group;
    role = other.role;
    queue = other.queue;
    queue_is_quota = other.queue_is_quota;
    gated = other.gated;
    mirror = other.mirror;
    ready = other.ready;
    disruption_target = other.disruption_target;
    extras = other.extras ? std::make_unique<PodExtras>(*other.extras) : nullptr;
    return *this;
}

const PodExtras& Pod::more() const {
    static const PodExtras kNothing;
    return extras ? *extras : kNothing;
}

PodExtras& Pod::make_extras() {
    if (!extras) extras = std::make_unique<PodExtras>();
    return *extras;
}

bool operator==(const Pod& a, const Pod& b) { return facts(a) == facts(b) && a.more() == b.more(); }

}  // namespace reprieve
