#include "search/fit_board.h"

#include <algorithm>

namespace reprieve {
namespace {

template <class Entries>
auto by_score(const Session& session, const Entries& entries) {
    return [&session, &entries](std::uint32_t a, std::uint32_t b) {
        const auto& x = entries[session.snapshot.nodes_by_name[a].index()];
        const auto& y = entries[session.snapshot.nodes_by_name[b].index()];
        if (x.fits_now != y.fits_now) return x.fits_now;
        return x.fits_now && x.score > y.score;
    };
}

}  // namespace

FitBoard::FitBoard(const Session& session, PodId like, const FactAnswers& facts)
    : entries_(session.snapshot.nodes.size()),
      seen_(session.tx.touches().now()) {
    const Candidate candidate(session.snapshot, like);
    for (NodeId node : session.snapshot.nodes_by_name)
        ask(session, candidate, node, facts);
    best_.build(session.snapshot.nodes_by_name.size(), by_score(session, entries_));
}

void FitBoard::ask(const Session& session, const Candidate& candidate, NodeId node, const FactAnswers& facts) {
    Entry& entry = entries_[node.index()];
    now_count_ -= entry.fits_now ? 1 : 0;
    later_count_ -= entry.fits_later ? 1 : 0;
    const Snapshot& s = session.snapshot;
    entry.later = facts[node.index()];
    entry.fits_now = entry.fits_later = false;
    if (entry.later.fits()) {
        entry.later = session.filters.check_view(candidate, s.later, s.later, node);
        entry.fits_later = entry.later.fits();
        // Room now that is promised to a nominated pod is no room.
        entry.fits_now = entry.fits_later && session.filters.check_view(candidate, s.now, s.later, node).fits();
    }
    if (entry.fits_now) entry.score = session.scores.local(candidate, s.now, node);
    now_count_ += entry.fits_now ? 1 : 0;
    later_count_ += entry.fits_later ? 1 : 0;
}

void FitBoard::catch_up(const Session& session, PodId like, const FactAnswers& facts) {
    const TouchLog& log = session.tx.touches();
    if (seen_ == log.now()) return;
    const Candidate candidate(session.snapshot, like);
    touched_.clear();
    log.since(seen_, touched_);
    for (NodeId node : touched_) {
        ask(session, candidate, node, facts);
        best_.update(session.snapshot.nodes[node].rank, by_score(session, entries_));
    }
    seen_ = log.now();
}

NodeId FitBoard::best_now(const Session& session) const {
    return now_count_ == 0 ? NodeId() : session.snapshot.nodes_by_name[best_.winner()];
}

NodeId FitBoard::best_later(const Session& session) const {
    for (NodeId node : session.snapshot.nodes_by_name) {
        if (entries_[node.index()].fits_later) return node;
    }
    return {};
}

}  // namespace reprieve
