#include "audit/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "audit/budget_index.h"
#include "base/check.h"
#include "base/quantity.h"

namespace reprieve {

bool serves_a_demand(ActionKind kind) {
    return kind == ActionKind::kPreempt || kind == ActionKind::kGangPreempt || kind == ActionKind::kGangReclaim ||
           kind == ActionKind::kJobPreempt;
}

std::optional<std::int32_t> device_index(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view number = text.substr(0, colon);
    std::int32_t index = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), index);
    if (read.ec != std::errc{} || read.ptr != number.data() + number.size() || index < 0) return std::nullopt;
    for (std::size_t at = colon; at != std::string_view::npos;) {
        const std::size_t next = text.find(':', at + 1);
        if (!parse_quantity(text.substr(at + 1, next - at - 1), QuantityUnit::kMilli)) return std::nullopt;
        at = next;
    }
    return index;
}

Case::Case(const Cluster& facts, const Plan& judged, const SchedulerConfig& chosen)
    : cluster(facts),
      plan(judged),
      config(chosen),
      snapshot(facts.snapshot()),
      words(facts.words()),
      standings(facts),
      actions(actions_of(chosen)) {
    REPRIEVE_CHECK(snapshot.pods.size() == cluster.pod_slots(), "the cluster was not refreshed");
    for (const GangId gang : IdRange<GangId>(snapshot.gangs.size())) {
        if (snapshot.gangs[gang].alive) gangs_by_name_.emplace(snapshot.gang_name(gang), gang);
    }
    has_quotas = std::ranges::any_of(snapshot.queues, [](const QueueRow& queue) {
        return queue.alive && queue.fact != nullptr && queue.fact->is_quota;
    });
    fixed_mark_ = words.find_string("quota.scheduling.koordinator.sh/preemptible");
    fixed_by_default_ =
        std::ranges::any_of(actions, [](const ActionConfig& a) { return a.disable_default_preemptible; });
    cleared_.insert(plan.nominations_cleared.begin(), plan.nominations_cleared.end());
    for (const Eviction& entry : plan.evictions)
        attackers_.insert(entry.owner);
    for (const QueueReport& report : plan.queues) {
        if (const StringId name = words.find_string(report.name)) told_.emplace(name, &report);
    }
    look_up_evictions();
    look_up_placements();
}

Case::~Case() = default;

void Case::look_up_evictions() {
    for (const Eviction& entry : plan.evictions) {
        const PodId pod = find_pod(entry.pod);
        if (!pod || !bound(pod) || evicted_index_.contains(pod)) continue;
        evicted_index_.emplace(pod, evicted.size());
        evicted.push_back({&entry, pod, action(entry.action)});
    }
    for (const EvictedPod& item : evicted) {
        if (const GangId gang = row(item.pod).gang) evicted_by_gang_[gang].push_back(&item);
    }
}

void Case::look_up_placements() {
    std::set<PodId> seen;
    for (const Placement& entry : plan.placements) {
        const PodId pod = find_pod(entry.pod);
        const StringId node_name = words.find_string(entry.node);
        const NodeId node = node_name ? cluster.find_node(node_name) : NodeId();
        if (!pod || !waits(pod) || !node || !seen.insert(pod).second) continue;
        PlacedPod item{&entry, pod, node, {}, false};
        for (const std::string& text : entry.devices) {
            if (const auto index = device_index(text)) {
                item.holds.push_back(hold_on(cluster.node(node)->devices, *index, spec(pod).devices));
            }
        }
        item.in_flight = is_in_flight(item);
        placed_by_name_[entry.pod].push_back(placed.size());
        if (entry.owner != entry.pod) placed_by_name_[entry.owner].push_back(placed.size());
        if (const GangId gang = row(pod).gang) placed_by_gang_[gang].push_back(placed.size());
        placed.push_back(std::move(item));
    }
    // Where one member still waits for a victim, the places that others of its gang wait in are promised, too, also
    // those whose own victims have left.
    for (PlacedPod& item : placed) {
        const GangId gang = row(item.pod).gang;
        if (item.in_flight || !gang || !keeps_promise(item)) continue;
        item.in_flight =
            std::ranges::any_of(placed_by_gang_.at(gang), [&](std::size_t at) { return placed[at].in_flight; });
    }
}

