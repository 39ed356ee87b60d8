#include "search/placement.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "search/placement_stands.h"
#include "state/claim_questions.h"

namespace reprieve {
namespace {

// Facts and boards cost memory per node (up to 9 and 24 bytes); beyond these many, shapes are asked afresh.
constexpr std::size_t kMostEntries = 8'000'000;
constexpr std::size_t kFewestPlacementBoards = 64;
constexpr std::size_t kRefusalsForBoard = 4;  // so much more is a reason for each node
constexpr std::size_t kMostCounted = 16;      // kinds of claims at once; a demand has one
constexpr std::size_t kFewNodes = 64;         // are asked one by one

std::size_t most_boards(const Snapshot& s) {
    return std::max(kFewestPlacementBoards, kMostEntries / std::max<std::size_t>(s.nodes.size(), 1));
}

}  // namespace

Placer::ShapeKey Placer::key_of(PodId pod) const {
    const PodClass& cls = session_.snapshot.class_of(pod);
    return {cls.spec, cls.volumes.empty() && !cls.has_claims ? StringId() : cls.ns};
}

const FactAnswers& Placer::facts(PodId pod) {
    const ShapeKey key = key_of(pod);
    if (const auto it = facts_.find(key); it != facts_.end()) return *it->second;
    if (answered_.size() >= most_boards(session_.snapshot)) {
        facts_.clear();
        answered_.clear();
    }
    const Candidate candidate(session_.snapshot, pod);
    const auto [place, fresh] = answered_.try_emplace(facts_asked(candidate, key));
    FactAnswers& answers = place->second;
    if (fresh) {
        answers.assign(session_.snapshot.nodes.size(), Answer{Fit::kNever, FilterId::kNone, 0});
        for (NodeId node : session_.snapshot.nodes_by_name)
            answers[node.index()] = session_.filters.check_facts(candidate, node);
    }
    facts_.emplace(key, &answers);
    return answers;
}

Placer::FactsAsked Placer::facts_asked(const Candidate& candidate, const ShapeKey& key) {
    const PodSpec& spec = candidate.spec;
    return {.host = spec.host,
            .selector = spec.node_selector,
            .affinity_required = spec.node_affinity_required,
            .terms = spec.node_terms,
            .tolerations = spec.tolerations,
            .volumes_of = candidate.cls.volumes.empty() ? ShapeKey() : key};
}

bool Placer::could_run(PodId pod) {
    const Snapshot& s = session_.snapshot;
    if (FitBoard* b = board(pod)) {
        return std::ranges::any_of(s.nodes_by_name, [&](NodeId n) { return b->later(n) != Fit::kNever; });
    }
    const FactAnswers& answers = facts(pod);
    const Candidate candidate(s, pod);
    // Whom it must be near may be a member of its own gang that is not placed yet.
    const auto refused_for_good = [&](const Answer& answer) {
        return answer.fit == Fit::kNever && !(answer.filter == FilterId::kInterPodAffinity && s.pods[pod].gang);
    };
    return std::ranges::any_of(s.nodes_by_name, [&](NodeId n) {
        return answers[n.index()].fits() &&
               !refused_for_good(session_.filters.check_view(candidate, s.later, s.later, n));
    });
}

CountedClaims* Placer::counted_claims(std::span<const PodId> pods) {
    if (!session_.filters.on(FilterId::kDynamicResources)) return nullptr;
    const auto known = std::ranges::find_if(counted_, [&](const auto& c) { return c->speaks_of(pods); });
    if (known != counted_.end()) {
        std::rotate(counted_.begin(), known, known + 1);
        return counted_.front().get();
    }
    std::optional<CountedClaims> made = CountedClaims::of(session_.snapshot, pods);
    if (!made) return nullptr;
    made->set_number(++counted_so_far_);
    if (counted_.size() == kMostCounted) counted_.pop_back();
    counted_.insert(counted_.begin(), std::make_unique<CountedClaims>(std::move(*made)));
    return counted_.front().get();
}

FitBoard* Placer::board(PodId pod) {
    const PodClass& cls = session_.snapshot.class_of(pod);
    if (!session_.filters.node_local(session_.snapshot, cls) || session_.scores.compares(session_.snapshot, cls))
        return nullptr;
    return kept_board(pod, false);
}

FitBoard* Placer::kept_board(PodId pod, bool alone) {
    ShapeKey key = key_of(pod);
    const FactAnswers& answers = facts(pod);
    key.alone = alone;
    const auto it = boards_.find(key);
    if (it != boards_.end()) {
        it->second->catch_up(session_, pod, answers);
        return it->second.get();
    }
    if (boards_.size() >= most_boards(session_.snapshot)) boards_.clear();
    return boards_.emplace(key, std::make_unique<FitBoard>(session_, pod, answers, alone)).first->second.get();
}

std::vector<NodeId> Placer::worth_asking(PodId pod, std::span<const NodeId> within) {
    const Snapshot& s = session_.snapshot;
    const PodClass& cls = s.class_of(pod);
    const std::span<const NodeId> all(s.nodes_by_name);
    if (all.size() > kFewNodes && (within.empty() || within.size() == all.size()) &&
        session_.filters.far_by_terms_only(cls)) {
        const FitBoard* alone = kept_board(pod, true);
        if (alone->is_uncertain()) give_up();
        return alone->nodes_later(session_);
    }
    const std::span<const NodeId> nodes = within.empty() ? all : within;
    std::vector<NodeId> out(nodes.begin(), nodes.end());
    // Where devices are counted, nodes without enough of them need no choice to be refused.
    if (CountedClaims* claims = cls.has_claims ? counted_claims(std::span(&pod, 1)) : nullptr) {
        const ClaimBook& later = s.later.claim_book();
        std::erase_if(out, [&](NodeId n) { return claims->counts_on(n) && claims->fit(n, later, 1) == 0; });
    }
    return out;
}

// Affinity and spread may not be satisfied only by pods that are not there yet.
void Placer::keep_those_without_nominated(PodId pod, std::vector<NodeId>& nodes) {
    if (nodes.empty()) return;
    const SecondPass second(session_, pod);
    std::erase_if(nodes, [&](NodeId n) { return !second.passes(n); });
}

// Of the nodes that have room, those on which the claims take the earliest alternatives, all requests together: by the
// sum of their places in the lists, as in kube-scheduler's score.
void Placer::keep_earliest_alternatives(PodId pod, View view, std::vector<NodeId>& nodes) const {
    const Snapshot& s = session_.snapshot;
    if (nodes.size() < 2 || !s.device_claims.of(pod).has_alternatives ||
        !session_.filters.on(FilterId::kDynamicResources))
        return;
    const ClaimBook* const both[] = {&s.now.claim_book(), &s.later.claim_book()};
    std::vector<std::size_t> taken;
    for (NodeId node : nodes) {
        std::vector<ClaimGrant> grants;
        static_cast<void>(
            choose_claimed_devices(s, pod, node, std::span(both).subspan(view == View::kNow ? 0 : 1), grants));
        const std::vector<std::size_t> places = alternatives_taken(s, pod, grants);
        taken.push_back(std::accumulate(places.begin(), places.end(), std::size_t{0}));
    }
    const std::size_t earliest = *std::ranges::min_element(taken);
    std::vector<NodeId> kept;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (taken[i] == earliest) kept.push_back(nodes[i]);
    }
    nodes = std::move(kept);
}

