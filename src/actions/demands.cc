#include "actions/demands.h"

#include <algorithm>
#include <map>

#include "plugins/order.h"
#include "state/sub_groups.h"

namespace reprieve {

Demand single_demand(const Snapshot& s, PodId pod) {
    const PodRow& row = s.pods[pod];
    const GangRow* gang = row.gang ? &s.gangs[row.gang] : nullptr;
    return {.gang = {},
            .pods = {pod},
            .priority = gang != nullptr && gang->priority_from_group ? gang->attack_priority : row.priority,
            .queue = row.queue,
            .created = row.created,
            .nominated = s.facts->pod(pod).nominated.valid(),
            .never_preempts = row.has(kNeverPreempts) || (gang != nullptr && gang->never_preempts)};
}

std::vector<Demand> find_demands(const Cluster& cluster) {
    const Snapshot& s = cluster.snapshot();
    std::vector<Demand> out;
    std::map<GangId, std::size_t> gangs;
    for (PodId pod : cluster.pending()) {
        const PodRow& row = s.pods[pod];
        if (!row.gang || s.gangs[row.gang].min == 0) {
            out.push_back(single_demand(s, pod));
            continue;
        }
        const auto [it, fresh] = gangs.try_emplace(row.gang, out.size());
        if (fresh) {
            const GangRow& gang = s.gangs[row.gang];
            out.push_back({.gang = row.gang,
                           .pods = {},
                           .priority = gang.attack_priority,
                           .queue = row.queue,
                           .created = row.created,
                           .nominated = false,
                           .never_preempts = gang.never_preempts});
        }
        Demand& demand = out[it->second];
        demand.pods.push_back(pod);
        demand.created = std::min(demand.created, row.created);
        demand.nominated = demand.nominated || cluster.pod(pod).nominated.valid();
    }
    for (Demand& demand : out)
        std::ranges::sort(demand.pods, [&](PodId a, PodId b) { return pod_before(s, a, b); });
    return out;
}

namespace {

bool holds_place(const PodRow& row) {
    return row.state == PodState::kRunning || row.state == PodState::kPlaced || row.state == PodState::kNominated;
}

// Picks members of one gang: by role, by sub-group, then by pod order.
class Picking {
public:
    Picking(const Snapshot& s, const Demand& demand, const std::function<bool(PodId)>& could_run)
        : snapshot_(s),
          gang_(s.gangs[demand.gang]) {
        for (PodId pod : demand.pods) {
            if (could_run(pod)) pods_.push_back(pod);
        }
        taken_.resize(pods_.size());
        if (gang_.fact == nullptr || gang_.fact->sub_groups.empty()) return;
        for (PodId pod : gang_.pods) {
            const SubGroupKey key = sub_group_of(s, pod);
            if (!key) continue;
            if (holds_place(s.pods[pod]))
                ++sub(key).members;
            else
                sub(key);
        }
        std::ranges::sort(subs_, [&](const Sub& a, const Sub& b) { return sub_group_before(s, a.key, b.key); });
    }

    Mandatory pick() {
        Mandatory out;
        need_ = std::max(0, gang_.min - gang_.live);
        pick_roles(out);
        pick_sub_groups(out);
        for (std::size_t i = 0; i < pods_.size() && need_ > 0; ++i) {
            for (std::size_t mate : batch_of(i))
                take(mate, out.pods);
        }
        out.missing = std::max(out.missing, need_);
        std::ranges::sort(out.pods, [&](PodId a, PodId b) { return pod_before(snapshot_, a, b); });
        for (std::size_t i = 0; i < pods_.size(); ++i) {
            std::vector<PodId> batch;
            for (std::size_t mate : batch_of(i))
                take(mate, batch);
            if (!batch.empty()) out.surplus.push_back(std::move(batch));
        }
        return out;
    }

private:
    struct Sub {
        SubGroupKey key;
        std::int32_t members = 0;  // that hold a place or are picked
    };

