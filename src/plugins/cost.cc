#include "plugins/cost.h"

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "base/wide.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

std::vector<CostTerm> default_terms(ActionKind kind) {
    using enum CostTerm;
    switch (kind) {
        case ActionKind::kGangPreempt:
            return {kPdbViolations, kBreaksGangs, kMaxPriority, kGangsBroken, kResources, kPodCount};
        case ActionKind::kGangReclaim:
            return {kPdbViolations, kBreaksGangs, kQueueOrder, kGangsBroken, kResources, kMaxPriority, kPodCount};
        case ActionKind::kJobPreempt:
        case ActionKind::kRevoke:
            return {kPdbViolations, kMaxPriority, kGangsBroken, kPrioritySum, kPodCount};
        case ActionKind::kQueueBalance:
            return {kPdbViolations, kMaxPriority, kPodCount};
        default:
            return {kPdbViolations, kMaxPriority, kPrioritySum, kPodCount, kLatestStart};
    }
}

}  // namespace

void Toll::add_pod(std::int64_t unit_priority, std::int64_t start_us) {
    ++pods;
    priority_sum += unit_priority + (std::int64_t{1} << 31);
    if (unit_priority > max_priority) {
        max_priority = unit_priority;
        first_start_us = start_us;
    } else if (unit_priority == max_priority) {
        first_start_us = std::min(first_start_us, start_us);
    }
}

CostOrder::CostOrder(const ActionConfig& action, const PluginsConfig& plugins) {
    terms_ = action.cost ? *action.cost : default_terms(action.kind);
    const bool enabled =
        !plugins.lost_work_resource.empty() && std::ranges::find(plugins.disable, "lostWork") == plugins.disable.end();
    if (!action.cost && enabled) {
        // Lost work stands before what is destroyed, or before the sum of priorities.
        const auto before = std::ranges::find_if(
            terms_, [](CostTerm t) { return t == CostTerm::kResources || t == CostTerm::kPrioritySum; });
        terms_.insert(before, CostTerm::kLostWork);
    }
    REPRIEVE_CHECK(terms_.size() <= kMaxTerms);
}

CostOrder::CostOrder(const ActionConfig& action, const PluginsConfig& plugins, const Snapshot& snapshot)
    : CostOrder(action, plugins) {
    const auto mixed = [](const GangRow& gang) { return gang.alive && gang.mixed_priorities; };
    if (has(CostTerm::kOwnPriority) || std::ranges::none_of(snapshot.gangs, mixed)) return;
    terms_.insert(std::ranges::find(terms_, CostTerm::kLatestStart), CostTerm::kOwnPriority);
    REPRIEVE_CHECK(terms_.size() <= kMaxTerms);
}

bool CostOrder::has(CostTerm term) const { return std::ranges::find(terms_, term) != terms_.end(); }

Cost CostOrder::cost(const Toll& t) const {
    Cost out;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        std::int64_t& value = out.terms[i];
        switch (terms_[i]) {
            case CostTerm::kPdbViolations:
                value = t.pdb_violations;
                break;
            case CostTerm::kBreaksGangs:
                value = t.whole_units > 0 ? 1 : 0;
                break;
            case CostTerm::kMaxPriority:
                value = t.max_priority;
                break;
            case CostTerm::kGangsBroken:
                value = t.whole_units;
                break;
            case CostTerm::kPrioritySum:
                value = t.priority_sum;
                break;
            case CostTerm::kQueueOrder:
                value = t.queue_order;
                break;
            case CostTerm::kLostWork:
                value = t.lost_work;
                break;
            case CostTerm::kResources:
                value = t.resources;
                break;
            case CostTerm::kPodCount:
                value = t.pods;
                break;
            case CostTerm::kUnits:
                value = t.units;
                break;
            case CostTerm::kOwnPriority:
                value = t.own_priority;
                break;
            case CostTerm::kLatestStart:
                value = -t.first_start_us;
                break;
        }
    }
    return out;
}

CostVector CostOrder::print(const Cost& cost) const {
    CostVector out;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        // Starts are kept in microseconds; people read seconds.
        const std::int64_t value = terms_[i] == CostTerm::kLatestStart ? cost.terms[i] / 1'000'000 : cost.terms[i];
        out.emplace_back(to_text(terms_[i]), value);
    }
    return out;
}

