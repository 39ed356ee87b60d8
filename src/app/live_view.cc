#include "app/live_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/wide.h"
#include "text/amounts.h"

namespace reprieve {
namespace {

constexpr auto kFrameTime = std::chrono::milliseconds(100);
constexpr std::size_t kEventsKept = 200;

// "nvidia.com/gpu" is gpu to everybody.
std::string short_resource(std::string_view resource) {
    const std::size_t slash = resource.rfind('/');
    return std::string(slash == std::string_view::npos ? resource : resource.substr(slash + 1));
}

// Used and total as fractions: a/b > c/d.
bool fuller(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    return static_cast<Wide>(a) * d > static_cast<Wide>(c) * b;
}

NodeBar bar_of(const Cluster& cluster, NodeId id, const Node& node) {
    const Snapshot& s = cluster.snapshot();
    NodeBar bar;
    bar.name = s.node_name(id);
    bar.open = node.ready && !node.unschedulable;
    Dim chosen;
    for (const auto& [dim, total] : node.allocatable) {
        if (total <= 0 || dim == kPods) continue;
        const std::int64_t staying = total - s.later.free(id, dim);
        const bool devices = node.device_dim && dim == node.device_dim;
        if (chosen && !devices && !fuller(staying, total, bar.used, bar.total)) continue;
        chosen = dim;
        bar.total = total;
        bar.used = staying;
        bar.leaving = std::max<std::int64_t>(0, total - s.now.free(id, dim) - staying);
        if (devices) break;
    }
    if (!chosen) return bar;
    const std::string_view resource = cluster.words().text(chosen);
    bar.resource = short_resource(resource);
    bar.amounts =
        fmt::format("{}/{}", human_amount(resource, bar.used + bar.leaving), human_amount(resource, bar.total));
    return bar;
}

}  // namespace

std::vector<NodeBar> node_bars(const Cluster& cluster) {
    std::vector<NodeBar> out;
    for (NodeId id : cluster.snapshot().nodes_by_name) {
        if (const Node* node = cluster.node(id)) out.push_back(bar_of(cluster, id, *node));
    }
    return out;
}

void LiveView::tell(Time now, std::string text, std::string why, bool eviction) {
    events_.push_back({.when = clock_(now), .text = std::move(text), .why = std::move(why), .eviction = eviction});
    if (events_.size() > kEventsKept) events_.pop_front();
}

void LiveView::on_change(const Change& change, const Cluster& cluster, Time now) {
    const auto* node = std::get_if<Node>(&change.object);
    if (!begun_ || node == nullptr) return;
    const std::string name = cluster.words().str(node->name);
    if (change.removed)
        tell(now, fmt::format("node {} is lost", name), "");
    else if (!cluster.find_node(node->name))
        tell(now, fmt::format("node {} joins", name), "");
}

void LiveView::on_cycle(const CycleReport& report) {
    begun_ = true;
    cycles_ = report.number;
    for (const Violation& v : report.violations)
        tell(report.now, "plan dropped: " + format_violation(v), "");
    for (const Eviction& e : report.plan.evictions) {
        if (report.carried_out) ++evicted_;
        tell(report.now, fmt::format("evict {} from {}", e.pod, e.node), e.reason, true);
    }
    std::map<std::string, std::string> promised;
    for (const Placement& p : report.plan.placements) {
        if (p.after_evictions) {
            promised.emplace(p.pod, p.node);
            continue;
        }
        if (report.carried_out) ++placed_;
        tell(report.now, fmt::format("bind {} to {}", p.pod, p.node), "");
    }
    promised_ = std::move(promised);
    reasons_.clear();
    for (const Unplaced& u : report.plan.unplaced)
        reasons_.emplace(u.pod.empty() ? u.owner : u.pod, u.reason);
}

void LiveView::on_step(const SinkReport& report, Time now) {
    if (!report.ok) tell(now, fmt::format("failed: {}", report.pod), report.what);
}

void LiveView::on_trouble(const std::string& what, Time now) { tell(now, "trouble", what); }

ViewFrame LiveView::frame(const Cluster& cluster, Time now) const {
    ViewFrame frame;
    frame.title = fmt::format(
        "reprieve {}  {}   cycle {}   placed {}   evicted {}", clock_(now), subtitle_, cycles_, placed_, evicted_);
    frame.nodes = node_bars(cluster);
    for (PodId pod : cluster.pending()) {
        const std::string name = cluster.snapshot().pod_name(pod);
        const auto promise = promised_.find(name);
        const auto reason = reasons_.find(name);
        const std::string why = promise != promised_.end() ? "waits for room on " + promise->second
                                                           : (reason != reasons_.end() ? reason->second : "");
        const Duration age = now - cluster.pod(pod).created;
        frame.waiting.push_back({.pod = name,
                                 .since = format_duration({std::max<std::int64_t>(0, age.us) / 1'000'000 * 1'000'000}),
                                 .why = why,
                                 .promised = promise != promised_.end()});
    }
    std::ranges::stable_sort(frame.waiting, [](const WaitLine& a, const WaitLine& b) {
        return std::tuple(!a.promised, a.pod) < std::tuple(!b.promised, b.pod);
    });
    frame.events.assign(events_.begin(), events_.end());
    return frame;
}

void LiveView::on_turn(const Cluster& cluster, Time now) {
    const auto clock = std::chrono::steady_clock::now();
    if (clock - drawn_ < kFrameTime) return;
    drawn_ = clock;
    screen_.draw(render(frame(cluster, now), screen_.size()));
}

}  // namespace reprieve
