#include "actions/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "actions/allocate.h"
#include "actions/demands.h"
#include "actions/desk.h"
#include "actions/device_guesses.h"
#include "actions/far_reaching.h"
#include "actions/gang_evict.h"
#include "actions/job_preempt.h"
#include "actions/nominations.h"
#include "actions/preempt.h"
#include "actions/promise_ledger.h"
#include "actions/promises.h"
#include "actions/queue_balance.h"
#include "actions/revoke.h"
#include "actions/rule_certificates.h"
#include "actions/serving_preempt.h"
#include "actions/soft_evictions.h"
#include "actions/spare.h"
#include "actions/trigger.h"
#include "actions/unplaced.h"
#include "actions/waiting_lines.h"
#include "plugins/limits.h"
#include "plugins/network_topology.h"
#include "plugins/order.h"
#include "plugins/shares.h"

namespace reprieve {
namespace {

class Cycle {
public:
    Cycle(Cluster& cluster, const SchedulerConfig& config, const OverdueClaims& overdue, const CycleLimit& limit)
        : cluster_(cluster),
          overdue_(overdue),
          limit_(limit),
          session_(cluster, config),
          placer_(session_),
          desk_{session_, placer_, builder_},
          actions_(actions_of(config)),
          promises_(desk_, actions_),
          ledger_(desk_),
          far_reaching_(desk_) {
        // By default an action that stops pods for nobody has work only where somebody asks for it.
        if (session_.limits.grants() == nullptr)
            std::erase_if(actions_, [](const ActionConfig& a) { return a.kind == ActionKind::kQueueBalance; });
        for (const ActionConfig& action : actions_) {
            if (action.kind == ActionKind::kPreempt && !preempt_) preempt_ = std::make_unique<Preempt>(desk_, action);
            if (action.kind == ActionKind::kGangPreempt && !gang_preempt_)
                gang_preempt_ = std::make_unique<GangEvict>(desk_, action, nullptr);
            if (action.kind == ActionKind::kGangReclaim && !gang_reclaim_) reclaim_ = &action;
            if (action.kind == ActionKind::kQueueBalance && !queue_balance_)
                queue_balance_ = std::make_unique<QueueBalance>(desk_, action);
            if (action.kind == ActionKind::kRevoke) revoke_ = &action;
            if (action.kind == ActionKind::kJobPreempt && !job_preempt_)
                job_preempt_ = std::make_unique<JobPreempt>(desk_, action);
            backfills_ = backfills_ || action.kind == ActionKind::kBackfill;
            crosses_queues_ = crosses_queues_ || action.cross_queue;
            surplus_preempts_ = surplus_preempts_ || action.surplus_preempts;
        }
    }

    Plan run(const std::vector<std::string>& only) {
        collect(only);
        hold_promises();
        // Actions over the whole cluster run once, at their place in the list; the demands have theirs where the first
        // action stands that serves them.
        const auto demands = std::ranges::find_if_not(actions_, over_the_cluster, &ActionConfig::kind);
        for (auto action = actions_.begin(); action != demands; ++action)
            run_once(*action, only);
        serve_resizes();
        serve_all();
        for (auto action = demands; action != actions_.end(); ++action)
            run_once(*action, only);
        serve_again();
        for (Refused& item : refused_)
            write(item);
        ledger_.let_go();
        spare_superfluous(desk_);
        Plan plan = builder_.build(session_);
        const std::vector<PodId> evicted = queue_balance_ ? evicted_pods() : std::vector<PodId>();
        session_.tx.rollback(0);
        plan.queues = report_queues(cluster_.snapshot(), session_.limits);
        if (gang_reclaim_ && !queue_balance_) report_deserved(cluster_.snapshot(), *shares_, plan.queues);
        if (queue_balance_) queue_balance_->report(evicted, plan.queues);
        if (revoke_ != nullptr) Revoke(desk_, *revoke_).report(plan.queues);
        certify_by_rule(cluster_.snapshot(), plan);
        plan.deferred = std::move(deferred_);
        sort_plan(plan);
        return plan;
    }

private:
    // A demand that found no place, and how the plan tells it.
    struct Refused {
        Demand demand;
        std::vector<Unplaced> unplaced;
        Certificate certificate;
        Transaction::Checkpoint at = 0;  // what had been done by then
    };

