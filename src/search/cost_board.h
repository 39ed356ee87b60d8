// CostBoard: for one kind of demand, what each node would cost, and the cheapest of them.
//
// An entry is a cost, once the node was looked at in full (settled), or a bound below which nothing can be had there.
// Entries are by rank, the place of a node in the order of names, so that of equals the first by name wins. The board
// keeps no more terms of a cost than the order of its action has, so that boards for hundreds of shapes fit in memory.
//
// For demands whose rules reach beyond a node the entries are also grouped: nodes that lie in the same domains of the
// topology keys that these rules speak of get one answer from them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plugins/cost.h"
#include "search/tournament.h"
#include "state/touch_log.h"

namespace reprieve {

class CostBoard {
public:
    static constexpr std::uint32_t kNobody = Tournament::kNobody;

    struct Entry {
        Cost key;  // the cost, or a bound on it
        bool candidate = false;
        bool settled = false;  // looked at in full
    };

    // Nobody is a candidate. `terms`: how many a cost has.
    CostBoard(std::size_t nodes, std::size_t terms);

    [[nodiscard]] std::size_t size() const { return states_.size(); }
    [[nodiscard]] Entry get(std::uint32_t rank) const;
    [[nodiscard]] bool is_candidate(std::uint32_t rank) const { return (states_[rank] & kCandidate) != 0; }
    [[nodiscard]] bool is_settled(std::uint32_t rank) const { return (states_[rank] & kSettled) != 0; }
    [[nodiscard]] std::int64_t candidates() const { return candidates_; }
    // Changes an entry alone; several threads may change different ones. REQUIRES: `rebuild` follows.
    void write(std::uint32_t rank, const Entry& entry);
    void rebuild();
    // Changes an entry and everything that follows from it.
    void update(std::uint32_t rank, const Entry& entry);
    // The same in two steps, for many entries.
    void set(std::uint32_t rank, const Entry& entry);
    void play_again(std::vector<std::uint32_t> ranks);

    // The cheapest candidate, and the next; kNobody: there is none.
    [[nodiscard]] std::uint32_t winner() const;
    [[nodiscard]] std::uint32_t runner_up() const;

    // Where not everything was tried: from this cost on something may be had.
    void leave_open(std::uint32_t rank, const std::optional<Cost>& from);
    [[nodiscard]] bool anything_open() const { return !open_.empty(); }
    [[nodiscard]] std::optional<Cost> least_open() const;

    // Nodes with the same domains of these keys together.
    struct Group {
        std::uint32_t first = 0;  // its entries, in the order of groups
        std::uint32_t last = 0;
        std::int64_t candidates = 0;
    };
    void group_by(const Snapshot& snapshot, std::span<const TopologyKeyId> keys);
    [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
    [[nodiscard]] std::uint32_t any_of(const Group& group) const { return rank_of_slot_[group.first]; }
    [[nodiscard]] std::size_t group_of(std::uint32_t rank) const { return group_of_rank_[rank]; }
    [[nodiscard]] std::uint32_t winner_of(const Group& group) const;
    // By cost, then by name. REQUIRES: both are candidates.
    [[nodiscard]] bool cheaper(std::uint32_t a, std::uint32_t b) const {
        return compare(a, b) < 0 || (compare(a, b) == 0 && a < b);
    }

    TouchLog::Moment seen = 0;  // up to here the entries follow the log of touched nodes
    std::uint64_t used = 0;     // when it was asked last

private:
    static constexpr std::uint8_t kCandidate = 1;
    static constexpr std::uint8_t kSettled = 2;

    [[nodiscard]] std::span<std::int64_t> key_of(std::uint32_t rank) const {
        return {keys_.get() + rank * terms_, terms_};
    }
    [[nodiscard]] int compare(std::uint32_t a, std::uint32_t b) const;
    [[nodiscard]] bool better(std::uint32_t a, std::uint32_t b) const;

    std::size_t terms_;
    std::unique_ptr<std::int64_t[]> keys_;  // rank x term; of candidates alone
    std::vector<std::uint8_t> states_;
    std::map<std::uint32_t, Cost> open_;  // by rank
    Tournament best_;                     // by rank
    std::int64_t candidates_ = 0;
    std::optional<std::vector<TopologyKeyId>> grouped_by_;
    std::vector<Group> groups_;
    std::vector<std::uint32_t> slot_of_rank_;
    std::vector<std::uint32_t> rank_of_slot_;
    std::vector<std::uint32_t> group_of_rank_;
    Tournament best_by_group_;  // by slot
};

}  // namespace reprieve