bool Placer::fits(PodId pod, NodeId node, View view) {
    const Snapshot& s = session_.snapshot;
    if (!facts(pod)[node.index()].fits()) return false;
    const Candidate candidate(s, pod);
    if (!session_.limits.admit(s.later, pod)) return false;
    if (!session_.filters.check_view(candidate, s.later, s.later, node).fits()) return false;
    if (view == View::kNow) {
        if (!session_.limits.admit(s.now, pod)) return false;
        if (!session_.filters.check_view(candidate, s.now, s.later, node).fits()) return false;
    }
    feasible_.assign(1, node);
    keep_those_without_nominated(pod, feasible_);
    return !feasible_.empty();
}

NodeId Placer::find(PodId pod, View view, std::span<const NodeId> within) {
    const Snapshot& s = session_.snapshot;
    const Candidate candidate(s, pod);
    if (!session_.limits.admit(s.later, pod)) return {};
    if (view == View::kNow && !session_.limits.admit(s.now, pod)) return {};
    if (within.empty()) {
        if (FitBoard* b = board(pod)) {
            if (b->is_uncertain()) give_up();
            if (view == View::kNow) return b->best_now(session_);
            if (!b->fits_later_anywhere()) return {};
        }
    }
    const FactAnswers& answers = facts(pod);
    feasible_.clear();
    for (NodeId node : worth_asking(pod, within)) {
        if (!answers[node.index()].fits()) continue;
        if (!session_.filters.check_view(candidate, s.later, s.later, node).fits()) continue;
        if (view == View::kNow && !session_.filters.check_view(candidate, s.now, s.later, node).fits()) continue;
        feasible_.push_back(node);
    }
    keep_those_without_nominated(pod, feasible_);
    keep_earliest_alternatives(pod, view, feasible_);
    if (feasible_.empty()) return {};
    return session_.scores.best(candidate, view == View::kNow ? s.now : s.later, s.later, feasible_);
}