    static constexpr int kRounds = 3;

    Snapshot& snapshot() { return session_.snapshot; }

    static bool over_the_cluster(ActionKind kind) {
        return kind == ActionKind::kRevoke || kind == ActionKind::kServingPreempt || kind == ActionKind::kQueueBalance;
    }

    void run_once(const ActionConfig& action, const std::vector<std::string>& only) {
        switch (action.kind) {
            case ActionKind::kQueueBalance:
                // Asked for certain demands alone, nobody goes for anything else.
                if (only.empty()) queue_balance_->run();
                break;
            case ActionKind::kServingPreempt:
                if (serving_) break;
                serving_ = std::make_unique<ServingPreempt>(desk_, action);
                serving_->run(only, overdue_);
                break;
            case ActionKind::kRevoke:
                return revoke(action);
            default:
                break;  // serves demands one by one
        }
    }

    std::vector<PodId> evicted_pods() {
        std::vector<PodId> found;
        for (PodId pod : IdRange<PodId>(snapshot().pods.size())) {
            if (snapshot().pods[pod].state == PodState::kEvicted) found.push_back(pod);
        }
        return found;
    }

    void revoke(const ActionConfig& action) {
        far_reaching_.note();
        const auto start = session_.tx.checkpoint();
        Revoke revoke(desk_, action);
        revoke.run(without_room());
        if (last_eviction() <= start) return;
        if (far_reaching_.hold_since(start))
            revoke.certify();
        else
            session_.rollback(start);
    }

    // Demands that found no place or, where nobody was served yet, would find none.
    std::vector<Demand> without_room() {
        std::vector<Demand> out;
        for (const Refused& item : refused_)
            out.push_back(item.demand);
        for (const WaitingLines::Line& line : lines_.all()) {
            for (std::size_t i = line.next; i < line.demands.size(); ++i) {
                if (!fits_without_evictions(line.demands[i])) out.push_back(line.demands[i]);
            }
        }
        return out;
    }

    void collect(const std::vector<std::string>& only) {
        if (only.empty()) withdraw_needless(desk_);
        report_held(desk_, cluster_, only);
        for (Demand& demand : find_demands(cluster_)) {
            if (!only.empty() && !is_named_by(snapshot(), demand, only)) continue;
            if (demand.nominated)
                nominated_.push_back(std::move(demand));
            else
                lines_.add(std::move(demand));
        }
        const auto before = [&](const Demand& a, const Demand& b) { return demand_before(snapshot(), a, b); };
        std::ranges::sort(nominated_, before);
        promises_.put_ready_first(nominated_);
        lines_.sort(before);
        if (!limit_.first.empty()) {
            const auto was_deferred = [&](const Demand& d) { return limit_.first.contains(owner_name(snapshot(), d)); };
            std::ranges::stable_partition(nominated_, was_deferred);
            for (WaitingLines::Line& line : lines_.all())
                std::ranges::stable_partition(line.demands, was_deferred);
        }
        if (lines_.several()) shares_.emplace(snapshot());
        // What the quota's arguments say of deadlines holds for whoever evicts softly: one action speaks for all.
        const auto asks_softly = [](const ActionConfig& a) { return a.mode == EvictMode::kSoft; };
        if (const auto action = std::ranges::find_if(actions_, asks_softly); action != actions_.end())
            delete_overdue(desk_, *action, nominated_);
    }

    void serve_resizes() {
        if (!preempt_) return;
        std::vector<PodId> pods(cluster_.resizing().begin(), cluster_.resizing().end());
        std::ranges::sort(pods, [&](PodId a, PodId b) { return pod_before(snapshot(), a, b); });
        for (PodId pod : pods) {
            // Its quota counts what it asks for already; only its label can forbid.
            if (cluster_.pod(pod).more().can_preempt != false) preempt_->serve_resize(pod);
        }
    }

