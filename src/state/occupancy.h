// Occupancy: everything that depends on which pod is where, updated by one signed operation.
//
// A Snapshot has two: `now` (terminating pods still hold their room) and `later` (they and the evicted are gone, the
// nominated are there). Adding a pod and taking it away again gives back every byte; that is what makes what-if exact.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/id.h"
#include "model/node.h"
#include "model/pod.h"
#include "state/bindings.h"
#include "state/claim_book.h"
#include "state/devices.h"
#include "state/ids.h"
#include "state/place_counts.h"
#include "state/pod_class.h"
#include "state/terms.h"

namespace reprieve {

struct PortUse {
    HostPort port;
    std::int32_t users = 0;
    friend bool operator==(const PortUse&, const PortUse&) = default;
};

struct DiskUse {
    VolumeKind kind = VolumeKind::kGcePersistentDisk;
    StringId id;
    std::int32_t users = 0;
    std::int32_t writers = 0;
    friend bool operator==(const DiskUse&, const DiskUse&) = default;
};

struct ClaimUse {
    ClaimId claim;
    StringId driver;
    std::int32_t users = 0;
    friend bool operator==(const ClaimUse&, const ClaimUse&) = default;
};

// What few nodes have much of; lists are sorted by their first members.
struct NodeUse {
    std::vector<PortUse> ports;
    std::vector<DiskUse> disks;
    std::vector<ClaimUse> claims;
    std::vector<DeviceUse> devices;  // parallel to the node's devices
    friend bool operator==(const NodeUse&, const NodeUse&) = default;
};

// The last changes of the counts that spread constraints ask for, so that sums over them follow in small steps. It is
// no part of what is there: two occupancies with different pasts may be equal.
class TermLog {
public:
    struct Change {
        TermId term;
        std::uint32_t node = 0;
        std::int32_t by = 0;
    };
    void note(TermId term, std::size_t node, std::int32_t by) {
        last_[end_++ % kKept] = {term, static_cast<std::uint32_t>(node), by};
    }
    [[nodiscard]] std::uint64_t end() const { return end_; }
    [[nodiscard]] bool reaches_back_to(std::uint64_t from) const { return end_ - from <= kKept; }
    // REQUIRES: it reaches back to `at`.
    [[nodiscard]] const Change& operator[](std::uint64_t at) const { return last_[at % kKept]; }
    friend bool operator==(const TermLog&, const TermLog&) { return true; }

private:
    static constexpr std::size_t kKept = 512;
    std::array<Change, kKept> last_;
    std::uint64_t end_ = 0;
};

// What an Occupancy needs to know about the cluster to keep its sums.
struct Geometry {
    std::size_t dims = 0;
    const TopologyIndex* topology = nullptr;
    const TermTable* terms = nullptr;
    const IdVector<NodeId, std::vector<Device>>* devices = nullptr;
    const IdVector<NodeId, std::vector<DomainId>>* domains = nullptr;     // domains that contain the node
    const IdVector<QueueId, std::vector<QueueId>>* queue_path = nullptr;  // the queue and its ancestors
};

class Occupancy {
public:
    void resize(
        const Geometry& geometry, std::size_t nodes, std::size_t queues, std::size_t domains, std::size_t claims);

    // Makes room for more resources; what is counted stays.
    void widen(std::size_t dims);
    // A term that nobody asks for any more; it counts nothing.
    void forget(TermId term);
    // The sums of all domains from what is free on their nodes, after the domains have changed.
    void recount_domains(const Geometry& geometry, std::size_t domains);

    // The one operation: sign +1 puts the pod there, -1 takes it away.
    void apply(const Geometry& geometry,
               const PodClass& cls,
               const PodSpec& spec,
               NodeId node,
               QueueId queue,
               std::span<const DeviceHold> holds,
               int sign);
    // Only the counts of one term: used when a term appears after its pods.
    void apply_term(const Geometry& geometry, TermId term, NodeId node, int sign);
    void apply_held_terms(const Geometry& geometry, const PodClass& cls, NodeId node, int sign);
    // Adds to what a node offers (a node arrives, changes or leaves).
    void offer(const Geometry& geometry, NodeId node, const Resources& amounts, int sign);
    // Extra room held by a pod beyond its class's request (an in-place resize).
    void grow(const Geometry& geometry,
              const PodClass& cls,
              NodeId node,
              QueueId queue,
              std::span<const Resources::Amount> amounts,
              int sign);

    // Claims that will be bound when their pods come; sign as in `apply`.
    void bind(std::span<const ClaimBinding> claims, int sign) { bindings_.hold(claims, sign); }

