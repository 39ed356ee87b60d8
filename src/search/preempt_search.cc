#include "search/preempt_search.h"

#include <algorithm>
#include <deque>
#include <thread>

#include "plugins/limits.h"
#include "search/placement_stands.h"

namespace reprieve {
namespace {

// Boards are kept for hundreds of shapes; they cost memory per node, and the one that was not asked for longest goes.
constexpr std::size_t kMostBoardEntries = 2'000'000;
constexpr std::size_t kFewestBoards = 16;
constexpr std::size_t kEagerLooks = 64;  // nodes

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
      order_(action, session.config.plugins, session.snapshot) {
    if (!session.config.plugins.lost_work_resource.empty())
        work_ = session.snapshot.words->find_dimension(session.config.plugins.lost_work_resource);
}

VictimRules PreemptSearch::rules_for(PodId pod, std::span<const Resources::Amount> amounts) const {
    const PodRow& row = session_.snapshot.pods[pod];
    const std::int32_t priority = row.gang ? session_.snapshot.gangs[row.gang].attack_priority : row.priority;
    return {.attack = {.priority = priority,
                       .queue = row.queue,
                       .cross_queue = action_.cross_queue,
                       .need = amounts,
                       .claimant = session_.snapshot.class_of(pod).has_claims ? pod : PodId()},
            .pdb = action_.pdb,
            .order = &order_,
            .work = work_,
            .improve = action_.improve};
}

WorkBudget PreemptSearch::budget() const {
    return WorkBudget::for_nodes(session_.config.search_budget.us, session_.snapshot.nodes_by_name.size());
}

// Evictions there may help: the node says "not now"; or it has room and only the queue's limit is in the way, or only
// pods that are only nominated satisfy the pod's rules.
bool PreemptSearch::is_potential(PodId pod, NodeId node, bool limit_binds) {
    if (!placer_.facts(pod)[node.index()].fits()) return false;
    FitBoard* fits = placer_.board(pod);
    const Snapshot& s = session_.snapshot;
    const Candidate candidate(s, pod);
    const Answer answer =
        fits != nullptr ? fits->later_answer(node) : session_.filters.check_view(candidate, s.later, s.later, node);
    if (answer.fits()) return limit_binds || (fits == nullptr && !placer_.fits(pod, node, View::kLater));
    return answer.fit == Fit::kNotNow;
}

PreemptSearch::Look PreemptSearch::look(NodeVictims& victims, NodeId node, Victims& scratch, bool improve) {
    Look out;
    if (!victims.find(node, scratch)) {
        if (!victims.proven_none()) out.open = victims.least_cost(node);
        return out;
    }
    out.entry.candidate = true;
    out.entry.settled = scratch.proof || !improve;
    out.entry.key = out.entry.settled ? scratch.cost : victims.lower_bound(node, scratch);
    return out;
}

void PreemptSearch::ask(Board& board, NodeVictims& victims, PodId pod, NodeId node) {
    const std::uint32_t rank = session_.snapshot.nodes[node].rank;
    board.candidates -= board.entries[rank].candidate ? 1 : 0;
    board.open.erase(rank);
    Look found;
    if (is_potential(pod, node, false)) found = look(victims, node, scratch_, action_.improve);
    if (found.open) board.open[rank] = *found.open;
    board.entries[rank] = found.entry;
    board.candidates += found.entry.candidate ? 1 : 0;
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
    const bool limit_binds = !session_.limits.admit(session_.snapshot.later, pod);
    board.entries.assign(nodes.size(), {});
    board.open.clear();
    std::vector<std::uint32_t> potential;
    for (std::uint32_t rank = 0; rank < nodes.size(); ++rank) {
        if (is_potential(pod, nodes[rank], limit_binds)) potential.push_back(rank);
    }
    // Dry runs are dear: on many nodes each enters with a bound from amounts alone and is looked at when that wins.
    if (!victims.read_only() && action_.improve && potential.size() > kEagerLooks) {
        for (std::uint32_t rank : potential)
            board.entries[rank] = {.key = victims.quick_bound(nodes[rank]), .candidate = true};
        board.candidates = static_cast<std::int64_t>(potential.size());
        board.best.build(board.entries.size(), by_key(board.entries));
        board.seen = session_.tx.touches().now();
        return;
    }
    // What is found on a node depends on nothing but the node: whoever looks, the board is the same.
    const std::size_t workers = worker_count(potential.size(), victims);
    std::vector<std::vector<std::pair<std::uint32_t, Cost>>> open(workers);
    const auto work = [&](NodeVictims& mine, std::size_t worker) {
        Victims scratch;
        const std::size_t first = potential.size() * worker / workers;
        const std::size_t last = potential.size() * (worker + 1) / workers;
        for (std::size_t i = first; i < last; ++i) {
            const Look found = look(mine, nodes[potential[i]], scratch, action_.improve);
            board.entries[potential[i]] = found.entry;
            if (found.open) open[worker].emplace_back(potential[i], *found.open);
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t worker = 1; worker < workers; ++worker) {
        threads.emplace_back([&, worker] {
            WorkBudget own = budget();
            NodeVictims mine(session_, rules, asker, own);
            work(mine, worker);
        });
    }
    work(victims, 0);
    for (std::thread& thread : threads)
        thread.join();
    board.candidates = std::ranges::count_if(board.entries, &Entry::candidate);
    for (const auto& part : open)
        board.open.insert(part.begin(), part.end());
    board.best.build(board.entries.size(), by_key(board.entries));
    board.seen = session_.tx.touches().now();
}

PreemptSearch::Board& PreemptSearch::board_for(
    const Key& key, NodeVictims& victims, PodId pod, const VictimRules& rules, const Asker& asker) {
    auto it = boards_.find(key);
    if (it != boards_.end()) {
        Board& board = *it->second;
        touched_.clear();
        session_.tx.touches().since(board.seen, touched_);
        for (NodeId node : touched_) {
            ask(board, victims, pod, node);
            board.best.update(session_.snapshot.nodes[node].rank, by_key(board.entries));
        }
        board.seen = session_.tx.touches().now();
    } else {
        const std::size_t nodes = std::max<std::size_t>(session_.snapshot.nodes_by_name.size(), 1);
        if (boards_.size() >= std::max(kFewestBoards, kMostBoardEntries / nodes))
            boards_.erase(std::ranges::min_element(boards_, {}, [](const auto& b) { return b.second->used; }));
        it = boards_.emplace(key, std::make_unique<Board>()).first;
        build(*it->second, victims, pod, rules, asker);
    }
    it->second->used = ++uses_;
    return *it->second;
}

std::optional<PreemptChoice> PreemptSearch::find(PodId pod) {
    std::optional<PreemptChoice> best = find_cheapest(pod);
    ClaimTable& claims = session_.snapshot.device_claims;
    if (!best || !claims.of(pod).has_alternatives) return best;
    // One request after the other is narrowed to its first alternatives, and stays so where that costs no more.
    std::deque<ClaimSpec> narrowed;
    std::vector<std::pair<DeviceClaimId, const ClaimSpec*>> before;
    for (DeviceClaimId id : claims.of(pod).wants)
        before.emplace_back(id, claims.row(id).spec);
    for (const auto& [id, spec] : before) {
        for (std::size_t r = 0; r < spec->requests.size(); ++r) {
            const ClaimSpec* const wide = claims.row(id).spec;
            bool kept = false;
            for (std::size_t first = 1; !kept && first < spec->requests[r].wishes.size(); ++first) {
                ClaimSpec& narrow = narrowed.emplace_back(*wide);
                narrow.requests[r].wishes.resize(first);
                claims.row(id).spec = &narrow;
                std::optional<PreemptChoice> other = find_cheapest(pod);
                kept = other && other->victims.cost == best->victims.cost;
                if (!kept) continue;
                // What was proven of all alternatives holds for those that are left.
                other->proof = best->proof;
                other->bound = best->bound;
                best = std::move(other);
            }
            if (!kept) claims.row(id).spec = wide;
        }
    }
    for (const auto& [id, spec] : before)
        claims.row(id).spec = spec;
    return best;
}

std::optional<PreemptChoice> PreemptSearch::find_cheapest(PodId pod) {
    const Snapshot& s = session_.snapshot;
    const PodClass& cls = s.class_of(pod);
    const Asker asker{.pod = pod, .amounts = cls.requests};
    const VictimRules rules = rules_for(pod, asker.amounts);
    WorkBudget work = budget();
    NodeVictims victims(session_, rules, asker, work);
    none_.reset();
    if (action_.min_candidate_nodes_absolute || action_.min_candidate_nodes_percentage)
        return find_limited(victims, pod);
    const bool local =
        session_.filters.node_local(s, cls) && session_.limits.admit(s.later, pod) && session_.keep_in_mind.empty();
    if (!local) {
        Board once;
        build(once, victims, pod, rules, asker);
        return choose(once, victims);
    }
    const Key key{cls.spec,
                  cls.volumes.empty() && !cls.has_claims ? StringId() : cls.ns,
                  rules.attack.priority,
                  rules.attack.queue};
    return choose(board_for(key, victims, pod, rules, asker), victims);
}

// The least that may still be had where not everything was tried.
std::optional<Cost> PreemptSearch::open_bound(const Board& board) {
    std::optional<Cost> least;
    for (const auto& [rank, cost] : board.open) {
        if (!least || cost < *least) least = cost;
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
            if (board.open.empty() && action_.improve)
                none_ = Proof::every_part(board.entries.size(), board.entries.size() - board.open.size());
            return std::nullopt;
        }
        Entry& entry = board.entries[rank];
        const NodeId node = s.nodes_by_name[rank];
        if (!victims.find(node, scratch_)) {
            // Only a rule that reaches beyond the node, or the end of the budget, can have changed the answer.
            if (!victims.proven_none()) board.open[rank] = victims.least_cost(node);
            entry.candidate = false;
            --board.candidates;
            board.best.update(rank, better);
            continue;
        }
        const Cost floor = victims.lower_bound(node, scratch_);
        if (action_.improve) victims.improve(node, scratch_);
        if (!entry.settled) {
            if (!scratch_.proof) board.open[rank] = entry.key;
            entry.settled = true;
            entry.key = scratch_.cost;
            board.best.update(rank, better);
            if (board.best.winner() != rank) continue;
        }
        return describe(board, victims, rank, floor);
    }
}

PreemptChoice PreemptSearch::describe(Board& board, NodeVictims& victims, std::uint32_t rank, const Cost& floor) {
    const Snapshot& s = session_.snapshot;
    const auto better = by_key(board.entries);
    const std::optional<Cost> open = open_bound(board);
    PreemptChoice choice{.node = s.nodes_by_name[rank], .victims = scratch_, .candidates = board.candidates};
    if (action_.improve) {
        const Cost bound = open && *open < scratch_.cost ? *open : (scratch_.proof ? scratch_.cost : floor);
        if (bound < scratch_.cost)
            choice.bound = bound;
        else if (scratch_.proof)
            choice.proof = Proof::bound_met(scratch_.cost, bound);
        else
            choice.bound = floor;
    }
    const std::uint32_t second = board.best.runner_up(better);
    if (second != Tournament::kNobody && board.entries[second].candidate) {
        Victims other;
        if (board.entries[second].settled)
            choice.runner_up = board.entries[second].key;
        else if (victims.find(s.nodes_by_name[second], other))
            choice.runner_up = other.cost;
    }
    const std::optional<Cost> here = victims.runner_up(choice.node, choice.victims);
    if (here && (!choice.runner_up || *here < *choice.runner_up)) choice.runner_up = here;
    return choice;
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
    std::size_t proven = 0;
    for (NodeId node : potential) {
        if (!victims.find(node, scratch_)) {
            proven += victims.proven_none() ? 1U : 0U;
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
    if (!best) {
        if (action_.improve && proven == potential.size()) none_ = Proof::every_part(potential.size(), proven);
        return std::nullopt;
    }
    best->candidates = found;
    if (!best->runner_up) best->runner_up = victims.runner_up(best->node, best->victims);
    return best;
}

std::optional<PreemptChoice> PreemptSearch::find_for_resize(PodId pod) {
    const Snapshot& s = session_.snapshot;
    const Asker asker{.pod = pod, .amounts = s.facts->resize_delta(pod), .resize = true};
    const VictimRules rules = rules_for(pod, asker.amounts);
    WorkBudget work = budget();
    NodeVictims victims(session_, rules, asker, work);
    const NodeId node = s.pods[pod].node;
    if (victims.passes(node) || !victims.find(node, scratch_)) return std::nullopt;
    if (action_.improve) victims.improve(node, scratch_);
    return PreemptChoice{.node = node,
                         .victims = scratch_,
                         .proof = action_.improve ? scratch_.proof : std::nullopt,
                         .runner_up = victims.runner_up(node, scratch_),
                         .candidates = 1};
}

}  // namespace reprieve
