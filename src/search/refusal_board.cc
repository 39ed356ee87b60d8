#include "search/refusal_board.h"

namespace reprieve {

Answer answer_of(const Session& session, const Candidate& candidate, NodeId node, const FactAnswers& facts) {
    const Snapshot& s = session.snapshot;
    Answer answer = facts[node.index()];
    if (answer.fits()) answer = session.filters.check_view(candidate, s.later, s.later, node);
    if (answer.fits()) answer = session.filters.check_view(candidate, s.now, s.later, node);
    return answer;
}

RefusalBoard::RefusalBoard(const Session& session, PodId like, const FactAnswers& facts)
    : answers_(session.snapshot.nodes.size()),
      seen_(session.tx.touches().now()) {
    const Candidate candidate(session.snapshot, like);
    for (NodeId node : session.snapshot.nodes_by_name) {
        answers_[node.index()] = answer_of(session, candidate, node, facts);
        count(answers_[node.index()], +1);
    }
}

void RefusalBoard::count(const Answer& answer, std::int64_t sign) {
    not_never_ += answer.fit == Fit::kNever ? 0 : sign;
    if (answer.fits()) return;
    const auto at = counts_.try_emplace(answer, 0).first;
    at->second += sign;
    if (at->second == 0) counts_.erase(at);
}

const NodesRefusal& RefusalBoard::refusal(const Session& session, PodId like, const FactAnswers& facts) {
    const TouchLog& log = session.tx.touches();
    const Candidate candidate(session.snapshot, like);
    touched_.clear();
    log.since(seen_, touched_);
    seen_ = log.now();
    for (NodeId node : touched_) {
        const Answer fresh = answer_of(session, candidate, node, facts);
        Answer& known = answers_[node.index()];
        if (fresh == known) continue;
        count(known, -1);
        count(fresh, +1);
        known = fresh;
        told_.reset();
    }
    if (told_) return *told_;
    told_.emplace().never = not_never_ == 0;
    for (const auto& [answer, nodes] : counts_)
        told_->nodes[describe(answer, candidate)] += nodes;
    return *told_;
}

}  // namespace reprieve
