// FitBoard: for pods of one shape, where they fit and which node is best, kept up to date by touched nodes only.
//
// Only for shapes whose verdict on a node depends on that node alone; others are asked node by node.
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
    FitBoard(const Session& session, PodId like, const FactAnswers& facts);

    // Re-asks the nodes touched since the last time.
    void catch_up(const Session& session, PodId like, const FactAnswers& facts);

    [[nodiscard]] NodeId best_now(const Session& session) const;
    // The best node that fits when those who leave are gone; asked only where none fits now.
    [[nodiscard]] NodeId best_later(const Session& session) const;
    [[nodiscard]] bool fits_now_anywhere() const { return now_count_ > 0; }
    [[nodiscard]] bool fits_later_anywhere() const { return later_count_ > 0; }
    [[nodiscard]] const Answer& later_answer(NodeId node) const { return entries_[node.index()].later; }

private:
    struct Entry {
        std::int64_t score = 0;
        Answer later;
        bool fits_now = false;
        bool fits_later = false;
    };
    void ask(const Session& session, const Candidate& candidate, NodeId node, const FactAnswers& facts);

    std::vector<Entry> entries_;  // by NodeId
    Tournament best_;             // by rank
    TouchLog::Moment seen_ = 0;
    std::vector<NodeId> touched_;
    std::size_t now_count_ = 0;
    std::size_t later_count_ = 0;
};

}  // namespace reprieve