    [[nodiscard]] std::int64_t free(NodeId node, Dim dim) const { return free_[node.index() * dims_ + dim.index()]; }
    [[nodiscard]] const std::int64_t* free_row(NodeId node) const { return free_.data() + node.index() * dims_; }
    [[nodiscard]] std::int64_t domain_free(DomainId domain, Dim dim) const {
        return domain_free_[domain.index() * dims_ + dim.index()];
    }
    [[nodiscard]] std::int64_t queue_used(QueueId queue, Dim dim) const {
        return queue_used_[queue.index() * dims_ + dim.index()];
    }
    // Of that use: pods marked as not preemptible, and pods marked as preemptible.
    [[nodiscard]] std::int64_t queue_fixed(QueueId queue, Dim dim) const {
        return queue_fixed_[queue.index() * dims_ + dim.index()];
    }
    [[nodiscard]] std::int64_t queue_preemptible(QueueId queue, Dim dim) const {
        return queue_preemptible_[queue.index() * dims_ + dim.index()];
    }
    [[nodiscard]] std::int32_t matching(TermId term, std::int32_t domain) const {
        return matching_[term].at(static_cast<std::size_t>(domain));
    }
    [[nodiscard]] const PlaceCounts<std::int32_t>& matching(TermId term) const { return matching_[term]; }
    [[nodiscard]] const TermLog& term_log() const { return term_log_; }
    [[nodiscard]] std::int64_t matching_total(TermId term) const { return matching_total_[term]; }
    [[nodiscard]] std::int32_t holders(TermId term, std::int32_t domain) const {
        return holders_[term].at(static_cast<std::size_t>(domain));
    }
    [[nodiscard]] std::int64_t holders_total(TermId term) const { return holders_total_[term]; }
    [[nodiscard]] std::int64_t pull(TermId term, std::int32_t domain) const {
        return pull_[term].at(static_cast<std::size_t>(domain));
    }
    [[nodiscard]] bool pulls(TermId term) const { return pull_total_[term] != 0; }
    [[nodiscard]] const NodeUse& use(NodeId node) const { return nodes_[node]; }
    [[nodiscard]] std::int32_t claim_users(ClaimId claim) const { return claim_users_[claim]; }
    [[nodiscard]] const Bindings& bindings() const { return bindings_; }
    [[nodiscard]] const ClaimBook& claim_book() const { return claim_book_; }
    [[nodiscard]] ClaimBook& claim_book() { return claim_book_; }
    friend bool operator==(const Occupancy&, const Occupancy&) = default;

private:
    void change_free(const Geometry& geometry, NodeId node, std::int64_t* row, Dim dim, std::int64_t by);
    void apply_amounts(
        const Geometry& geometry, std::span<const Resources::Amount> amounts, NodeId node, QueueId queue, int sign);
    void apply_queue(const Geometry& geometry,
                     std::span<const Resources::Amount> amounts,
                     QueueId queue,
                     std::vector<std::int64_t>& sums,
                     int sign);
    void apply_mark(
        const Geometry& geometry, QuotaMark mark, std::span<const Resources::Amount> amounts, QueueId queue, int sign);
    void apply_rare(const Geometry& geometry,
                    const PodClass& cls,
                    const PodSpec& spec,
                    NodeId node,
                    std::span<const DeviceHold> holds,
                    int sign);

    std::size_t dims_ = 0;
    std::vector<std::int64_t> free_;         // node x dim
    std::vector<std::int64_t> domain_free_;  // domain x dim
    std::vector<std::int64_t> queue_used_;   // queue x dim, children included
    std::vector<std::int64_t> queue_fixed_;  // of that, by mark; pods without one are the rest
    std::vector<std::int64_t> queue_preemptible_;
    IdVector<TermId, PlaceCounts<std::int32_t>> matching_;
    IdVector<TermId, std::int64_t> matching_total_;
    TermLog term_log_;
    IdVector<TermId, PlaceCounts<std::int32_t>> holders_;  // pods there whose required anti-affinity is this term
    IdVector<TermId, std::int64_t> holders_total_;
    IdVector<TermId, PlaceCounts<std::int64_t>> pull_;  // summed weights of pods there that want such pods near
    IdVector<TermId, std::int64_t> pull_total_;         // number of such pods
    IdVector<NodeId, NodeUse> nodes_;
    IdVector<ClaimId, std::int32_t> claim_users_;
    Bindings bindings_;
    ClaimBook claim_book_;
};

}  // namespace reprieve
