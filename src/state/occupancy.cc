#include "state/occupancy.h"

#include <algorithm>

#include "base/check.h"

namespace reprieve {
namespace {

// Where a node counts for a term: its domain of the term's key, or the node itself.
std::int32_t place_of(const Geometry& geometry, TermId term, NodeId node) {
    const TopologyKeyId key = (*geometry.terms)[term].key;
    return key ? geometry.topology->domain(key, node.index()) : static_cast<std::int32_t>(node.index());
}

// How many such places there are.
std::size_t places_of(const Geometry& geometry, TermId term) {
    const TopologyKeyId key = (*geometry.terms)[term].key;
    return key ? geometry.topology->domain_count(key) : geometry.devices->size();
}

// The row with this key in a sorted list, made if absent; rows whose user count falls to zero are removed, so that
// equal use always has equal bytes.
template <class Row, class Same, class Less>
void count_row(std::vector<Row>& rows, Row fresh, Less less, Same same, int sign, int writer_sign = 0) {
    auto at = std::lower_bound(rows.begin(), rows.end(), fresh, less);
    if (at == rows.end() || !same(*at, fresh)) at = rows.insert(at, fresh);
    at->users += sign;
    if constexpr (requires { at->writers; }) at->writers += writer_sign;
    if (at->users == 0) rows.erase(at);
}

}  // namespace

void Occupancy::resize(
    const Geometry& geometry, std::size_t nodes, std::size_t queues, std::size_t domains, std::size_t claims) {
    REPRIEVE_CHECK(dims_ == geometry.dims || free_.empty(), "an occupancy keeps its dimensions");
    dims_ = geometry.dims;
    free_.resize(nodes * dims_);
    domain_free_.resize(domains * dims_);
    queue_used_.resize(queues * dims_);
    queue_fixed_.resize(queues * dims_);
    queue_preemptible_.resize(queues * dims_);
    nodes_.resize(nodes);
    claim_users_.resize(claims);
    for (NodeId node : IdRange<NodeId>(nodes))
        nodes_[node].devices.resize((*geometry.devices)[node].size());
    const std::size_t terms = geometry.terms->size();
    matching_.resize(terms);
    matching_total_.resize(terms);
    holders_.resize(terms);
    holders_total_.resize(terms);
    pull_.resize(terms);
    pull_total_.resize(terms);
}

void Occupancy::widen(std::size_t dims) {
    REPRIEVE_CHECK(dims >= dims_);
    for (std::vector<std::int64_t>* table : {&free_, &domain_free_, &queue_used_, &queue_fixed_, &queue_preemptible_}) {
        const std::size_t rows = dims_ == 0 ? 0 : table->size() / dims_;
        std::vector<std::int64_t> wider(rows * dims);
        for (std::size_t row = 0; row < rows; ++row)
            std::copy_n(table->begin() + static_cast<std::ptrdiff_t>(row * dims_),
                        dims_,
                        wider.begin() + static_cast<std::ptrdiff_t>(row * dims));
        *table = std::move(wider);
    }
    dims_ = dims;
}

void Occupancy::forget(TermId term) {
    matching_[term] = {};
    matching_total_[term] = 0;
    holders_[term] = {};
    holders_total_[term] = 0;
    pull_[term] = {};
    pull_total_[term] = 0;
}

void Occupancy::recount_domains(const Geometry& geometry, std::size_t domains) {
    domain_free_.assign(domains * dims_, 0);
    for (NodeId node : IdRange<NodeId>(nodes_.size())) {
        const std::int64_t* row = free_row(node);
        for (DomainId domain : (*geometry.domains)[node]) {
            for (std::size_t dim = 0; dim < dims_; ++dim)
                domain_free_[domain.index() * dims_ + dim] += std::max<std::int64_t>(row[dim], 0);
        }
    }
}

void Occupancy::offer(const Geometry& geometry, NodeId node, const Resources& amounts, int sign) {
    std::int64_t* row = free_.data() + node.index() * dims_;
    for (const auto& [dim, value] : amounts)
        change_free(geometry, node, row, dim, sign * value);
}

// A node that holds more than it has takes nothing away from the rest of its domain.
void Occupancy::change_free(const Geometry& geometry, NodeId node, std::int64_t* row, Dim dim, std::int64_t by) {
    const std::int64_t before = std::max<std::int64_t>(row[dim.index()], 0);
    row[dim.index()] += by;
    const std::int64_t change = std::max<std::int64_t>(row[dim.index()], 0) - before;
    for (DomainId domain : (*geometry.domains)[node])
        domain_free_[domain.index() * dims_ + dim.index()] += change;
}

void Occupancy::apply_amounts(
    const Geometry& geometry, std::span<const Resources::Amount> amounts, NodeId node, QueueId queue, int sign) {
    if (!node) return apply_queue(geometry, amounts, queue, queue_used_, sign);
    std::int64_t* row = free_.data() + node.index() * dims_;
    if (queue && (*geometry.domains)[node].empty() && (*geometry.queue_path)[queue].size() == 1) {
        // The common case, in one pass: no topology, a queue without ancestors.
        std::int64_t* used = queue_used_.data() + queue.index() * dims_;
        for (const auto& [dim, value] : amounts) {
            row[dim.index()] -= sign * value;
            used[dim.index()] += sign * value;
        }
        return;
    }
    for (const auto& [dim, value] : amounts)
        change_free(geometry, node, row, dim, -sign * value);
    apply_queue(geometry, amounts, queue, queue_used_, sign);
}

void Occupancy::apply_queue(const Geometry& geometry,
                            std::span<const Resources::Amount> amounts,
                            QueueId queue,
                            std::vector<std::int64_t>& sums,
                            int sign) {
    if (!queue) return;
    for (QueueId q : (*geometry.queue_path)[queue]) {
        std::int64_t* row = sums.data() + q.index() * dims_;
        for (const auto& [dim, value] : amounts)
            row[dim.index()] += sign * value;
    }
}

void Occupancy::apply_mark(
    const Geometry& geometry, QuotaMark mark, std::span<const Resources::Amount> amounts, QueueId queue, int sign) {
    if (mark == QuotaMark::kNone) return;
    apply_queue(geometry, amounts, queue, mark == QuotaMark::kFixed ? queue_fixed_ : queue_preemptible_, sign);
}

void Occupancy::apply(const Geometry& geometry,
                      const PodClass& cls,
                      const PodSpec& spec,
                      NodeId node,
                      QueueId queue,
                      std::span<const DeviceHold> holds,
                      int sign) {
    apply_amounts(geometry, cls.requests, node, queue, sign);
    apply_mark(geometry, cls.mark, cls.requests, queue, sign);
    if (!node) return;  // bound to a node that does not exist: it counts for its queue only
    for (TermId term : cls.matched)
        apply_term(geometry, term, node, sign);
    if (!cls.anti_affinity.empty() || !cls.pulls.empty()) apply_held_terms(geometry, cls, node, sign);
    if (cls.has_ports || !cls.volumes.empty() || !holds.empty()) apply_rare(geometry, cls, spec, node, holds, sign);
}

void Occupancy::apply_term(const Geometry& geometry, TermId term, NodeId node, int sign) {
    const std::int32_t place = place_of(geometry, term, node);
    if (place == TopologyIndex::kNoDomain) return;
    matching_[term].add(static_cast<std::size_t>(place), sign, places_of(geometry, term));
    matching_total_[term] += sign;
    if (!(*geometry.terms)[term].key) term_log_.note(term, node.index(), sign);
}

void Occupancy::apply_held_terms(const Geometry& geometry, const PodClass& cls, NodeId node, int sign) {
    for (TermId term : cls.anti_affinity) {
        const std::int32_t place = place_of(geometry, term, node);
        if (place == TopologyIndex::kNoDomain) continue;
        holders_[term].add(static_cast<std::size_t>(place), sign, places_of(geometry, term));
        holders_total_[term] += sign;
    }
    for (const ClassPull& p : cls.pulls) {
        const std::int32_t place = place_of(geometry, p.term, node);
        if (place == TopologyIndex::kNoDomain) continue;
        pull_[p.term].add(static_cast<std::size_t>(place), sign * p.weight, places_of(geometry, p.term));
        pull_total_[p.term] += sign;
    }
}

void Occupancy::apply_rare(const Geometry& geometry,
                           const PodClass& cls,
                           const PodSpec& spec,
                           NodeId node,
                           std::span<const DeviceHold> holds,
                           int sign) {
    NodeUse& use = nodes_[node];
    for (const HostPort& port : spec.ports) {
        count_row(
            use.ports,
            PortUse{port, 0},
            [](const PortUse& a, const PortUse& b) { return a.port < b.port; },
            [](const PortUse& a, const PortUse& b) { return a.port == b.port; },
            sign);
    }
    for (const ClassVolume& volume : cls.volumes) {
        if (volume.kind == VolumeKind::kClaim) {
            if (!volume.claim) continue;
            claim_users_[volume.claim] += sign;
            count_row(
                use.claims,
                ClaimUse{volume.claim, volume.driver, 0},
                [](const ClaimUse& a, const ClaimUse& b) { return a.claim < b.claim; },
                [](const ClaimUse& a, const ClaimUse& b) { return a.claim == b.claim; },
                sign);
        } else {
            count_row(
                use.disks,
                DiskUse{volume.kind, volume.id, 0, 0},
                [](const DiskUse& a, const DiskUse& b) { return std::pair(a.kind, a.id) < std::pair(b.kind, b.id); },
                [](const DiskUse& a, const DiskUse& b) { return a.kind == b.kind && a.id == b.id; },
                sign,
                volume.read_only ? 0 : sign);
        }
    }
    hold_devices((*geometry.devices)[node], use.devices, holds, sign);
}

void Occupancy::grow(const Geometry& geometry,
                     const PodClass& cls,
                     NodeId node,
                     QueueId queue,
                     std::span<const Resources::Amount> amounts,
                     int sign) {
    apply_amounts(geometry, amounts, node, queue, sign);
    apply_mark(geometry, cls.mark, amounts, queue, sign);
}

}  // namespace reprieve
