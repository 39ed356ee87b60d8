// DomainFit: do all these pods fit together on these nodes, once those evicted at this moment are gone?
//
// Members of one shape whose verdicts are local to a node are counted: how many fit on each node, by amounts and by
// the devices that they claim (state/counted_claims.h); after an eviction only its nodes are counted again. Other gangs
// are placed for real in the transaction and taken back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "search/gang_placement.h"
#include "search/placement.h"
#include "search/topology_placement.h"

namespace reprieve {

class DomainFit {
public:
    // Whether pods like these are counted.
    [[nodiscard]] static bool can_count(const Session& session, Placer& placer, std::span<const PodId> members);
    DomainFit(Session& session, Placer& placer, std::span<const PodId> members, const TopologySeat& seat);

    // Counting: the nodes of an evicted or restored unit changed.
    void changed(std::span<const PodId> pods);
    [[nodiscard]] bool passes();
    // The monotone part of the same (plugins/monotone.h): a "no" stays one whoever comes back.
    [[nodiscard]] bool may_pass();
    // Every "no" so far was the last word: all ways of placing the members were tried.
    [[nodiscard]] bool certain() const { return certain_; }
    // Whether the queues of the members may take them all, at this moment.
    [[nodiscard]] bool within_limits() const;
    // If not: what must be given. Nullopt: more than rules can say.
    [[nodiscard]] std::optional<std::vector<GiveRule>> limit_rules() const {
        return session_.limits.rules(session_.snapshot.later, ask_);
    }
    // And which limit, and by how much.
    [[nodiscard]] std::string limit_breach() const;
    // Where the members would sit at this moment: places of the nodes in the order of names, each once. Empty: nowhere.
    [[nodiscard]] std::vector<std::uint32_t> places();
    [[nodiscard]] bool counts() const { return counts_; }
    // Counting only: free amounts alone say how many fit, whoever goes; no device is held in part.
    [[nodiscard]] bool by_amounts() const;
    // Counting only: the devices that they claim; null: they claim none.
    [[nodiscard]] CountedClaims* claims() const { return claims_; }
    // Counting only: whether claims serve this resource there, so that the node's own amount does not count.
    [[nodiscard]] bool served_by_claim(NodeId node, Dim dim) const {
        return claims_ != nullptr && claims_->serve(node, dim);
    }
    // Counting only: members that fit on this node as it is.
    [[nodiscard]] std::int64_t slots(NodeId node) const;
    [[nodiscard]] std::int64_t total() const { return total_; }
    // Counting only: members that fit if nothing at all ran here.
    [[nodiscard]] std::int64_t total_if_empty() const;
    [[nodiscard]] std::int64_t wanted() const { return static_cast<std::int64_t>(members_.size()); }
    [[nodiscard]] std::span<const PodId> members() const { return members_; }
    [[nodiscard]] bool in_domain(NodeId node) const { return inside_[node.index()]; }
    // Counting only: what each member asks for, and whether the node's facts let it in.
    [[nodiscard]] std::span<const Resources::Amount> ask() const {
        return session_.snapshot.class_of(members_.front()).requests;
    }
    [[nodiscard]] bool accepts(NodeId node) const { return placer_.facts(members_.front())[node.index()].fits(); }
    [[nodiscard]] std::span<const Resources::Amount> need() const { return need_; }

private:
    [[nodiscard]] std::span<const NodeId> nodes() const;

    Session& session_;
    Placer& placer_;
    std::vector<PodId> members_;
    const TopologySeat& seat_;
    std::vector<Resources::Amount> need_;  // all members together
    JobAsk ask_;                           // the same, by queue
    bool counts_ = false;
    CountedClaims* claims_ = nullptr;
    bool certain_ = true;
    std::vector<bool> inside_;
    std::vector<std::int64_t> slots_;  // by NodeId
    std::int64_t total_ = 0;
};

// What these pods ask for together.
[[nodiscard]] std::vector<Resources::Amount> sum_requests(const Snapshot& snapshot, std::span<const PodId> pods);

}  // namespace reprieve
