#include "plugins/quota_runtime.h"

#include <algorithm>
#include <string_view>

#include "state/cluster.h"

namespace reprieve {
namespace {

constexpr std::int64_t kNoLimit = INT64_MAX;

// Objects that Koordinator makes for itself: pods in them are in no quota of the tree.
bool is_built_in(std::string_view name) {
    return name == "koordinator-root-quota" || name == "koordinator-default-quota" ||
           name == "koordinator-system-quota";
}

bool any_weight(const std::optional<Resources>& weights) {
    return weights && std::ranges::any_of(*weights, [](const auto& a) { return a.value > 0; });
}

bool is_quota(const QueueRow& row) { return row.alive && row.fact != nullptr && row.fact->is_quota; }

}  // namespace

QuotaRuntime::QuotaRuntime(const Snapshot& s) : dims_(s.dims), in_use_(s.dims), total_(s.dims) {
    take_seats(s);
    const std::size_t cells = dims_ * seats_.size();
    claims_.resize(cells);
    parts_.resize(cells);
    own_.resize(cells);
    request_.resize(cells);
    limit_.resize(cells, kNoLimit);
    read_bounds(s);
    for (NodeId node : s.nodes_by_name) {
        for (const auto& [dim, value] : s.facts->node(node)->allocatable)
            total_[dim.index()] = saturating_add(total_[dim.index()], value);
    }
    count_pods(s);
    refresh();
}

void QuotaRuntime::take_seats(const Snapshot& s) {
    seat_of_.resize(s.queues.size(), -1);
    for (QueueId q : IdRange<QueueId>(s.queues.size())) {
        const QueueRow& row = s.queues[q];
        if (!is_quota(row) || (row.parent && is_quota(s.queues[row.parent]))) continue;
        seats_.push_back({.quota = q,
                          .total = row.fact->tree_total ? &*row.fact->tree_total : nullptr,
                          .outside = is_built_in(s.words->text(row.name))});
    }
    std::ranges::sort(seats_, {}, [&](const Seat& seat) {
        return std::pair(seat.apart(), s.words->text(s.queues[seat.quota].name));
    });
    sharing_ =
        static_cast<std::uint32_t>(std::ranges::count_if(seats_, [](const Seat& seat) { return !seat.apart(); }));
    for (std::uint32_t i = 0; i < seats_.size(); ++i)
        seat_children(s, i);
    // Pods of a queue of another kind below a quota count for the quota.
    for (QueueId q : IdRange<QueueId>(s.queues.size())) {
        for (QueueId above : s.queue_path[q]) {
            if (seat_of_[q] < 0) seat_of_[q] = seat_of_[above];
        }
    }
}

void QuotaRuntime::seat_children(const Snapshot& s, std::uint32_t parent) {
    const QueueId quota = seats_[parent].quota;
    seat_of_[quota] = static_cast<std::int32_t>(parent);
    seats_[parent].first_child = static_cast<std::uint32_t>(seats_.size());
    for (QueueId child : s.queues[quota].children) {
        if (!is_quota(s.queues[child])) continue;
        seats_.push_back({.quota = child, .parent = static_cast<std::int32_t>(parent)});
        ++seats_[parent].child_count;
    }
}

void QuotaRuntime::read_bounds(const Snapshot& s) {
    for (std::size_t i = 0; i < seats_.size(); ++i) {
        const Queue& fact = *s.queues[seats_[i].quota].fact;
        const Resources& weights = any_weight(fact.shared_weight) ? *fact.shared_weight : fact.limit;
        for (std::size_t dim = 0; dim < dims_; ++dim) {
            QuotaClaim& claim = claims_[dim * seats_.size() + i];
            claim.lends = fact.lends;
            claim.scales = fact.min_scales;
        }
        const auto cell = [&](Dim dim) {
            in_use_[dim.index()] = true;
            return dim.index() * seats_.size() + i;
        };
        for (const auto& [dim, value] : fact.guarantee)
            claims_[cell(dim)].least = value;
        for (const auto& [dim, value] : weights)
            claims_[cell(dim)].weight = value;
        for (const auto& [dim, value] : fact.limit)
            limit_[cell(dim)] = value;
        if (seats_[i].total == nullptr) continue;
        for (const auto& [dim, value] : *seats_[i].total)
            in_use_[dim.index()] = true;
    }
}

void QuotaRuntime::count_pods(const Snapshot& s) {
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        const PodRow& row = s.pods[pod];
        if (row.state == PodState::kAbsent || row.has(kFinished) || s.facts->pod(pod).gated) continue;
        const auto& requests = s.classes[row.cls].requests;
        const std::int32_t seat = row.queue ? seat_of_[row.queue] : -1;
        if (seat >= 0) count(row.queue, requests, +1);
        const bool in_tree = seat >= 0 && !seats_[static_cast<std::size_t>(seat)].outside;
        const bool runs = row.state == PodState::kRunning || row.state == PodState::kTerminating;
        if (in_tree || !runs) continue;
        for (const auto& [dim, value] : requests)
            total_[dim.index()] -= value;
    }
}

