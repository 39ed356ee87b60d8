#include "search/fit_board.h"

#include <bit>

namespace reprieve {

static_assert(static_cast<unsigned>(Fit::kFits) < 4 && static_cast<unsigned>(Fit::kNotNow) < 4 &&
              static_cast<unsigned>(Fit::kNever) < 4);

auto FitBoard::by_score(const Session& session) const {
    return [this, &session](std::uint32_t a, std::uint32_t b) {
        const NodeId x = session.snapshot.nodes_by_name[a];
        const NodeId y = session.snapshot.nodes_by_name[b];
        if (fits_now(x) != fits_now(y)) return fits_now(x);
        return fits_now(x) && scores_[x.index()] > scores_[y.index()];
    };
}

FitBoard::FitBoard(const Session& session, PodId like, const FactAnswers& facts, bool alone)
    : alone_(alone),
      states_(session.snapshot.nodes.size(), static_cast<std::uint8_t>(Fit::kNever)),
      later_((session.snapshot.nodes_by_name.size() + 63) / 64),
      seen_(session.tx.touches().now()) {
    const Candidate candidate(session.snapshot, like);
    for (NodeId node : session.snapshot.nodes_by_name)
        ask(session, candidate, node, facts);
    if (now_count_ > 0) best_.build(session.snapshot.nodes_by_name.size(), by_score(session));
}

void FitBoard::ask(const Session& session, const Candidate& candidate, NodeId node, const FactAnswers& facts) {
    const Snapshot& s = session.snapshot;
    now_count_ -= fits_now(node) ? 1U : 0U;
    later_count_ -= later(node) == Fit::kFits ? 1U : 0U;
    uncertain_count_ -= (states_[node.index()] & kUncertain) != 0 ? 1U : 0U;
    const std::int64_t known = session.filters.uncertain_answers();
    Fit fit = facts[node.index()].fit;
    if (fit == Fit::kFits) {
        fit = alone_ ? session.filters.check_local(candidate, s.later, node).fit
                     : session.filters.check_view(candidate, s.later, s.later, node).fit;
    }
    // Room now that is promised to a nominated pod is no room.
    const bool now = fit == Fit::kFits && !alone_ && session.filters.check_view(candidate, s.now, s.later, node).fits();
    const bool uncertain = session.filters.uncertain_answers() != known;
    uncertain_count_ += uncertain ? 1U : 0U;
    states_[node.index()] =
        static_cast<std::uint8_t>(static_cast<unsigned>(fit) | (now ? kFitsNow : 0U) | (uncertain ? kUncertain : 0U));
    const std::uint32_t rank = s.nodes[node].rank;
    const std::uint64_t bit = std::uint64_t{1} << (rank % 64);
    if (fit == Fit::kFits)
        later_[rank / 64] |= bit;
    else
        later_[rank / 64] &= ~bit;
    if (now && scores_.empty()) scores_.resize(states_.size());
    if (now) scores_[node.index()] = session.scores.local(candidate, s.now, node);
    now_count_ += now ? 1U : 0U;
    later_count_ += fit == Fit::kFits ? 1U : 0U;
}

void FitBoard::catch_up(const Session& session, PodId like, const FactAnswers& facts) {
    const TouchLog& log = session.tx.touches();
    if (seen_ == log.now()) return;
    const Candidate candidate(session.snapshot, like);
    touched_.clear();
    log.since(seen_, touched_);
    for (NodeId node : touched_)
        ask(session, candidate, node, facts);
    if (best_.winner() != Tournament::kNobody) {
        for (NodeId node : touched_)
            best_.update(session.snapshot.nodes[node].rank, by_score(session));
    } else if (now_count_ > 0) {
        best_.build(session.snapshot.nodes_by_name.size(), by_score(session));
    }
    seen_ = log.now();
}

NodeId FitBoard::best_now(const Session& session) const {
    return now_count_ == 0 ? NodeId() : session.snapshot.nodes_by_name[best_.winner()];
}

std::vector<NodeId> FitBoard::nodes_later(const Session& session) const {
    std::vector<NodeId> out;
    out.reserve(later_count_);
    for (std::size_t word = 0; word < later_.size() && out.size() < later_count_; ++word) {
        for (std::uint64_t bits = later_[word]; bits != 0; bits &= bits - 1)
            out.push_back(session.snapshot.nodes_by_name[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))]);
    }
    return out;
}

}  // namespace reprieve