    // Before anything else is planned: whoever waits for its victims goes on waiting, whoever has its promised room
    // takes it. The others stay in `nominated_`, to be served anew.
    void hold_promises() {
        std::vector<Demand> all;
        all.swap(nominated_);
        desk_.surplus_waits = true;
        for (Demand& demand : all) {
            const Kept kept = promises_.kept(demand);
            const bool placed = kept == Kept::kCompleted || (kept == Kept::kNot && takes_its_place(demand));
            if (placed) finish(demand);
            if (placed || kept == Kept::kWaits)
                ledger_.hold(std::move(demand));
            else
                nominated_.push_back(std::move(demand));
        }
        desk_.surplus_waits = false;
    }

    bool takes_its_place(const Demand& demand) {
        if (!promises_.ready(demand) || !queue_takes(snapshot(), demand.first()).fits() ||
            !missing_group(snapshot(), demand).empty() || (backfills_ && asks_for_nothing(snapshot(), demand)))
            return false;
        const auto start = session_.tx.checkpoint();
        const auto stays = [&](PodId pod) {
            const NodeId promised = nominated_node(snapshot(), pod);
            return !promised || snapshot().pods[pod].node == promised;
        };
        if (allocate(desk_, demand).done && std::ranges::all_of(demand.pods, stays)) return true;
        session_.rollback(start);
        return false;
    }

    void serve_all() {
        while (true) {
            if (limit_.is_over && limit_.is_over()) {
                defer(nominated_);
                nominated_.clear();
                for (WaitingLines::Line& line : lines_.all()) {
                    defer(std::span(line.demands).subspan(line.next));
                    line.next = line.demands.size();
                }
                break;
            }
            WaitingLines::Line* line = lines_.next(snapshot(), shares_);
            // Who was promised room comes before everybody who may not take it away.
            const auto promised = std::ranges::find_if(
                nominated_, [&](const Demand& d) { return line == nullptr || !outranks(line->front(), d); });
            if (promised != nominated_.end()) {
                const Demand demand = std::move(*promised);
                nominated_.erase(promised);
                desk_.surplus_waits = !nominated_.empty();
                serve(demand);
            } else if (line != nullptr) {
                desk_.surplus_waits = !nominated_.empty();
                serve(line->demands[line->next++]);
            } else {
                break;
            }
        }
        desk_.surplus_waits = false;
        for (const Demand& demand : surplus_)
            serve(demand);
        for (const Demand& demand : small_)
            serve_small(demand);
        serve_again();
    }

    void defer(std::span<const Demand> demands) {
        for (const Demand& demand : demands) {
            deferred_.push_back(owner_name(snapshot(), demand));
            report_deferred(desk_, demand);
        }
    }

    // Whoever was refused before others had pods evicted may find room beside them: a plan leaves nothing for the next
    // one that could be seen now.
    void serve_again() {
        for (int round = 0; round < kRounds; ++round) {
            std::vector<Refused> before;
            before.swap(refused_);
            bool any = false;
            std::size_t last = last_eviction();
            for (Refused& item : before) {
                if (last <= item.at) {
                    refused_.push_back(std::move(item));
                    continue;
                }
                any = true;
                if (!backfills_ || !asks_for_nothing(snapshot(), item.demand))
                    serve(item.demand);
                else if (!turned_away(item.demand))
                    serve_small(item.demand);
                last = last_eviction();
            }
            if (!any) return;
        }
    }

    void write(Refused& item) {
        for (Unplaced& entry : item.unplaced)
            builder_.unplaced(std::move(entry));
        builder_.certificate(std::move(item.certificate));
    }

    // Pods that ask for nothing: after all others, and like them by eviction where a port or a rule keeps them out.
    void serve_small(const Demand& demand) {
        Served last = allocate(desk_, demand, ActionKind::kBackfill);
        for (const ActionConfig& action : actions_) {
            if (last.done) break;
            if (action.kind == ActionKind::kAllocate) continue;
            const Served served = attempt(action, demand);
            last.done = served.done;
            add_refusal(last, served);
        }
        if (last.done)
            finish(demand);
        else
            refuse(demand, last);
    }

