#include "search/preempt_search.h"

#include <algorithm>
#include <deque>
#include <thread>

#include "base/check.h"
#include "plugins/limits.h"
#include "search/placement_stands.h"

namespace reprieve {
namespace {

// Boards are kept for hundreds of shapes; they cost memory per node (about 60 bytes), and the one that was not asked
// for longest goes.
constexpr std::size_t kMostBoardEntries = 6'000'000;
constexpr std::size_t kFewestBoards = 16;
constexpr std::size_t kEagerLooks = 64;       // nodes
constexpr std::size_t kMostSharedLooks = 16;  // priorities and queues at once
constexpr std::size_t kMostKnownLooks = 4;    // at one node, the last ones

}  // namespace

PreemptSearch::PreemptSearch(Session& session, Placer& placer, const ActionConfig& action)
    : session_(session),
      placer_(placer),
      action_(action),
      order_(action, session.config.plugins, session.snapshot) {
    work_ = work_resource(session.snapshot, session.config.plugins.lost_work_resource);
    const std::int32_t threads = session.config.search_threads;
    most_workers_ = threads > 0 ? static_cast<std::size_t>(threads) : std::max(1U, std::thread::hardware_concurrency());
}

VictimRules PreemptSearch::rules_for(PodId pod, std::span<const Resources::Amount> amounts) const {
    const PodRow& row = session_.snapshot.pods[pod];
    const std::int32_t priority = row.gang ? session_.snapshot.gangs[row.gang].attack_priority : row.priority;
    return {.attack = {.priority = priority,
                       .queue = row.queue,
                       .cross_queue = action_.cross_queue,
                       .need = amounts,
                       .claimant = session_.snapshot.class_of(pod).has_claims && !action_.improve ? pod : PodId()},
            .pdb = action_.pdb,
            .order = &order_,
            .work = work_,
            .need = &need_,
            .improve = action_.improve};
}

WorkBudget PreemptSearch::budget() const {
    return WorkBudget::for_nodes(session_.config.search_budget.us, session_.snapshot.nodes_by_name.size());
}

// Evictions there may help: the node says "not now"; or it has room and only the queue's limit is in the way, or only
// pods that are only nominated satisfy the pod's rules. By its rules about the node alone, a node with room may be one
// where others are in the way.
bool PreemptSearch::is_potential(const Prospect& prospect, NodeId node) {
    if (!prospect.facts[node.index()].fits()) return false;
    const Snapshot& s = session_.snapshot;
    if (prospect.alone) {
        return session_.filters.check_local(prospect.candidate, s.later, node).fit != Fit::kNever &&
               !blocked_for_good(prospect.candidate, node);
    }
    const Fit fit = prospect.fits != nullptr
                        ? prospect.fits->later(node)
                        : session_.filters.check_view(prospect.candidate, s.later, s.later, node).fit;
    if (fit == Fit::kFits)
        return prospect.limit_binds ||
               (prospect.fits == nullptr && !placer_.fits(prospect.candidate.pod, node, View::kLater));
    // A pod that matches its own affinity may be the first of its kind there, once those elsewhere have gone.
    if (fit == Fit::kNever && prospect.candidate.cls.affinity_to_itself)
        return session_.filters.check_local(prospect.candidate, s.later, node).fit != Fit::kNever;
    return fit == Fit::kNotNow;
}

PreemptSearch::Prospect PreemptSearch::prospect(const Asker& asker, bool limit_binds) {
    return {.candidate = Candidate(session_.snapshot, asker.pod),
            .facts = placer_.facts(asker.pod),
            .fits = asker.alone ? nullptr : placer_.board(asker.pod),
            .alone = asker.alone,
            .limit_binds = limit_binds};
}

PreemptSearch::Look PreemptSearch::look_afresh(
    NodeVictims& victims, NodeId node, Victims& scratch, bool improve, std::optional<ShortageRange>& range) {
    Look out;
    // It has room: if anybody must go, then somebody elsewhere.
    if (victims.alone() && victims.passes(node)) {
        out.entry = {.key = victims.least_anywhere(), .candidate = true, .settled = true};
        return out;
    }
    const bool found = victims.find(node, scratch);
    range = victims.holds_for();
    if (!found) {
        if (!victims.proven_none()) out.open = victims.least_cost(node);
        return out;
    }
    out.entry.candidate = true;
    out.entry.settled = scratch.proof || !improve;
    out.entry.key = out.entry.settled ? scratch.cost : victims.lower_bound(node, scratch, range ? &*range : nullptr);
    return out;
}

PreemptSearch::Look PreemptSearch::look(
    NodeVictims& victims, NodeId node, Victims& scratch, bool improve, SharedLooks* shared) {
    std::optional<ShortageRange> range;
    if (shared == nullptr) return look_afresh(victims, node, scratch, improve, range);
    std::vector<SharedLooks::Known>& known = shared->on[node.index()];
    const auto at =
        std::ranges::find_if(known, [&](const auto& one) { return victims.is_missing_within(one.range, node); });
    if (at != known.end()) return at->look;
    const Look out = look_afresh(victims, node, scratch, improve, range);
    if (!range) return out;
    if (known.size() == kMostKnownLooks) known.erase(known.begin());
    known.push_back({*range, out});
    return out;
}

PreemptSearch::SharedLooks* PreemptSearch::shared_looks(const Attempt& attempt) {
    if (!attempt.victims.shares_looks()) return nullptr;
    const std::pair key(attempt.rules.attack.priority, attempt.rules.attack.queue);
    if (looks_.size() >= kMostSharedLooks && !looks_.contains(key)) looks_.clear();
    SharedLooks& shared = looks_[key];
    shared.on.resize(session_.snapshot.nodes.size());
    touched_.clear();
    session_.tx.touches().since(shared.seen, touched_);
    for (NodeId node : touched_)
        shared.on[node.index()].clear();
    shared.seen = session_.tx.touches().now();
    return &shared;
}

// Threads pay only where a board is long, and only arithmetic leaves the state alone.
std::size_t PreemptSearch::worker_count(std::size_t nodes, const NodeVictims& victims) const {
    constexpr std::size_t kNodesPerWorker = 1024;
    if (!victims.read_only()) return 1;
    return std::clamp<std::size_t>(nodes / kNodesPerWorker, 1, most_workers_);
}

CostBoard PreemptSearch::new_board() const { return {session_.snapshot.nodes_by_name.size(), order_.terms().size()}; }

void PreemptSearch::build(CostBoard& board, const Attempt& attempt) {
    const std::vector<NodeId>& nodes = session_.snapshot.nodes_by_name;
    NodeVictims& victims = attempt.victims;
    const Prospect hopes = prospect(attempt.asker, !session_.limits.admit(session_.snapshot.later, attempt.pod));
    SharedLooks* const shared = shared_looks(attempt);
    std::vector<std::uint32_t> potential;
    for (std::uint32_t rank = 0; rank < nodes.size(); ++rank) {
        if (is_potential(hopes, nodes[rank])) potential.push_back(rank);
    }
    board.seen = session_.tx.touches().now();
    // Dry runs are dear: on many nodes each enters with a bound from amounts alone and is looked at when that wins.
    if (!victims.read_only() && action_.improve && potential.size() > kEagerLooks) {
        for (std::uint32_t rank : potential)
            board.write(rank, {.key = victims.quick_bound(nodes[rank]), .candidate = true});
        board.rebuild();
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
            const Look found = look(mine, nodes[potential[i]], scratch, action_.improve, shared);
            board.write(potential[i], found.entry);
            if (found.open) open[worker].emplace_back(potential[i], *found.open);
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t worker = 1; worker < workers; ++worker) {
        threads.emplace_back([&, worker] {
            WorkBudget own = budget();
            NodeVictims mine(session_, attempt.rules, attempt.asker, own);
            work(mine, worker);
        });
    }
    work(victims, 0);
    for (std::thread& thread : threads)
        thread.join();
    for (const auto& part : open) {
        for (const auto& [rank, cost] : part)
            board.leave_open(rank, cost);
    }
    board.rebuild();
}

void PreemptSearch::catch_up(CostBoard& board, const Attempt& attempt) {
    if (board.seen == session_.tx.touches().now()) return;
    const Prospect hopes = prospect(attempt.asker, false);
    SharedLooks* const shared = shared_looks(attempt);
    touched_.clear();
    session_.tx.touches().since(board.seen, touched_);
    std::vector<std::uint32_t> changed;
    for (NodeId node : touched_) {
        const std::uint32_t rank = session_.snapshot.nodes[node].rank;
        Look found;
        if (is_potential(hopes, node)) found = look(attempt.victims, node, scratch_, action_.improve, shared);
        board.leave_open(rank, found.open);
        if (!found.entry.candidate && !board.is_candidate(rank)) continue;
        board.set(rank, found.entry);
        changed.push_back(rank);
    }
    board.play_again(std::move(changed));
    board.seen = session_.tx.touches().now();
}

CostBoard& PreemptSearch::board_for(const Key& key, const Attempt& attempt) {
    auto it = boards_.find(key);
    if (it != boards_.end()) {
        catch_up(*it->second, attempt);
    } else {
        const std::size_t nodes = std::max<std::size_t>(session_.snapshot.nodes_by_name.size(), 1);
        if (boards_.size() >= std::max(kFewestBoards, kMostBoardEntries / nodes))
            boards_.erase(std::ranges::min_element(boards_, {}, [](const auto& b) { return b.second->used; }));
        it = boards_.emplace(key, std::make_unique<CostBoard>(new_board())).first;
        build(*it->second, attempt);
    }
    it->second->used = ++uses_;
    return *it->second;
}

std::optional<PreemptChoice> PreemptSearch::find(PodId pod) {
    // Alternatives that are left out for a while below are still what the pod asks for.
    need_ = need_of(session_.snapshot, std::span(&pod, 1), session_.snapshot.class_of(pod).requests);
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
                // What was found of all alternatives holds: the proof, and how many nodes were compared.
                other->proof = best->proof;
                other->bound = best->bound;
                other->candidates = best->candidates;
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
    none_.reset();
    const Key key{cls.spec,
                  cls.volumes.empty() && !cls.has_claims ? StringId() : cls.ns,
                  rules.attack.priority,
                  rules.attack.queue,
                  false};
    const bool limited = action_.min_candidate_nodes_absolute || action_.min_candidate_nodes_percentage;
    const bool kept = !limited && session_.limits.admit(s.later, pod) && session_.keep_in_mind.empty();
    const bool local = session_.filters.node_local(s, cls);
    if (kept && !local && by_far_board(cls)) return find_far(key, rules, asker);
    WorkBudget work = budget();
    NodeVictims victims(session_, rules, asker, work);
    if (limited) return find_limited(victims, asker);
    const Attempt attempt{pod, rules, asker, victims};
    if (!kept || !local) {
        CostBoard once = new_board();
        build(once, attempt);
        return choose(once, victims);
    }
    // Every look takes back what it tried, so no node is another one afterwards: else one pod that looks at all nodes
    // would make the next one look at all of them again.
    const auto before = session_.tx.checkpoint();
    const bool was_paused = session_.tx.touches().pause(true);
    std::optional<PreemptChoice> found = choose(board_for(key, attempt), victims);
    session_.tx.touches().pause(was_paused);
    REPRIEVE_CHECK(session_.tx.checkpoint() == before, "a look at a node was not taken back");
    return found;
}

// Looks at winners in full until the winner is one that was.
std::optional<PreemptChoice> PreemptSearch::choose(CostBoard& board, NodeVictims& victims) {
    const Snapshot& s = session_.snapshot;
    while (true) {
        const std::uint32_t rank = board.winner();
        if (rank == CostBoard::kNobody) {
            if (!board.anything_open() && action_.improve) none_ = Proof::every_part(board.size(), board.size());
            return std::nullopt;
        }
        const CostBoard::Entry entry = board.get(rank);
        const NodeId node = s.nodes_by_name[rank];
        if (!victims.find(node, scratch_)) {
            // Only a rule that reaches beyond the node, or the end of the budget, can have changed the answer.
            if (!victims.proven_none()) board.leave_open(rank, victims.least_cost(node));
            board.update(rank, {});
            continue;
        }
        const Cost floor = victims.lower_bound(node, scratch_);
        if (action_.improve) victims.improve(node, scratch_);
        if (!entry.settled) {
            if (!scratch_.proof) board.leave_open(rank, entry.key);
            board.update(rank, {.key = scratch_.cost, .candidate = true, .settled = true});
            if (board.winner() != rank) continue;
        }
        return describe(board, victims, rank, floor);
    }
}

// What is proven of the choice. `open`: where not everything was tried, something may be had from this cost on.
void PreemptSearch::certify(PreemptChoice& choice, const std::optional<Cost>& open, const Cost& floor) const {
    if (!action_.improve) return;
    const Cost& cost = choice.victims.cost;
    const Cost bound = open && *open < cost ? *open : (choice.victims.proof ? cost : floor);
    if (bound < cost)
        choice.bound = bound;
    else if (choice.victims.proof)
        choice.proof = Proof::bound_met(cost, bound);
    else
        choice.bound = floor;
}

PreemptChoice PreemptSearch::describe(CostBoard& board, NodeVictims& victims, std::uint32_t rank, const Cost& floor) {
    const Snapshot& s = session_.snapshot;
    PreemptChoice choice{.node = s.nodes_by_name[rank], .victims = scratch_, .candidates = board.candidates()};
    certify(choice, board.least_open(), floor);
    const std::uint32_t second = board.runner_up();
    if (second != CostBoard::kNobody) {
        Victims other;
        if (board.is_settled(second))
            choice.runner_up = board.get(second).key;
        else if (victims.find(s.nodes_by_name[second], other))
            choice.runner_up = other.cost;
    }
    const std::optional<Cost> here = victims.runner_up(choice.node, choice.victims);
    if (here && (!choice.runner_up || *here < *choice.runner_up)) choice.runner_up = here;
    victims.name_claims(choice.node, choice.victims);
    return choice;
}

// A limited search visits nodes by name and stops once enough of them have victims and one breaks no budget.
std::optional<PreemptChoice> PreemptSearch::find_limited(NodeVictims& victims, const Asker& asker) {
    const Snapshot& s = session_.snapshot;
    const Prospect hopes = prospect(asker, !session_.limits.admit(s.later, asker.pod));
    std::vector<NodeId> potential;
    for (NodeId node : s.nodes_by_name) {
        if (is_potential(hopes, node)) potential.push_back(node);
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
    victims.name_claims(best->node, best->victims);
    return best;
}

std::optional<PreemptChoice> PreemptSearch::find_for_resize(PodId pod) {
    const Snapshot& s = session_.snapshot;
    const Asker asker{.pod = pod, .amounts = s.facts->resize_delta(pod), .resize = true};
    const VictimRules rules = rules_for(pod, asker.amounts);
    need_ = need_of(s, {}, asker.amounts);
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