    Sub& sub(const SubGroupKey& key) {
        const auto at = std::ranges::find(subs_, key, &Sub::key);
        return at != subs_.end() ? *at : subs_.emplace_back(Sub{key, 0});
    }
    [[nodiscard]] std::int32_t size_of(const SubGroupKey& key) const {
        return std::max(1, gang_.fact->sub_groups[static_cast<std::size_t>(key.policy)].size);
    }

    void take(std::size_t i, std::vector<PodId>& into) {
        if (taken_[i]) return;
        taken_[i] = true;
        --need_;
        into.push_back(pods_[i]);
        if (!subs_.empty()) {
            if (const SubGroupKey key = sub_group_of(snapshot_, pods_[i])) ++sub(key).members;
        }
    }

    // The pod and those it must start with; empty if it is taken or too few mates are there to start.
    std::vector<std::size_t> batch_of(std::size_t i) {
        if (taken_[i]) return {};
        const SubGroupKey key = subs_.empty() ? SubGroupKey{} : sub_group_of(snapshot_, pods_[i]);
        if (!key) return {i};
        const std::int32_t lacking = size_of(key) - sub(key).members;
        if (lacking <= 1) return {i};
        std::vector<std::size_t> out;
        for (std::size_t j = i; j < pods_.size() && std::ssize(out) < lacking; ++j) {
            if (!taken_[j] && sub_group_of(snapshot_, pods_[j]) == key) out.push_back(j);
        }
        return std::ssize(out) == lacking ? out : std::vector<std::size_t>{};
    }

    // Each role's own minimum, where the gang's minimum does not undercut them.
    void pick_roles(Mandatory& out) {
        if (gang_.fact == nullptr) return;
        std::int64_t sum = 0;
        for (const auto& [role, min] : gang_.fact->role_minimums)
            sum += min;
        if (gang_.min < sum) return;
        for (const auto& [role, min] : gang_.fact->role_minimums) {
            std::int32_t live = 0;
            for (PodId p : gang_.pods)
                live += snapshot_.facts->pod(p).role == role && holds_place(snapshot_.pods[p]) ? 1 : 0;
            for (std::size_t i = 0; i < pods_.size() && live < min; ++i) {
                if (taken_[i] || snapshot_.facts->pod(pods_[i]).role != role) continue;
                take(i, out.pods);
                ++live;
            }
            out.missing += std::max(0, min - live);
        }
    }

    // Complete sub-groups until each policy has as many as it needs.
    void pick_sub_groups(Mandatory& out) {
        if (subs_.empty()) return;
        for (std::size_t p = 0; p < gang_.fact->sub_groups.size(); ++p) {
            const SubGroupPolicy& policy = gang_.fact->sub_groups[p];
            std::int32_t ready = 0;
            const auto of_policy = [&](const Sub& s) { return s.key.policy == static_cast<std::int32_t>(p); };
            for (const Sub& s : subs_)
                ready += of_policy(s) && s.members >= size_of(s.key) ? 1 : 0;
            const std::vector<Sub> order = subs_;
            for (const Sub& s : order) {
                if (ready >= policy.min_sub_groups) break;
                if (!of_policy(s) || s.members >= size_of(s.key)) continue;
                for (std::size_t i = 0; i < pods_.size(); ++i) {
                    if (taken_[i] || sub_group_of(snapshot_, pods_[i]) != s.key) continue;
                    const std::vector<std::size_t> batch = batch_of(i);
                    for (std::size_t mate : batch)
                        take(mate, out.pods);
                    if (!batch.empty()) ++ready;
                    break;
                }
            }
            if (ready < policy.min_sub_groups)
                out.missing += (policy.min_sub_groups - ready) * std::max(1, policy.size);
        }
    }

    const Snapshot& snapshot_;
    const GangRow& gang_;
    std::vector<PodId> pods_;
    std::vector<bool> taken_;
    std::vector<Sub> subs_;
    std::int32_t need_ = 0;
};

}  // namespace

Mandatory mandatory_members(const Snapshot& s, const Demand& demand, const std::function<bool(PodId)>& could_run) {
    return Picking(s, demand, could_run).pick();
}

}  // namespace reprieve
