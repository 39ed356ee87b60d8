// FitBoard: for pods of one shape, where they fit and which node is best, kept up to date by touched nodes only.
//
// Only for shapes whose verdict on a node depends on that node alone; others are asked node by node. For those, a board
// of the rules that look at the node alone tells which nodes need not be asked. A board costs a byte per node, and more
// only while the shape fits somewhere now, so that there can be hundreds of them.
#pragma once

#include <cstdint>
#include <vector>

#include "search/session.h"
#include "search/tournament.h"

namespace reprieve {

// What facts say of every node for one shape of pods; by NodeId.
using FactAnswers = std::vector<Answer>;

class FitBoard {
public:
    // `alone`: only by the rules that look at the node alone, and only for later.
    FitBoard(const Session& session, PodId like, const FactAnswers& facts, bool alone = false);

    // Re-asks the nodes touched since the last time.
    void catch_up(const Session& session, PodId like, const FactAnswers& facts);

    [[nodiscard]] NodeId best_now(const Session& session) const;
    // Some node's "no" is none: not every combination of devices was tried there.
    [[nodiscard]] bool is_uncertain() const { return uncertain_count_ > 0; }
    [[nodiscard]] bool fits_later_anywhere() const { return later_count_ > 0; }
    [[nodiscard]] Fit later(NodeId node) const { return static_cast<Fit>(states_[node.index()] & kFitMask); }
    // The nodes that fit when those who leave are gone, by name.
    [[nodiscard]] std::vector<NodeId> nodes_later(const Session& session) const;

private:
    static constexpr std::uint8_t kFitMask = 3;
    static constexpr std::uint8_t kFitsNow = 4;
    static constexpr std::uint8_t kUncertain = 8;
    void ask(const Session& session, const Candidate& candidate, NodeId node, const FactAnswers& facts);
    [[nodiscard]] bool fits_now(NodeId node) const { return (states_[node.index()] & kFitsNow) != 0; }
    [[nodiscard]] auto by_score(const Session& session) const;

    bool alone_;
    std::vector<std::uint8_t> states_;  // by NodeId
    std::vector<std::uint64_t> later_;  // a bit for each rank: it fits later
    std::vector<std::int64_t> scores_;  // by NodeId, once some node fits now
    Tournament best_;                   // by rank, likewise
    TouchLog::Moment seen_ = 0;
    std::vector<NodeId> touched_;
    std::size_t now_count_ = 0;
    std::size_t later_count_ = 0;
    std::size_t uncertain_count_ = 0;
};

}  // namespace reprieve