PodId Case::find_pod(std::string_view full_name) const {
    const std::size_t slash = full_name.find('/');
    if (slash == std::string_view::npos) return {};
    const StringId ns = words.find_string(full_name.substr(0, slash));
    return ns ? cluster.find_pod(ns, full_name.substr(slash + 1)) : PodId();
}

bool Case::bound(PodId pod) const { return exists(pod) && fact(pod).node && !fact(pod).finished(); }

bool Case::leaves(PodId pod) const { return fact(pod).terminating() || !fact(pod).more().soft_eviction.empty(); }

bool Case::is_fixed(PodId pod) const {
    const std::string_view mark = fixed_mark_ ? words.text(labels(pod).get(fixed_mark_)) : std::string_view();
    return mark.empty() ? fixed_by_default_ : mark != "true";
}

bool Case::waits(PodId pod) const {
    const Pod& it = fact(pod);
    return exists(pod) && !it.node && !it.finished() && !it.gated && !it.terminating();
}

const EvictedPod* Case::eviction_of(PodId pod) const {
    const auto it = evicted_index_.find(pod);
    return it == evicted_index_.end() ? nullptr : &evicted[it->second];
}

const std::vector<const EvictedPod*>& Case::evicted_of(GangId gang) const {
    static const std::vector<const EvictedPod*> kNobody;
    const auto at = evicted_by_gang_.find(gang);
    return at == evicted_by_gang_.end() ? kNobody : at->second;
}

std::vector<const EvictedPod*> Case::evicted_with(GangId gang) const {
    const CompositeId root = snapshot.gangs[gang].whole_root;
    if (!root) return evicted_of(gang);
    std::vector<const EvictedPod*> found;
    for (const GangId other : snapshot.composites[root].gangs) {
        if (snapshot.gangs[other].whole_root != root) continue;
        const auto& some = evicted_of(other);
        found.insert(found.end(), some.begin(), some.end());
    }
    return found;
}

bool Case::is_below(QueueId queue, QueueId level) const {
    return queue && std::ranges::find(path(queue), level) != path(queue).end();
}

const QueueReport* Case::told(QueueId queue) const {
    const auto at = told_.find(snapshot.queues[queue].name);
    return at == told_.end() ? nullptr : at->second;
}

const BudgetIndex& Case::budgets() const {
    if (!budgets_) budgets_ = std::make_unique<BudgetIndex>(*this);
    return *budgets_;
}

const Resources& Case::offered() const {
    if (offered_) return *offered_;
    offered_.emplace();
    for (const NodeId node : IdRange<NodeId>(snapshot.nodes.size())) {
        if (cluster.node(node) != nullptr) offered_->add(cluster.node(node)->allocatable);
    }
    return *offered_;
}

const std::vector<PodId>& Case::users_of(StringId ns, StringId claim) const {
    static const std::vector<PodId> kNobody;
    if (!claim_users_) {
        claim_users_.emplace();
        for (const PodId pod : IdRange<PodId>(cluster.pod_slots())) {
            if (!exists(pod)) continue;
            for (const VolumeUse& use : spec(pod).volumes) {
                if (use.kind == VolumeKind::kClaim) (*claim_users_)[{fact(pod).ns, use.id}].push_back(pod);
            }
        }
    }
    const auto at = claim_users_->find({ns, claim});
    return at == claim_users_->end() ? kNobody : at->second;
}

bool Case::enabled(std::string_view plugin) const {
    return std::ranges::find(config.plugins.disable, plugin) == config.plugins.disable.end();
}

bool Case::filters_by(std::string_view filter) const {
    // The filter Devices is also known as the plugin `devices`.
    if (!enabled(filter) || (filter == "Devices" && !enabled("devices"))) return false;
    if (!config.plugins.only) return true;
    const std::vector<std::string>& only = *config.plugins.only;
    return std::ranges::any_of(
        only, [&](const std::string& name) { return name == filter || (filter == "Devices" && name == "devices"); });
}

std::optional<ActionKind> Case::action(std::string_view name) const {
    for (const ActionConfig& item : actions) {
        if (name == to_text(item.kind)) return item.kind;
    }
    return std::nullopt;
}

