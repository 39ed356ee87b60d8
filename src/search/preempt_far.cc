// Pods with rules about other pods: required affinity and anti-affinity, hard spread.
//
// The board answers for the rules that look at the node alone (Asker::alone). Its entries depend on nothing but their
// node and are kept. Whatever set of victims lets the pod in, it also satisfies those rules: so an entry is a bound.
//
// The other rules speak of domains. Nodes that lie in the same domains get one answer, for the pods as they are:
//   open    these rules let the pod in, with the nominated pods and without them.
//   out     they do not, and nobody is in the way there who may be taken. Then no set of victims lets the pod in:
//           evictions elsewhere do not help (in_the_way.h).
//   closed  they do not, and somebody is in the way.
// Domains of one node each (host names) are no groups: their rules are asked on the node that wins.
//
// The cheapest entry of a group that is not out wins. If the board's own set also passes all rules, the node costs
// exactly what its entry says. If not, the node is searched in full, which counts for this decision alone: the entry
// comes back afterwards.
#include <algorithm>

#include "base/check.h"
#include "search/preempt_search.h"

namespace reprieve {
namespace {

constexpr std::size_t kFewestNodes = 64;  // fewer are looked at one by one

}  // namespace

class PreemptSearch::FarChoice {
public:
    FarChoice(PreemptSearch& search, CostBoard& board, NodeVictims& alone, NodeVictims& victims, const Asker& asker)
        : search_(search),
          session_(search.session_),
          board_(board),
          alone_(alone),
          victims_(victims),
          asker_(asker),
          candidate_(session_.snapshot, asker.pod),
          keys_(search.wide_keys(candidate_.cls)) {
        board_.group_by(session_.snapshot, keys_);
        for (const CostBoard::Group& group : board_.groups()) {
            in_play_.push_back(!is_out(group));
            winners_.push_back(in_play_.back() ? board_.winner_of(group) : CostBoard::kNobody);
        }
    }
    FarChoice(const FarChoice&) = delete;
    FarChoice& operator=(const FarChoice&) = delete;
    ~FarChoice() {
        for (auto at = before_.rbegin(); at != before_.rend(); ++at)
            board_.update(at->first, at->second);
    }

    std::optional<PreemptChoice> run() {
        while (true) {
            const std::uint32_t rank = winner();
            if (rank == CostBoard::kNobody) {
                if (!board_.anything_open() && !open_ && search_.action_.improve)
                    search_.none_ = Proof::every_part(board_.size(), board_.size());
                return std::nullopt;
            }
            if (!decide(rank)) continue;
            PreemptChoice choice{.node = node_of(rank), .victims = found_, .candidates = candidates()};
            search_.certify(choice, least_open(), floor_);
            find_runner_up(choice, rank);
            return choice;
        }
    }

private:
    [[nodiscard]] NodeId node_of(std::uint32_t rank) const { return session_.snapshot.nodes_by_name[rank]; }

    [[nodiscard]] bool is_out(const CostBoard::Group& group) {
        const NodeId node = node_of(board_.any_of(group));
        const Snapshot& s = session_.snapshot;
        if (session_.filters.holds_in_domains(candidate_, s.later, session_.tx.promised(), keys_, node)) return false;
        pods_.clear();
        victims_.in_the_way().in_domains_of(node, keys_, pods_);
        return std::ranges::none_of(pods_, [&](PodId pod) { return victims_.may_take(pod); });
    }

    [[nodiscard]] std::uint32_t winner() const {
        std::uint32_t best = CostBoard::kNobody;
        for (std::uint32_t rank : winners_) {
            if (rank != CostBoard::kNobody && (best == CostBoard::kNobody || board_.cheaper(rank, best))) best = rank;
        }
        return best;
    }

    // For good: what the rules about the node alone say.
    void learn(std::uint32_t rank, const CostBoard::Entry& entry) {
        board_.update(rank, entry);
        play_again(rank);
    }

    // For this decision.
    void suppose(std::uint32_t rank, const CostBoard::Entry& entry) {
        before_.emplace_back(rank, board_.get(rank));
        learn(rank, entry);
    }

    void play_again(std::uint32_t rank) {
        const std::size_t group = board_.group_of(rank);
        winners_[group] = board_.winner_of(board_.groups()[group]);
    }