    // Whether a demand may take room that was promised to another one: by priority, inside the queue unless it may
    // leave it.
    [[nodiscard]] bool outranks(const Demand& demand, const Demand& promised) const {
        // Surplus members take idle room only, and room that was paid for is not idle.
        if (demand.gang) {
            const GangRow& gang = session_.snapshot.gangs[demand.gang];
            if (gang.live >= gang.min) return false;
        }
        return demand.priority > promised.priority && (crosses_queues_ || demand.queue == promised.queue);
    }

    void clear(PodId pod) { builder_.nomination_cleared(snapshot().pod_name(pod)); }

    bool turned_away(const Demand& demand) {
        if (!offered_) offered_ = offered_by_all(cluster_);
        const std::optional<Served> refusal = refused_at_once(snapshot(), demand, *offered_);
        if (refusal) refuse(demand, *refusal);
        return refusal.has_value();
    }

    void serve(const Demand& demand) {
        if (turned_away(demand)) return;
        if (backfills_ && asks_for_nothing(snapshot(), demand)) {
            // Who was promised room does not wait for the others once more: they would take it.
            if (demand.nominated)
                serve_small(demand);
            else
                small_.push_back(demand);
            return;
        }
        const auto breaks = [&](const Demand& promised) { return may_break(demand, promised); };
        PromiseLedger::Outcome outcome =
            ledger_.serve(demand, promises_.cost_order(demand), breaks, [&] { return try_actions(demand); });
        for (Demand& broken : outcome.broken)
            give_up(std::move(broken));
        if (outcome.served.done)
            finish(demand);
        else
            refuse(demand, outcome.served);
    }

    // A promise that a higher demand has broken: its owner is served again in its turn.
    void give_up(Demand demand) {
        for (PodId pod : demand.pods) {
            builder_.not_unplaced(snapshot().pod_name(pod));
            if (cluster_.pod(pod).nominated) clear(pod);
        }
        std::erase_if(surplus_, [&](const Demand& d) { return d.gang && d.gang == demand.gang; });
        nominated_.push_back(std::move(demand));
    }

    [[nodiscard]] bool may_break(const Demand& demand, const Demand& promised) {
        return !demand.never_preempts && outranks(demand, promised) &&
               may_not_trigger(actions_.front(), demand).empty();
    }

    Served try_actions(const Demand& demand) {
        Served last{.proof = Proof::nobody()};
        const bool allocates =
            std::ranges::find(actions_, ActionKind::kAllocate, &ActionConfig::kind) != actions_.end();
        bool allocated = false;
        for (const ActionConfig& action : actions_) {
            allocated = allocated || action.kind == ActionKind::kAllocate;
            // Nobody is evicted for whom there is room.
            if (!allocated && fits_without_evictions(demand)) {
                if (last.why_not.empty())
                    last.why_not = allocates ? "it fits without evictions, which is left to allocate"
                                             : "it fits without evictions, and allocate is not among the actions";
                last.proof.reset();
                continue;
            }
            Served served = attempt(action, demand);
            if (served.done) return served;
            add_refusal(last, served);
        }
        return last;
    }

    bool fits_without_evictions(const Demand& demand) {
        const auto start = session_.tx.checkpoint();
        const bool fits = allocate(desk_, demand).done;
        session_.rollback(start);
        return fits;
    }

    // Gangs are gangPreempt's business and single pods preempt's, where both are there.
    bool is_anothers(const ActionConfig& action, const Demand& demand) {
        const bool gang = demand.gang && snapshot().gangs[demand.gang].min > 1;
        return action.kind == ActionKind::kPreempt       ? gang && gang_preempt_
               : action.kind == ActionKind::kGangPreempt ? !demand.gang && preempt_ && anywhere(demand)
                                                         : false;
    }