VictimBill::VictimBill(const Snapshot& snapshot,
                       const CostOrder& order,
                       const WorkResource& work,
                       const DemandNeed& need,
                       std::span<const QueueId> queue_order)
    : snapshot_(snapshot),
      order_(order),
      work_(work),
      need_(need),
      queue_order_(queue_order),
      counts_resources_(order.has(CostTerm::kResources)),
      counts_work_(work.valid() && order.has(CostTerm::kLostWork)),
      counts_own_(order.has(CostTerm::kOwnPriority)),
      gone_(counts_resources_ ? snapshot.dims : 0),
      devices_gone_(counts_resources_ ? need.devices.size() : 0) {}

void VictimBill::add_unit(bool whole, std::int64_t violations, QueueId queue) {
    add_units(1, whole ? 1 : 0);
    add_part(violations, queue);
}

void VictimBill::add_units(std::int64_t units, std::int64_t whole) {
    toll_.units += units;
    toll_.whole_units += whole;
}

void VictimBill::add_part(std::int64_t violations, QueueId queue) {
    toll_.pdb_violations += violations;
    if (!queue_order_.empty()) places_.push_back(std::ranges::find(queue_order_, queue) - queue_order_.begin());
}

void VictimBill::add_pod(PodId pod, std::int64_t unit_priority) {
    toll_.add_pod(unit_priority, snapshot_.started(pod).us);
    if (counts_work_) {
        const std::int64_t amount = amount_of(snapshot_, pod, work_);
        if (amount > 0)
            toll_.lost_work = saturating_add(
                toll_.lost_work,
                saturating_multiply_divide(lost_seconds(snapshot_, pod), amount, work_.dim == kCpu ? 1000 : 1));
    }
    // Every pod adds 2^31, as in `prioritySum`, which keeps the sum positive.
    if (counts_own_) toll_.own_priority += snapshot_.pods[pod].priority + (std::int64_t{1} << 31);
    if (counts_resources_) {
        for (const auto& a : snapshot_.class_of(pod).requests)
            gone_[a.dim.index()] += a.value;
    }
    if ((counts_work_ && work_.cls) || !devices_gone_.empty()) add_devices(pod);
}

// Claims that only this pod uses are its own; of others each device counts once.
void VictimBill::add_devices(PodId pod) {
    const ClaimTable& table = snapshot_.device_claims;
    if (!need_.backed.empty() && !claims_serve(snapshot_, pod)) {
        for (const DemandNeed::Backed& backed : need_.backed) {
            if (!devices_gone_.empty())
                devices_gone_[backed.place] += snapshot_.spec_of(pod).requests.get(backed.resource);
        }
    }
    for (DeviceClaimId id : table.of(pod).holds) {
        if (std::ranges::binary_search(left_out_, id)) continue;
        std::vector<Shared>::iterator known = shared_.end();
        bool fresh = true;
        if (table.row(id).pods.size() > 1) {
            known = std::ranges::find(shared_, id, &Shared::claim);
            fresh = known == shared_.end();
            if (fresh) known = shared_.insert(known, Shared{.claim = id});
        }
        if (fresh) {
            for (std::size_t d = 0; d < devices_gone_.size(); ++d)
                devices_gone_[d] += devices_of_class(snapshot_, id, need_.devices[d].cls);
        }
        if (!counts_work_ || !work_.cls) continue;
        const std::int64_t seconds = lost_seconds(snapshot_, pod);
        if (known != shared_.end()) {
            if (fresh) known->devices = devices_of_class(snapshot_, id, work_.cls);
            known->seconds = std::max(known->seconds, seconds);
        } else if (const std::int64_t devices = devices_of_class(snapshot_, id, work_.cls); devices > 0) {
            toll_.lost_work = saturating_add(toll_.lost_work, saturating_multiply_divide(seconds, devices, 1));
        }
    }
}

