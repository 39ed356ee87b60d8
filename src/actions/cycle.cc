#include "actions/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "actions/action_list.h"
#include "actions/allocate.h"
#include "actions/demands.h"
#include "actions/desk.h"
#include "actions/device_guesses.h"
#include "actions/far_reaching.h"
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
#include "actions/unplaced.h"
#include "actions/waiting_lines.h"
#include "plugins/limits.h"
#include "plugins/order.h"
#include "plugins/shares.h"

namespace reprieve {
namespace {

// By default an action that stops pods for nobody has work only where somebody asks for it.
std::vector<ActionConfig> actions_with_work(const Session& session) {
    std::vector<ActionConfig> actions = actions_of(session.config);
    if (session.limits.grants() == nullptr)
        std::erase_if(actions, [](const ActionConfig& a) { return a.kind == ActionKind::kQueueBalance; });
    return actions;
}

class Cycle {
public:
    Cycle(Cluster& cluster, const SchedulerConfig& config, const OverdueClaims& overdue, const CycleLimit& limit)
        : cluster_(cluster),
          overdue_(overdue),
          limit_(limit),
          session_(cluster, config),
          placer_(session_),
          desk_{session_, placer_, builder_},
          actions_(actions_with_work(session_)),
          promises_(desk_, actions_),
          ledger_(desk_),
          far_reaching_(desk_),
          ways_(desk_, actions_, far_reaching_, shares_) {
        for (const ActionConfig& action : actions_) {
            if (action.kind == ActionKind::kQueueBalance && !queue_balance_)
                queue_balance_ = std::make_unique<QueueBalance>(desk_, action);
            if (action.kind == ActionKind::kRevoke) revoke_ = &action;
            crosses_queues_ = crosses_queues_ || action.cross_queue;
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
        if (ways_.reclaims() && !queue_balance_) report_deserved(cluster_.snapshot(), *shares_, plan.queues);
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
                if (!ways_.fits_without_evictions(line.demands[i])) out.push_back(line.demands[i]);
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
        Preempt* preempt = ways_.preempt();
        if (preempt == nullptr) return;
        std::vector<PodId> pods(cluster_.resizing().begin(), cluster_.resizing().end());
        std::ranges::sort(pods, [&](PodId a, PodId b) { return pod_before(snapshot(), a, b); });
        for (PodId pod : pods) {
            // Its quota counts what it asks for already; only its label can forbid.
            if (cluster_.pod(pod).more().can_preempt != false) preempt->serve_resize(pod);
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
            else if (kept != Kept::kOnHold)
                nominated_.push_back(std::move(demand));
        }
        desk_.surplus_waits = false;
    }

    bool takes_its_place(const Demand& demand) {
        if (!promises_.ready(demand) || !queue_takes(snapshot(), demand.first()).fits() ||
            !missing_group(snapshot(), demand).empty() || (ways_.backfills() && asks_for_nothing(snapshot(), demand)))
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
        // Taken out before it is served: a surplus whose gang loses its promise meanwhile is served with its gang.
        while (!surplus_.empty()) {
            const Demand demand = std::move(surplus_.front());
            surplus_.erase(surplus_.begin());
            serve(demand);
            serve_broken();
        }
        for (const Demand& demand : small_)
            serve_small(demand);
        serve_again();
    }

    // Demands that lost the room they were promised when all others had had their turn.
    void serve_broken() {
        while (!nominated_.empty()) {
            const Demand demand = std::move(nominated_.front());
            nominated_.erase(nominated_.begin());
            serve(demand);
        }
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
                if (!ways_.backfills() || !asks_for_nothing(snapshot(), item.demand))
                    serve(item.demand);
                else if (!turned_away(item.demand))
                    serve_small(item.demand);
                serve_broken();
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
            const Served served = ways_.attempt(action, demand);
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
        if (demand.gang && session_.snapshot.gangs[demand.gang].lacks() == 0) return false;
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
        if (ways_.backfills() && asks_for_nothing(snapshot(), demand)) {
            // Who was promised room does not wait for the others once more: they would take it.
            if (demand.nominated)
                serve_small(demand);
            else
                small_.push_back(demand);
            return;
        }
        const auto breaks = [&](const Demand& promised) { return may_break(demand, promised); };
        PromiseLedger::Outcome outcome =
            ledger_.serve(demand, promises_.cost_order(demand), breaks, [&] { return ways_.serve(demand); });
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
        return !demand.never_preempts && outranks(demand, promised) && ways_.may_evict(demand);
    }

    // How long the journal was after its last eviction; 0: there is none.
    std::size_t last_eviction() {
        const auto journal = session_.tx.journal();
        std::size_t size = journal.size();
        while (size > 0 && journal[size - 1].kind != OpKind::kEvict)
            --size;
        return size;
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
                if (ways_.serve_surplus(demand, pod)) continue;
                builder_.unplaced(describe_unplaced(desk_, demand, pod, Served::surplus()));
            } else if (is_moved(snapshot(), pod)) {
                clear(pod);
            }
        }
        if (!rest.pods.empty()) surplus_.push_back(std::move(rest));
    }

    void refuse(const Demand& demand, const Served& served) {
        if (demand.gang && ways_.surplus_preempts() && desk_.members_of(demand).pods.empty() &&
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
    std::optional<Shares> shares_;
    ActionList ways_;
    std::unique_ptr<QueueBalance> queue_balance_;
    const ActionConfig* revoke_ = nullptr;
    std::unique_ptr<ServingPreempt> serving_;
    bool crosses_queues_ = false;
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