    Served attempt(const ActionConfig& action, const Demand& demand) {
        if (action.kind != ActionKind::kAllocate && action.kind != ActionKind::kBackfill) {
            std::string why = demand.never_preempts ? "preemptionPolicy Never: it waits for free room"
                                                    : may_not_trigger(action, demand);
            if (!why.empty() && is_anothers(action, demand)) return Served::not_mine();
            if (!why.empty()) return Served::not_mine(std::move(why), action.kind);
        }
        far_reaching_.note();
        const auto start = session_.tx.checkpoint();
        const PlanBuilder::Mark before = builder_.mark();
        Served served = try_action(action, demand);
        if (served.done && !far_reaching_.hold_since(start)) {
            withdraw(start, before);
            // Once more, with those in mind: a set of victims counts only if they keep their places.
            session_.keep_in_mind = far_reaching_.pods();
            served = try_action(action, demand);
            session_.keep_in_mind.clear();
            if (served.done && far_reaching_.hold_since(start)) return served;
            const std::optional<Proof> proof = served.done ? std::nullopt : served.proof;
            if (served.done) withdraw(start, before);
            served = {.why_not = "whoever makes room for it is needed by others that this plan places", .proof = proof};
        }
        // The literal algorithms claim nothing about what they refuse.
        if (!action.improve && !served.why_not.empty()) served.proof.reset();
        const bool general = served.why_not.starts_with("its gang has its minimum");
        if (action.kind != ActionKind::kAllocate && !served.why_not.empty() && !general) served.by = action.kind;
        return served;
    }

    void withdraw(Transaction::Checkpoint start, const PlanBuilder::Mark& before) {
        session_.rollback(start);
        builder_.forget_since(before);
    }

    // How long the journal was after its last eviction; 0: there is none.
    std::size_t last_eviction() {
        const auto journal = session_.tx.journal();
        std::size_t size = journal.size();
        while (size > 0 && journal[size - 1].kind != OpKind::kEvict)
            --size;
        return size;
    }

    std::string may_not_trigger(const ActionConfig& action, const Demand& demand) {
        if (!demand.gang) return trigger_refusal(desk_, action, demand.pods);
        const Mandatory members = desk_.members_of(demand);
        return members.missing > 0 ? "" : trigger_refusal(desk_, action, members.pods);
    }

    Served try_action(const ActionConfig& action, const Demand& demand) {
        switch (action.kind) {
            case ActionKind::kAllocate:
                return allocate(desk_, demand);
            case ActionKind::kPreempt:
                return preempt_->serve(demand);
            case ActionKind::kGangPreempt:
                // Single pods are preempt's business, where it is configured and they may run anywhere.
                return !demand.gang && preempt_ && anywhere(demand) ? Served::not_mine() : gang_preempt_->serve(demand);
            case ActionKind::kGangReclaim:
                return reclaimer().serve(demand);
            case ActionKind::kJobPreempt:
                return asked_for_quotas(demand) ? job_preempt_->serve(demand) : Served::not_mine();
            default:
                return Served::not_mine();
        }
    }

    // Unless it is configured, jobPreempt has work only where there are quotas.
    bool asked_for_quotas(const Demand& demand) {
        if (session_.config.actions) return true;
        return is_in_quota(snapshot(), demand.queue);
    }

    bool anywhere(const Demand& demand) {
        return network_search_space(snapshot(), home_of(snapshot(), demand)).anywhere();
    }

    // Shares cost a look at every pod: made when first asked for.
    GangEvict& reclaimer() {
        if (!gang_reclaim_) {
            if (!shares_) shares_.emplace(snapshot());
            gang_reclaim_ = std::make_unique<GangEvict>(desk_, *reclaim_, &*shares_);
        }
        return *gang_reclaim_;
    }