void QuotaRuntime::count(QueueId quota, std::span<const Resources::Amount> amounts, int sign) {
    for (const auto& [dim, value] : amounts) {
        own_[at(quota, dim)] += sign * value;
        if (dim != kPods) in_use_[dim.index()] = true;  // everybody asks for one; it counts where a quota lists it
    }
}

void QuotaRuntime::refresh() {
    for (std::size_t dim = 0; dim < dims_; ++dim) {
        if (!in_use_[dim]) continue;
        sum_requests(dim);
        share_out(dim);
    }
}

// From the leaves up: a quota asks for no more than its maximum.
void QuotaRuntime::sum_requests(std::size_t dim) {
    const std::size_t first = dim * seats_.size();
    std::copy_n(own_.begin() + static_cast<std::ptrdiff_t>(first),
                seats_.size(),
                request_.begin() + static_cast<std::ptrdiff_t>(first));
    for (std::size_t i = seats_.size(); i-- > 0;) {
        QuotaClaim& claim = claims_[first + i];
        std::int64_t& request = request_[first + i];
        if (!claim.lends) request = std::max(request, claim.least);
        claim.asked = std::min(request, limit_[first + i]);
        if (const std::int32_t parent = seats_[i].parent; parent >= 0) {
            std::int64_t& above = request_[first + static_cast<std::size_t>(parent)];
            above = saturating_add(above, claim.asked);
        }
    }
}

// From the top down: each level divides what its parent has.
void QuotaRuntime::share_out(std::size_t dim) {
    const std::size_t first = dim * seats_.size();
    std::int64_t total = total_[dim];
    for (std::uint32_t i = sharing_; i < seats_.size() && seats_[i].parent < 0; ++i) {
        settle_apart(dim, i);
        if (seats_[i].total != nullptr) total -= parts_[first + i].runtime;
    }
    division_.divide(total, std::span(claims_).subspan(first, sharing_), std::span(parts_).subspan(first, sharing_));
    for (std::size_t i = 0; i < seats_.size(); ++i) {
        const Seat& seat = seats_[i];
        if (seat.child_count == 0) continue;
        division_.divide(parts_[first + i].runtime,
                         std::span(claims_).subspan(first + seat.first_child, seat.child_count),
                         std::span(parts_).subspan(first + seat.first_child, seat.child_count));
    }
}

// A tree by itself has its own total; who is outside the tree is bound by nothing but its maximum.
void QuotaRuntime::settle_apart(std::size_t dim, std::uint32_t seat) {
    const std::size_t cell = dim * seats_.size() + seat;
    const std::int64_t limit = limit_[cell] == kNoLimit ? request_[cell] : limit_[cell];
    const Resources* total = seats_[seat].total;
    parts_[cell] = {.least = claims_[cell].least,
                    .runtime = total == nullptr ? limit : total->get(Dim(static_cast<std::uint32_t>(dim)))};
}

}  // namespace reprieve