GangId Case::gang_with_minimum(PodId pod) const {
    const GangId gang = row(pod).gang;
    return gang && minimum(gang) >= 1 ? gang : GangId();
}

std::vector<GangId> Case::together(GangId gang) const {
    const GangRow& row = snapshot.gangs[gang];
    std::vector<GangId> found = row.peers;
    found.push_back(gang);
    if (row.fact == nullptr) return found;
    for (const StringId peer : row.fact->peers) {
        if (const auto it = gangs_by_name_.find(words.text(peer)); it != gangs_by_name_.end())
            found.push_back(it->second);
    }
    std::ranges::sort(found);
    const auto repeated = std::ranges::unique(found);
    found.erase(repeated.begin(), repeated.end());
    return found;
}

Owner Case::owner(const std::string& name) const {
    const auto gang = gangs_by_name_.find(name);
    // A set of single pods owns nothing itself.
    if (gang != gangs_by_name_.end() && minimum(gang->second) >= 1) return {{}, gang->second};
    return {find_pod(name), {}};
}

std::int32_t Case::standing(const Owner& owner) const {
    return owner.gang ? standings.as_attacker(owner.gang) : standings.as_attacker(owner.pod);
}

const std::vector<const PlacedPod*>& Case::placements_for(const std::string& name) const {
    const auto [at, fresh] = placements_.try_emplace(name);
    if (fresh) at->second = find_placements(name);
    return at->second;
}

std::vector<const PlacedPod*> Case::find_placements(const std::string& name) const {
    std::set<std::size_t> found;
    if (const auto it = placed_by_name_.find(name); it != placed_by_name_.end())
        found.insert(it->second.begin(), it->second.end());
    if (const Owner who = owner(name); who.gang) {
        for (const GangId gang : together(who.gang)) {
            const auto it = placed_by_gang_.find(gang);
            if (it != placed_by_gang_.end()) found.insert(it->second.begin(), it->second.end());
        }
    }
    std::vector<const PlacedPod*> items;
    for (const std::size_t at : found) {
        if (!placed[at].in_flight) items.push_back(&placed[at]);
    }
    return items;
}

bool Case::keeps_promise(const PlacedPod& item) const {
    const Pod& pod = fact(item.pod);
    if (!item.entry->after_evictions || !pod.nominated || words.text(pod.nominated) != item.entry->node) return false;
    // Cleared, then planned anew: what was promised before is over, even where it ends on the same node.
    if (cleared_.contains(item.entry->pod)) return false;
    // The same where more go for it now.
    return !attackers_.contains(item.owner());
}

bool Case::is_in_flight(const PlacedPod& item) const {
    if (!keeps_promise(item)) return false;
    const Pod& pod = fact(item.pod);
    std::vector<std::string> paid;
    if (pod.more().plan) paid = pod.more().plan->victim_uids;
    if (const GangId gang = row(item.pod).gang; gang && snapshot.gangs[gang].fact != nullptr) {
        const auto& note = snapshot.gangs[gang].fact->plan;
        if (note) paid.insert(paid.end(), note->victim_uids.begin(), note->victim_uids.end());
    }
    const auto is_paid = [&](const Pod& victim) {
        return !victim.uid.empty() && std::ranges::find(paid, victim.uid) != paid.end();
    };
    // A recorded victim that runs on untold: the earlier plan was not carried out to its end, so it is not going on.
    const bool interrupted = std::ranges::any_of(snapshot.node_pods[item.node], [&](PodId other) {
        const Pod& victim = fact(other);
        return bound(other) && !victim.finished() && !leaves(other) && is_paid(victim);
    });
    return !interrupted && std::ranges::any_of(snapshot.node_pods[item.node], [&](PodId other) {
        const Pod& victim = fact(other);
        if (!bound(other)) return false;
        if (!leaves(other)) return false;
        const std::string& soft = victim.more().soft_eviction;
        const std::string& owner = item.entry->owner.empty() ? item.entry->pod : item.entry->owner;
        if (!soft.empty()) return is_paid(victim) || soft.find(fmt::format("\"{}\"", owner)) != std::string::npos;
        return is_paid(victim) ||
               (victim.disruption_target && standings.as_victim(other) < standings.as_attacker(item.pod));
    });
}

}  // namespace reprieve
