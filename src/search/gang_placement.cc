#include "search/gang_placement.h"

#include <algorithm>

#include "search/first_fit.h"
#include "search/joint_placement.h"

namespace reprieve {
namespace {

constexpr int kBacktrackSteps = 2000;

}  // namespace

// Bigger pods are harder to place: by devices, then cpu, then memory, then what else they ask for.
bool bigger_pod(const Snapshot& s, PodId a, PodId b) {
    const PodSpec& x = s.spec_of(a);
    const PodSpec& y = s.spec_of(b);
    if (x.devices.whole != y.devices.whole) return x.devices.whole > y.devices.whole;
    for (Dim dim : {kCpu, kMemory}) {
        if (x.requests.get(dim) != y.requests.get(dim)) return x.requests.get(dim) > y.requests.get(dim);
    }
    if (x.requests.size() != y.requests.size()) return x.requests.size() > y.requests.size();
    return s.name_less(a, b);
}

bool GangPlacement::place_all(std::span<const PodId> pods) {
    order_.assign(pods.begin(), pods.end());
    // Whoever must be near others comes after those it may follow.
    const auto follows = [&](PodId p) { return !session_.snapshot.class_of(p).affinity.empty(); };
    std::ranges::sort(order_, [&](PodId a, PodId b) {
        if (follows(a) != follows(b)) return follows(b);
        return bigger_pod(session_.snapshot, a, b);
    });
    const auto start = session_.tx.checkpoint();
    // First by best nodes alone, as single pods would go.
    bool all = true;
    for (std::size_t i = 0; i < order_.size() && all; ++i) {
        const NodeId node = placer_.find(order_[i], view_, within_);
        if (node) placer_.put(order_[i], node, view_, note_);
        all = node.valid();
    }
    if (all) return true;
    session_.tx.rollback(start);
    nodes_.assign(within_.begin(), within_.end());
    if (nodes_.empty()) nodes_ = session_.snapshot.nodes_by_name;
    if (session_.filters.on(FilterId::kDynamicResources) && !first_fit_decides(session_.snapshot, order_, nodes_)) {
        switch (JointPlacement(session_, placer_, view_, nodes_, note_).place(order_)) {
            case JointPlacement::Answer::kPlaced:
                return true;
            case JointPlacement::Answer::kNowhere:
                return false;
            case JointPlacement::Answer::kGaveUp:
                placer_.give_up();
        }
    }
    const bool devices_matter = !any_devices_do();
    if (devices_matter) placer_.give_up();
    if (alike()) return false;
    steps_ = kBacktrackSteps;
    order_matters_ = devices_matter || std::ranges::any_of(order_, [&](PodId p) {
                         return !session_.filters.monotone(session_.snapshot, p);
                     });
    const bool found = descend(0);
    if (!found && steps_ < 0) placer_.give_up();
    return found;
}

// On a node each member gets the devices that suit it best; whether others would leave more members a place is not
// tried. It makes no difference where all want plain whole devices, or where all ask alike for shares of one device or
// for devices of one group: then each device, or group, holds as many of them as it can, whoever comes first.
bool GangPlacement::any_devices_do() const {
    const DeviceAsk* first = nullptr;
    bool alike = true;
    bool plain = true;
    for (PodId pod : order_) {
        const DeviceAsk& ask = session_.snapshot.spec_of(pod).devices;
        if (!ask.any()) continue;
        if (first == nullptr) first = &ask;
        alike = alike && ask == *first && ask.shares <= 1;
        plain = plain && ask.shares == 0 && !ask.same_group;
    }
    return alike || plain || !session_.filters.on(FilterId::kDevices);
}

// Members of one shape whose verdicts are local to a node: another order of placing them changes nothing.
bool GangPlacement::alike() const {
    const Snapshot& s = session_.snapshot;
    return std::ranges::all_of(order_, [&](PodId p) {
        return s.class_of(p).spec == s.class_of(order_.front()).spec && session_.filters.node_local(s, s.class_of(p));
    });
}

// Rules that are not monotone (plugins/monotone.h) are asked when their pod is placed: who comes first makes a
// difference, so every order is tried. For all others one order is as good as another.
bool GangPlacement::descend(std::size_t at) {
    if (at == order_.size()) return true;
    if (!order_matters_) return try_nodes(at);
    std::vector<ClassId> tried;
    for (std::size_t next = at; next < order_.size(); ++next) {
        const ClassId cls = session_.snapshot.pods[order_[next]].cls;
        if (std::ranges::find(tried, cls) != tried.end()) continue;
        tried.push_back(cls);
        std::swap(order_[at], order_[next]);
        if (try_nodes(at)) return true;
        std::swap(order_[at], order_[next]);
        if (steps_ < 0) return false;
    }
    return false;
}

bool GangPlacement::try_nodes(std::size_t at) {
    Snapshot& s = session_.snapshot;
    const PodId pod = order_[at];
    // Tightest node first: what is left over is least.
    std::vector<NodeId> feasible;
    for (NodeId node : nodes_) {
        if (placer_.fits(pod, node, view_)) feasible.push_back(node);
    }
    const Occupancy& view = view_ == View::kNow ? s.now : s.later;
    const auto& requests = s.class_of(pod).requests;
    const auto left_over = [&](NodeId node) {
        std::int64_t least = INT64_MAX;
        for (const auto& [dim, value] : requests) {
            if (dim != kPods && value > 0) least = std::min(least, (view.free(node, dim) - value) * 1000 / value);
        }
        return least;
    };
    std::ranges::stable_sort(feasible, {}, left_over);
    for (NodeId node : feasible) {
        if (--steps_ < 0) return false;
        const auto mark = session_.tx.checkpoint();
        placer_.put(pod, node, view_, note_);
        if (descend(at + 1)) return true;
        session_.tx.rollback(mark);
    }
    return false;
}

}  // namespace reprieve