    // Looks at the winner; true: `found_` is its set, and no node can cost less. False: the board has changed.
    [[nodiscard]] bool decide(std::uint32_t rank) {
        const NodeId node = node_of(rank);
        const CostBoard::Entry entry = board_.get(rank);
        if (const auto at = searched_.find(rank); at != searched_.end()) {
            found_ = std::move(at->second);
            floor_ = found_.proof ? found_.cost : entry.key;
            return true;
        }
        if (!entry.settled) {
            settle(rank, node, entry);
            return false;
        }
        // Its rules about other pods let it in as it is: then the node has room after all, and no evictions are due.
        if (victims_.passes(node)) {
            suppose(rank, {});
            return false;
        }
        if (local_set_passes(node)) {
            floor_ = found_.cost;
            return true;
        }
        if (!search_in_full(node)) {
            if (!victims_.proven_none()) leave_open(victims_.least_cost(node));
            suppose(rank, {});
            return false;
        }
        if (!found_.proof) leave_open(floor_);
        suppose(rank, {.key = found_.cost, .candidate = true, .settled = true});
        searched_.emplace(rank, std::move(found_));
        found_ = {};
        return false;
    }

    // A node with room enough needs nobody of its own: there the entry is a bound and stays one.
    void settle(std::uint32_t rank, NodeId node, const CostBoard::Entry& entry) {
        if (alone_.passes(node)) {
            learn(rank, {.key = entry.key, .candidate = true, .settled = true});
            return;
        }
        if (!alone_.find(node, found_)) {
            if (!alone_.proven_none()) board_.leave_open(rank, alone_.least_cost(node));
            learn(rank, {});
            return;
        }
        if (search_.action_.improve) alone_.improve(node, found_);
        const bool proven = found_.proof.has_value() || !search_.action_.improve;
        learn(rank, {.key = proven ? found_.cost : entry.key, .candidate = true, .settled = true});
    }

    // The cheapest set by the rules about the node alone, if that is known and passes all rules.
    [[nodiscard]] bool local_set_passes(NodeId node) {
        if (alone_.passes(node) || !alone_.find(node, found_)) return false;
        if (search_.action_.improve) alone_.improve(node, found_);
        if (!found_.proof) return false;
        const auto mark = session_.tx.checkpoint();
        for (std::uint32_t unit : found_.chosen) {
            for (PodId pod : found_.list.pods_of(found_.list.units[unit]))
                session_.tx.evict(pod);
        }
        const bool passes = victims_.passes(node);
        session_.tx.rollback(mark);
        return passes;
    }

    [[nodiscard]] bool search_in_full(NodeId node) {
        if (!victims_.find(node, found_)) return false;
        floor_ = victims_.lower_bound(node, found_);
        if (search_.action_.improve) victims_.improve(node, found_);
        return true;
    }

    void leave_open(const Cost& from) {
        if (!open_ || from < *open_) open_ = from;
    }

    [[nodiscard]] std::optional<Cost> least_open() const {
        std::optional<Cost> least = board_.least_open();
        if (open_ && (!least || *open_ < *least)) least = open_;
        return least;
    }

    [[nodiscard]] std::int64_t candidates() const {
        std::int64_t sum = 0;
        for (std::size_t g = 0; g < in_play_.size(); ++g)
            sum += in_play_[g] ? board_.groups()[g].candidates : 0;
        return sum;
    }

    // The next node whose set is at hand, and the next set on the same node.
    void find_runner_up(PreemptChoice& choice, std::uint32_t rank) {
        constexpr int kMostTries = 4;
        suppose(rank, {});
        for (int tries = 0; tries < kMostTries; ++tries) {
            const std::uint32_t next = winner();
            if (next == CostBoard::kNobody) break;
            if (searched_.contains(next)) {
                choice.runner_up = board_.get(next).key;
                break;
            }
            if (!victims_.passes(node_of(next)) && local_set_passes(node_of(next))) {
                choice.runner_up = found_.cost;
                break;
            }
            suppose(next, {});
        }
        const std::optional<Cost> here = victims_.runner_up(choice.node, choice.victims);
        if (here && (!choice.runner_up || *here < *choice.runner_up)) choice.runner_up = here;
    }