    // Members of a served gang that got no place (surplus) are told so.
    void finish(const Demand& demand) {
        Demand rest = demand;
        rest.pods.clear();
        for (PodId pod : demand.pods) {
            if (snapshot().pods[pod].state == PodState::kPending) {
                if (desk_.surplus_waits) {
                    rest.pods.push_back(pod);
                    continue;
                }
                if (preempts_as_surplus(demand, pod)) continue;
                builder_.unplaced(describe_unplaced(
                    desk_, demand, pod, {.why_not = "its gang has its minimum; surplus members take idle room only"}));
            } else if (is_moved(snapshot(), pod)) {
                clear(pod);
            }
        }
        if (!rest.pods.empty()) surplus_.push_back(std::move(rest));
    }

    // Where it is asked for, members beyond the minimum preempt as single pods do.
    bool preempts_as_surplus(const Demand& demand, PodId pod) {
        if (!demand.gang || !surplus_preempts_) return false;
        // All members of a plan share one time: while others start now, it waits for the next plan.
        const auto starts_now = [&](PodId p) { return snapshot().pods[p].state == PodState::kPlaced; };
        if (std::ranges::any_of(snapshot().gangs[snapshot().pods[pod].gang].pods, starts_now)) return false;
        Demand single = single_demand(snapshot(), pod);
        single.priority = demand.priority;
        single.never_preempts = demand.never_preempts;
        for (const ActionConfig& action : actions_) {
            const bool by_priority = action.kind == ActionKind::kPreempt || action.kind == ActionKind::kGangPreempt;
            if (by_priority && attempt(action, single).done) return true;
        }
        return false;
    }

    void refuse(const Demand& demand, const Served& served) {
        if (demand.gang && surplus_preempts_ && desk_.members_of(demand).pods.empty() &&
            desk_.members_of(demand).missing == 0) {
            finish(demand);
            return;
        }
        Refused item{.demand = demand, .unplaced = {}, .certificate = {}, .at = session_.tx.checkpoint()};
        for (PodId pod : demand.pods) {
            if (cluster_.pod(pod).nominated) clear(pod);
            item.unplaced.push_back(describe_unplaced(desk_, demand, pod, served));
        }
        item.certificate = describe_infeasible(desk_, demand, served, actions_);
        refused_.push_back(std::move(item));
    }

    Cluster& cluster_;
    const OverdueClaims& overdue_;
    const CycleLimit& limit_;
    std::vector<std::string> deferred_;
    Session session_;
    Placer placer_;
    PlanBuilder builder_;
    Desk desk_;
    std::vector<ActionConfig> actions_;
    Promises promises_;
    PromiseLedger ledger_;
    FarReaching far_reaching_;
    std::unique_ptr<Preempt> preempt_;
    std::unique_ptr<GangEvict> gang_preempt_;
    std::unique_ptr<QueueBalance> queue_balance_;
    const ActionConfig* reclaim_ = nullptr;
    const ActionConfig* revoke_ = nullptr;
    std::unique_ptr<GangEvict> gang_reclaim_;
    std::unique_ptr<ServingPreempt> serving_;
    std::unique_ptr<JobPreempt> job_preempt_;
    bool backfills_ = false;
    bool crosses_queues_ = false;
    bool surplus_preempts_ = false;
    std::optional<Shares> shares_;
    std::optional<Resources> offered_;
    std::vector<Demand> nominated_;
    WaitingLines lines_;
    std::vector<Demand> small_;
    std::vector<Demand> surplus_;  // members beyond a minimum, once everybody who was promised room has it
    std::vector<Refused> refused_;
};

}  // namespace

Plan run_cycle(Cluster& cluster,
               const SchedulerConfig& config,
               const std::vector<std::string>& only,
               const OverdueClaims& overdue,
               const CycleLimit& limit) {
    Plan plan = Cycle(cluster, config, overdue, limit).run(only);
    const std::vector<std::string> facts = cluster.warnings();
    plan.warnings.insert(plan.warnings.end(), facts.begin(), facts.end());
    plan.warnings.insert(plan.warnings.end(), config.warnings.begin(), config.warnings.end());
    const std::vector<std::string> guesses = device_guesses(plan, cluster);
    plan.warnings.insert(plan.warnings.end(), guesses.begin(), guesses.end());
    sort_plan(plan);
    return plan;
}

}  // namespace reprieve
