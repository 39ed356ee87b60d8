#include "search/preempt_search.h"

#include <algorithm>
#include <thread>

#include "plugins/limits.h"

namespace reprieve {
namespace {

constexpr std::size_t kMostVictimBoards = 64;

template <class Entries>
auto by_key(const Entries& entries) {
    return [&entries](std::uint32_t a, std::uint32_t b) {
        const auto& x = entries[a];
        const auto& y = entries[b];
        if (x.candidate != y.candidate) return x.candidate;
        return x.candidate && x.key < y.key;
    };
}

}  // namespace

PreemptSearch::PreemptSearch(Session& session, Placer& placer, const ActionConfig& action)
    : session_(session),
      placer_(placer),
      action_(action),
      order_(action, session.config.plugins) {
    if (!session.config.plugins.lost_work_resource.empty())
        work_ = session.snapshot.words->find_dimension(session.config.plugins.lost_work_resource);
}

VictimRules PreemptSearch::rules_for(PodId pod, std::span<const Resources::Amount> amounts) const {
    const PodRow& row = session_.snapshot.pods[pod];
    const std::int32_t priority = row.gang ? session_.snapshot.gangs[row.gang].attack_priority : row.priority;
    return {.attack = {.priority = priority, .queue = row.queue, .cross_queue = action_.cross_queue, .need = amounts},
            .pdb = action_.pdb,
            .order = &order_,
            .work = work_,
            .improve = action_.improve};
}

// Evictions there may help: the node says "not now", or it has room and only the queue's limit is in the way.
bool PreemptSearch::is_potential(PodId pod, NodeId node, bool limit_binds) {
    if (!placer_.facts(pod)[node.index()].fits()) return false;
    FitBoard* fits = placer_.board(pod);
    const Snapshot& s = session_.snapshot;
    const Answer answer = fits != nullptr ? fits->later_answer(node)
                                          : session_.filters.check_view(Candidate(s, pod), s.later, s.later, node);
    return answer.fit == Fit::kNotNow || (answer.fits() && limit_binds);
}

void PreemptSearch::look(Entry& entry, NodeVictims& victims, NodeId node, Victims& scratch, bool improve) {
    if (!victims.find(node, scratch)) {
        if (victims.uncertain()) entry.open = victims.least_cost(node);
        return;
    }
    entry.candidate = true;
    entry.exact = scratch.exact || !improve;
    entry.key = entry.exact ? scratch.cost : victims.lower_bound(node, scratch);
}

void PreemptSearch::ask(Board& board, NodeVictims& victims, PodId pod, NodeId node) {
    Entry& entry = board.entries[session_.snapshot.nodes[node].rank];
    board.candidates -= entry.candidate ? 1 : 0;
    entry = {};
    if (is_potential(pod, node, board.limit_binds)) look(entry, victims, node, scratch_, action_.improve);
    if (entry.open) board.open.push_back(session_.snapshot.nodes[node].rank);
    board.candidates += entry.candidate ? 1 : 0;
}

// Threads pay only where a board is long, and only arithmetic leaves the state alone.
std::size_t PreemptSearch::worker_count(std::size_t nodes, const NodeVictims& victims) const {
    constexpr std::size_t kNodesPerWorker = 1024;
    if (!victims.read_only()) return 1;
    const std::int32_t wanted = session_.config.search_threads;
    const std::size_t most =
        wanted > 0 ? static_cast<std::size_t>(wanted) : std::max(1U, std::thread::hardware_concurrency());
    return std::clamp<std::size_t>(nodes / kNodesPerWorker, 1, most);
}

void PreemptSearch::build(Board& board, NodeVictims& victims, PodId pod, const VictimRules& rules, const Asker& asker) {
    const std::vector<NodeId>& nodes = session_.snapshot.nodes_by_name;
    board.entries.assign(nodes.size(), {});
    board.open.clear();
    std::vector<std::uint32_t> potential;
    for (std::uint32_t rank = 0; rank < nodes.size(); ++rank) {
        if (is_potential(pod, nodes[rank], board.limit_binds)) potential.push_back(rank);
    }
    // Each node's entry depends on nothing but the node: whoever fills it in, the board is the same.
    const std::size_t workers = worker_count(potential.size(), victims);
    const auto work = [&](NodeVictims& mine, std::size_t worker) {
        Victims scratch;
        const std::size_t first = potential.size() * worker / workers;
        const std::size_t last = potential.size() * (worker + 1) / workers;
        for (std::size_t i = first; i < last; ++i)
            look(board.entries[potential[i]], mine, nodes[potential[i]], scratch, action_.improve);
    };
    std::vector<std::thread> threads;
    for (std::size_t worker = 1; worker < workers; ++worker) {
        threads.emplace_back([&, worker] {
            NodeVictims mine(session_, rules, asker);
            work(mine, worker);
        });
    }
    work(victims, 0);
    for (std::thread& thread : threads)
        thread.join();
    board.candidates = std::ranges::count_if(board.entries, &Entry::candidate);
    for (std::uint32_t rank : potential) {
        if (board.entries[rank].open) board.open.push_back(rank);
    }
    board.best.build(board.entries.size(), by_key(board.entries));
    board.cursor = session_.touch_end();
}

std::optional<PreemptChoice> PreemptSearch::find(PodId pod) {
    const Snapshot& s = session_.snapshot;
    const PodClass& cls = s.class_of(pod);
    const Asker asker{.pod = pod, .amounts = cls.requests};
    const VictimRules rules = rules_for(pod, asker.amounts);
    NodeVictims victims(session_, rules, asker);
    if (action_.min_candidate_nodes_absolute || action_.min_candidate_nodes_percentage) {
        if (auto choice = find_limited(victims, pod)) return choice;
        victims.look_beyond_the_node(true);
        return find_limited(victims, pod);
    }

    const bool binds = !session_.limits.admit(s.later, pod);
    const bool local = session_.filters.node_local(s, cls) && !binds;
    if (!local) {
        Board once;
        once.limit_binds = binds;
        build(once, victims, pod, rules, asker);
        if (once.candidates == 0) {
            // No node can be freed by its own pods alone.
            victims.look_beyond_the_node(true);
            build(once, victims, pod, rules, asker);
        }
        return choose(once, victims);
    }
    const Key key{cls.spec, cls.volumes.empty() ? StringId() : cls.ns, rules.attack.priority, rules.attack.queue};
    auto it = boards_.find(key);
    if (it == boards_.end()) {
        if (boards_.size() >= kMostVictimBoards) boards_.clear();
        it = boards_.emplace(key, std::make_unique<Board>()).first;
        build(*it->second, victims, pod, rules, asker);
    }
    Board& board = *it->second;
    for (NodeId node : session_.touched_since(board.cursor)) {
        ask(board, victims, pod, node);
        board.best.update(s.nodes[node].rank, by_key(board.entries));
    }
    board.cursor = session_.touch_end();
    return choose(board, victims);
}

// The least that may still be had where not everything was tried.
std::optional<Cost> PreemptSearch::open_bound(const Board& board) {
    std::optional<Cost> least;
    for (std::uint32_t rank : board.open) {
        const Entry& entry = board.entries[rank];
        if (entry.open && (!least || *entry.open < *least)) least = entry.open;
    }
    return least;
}

// Looks at winners in full until the winner is one that was.
std::optional<PreemptChoice> PreemptSearch::choose(Board& board, NodeVictims& victims) {
    const Snapshot& s = session_.snapshot;
    const auto better = by_key(board.entries);
    while (true) {
        const std::uint32_t rank = board.best.winner();
        if (rank == Tournament::kNobody || !board.entries[rank].candidate) {
            unproven_ = open_bound(board).has_value();
            return std::nullopt;
        }
        Entry& entry = board.entries[rank];
        const NodeId node = s.nodes_by_name[rank];
        if (!victims.find(node, scratch_)) {
            // Only a non-local rule can have changed the answer since it was asked.
            entry.candidate = false;
            --board.candidates;
            board.best.update(rank, better);
            continue;
        }
        const Cost floor = victims.lower_bound(node, scratch_);
        if (action_.improve) victims.improve(node, scratch_);
        if (!entry.exact) {
            if (!scratch_.exact) {
                entry.open = entry.key;
                board.open.push_back(rank);
            }
            entry.exact = true;
            entry.key = scratch_.cost;
            board.best.update(rank, better);
            if (board.best.winner() != rank) continue;
        }
        std::optional<Cost> bound = open_bound(board);
        // Other nodes were not looked at with those in mind who count towards the same limit elsewhere.
        if (board.limit_binds && (!scratch_.exact || board.candidates > 1)) bound = victims.least_cost(node);
        const bool proven = action_.improve && scratch_.exact && !(bound && *bound < scratch_.cost);
        PreemptChoice choice{.node = node, .victims = scratch_, .proven = proven, .candidates = board.candidates};
        if (!choice.proven && action_.improve) choice.bound = bound && *bound < scratch_.cost ? *bound : floor;
        const std::uint32_t second = board.best.runner_up(better);
        if (second != Tournament::kNobody && board.entries[second].candidate) {
            Victims other;
            if (board.entries[second].exact)
                choice.runner_up = board.entries[second].key;
            else if (victims.find(s.nodes_by_name[second], other))
                choice.runner_up = other.cost;
        }
        const std::optional<Cost> here = victims.runner_up(node, choice.victims);
        if (here && (!choice.runner_up || *here < *choice.runner_up)) choice.runner_up = here;
        return choice;
    }
}

// A limited search visits nodes by name and stops once enough of them have victims and one breaks no budget.
std::optional<PreemptChoice> PreemptSearch::find_limited(NodeVictims& victims, PodId pod) {
    const Snapshot& s = session_.snapshot;
    const bool binds = !session_.limits.admit(s.later, pod);
    std::vector<NodeId> potential;
    for (NodeId node : s.nodes_by_name) {
        if (is_potential(pod, node, binds)) potential.push_back(node);
    }
    const auto all = static_cast<std::int64_t>(potential.size());
    const std::int64_t wanted =
        std::min(all,
                 std::max<std::int64_t>(all * action_.min_candidate_nodes_percentage.value_or(0) / 100,
                                        action_.min_candidate_nodes_absolute.value_or(0)));
    std::optional<PreemptChoice> best;
    std::int64_t found = 0;
    bool peaceful = false;
    unproven_ = false;
    for (NodeId node : potential) {
        if (!victims.find(node, scratch_)) {
            unproven_ = unproven_ || victims.uncertain();
            continue;
        }
        if (action_.improve) victims.improve(node, scratch_);
        ++found;
        peaceful = peaceful || std::ranges::all_of(scratch_.chosen, [&](std::uint32_t u) {
                       return scratch_.list.units[u].violations == 0;
                   });
        if (!best || scratch_.cost < best->victims.cost) {
            const std::optional<Cost> second = best ? std::optional(best->victims.cost) : std::nullopt;
            best = PreemptChoice{.node = node, .victims = scratch_, .runner_up = second};
        } else if (!best->runner_up || scratch_.cost < *best->runner_up) {
            best->runner_up = scratch_.cost;
        }
        if (found >= wanted && peaceful) break;
    }
    if (!best) return std::nullopt;
    best->candidates = found;
    if (!best->runner_up) best->runner_up = victims.runner_up(best->node, best->victims);
    return best;
}

std::optional<PreemptChoice> PreemptSearch::find_for_resize(PodId pod) {
    const Snapshot& s = session_.snapshot;
    const Asker asker{.pod = pod, .amounts = s.facts->resize_delta(pod), .resize = true};
    const VictimRules rules = rules_for(pod, asker.amounts);
    NodeVictims victims(session_, rules, asker);
    const NodeId node = s.pods[pod].node;
    if (victims.passes(node) || !victims.find(node, scratch_)) return std::nullopt;
    if (action_.improve) victims.improve(node, scratch_);
    return PreemptChoice{.node = node,
                         .victims = scratch_,
                         .proven = scratch_.exact && action_.improve,
                         .runner_up = victims.runner_up(node, scratch_),
                         .candidates = 1};
}

}  // namespace reprieve
