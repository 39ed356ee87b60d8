// NodeResourcesFit and NodePorts: the sums of a node, and its ports.
#include <fmt/format.h>

#include <algorithm>

#include "audit/claim_facts.h"
#include "audit/rules.h"

namespace reprieve {
namespace {

void judge_dimension(const Scene& scene, NodeId node, Dim dim, Findings& out) {
    const Case& judged = scene.judged();
    const Node& fact = *judged.cluster.node(node);
    const std::int64_t used = scene.used(node, dim);
    const std::int64_t offered = fact.allocatable.get(dim);
    if (used <= offered) return;
    if (claims_serve(judged, node, dim)) return;  // a matter of claims
    out.push_back({"NodeResourcesFit",
                   fmt::format("node {} would hold {} of {}, it has {}",
                               judged.words.text(fact.name),
                               used,
                               judged.words.text(dim),
                               offered)});
}

bool same_port(const HostPort& a, const HostPort& b) {
    return a.port == b.port && a.protocol == b.protocol && (!a.ip || !b.ip || a.ip == b.ip);
}

}  // namespace

void judge_capacity(const Scene& scene, const PlacedPod& placed, Findings& out) {
    if (!scene.judged().filters_by("NodeResourcesFit")) return;
    judge_dimension(scene, placed.node, kPods, out);
    for (const auto& [dim, value] : scene.judged().spec(placed.pod).requests) {
        if (dim != kPods && value > 0) judge_dimension(scene, placed.node, dim, out);
    }
}

void judge_resize(const Scene& scene, PodId pod, Certainty certainty, Findings& out) {
    const Case& judged = scene.judged();
    const Seat& seat = scene.seat(pod);
    if (seat.node && judged.filters_by("NodeResourcesFit")) {
        for (const auto& [dim, value] : judged.spec(pod).requests) {
            if (dim != kPods && value > judged.fact(pod).more().resize_held->get(dim)) {
                judge_dimension(scene, seat.node, dim, out);
            }
        }
    }
    judge_queue_limits(scene, pod, certainty, out);
}

void judge_ports(const Scene& scene, const PlacedPod& placed, Findings& out) {
    const Case& judged = scene.judged();
    const std::vector<HostPort>& own = judged.spec(placed.pod).ports;
    if (own.empty() || !judged.filters_by("NodePorts")) return;
    for (const PodId other : scene.on(placed.node)) {
        if (other == placed.pod) continue;
        for (const HostPort& port : own) {
            const auto& theirs = judged.spec(other).ports;
            if (std::ranges::none_of(theirs, [&](const HostPort& taken) { return same_port(port, taken); })) continue;
            out.push_back({"NodePorts", fmt::format("port {} is taken by {}", port.port, judged.name(other))});
        }
    }
}

}  // namespace reprieve