Cost VictimBill::cost() {
    if (counts_resources_) toll_.resources = destroyed(need_, gone_, devices_gone_);
    for (Shared& shared : shared_) {
        toll_.lost_work =
            saturating_add(toll_.lost_work, saturating_multiply_divide(shared.seconds, shared.devices, 1));
        shared.seconds = 0;
    }
    // The victim queues' places, highest first, as digits of one number.
    constexpr std::size_t kDigits = 5;
    constexpr std::int64_t kBase = 4096;
    std::ranges::sort(places_, std::greater());
    const auto same = std::ranges::unique(places_);
    places_.erase(same.begin(), same.end());
    toll_.queue_order = 0;
    for (std::size_t i = 0; i < kDigits; ++i)
        toll_.queue_order =
            toll_.queue_order * kBase + (i < places_.size() ? std::min<std::int64_t>(places_[i] + 1, kBase - 1) : 0);
    return order_.cost(toll_);
}

void add_devices_of(const Snapshot& s,
                    std::span<const PodId> pods,
                    const DemandNeed& need,
                    std::span<const DeviceClaimId> left_out,
                    std::span<std::int64_t> out) {
    if (need.devices.empty()) return;
    std::vector<DeviceClaimId> counted;
    for (PodId pod : pods) {
        if (!need.backed.empty() && !claims_serve(s, pod)) {
            for (const DemandNeed::Backed& backed : need.backed)
                out[backed.place] += s.spec_of(pod).requests.get(backed.resource);
        }
        for (DeviceClaimId id : s.device_claims.of(pod).holds) {
            if (std::ranges::binary_search(left_out, id)) continue;
            if (s.device_claims.row(id).pods.size() > 1) {
                if (std::ranges::find(counted, id) != counted.end()) continue;
                counted.push_back(id);
            }
            for (std::size_t d = 0; d < need.devices.size(); ++d)
                out[d] += devices_of_class(s, id, need.devices[d].cls);
        }
    }
}

std::int64_t lost_seconds(const Snapshot& s, PodId pod) {
    const Pod& fact = s.facts->pod(pod);
    const PodRow& row = s.pods[pod];
    const Time since = std::max(fact.more().last_checkpoint, s.started(pod));
    const std::int64_t seconds = std::max<std::int64_t>(0, (s.now_time - since).seconds());
    std::optional<Duration> restart = fact.more().restart_cost;
    if (const Gang* g = row.gang ? s.gangs[row.gang].fact : nullptr; !restart && g != nullptr)
        restart = g->settings.restart_cost;
    if (const Queue* q = row.queue ? s.queues[row.queue].fact : nullptr; !restart && q != nullptr)
        restart = q->settings.restart_cost;
    if (const PriorityClass* c = s.facts->priority_class(fact.priority_class); !restart && c != nullptr)
        restart = c->settings.restart_cost;
    return restart ? saturating_add(seconds, restart->seconds()) : seconds;
}

std::int64_t amount_held(const Snapshot& s, PodId pod, const WorkResource& resource) {
    std::int64_t amount = amount_of(s, pod, resource);
    if (!resource.cls) return amount;
    for (DeviceClaimId id : s.device_claims.of(pod).holds)
        amount = saturating_add(amount, devices_of_class(s, id, resource.cls));
    return amount;
}

std::int64_t lost_work(const Snapshot& s, PodId pod, const WorkResource& resource) {
    return saturating_multiply_divide(
        lost_seconds(s, pod), amount_held(s, pod, resource), resource.dim == kCpu ? 1000 : 1);
}

std::int64_t destroyed(const DemandNeed& needed,
                       std::span<const std::int64_t> destroyed_by_dim,
                       std::span<const std::int64_t> devices_destroyed) {
    std::int64_t sum = 0;
    const auto add = [&](std::int64_t gone, std::int64_t wanted) {
        const Wide part = static_cast<Wide>(gone) * 1000 / wanted;
        sum = saturating_add(sum, part > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(part));
    };
    for (const auto& [dim, value] : needed.amounts) {
        if (dim != kPods && value > 0) add(destroyed_by_dim[dim.index()], value);
    }
    for (std::size_t d = 0; d < needed.devices.size(); ++d) {
        if (needed.devices[d].count > 0) add(devices_destroyed[d], needed.devices[d].count);
    }
    return sum;
}

}  // namespace reprieve