    PreemptSearch& search_;
    Session& session_;
    CostBoard& board_;
    NodeVictims& alone_;
    NodeVictims& victims_;
    const Asker& asker_;
    Candidate candidate_;
    std::vector<TopologyKeyId> keys_;
    std::vector<bool> in_play_;                                       // by group
    std::vector<std::uint32_t> winners_;                              // by group
    std::vector<std::pair<std::uint32_t, CostBoard::Entry>> before_;  // entries to give back, oldest first
    std::map<std::uint32_t, Victims> searched_;  // ranks whose entry is the cost of a full search, with its set
    Victims found_;
    Cost floor_;
    std::optional<Cost> open_;
    std::vector<PodId> pods_;
};

bool PreemptSearch::by_far_board(const PodClass& cls) const {
    return session_.snapshot.nodes_by_name.size() > kFewestNodes && session_.filters.far_by_terms_only(cls) &&
           action_.improve;
}

bool PreemptSearch::one_node_each(TopologyKeyId key) {
    const auto [at, fresh] = one_node_each_.try_emplace(key, true);
    if (!fresh) return at->second;
    const Snapshot& s = session_.snapshot;
    std::vector<bool> seen(s.topology.domain_count(key));
    for (NodeId node : s.nodes_by_name) {
        const std::int32_t domain = s.topology.domain(key, node.index());
        if (domain == TopologyIndex::kNoDomain) continue;
        if (seen[static_cast<std::size_t>(domain)]) at->second = false;
        seen[static_cast<std::size_t>(domain)] = true;
    }
    return at->second;
}

bool PreemptSearch::blocked_for_good(const Candidate& c, NodeId node) {
    const Snapshot& s = session_.snapshot;
    if (!session_.filters.on(FilterId::kInterPodAffinity)) return false;
    const UnitFinder finder(session_);
    const Attack attack = rules_for(c.pod, c.cls.requests).attack;
    const auto stays = [&](PodId pod) {
        const PodState state = s.pods[pod].state;
        return state == PodState::kPlaced || state == PodState::kNominated ||
               (state == PodState::kRunning && !finder.takeable(pod, attack));
    };
    const auto on_this_node = [&](TermId term) {
        const TopologyKeyId key = s.terms[term].key;
        return key && one_node_each(key) && s.topology.domain(key, node.index()) != TopologyIndex::kNoDomain;
    };
    for (TermId term : c.cls.anti_affinity) {
        if (!on_this_node(term) || s.later.matching(term, s.topology.domain(s.terms[term].key, node.index())) == 0)
            continue;
        if (std::ranges::any_of(s.node_pods[node], [&](PodId pod) {
                return stays(pod) && std::ranges::binary_search(s.class_of(pod).matched, term);
            }))
            return true;
    }
    for (TermId term : c.cls.matched) {
        if (!on_this_node(term) || s.later.holders_total(term) == 0 ||
            s.later.holders(term, s.topology.domain(s.terms[term].key, node.index())) == 0)
            continue;
        if (std::ranges::any_of(s.node_pods[node], [&](PodId pod) {
                return stays(pod) &&
                       std::ranges::find(s.class_of(pod).anti_affinity, term) != s.class_of(pod).anti_affinity.end();
            }))
            return true;
    }
    return false;
}

// The keys that the pod's rules, and others' rules about it, speak of.
std::vector<TopologyKeyId> PreemptSearch::wide_keys(const PodClass& cls) {
    const Snapshot& s = session_.snapshot;
    std::vector<TopologyKeyId> keys;
    const auto add = [&](TopologyKeyId key) {
        if (key && !one_node_each(key)) keys.push_back(key);
    };
    for (TermId term : cls.affinity)
        add(s.terms[term].key);
    for (TermId term : cls.anti_affinity)
        add(s.terms[term].key);
    for (TermId term : cls.matched) {
        if (s.terms[term].key && s.later.holders_total(term) > 0) add(s.terms[term].key);
    }
    for (const ClassSpread& spread : cls.spread) {
        if (spread.hard) add(spread.key);
    }
    std::ranges::sort(keys);
    const auto repeated = std::ranges::unique(keys);
    keys.erase(repeated.begin(), repeated.end());
    return keys;
}

std::optional<PreemptChoice> PreemptSearch::find_far(Key key, const VictimRules& rules, const Asker& asker) {
    WorkBudget work = budget();
    Asker by_itself = asker;
    by_itself.alone = key.alone = true;
    NodeVictims alone(session_, rules, by_itself, work);
    NodeVictims victims(session_, rules, asker, work);
    CostBoard& board = board_for(key, {asker.pod, rules, by_itself, alone});
    return FarChoice(*this, board, alone, victims, asker).run();
}

}  // namespace reprieve