void Placer::put(PodId pod, NodeId node, View view, std::uint32_t note, std::span<const DeviceId> claimed_devices) {
    Snapshot& s = session_.snapshot;
    devices_.clear();
    const bool claimed = s.class_of(pod).has_claims && served_by_claim(s, node, s.spec_of(pod).devices.whole_dim);
    if (s.class_of(pod).has_devices && !claimed && session_.filters.on(FilterId::kDevices)) {
        // Now: devices that are free both now and when the nominated have come; a device that is being left is not free
        // yet.
        const std::vector<DeviceUse>& later = s.later.use(node).devices;
        const std::vector<DeviceUse> use = view == View::kNow ? held_in_either(s.now.use(node).devices, later) : later;
        REPRIEVE_CHECK(choose_devices(s.devices[node], use, s.spec_of(pod).devices, devices_),
                       "devices of {} on {}",
                       s.pod_name(pod),
                       s.node_name(node));
    }
    if (view == View::kNow)
        session_.tx.place(pod, node, devices_, note, claimed_devices);
    else
        session_.tx.nominate(pod, node, devices_, note, claimed_devices);
}

const Placer::Refusal& Placer::refusal(PodId pod) {
    const PodClass& cls = session_.snapshot.class_of(pod);
    // Reasons name the pod's own claims.
    if (!session_.filters.node_local(session_.snapshot, cls) || cls.has_claims) {
        last_refusal_ = ask_refusal(pod);
        return last_refusal_;
    }
    const ShapeKey key = key_of(pod);
    const FactAnswers& answers = facts(pod);
    const auto known = refusals_.find(key);
    if (known != refusals_.end()) return known->second.refusal(session_, pod, answers);
    if (refusals_.size() >= most_boards(session_.snapshot) / kRefusalsForBoard) refusals_.clear();
    return refusals_.emplace(key, RefusalBoard(session_, pod, answers)).first->second.refusal(session_, pod, answers);
}

Placer::Refusal Placer::ask_refusal(PodId pod) {
    const Snapshot& s = session_.snapshot;
    const Candidate candidate(s, pod);
    const FactAnswers& answers = facts(pod);
    std::map<Answer, std::int64_t> counts;
    Refusal out;
    for (NodeId node : s.nodes_by_name) {
        const Answer answer = answer_of(session_, candidate, node, answers);
        if (answer.fit != Fit::kNever) out.never = false;
        if (answer.filter == FilterId::kDynamicResources && !answer.fits())
            ++out.nodes[describe_on(answer, candidate, node)];
        else if (!answer.fits())
            ++counts[answer];
    }
    for (const auto& [answer, count] : counts)
        out.nodes[describe(answer, candidate)] += count;
    return out;
}

}  // namespace reprieve
