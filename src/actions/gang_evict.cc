#include "actions/gang_evict.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "actions/evict_unit.h"
#include "actions/queue_obstacles.h"
#include "base/check.h"
#include "plugins/share_vote.h"
#include "search/domain_contest.h"
#include "search/shared_claims.h"

namespace reprieve {

namespace {

bool is_above(const Snapshot& s, QueueId queue, QueueId below) {
    const std::vector<QueueId>& path = s.queue_path[below];
    return std::ranges::find(path, queue) != path.end();
}

// Itself, not only in the queues below it.
bool runs_pods(const Snapshot& s, QueueId queue) {
    return std::ranges::any_of(
        s.pods, [&](const PodRow& row) { return row.queue == queue && row.state == PodState::kRunning; });
}

}  // namespace

GangEvict::GangEvict(Desk& desk, const ActionConfig& action, const Shares* shares)
    : desk_(desk),
      action_(action),
      obstacles_(desk),
      shares_(shares),
      order_(action, desk.session.config.plugins, desk.session.snapshot),
      reclaim_(action.kind == ActionKind::kGangReclaim),
      sieve_(desk.session, desk.placer) {
    work_ = work_resource(desk.snapshot(), desk.session.config.plugins.lost_work_resource);
}

GangRules GangEvict::common_rules(const Demand& demand, std::span<const Resources::Amount> need) const {
    return {
        .attack = {.priority = demand.priority,
                   .queue = demand.queue,
                   .cross_queue = action_.cross_queue,
                   .need = need,
                   .reclaim = reclaim_,
                   .local_only = action_.disruption == Disruption::kLocal},
        .pdb = action_.pdb,
        .order = &order_,
        .work = work_,
        .improve = action_.improve,
        .allow_whole = action_.allow_whole_bundle,
        .bundles = {.reclaim = reclaim_, .roi_threshold_ppm = action_.roi_threshold_ppm, .queue_order = {}},
        .means = reclaim_ ? "taking back what other queues hold above their share" : "evicting pods of lower priority"};
}

Served GangEvict::serve(const Demand& demand) {
    const auto& off = desk_.session.config.plugins.disable;
    if (!reclaim_ && std::ranges::find(off, "priority") != off.end())
        return Served::not_mine("preemption by priority is switched off");
    Mandatory members{.pods = demand.pods};
    if (demand.gang) {
        members = desk_.members_of(demand);
        if (members.missing > 0) return Served::lacks_members(action_.improve);
        if (members.pods.empty()) return Served::surplus();
    }
    if (reclaim_) return reclaim(demand, members);
    const std::vector<Resources::Amount> need = sum_requests(desk_.snapshot(), members.pods);
    GangRules rules = common_rules(demand, need);
    return evict_for(demand, members, rules, [](const Unit& unit, QueueId) {
        return fmt::format("priority {} makes room for", unit.priority);
    });
}

Served GangEvict::reclaim(const Demand& demand, const Mandatory& members) {
    const Snapshot& s = desk_.snapshot();
    const std::vector<Resources::Amount> need = sum_requests(s, members.pods);
    GangRules rules = common_rules(demand, need);
    rules.bundles.queue_order = victim_queue_order(s, *shares_, demand.queue);
    if (rules.bundles.queue_order.empty()) return Served::not_mine();  // there is no other queue
    // Whether the queue may reclaim at all, before anything is searched.
    ShareVote vote(s, *shares_, demand.queue, need, action_.whole_below_deserved);
    std::vector<QueueId> givers = rules.bundles.queue_order;
    std::erase_if(givers, [&](QueueId q) { return is_above(s, q, demand.queue) && !runs_pods(s, q); });
    if (!givers.empty() && std::ranges::none_of(givers, [&](QueueId q) { return vote.may_reclaim_from(q); })) {
        return {.why_not = why_may_not_reclaim(s, *shares_, {.queue = demand.queue, .need = need}, givers.front()),
                .proof = Proof::nobody()};
    }
    rules.vote = &vote;
    return evict_for(demand, members, rules, [&](const Unit&, QueueId queue) {
        return fmt::format("queue {} is above its share and gives back to", s.words->text(s.queues[queue].name));
    });
}

// Facts do not change within a cycle, and gangs of one kind come in numbers.
const std::vector<bool>& GangEvict::nodes_for(std::span<const PodId> members) {
    constexpr std::size_t kMostKept = 64;
    const Snapshot& s = desk_.snapshot();
    std::vector<SpecId> specs;
    bool by_claim = false;
    for (PodId pod : members) {
        specs.push_back(s.class_of(pod).spec);
        by_claim = by_claim || s.class_of(pod).has_claims || !s.class_of(pod).volumes.empty();
    }
    std::ranges::sort(specs);
    const auto repeated = std::ranges::unique(specs);
    specs.erase(repeated.begin(), repeated.end());
    // What a claim allows is not a matter of the spec alone.
    if (by_claim || useful_.size() >= kMostKept) useful_.clear();
    const auto [at, fresh] = useful_.try_emplace(specs);
    if (!fresh) return at->second;
    std::vector<bool>& useful = at->second;
    useful.resize(s.nodes.size());
    for (PodId pod : members) {
        const FactAnswers& answers = desk_.placer.facts(pod);
        for (NodeId node : s.nodes_by_name)
            useful[node.index()] = useful[node.index()] || answers[node.index()].fits();
    }
    return useful;
}

std::vector<NodeId> GangEvict::few_nodes(const SearchSpace& space,
                                         GangId home,
                                         const GangRules& rules,
                                         std::span<const PodId> members) {
    constexpr std::size_t kFewestNodes = 64;  // fewer are looked at all
    const Snapshot& s = desk_.snapshot();
    Session& session = desk_.session;
    const bool plain = space.anywhere() && make_seat(s, home, space.domains.front()).plain();
    if (!plain || !rules.improve || rules.vote != nullptr || rules.attack.quota != nullptr || rules.attack.reclaim ||
        s.nodes_by_name.size() < kFewestNodes || !DomainFit::can_count(session, desk_.placer, members) ||
        !session.limits.admit(s.later, session.limits.ask_of(members)))
        return {};
    return sieve_.nodes_for(rules, members);
}

Served GangEvict::evict_for(const Demand& demand, const Mandatory& members, GangRules& rules, const Ground& ground) {
    const std::vector<bool>& useful = nodes_for(members.pods);
    // Who goes does not matter to nodes that want none of the members.
    if (std::ranges::find(useful, true) == useful.end())
        return {.why_not = network_search_space(desk_.snapshot(), home_of(desk_.snapshot(), demand)).missing,
                .proof = action_.improve ? std::optional(Proof::nobody()) : std::nullopt};
    // Pods on nodes that no member may use cover nothing of the need.
    if (action_.improve) rules.attack.useful = &useful;
    for (PodId pod : members.pods) {
        if (desk_.snapshot().class_of(pod).has_claims && !action_.improve && !rules.attack.claimant)
            rules.attack.claimant = pod;
    }
    // What the members ask for before any of them is promised it.
    const DemandNeed need = need_of(desk_.snapshot(), members.pods, rules.attack.need);
    std::string why_not;
    const auto choice = choose(demand, rules, members.pods, why_not);
    if (!choice) {
        if (why_not.empty()) why_not = "finds nobody to evict";
        if (!too_small_) {
            why_not += obstacles_.say(members.pods,
                                      rules.attack,
                                      {.pdb = action_.pdb,
                                       .shares = reclaim_ ? shares_ : nullptr,
                                       .allow_whole = action_.allow_whole_bundle});
        }
        return {.why_not = why_not, .proof = none_};
    }
    carry_out(demand, *choice, members, ground);
    certify(demand, *choice, need, rules.bundles.queue_order);
    return {.done = true};
}

std::optional<GangChoice> GangEvict::choose(const Demand& demand,
                                            const GangRules& rules,
                                            std::span<const PodId> members,
                                            std::string& why_not) {
    const Snapshot& s = desk_.snapshot();
    const GangId home = home_of(s, demand);
    const SearchSpace space = network_search_space(s, home);
    why_not = space.missing;
    // Where an earlier plan paid for a domain, what is still lacking is freed there, if it can be.
    SearchSpace promised = space;
    std::erase_if(promised.domains, [](const SearchDomain& d) { return !d.promised; });
    if (!promised.domains.empty() && promised.domains.size() < space.domains.size()) {
        if (auto there = search_all(promised, home, rules, members, why_not)) return there;
        why_not = space.missing;
    }
    if (std::vector<NodeId> few = few_nodes(space, home, rules, members); !few.empty()) {
        SearchSpace sieved = space;
        sieved.domains.front().nodes = std::move(few);
        std::string unsaid;
        if (auto there = search(sieved, home, rules, members, unsaid)) return there;
    }
    return search_all(space, home, rules, members, why_not);
}

// One vote over all candidates can spend a queue's excess on pods that are of no use here, or dearer than others.
std::optional<GangChoice> GangEvict::search_all(const SearchSpace& space,
                                                GangId home,
                                                const GangRules& rules,
                                                std::span<const PodId> members,
                                                std::string& why_not) {
    auto best = search(space, home, rules, members, why_not);
    if (!reclaim_ || !action_.improve || (best && !narrowed_)) return best;
    GangRules alone = rules;
    alone.vote_alone = true;
    return search(space, home, alone, members, why_not, best);
}

std::optional<GangChoice> GangEvict::search(const SearchSpace& space,
                                            GangId home,
                                            const GangRules& rules,
                                            std::span<const PodId> members,
                                            std::string& why_not,
                                            const std::optional<GangChoice>& known) {
    const Snapshot& s = desk_.snapshot();
    std::optional<GangChoice> best;
    const std::optional<Cost> second = std::exchange(runner_up_, std::nullopt);
    none_.reset();
    too_small_ = !space.domains.empty();
    narrowed_ = false;
    std::size_t tiers = 0;
    std::size_t proven = 0;
    // A soft rule falls back tier by tier; otherwise all domains compete.
    for (std::size_t first = 0; first < space.domains.size() && !best;) {
        std::size_t last = space.soft ? first + 1 : space.domains.size();
        while (space.soft && last < space.domains.size() && space.domains[last].tier == space.domains[first].tier)
            ++last;
        DomainContest contest({.improve = action_.improve,
                               .max_domains = static_cast<std::size_t>(action_.max_domains),
                               .budget = desk_.session.config.search_budget.us});
        // A smaller tier comes before a lower cost.
        if (known && (!space.soft || known->seat.domain.tier == space.domains[first].tier))
            contest.defend(*known, second);
        for (std::size_t i = first; i < last; ++i) {
            TopologySeat seat = make_seat(s, home, space.domains[i]);
            if (seat.domain.name.empty() && !seat.domain.nodes.empty()) seat.stands_for = s.nodes_by_name.size();
            auto victims = std::make_unique<GangVictims>(desk_.session, desk_.placer, rules, members, std::move(seat));
            narrowed_ = narrowed_ || victims->narrowed_by_vote();
            contest.enter(std::move(victims));
        }
        best = contest.run();
        too_small_ = too_small_ && contest.all_too_small();
        if (best) bound_ = contest.bound();
        runner_up_ = contest.runner_up();
        ++tiers;
        proven += !best && contest.proven_none() ? 1U : 0U;
        if (why_not.empty()) why_not = contest.why_not();
        first = last;
    }
    if (!best && proven == tiers) none_ = Proof::every_part(tiers, proven);
    return best;
}

void GangEvict::carry_out(const Demand& demand,
                          const GangChoice& choice,
                          const Mandatory& members,
                          const Ground& ground) {
    const Snapshot& s = desk_.snapshot();
    const std::string owner = owner_name(s, demand);
    const std::string where = choice.seat.domain.name.empty() ? "" : " in " + choice.seat.domain.name;
    const auto start = desk_.session.tx.checkpoint();
    for (std::uint32_t at : choice.chosen) {
        const Unit& unit = choice.list.units[at];
        const QueueId queue = s.pods[choice.list.pods[unit.first]].queue;
        evict_unit(
            desk_,
            action_,
            unit,
            choice.list.pods_of(unit),
            {.owner = owner,
             .reason = fmt::format("{} {} (priority {}){}", ground(unit, queue), owner, demand.priority, where)});
    }
    const std::uint32_t note =
        desk_.plan.note({.action = action_.kind, .owner = demand.gang ? owner : "", .domain = choice.seat.domain.name});
    desk_.session.commit(start);
    const bool placed = place_in_seat(desk_.session, desk_.placer, members.pods, View::kLater, choice.seat, note);
    REPRIEVE_CHECK(placed, "members of {} that were counted to fit", owner);
    // What is reclaimed serves the minimum; surplus members must not carry their queue above its share.
    const bool minimum_only = reclaim_ || desk_.surplus_waits;
    for (const std::vector<PodId>& batch : minimum_only ? std::vector<std::vector<PodId>>() : members.surplus)
        static_cast<void>(place_in_seat(desk_.session, desk_.placer, batch, View::kLater, choice.seat, note));
    desk_.session.commit(start);
}

void GangEvict::certify(const Demand& demand,
                        const GangChoice& choice,
                        const DemandNeed& need,
                        const std::vector<QueueId>& queue_order) {
    const std::string owner = owner_name(desk_.snapshot(), demand);
    Certificate c{.owner = owner, .action = to_text(action_.kind)};
    std::optional<Proof> proof;
    if (action_.improve && !(bound_ < choice.cost)) proof = Proof::bound_met(choice.cost, bound_);
    c.status = !action_.improve ? CertificateStatus::kHeuristic
                                : (proof ? CertificateStatus::kOptimal : CertificateStatus::kGap);
    c.cost = order_.print(choice.cost);
    if (action_.improve) c.bound = c.status == CertificateStatus::kOptimal ? c.cost : order_.print(bound_);
    if (runner_up_) c.runner_up = order_.print(*runner_up_);
    desk_.plan.certificate(std::move(c),
                           {.owner = owner, .order = order_, .work = work_, .need = need, .queue_order = queue_order});
}

}  // namespace reprieve
