#include "actions/demands.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string>

#include "plugins/order.h"
#include "state/sub_groups.h"

namespace reprieve {

Demand single_demand(const Snapshot& s, PodId pod) {
    const PodRow& row = s.pods[pod];
    const GangRow* gang = row.gang ? &s.gangs[row.gang] : nullptr;
    return {.gang = {},
            .partners = {},
            .pods = {pod},
            .priority = gang != nullptr && gang->priority_from_group ? gang->attack_priority : row.priority,
            .queue = row.queue,
            .created = row.created,
            .nominated = s.facts->pod(pod).nominated.valid(),
            .never_preempts = row.has(kNeverPreempts) || (gang != nullptr && gang->never_preempts)};
}

namespace {

// The names in a JSON list, as koordinator writes them; a bare name is one of the own namespace.
std::vector<std::string> names_in(std::string_view list, std::string_view ns) {
    std::vector<std::string> out;
    for (std::size_t open = list.find('"'); open != std::string_view::npos; open = list.find('"', open)) {
        const std::size_t close = list.find('"', open + 1);
        if (close == std::string_view::npos) break;
        std::string name(list.substr(open + 1, close - open - 1));
        if (name.find('/') == std::string::npos) name = fmt::format("{}/{}", ns, name);
        out.push_back(std::move(name));
        open = close + 1;
    }
    return out;
}

// Gangs that name each other start only together. Says for each such gang which others do, itself left out.
class Partners {
public:
    explicit Partners(const Cluster& cluster) : cluster_(cluster), snapshot_(cluster.snapshot()) {
        for (PodId pod : cluster.pending()) {
            const GangId gang = snapshot_.pods[pod].gang;
            if (!gang || snapshot_.gangs[gang].min == 0) continue;
            for (const std::string& name : named_by(gang, pod)) {
                const GangId other = find(name);
                if (other)
                    join(gang, other);
                else if (std::string& missing = missing_[gang]; missing.empty() || name < missing)
                    missing = name;
            }
        }
        for (const auto& [gang, root] : roots_)
            circles_[root_of(gang)].push_back(gang);
        for (auto& [root, circle] : circles_)
            std::ranges::sort(circle, {}, [&](GangId g) { return snapshot_.gang_name(g); });
    }

    // The circle of a gang, by name; empty if it starts alone.
    [[nodiscard]] std::span<const GangId> circle(GangId gang) const {
        const auto at = circles_.find(root_of(gang));
        return at == circles_.end() ? std::span<const GangId>() : std::span<const GangId>(at->second);
    }

    // A gang that this one names and nobody has seen; the first by name. Empty: there is none.
    [[nodiscard]] std::string missing(GangId gang) const {
        const auto at = missing_.find(gang);
        return at == missing_.end() ? "" : at->second;
    }

private:
    std::vector<std::string> named_by(GangId gang, PodId pod) const {
        const StringId list = cluster_.pod(pod).more().koordinator_gang_groups;
        std::vector<std::string> out;
        if (list) out = names_in(snapshot_.words->text(list), snapshot_.words->text(snapshot_.gangs[gang].ns));
        if (const Gang* fact = snapshot_.gangs[gang].fact) {
            for (StringId peer : fact->peers)
                out.push_back(snapshot_.words->str(peer));
        }
        return out;
    }

    GangId find(const std::string& name) {
        if (by_name_.empty()) {
            for (GangId g : IdRange<GangId>(snapshot_.gangs.size())) {
                if (snapshot_.gangs[g].alive) by_name_[snapshot_.gang_name(g)] = g;
            }
        }
        const auto at = by_name_.find(name);
        return at == by_name_.end() ? GangId() : at->second;
    }

    GangId root_of(GangId gang) const {
        for (auto at = roots_.find(gang); at != roots_.end() && at->second != gang; at = roots_.find(gang))
            gang = at->second;
        return gang;
    }

    void join(GangId a, GangId b) {
        if (a == b || snapshot_.gangs[b].min == 0) return;
        roots_.try_emplace(a, a);
        roots_.try_emplace(b, b);
        roots_[root_of(a)] = root_of(b);
    }

    const Cluster& cluster_;
    const Snapshot& snapshot_;
    std::map<std::string, GangId> by_name_;
    std::map<GangId, GangId> roots_;
    std::map<GangId, std::vector<GangId>> circles_;
    std::map<GangId, std::string> missing_;
};

// Who has its minimum started with its partners once, and goes on without one that is gone.
std::string missing_partner(const Snapshot& s, const Partners& together, GangId gang, std::span<const GangId> circle) {
    const std::span<const GangId> all = circle.empty() ? std::span(&gang, 1) : circle;
    if (std::ranges::none_of(all, [&](GangId g) { return s.gangs[g].live < s.gangs[g].min; })) return "";
    std::string out;
    for (GangId g : all) {
        const std::string name = together.missing(g);
        if (!name.empty() && (out.empty() || name < out)) out = name;
    }
    return out;
}

}  // namespace

bool is_named_by(const Snapshot& s, const Demand& demand, const std::vector<std::string>& names) {
    const auto named = [&](const std::string& full) {
        return std::ranges::any_of(
            names, [&](const std::string& n) { return full == n || full.substr(full.find('/') + 1) == n; });
    };
    // A Job's pods are found by the Job's name, a Deployment's by that of their ReplicaSet.
    const auto owned = [&](PodId p) {
        const Pod& pod = s.facts->pod(p);
        return pod.owner.name && named(fmt::format("{}/{}", s.words->text(pod.ns), s.words->text(pod.owner.name)));
    };
    return (demand.gang && named(s.gang_name(demand.gang))) ||
           std::ranges::any_of(demand.pods, [&](PodId p) { return named(s.pod_name(p)) || owned(p); });
}

bool asks_for_nothing(const Snapshot& s, const Demand& demand) {
    return std::ranges::all_of(demand.pods, [&](PodId p) {
        const PodClass& cls = s.class_of(p);
        return !cls.has_devices && !cls.has_claims &&
               std::ranges::all_of(cls.requests, [](const auto& a) { return a.dim == kPods; });
    });
}

std::vector<Demand> find_demands(const Cluster& cluster) {
    const Snapshot& s = cluster.snapshot();
    std::vector<Demand> out;
    std::map<GangId, std::size_t> gangs;
    const Partners together(cluster);
    for (PodId pod : cluster.pending()) {
        const PodRow& row = s.pods[pod];
        if (row.has(kHeld)) continue;
        if (!row.gang || s.gangs[row.gang].min == 0) {
            out.push_back(single_demand(s, pod));
            continue;
        }
        const std::span<const GangId> circle = together.circle(row.gang);
        const GangId first = circle.empty() ? row.gang : circle.front();
        const auto [it, fresh] = gangs.try_emplace(first, out.size());
        if (fresh) {
            const GangRow& gang = s.gangs[row.gang];
            out.push_back({.gang = first,
                           .partners = {},
                           .pods = {},
                           .priority = gang.attack_priority,
                           .queue = row.queue,
                           .created = row.created,
                           .nominated = false,
                           .never_preempts = gang.never_preempts,
                           .missing_partner = missing_partner(s, together, row.gang, circle)});
            for (GangId other : circle) {
                Demand& demand = out.back();
                if (other != first) demand.partners.push_back(other);
                demand.priority = std::min(demand.priority, s.gangs[other].attack_priority);
                demand.never_preempts = demand.never_preempts || s.gangs[other].never_preempts;
            }
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

// Whether it counts for its gang's minimums: it holds a place, or needs none any more because it has succeeded.
bool counts_for_minimums(const Snapshot& s, PodId pod) {
    const PodState state = s.pods[pod].state;
    return state == PodState::kRunning || state == PodState::kPlaced || state == PodState::kNominated ||
           s.facts->pod(pod).phase == PodPhase::kSucceeded;
}

// Picks members of one gang: by role, by sub-group, then by pod order.
class Picking {
public:
    Picking(const Snapshot& s, GangId gang, std::span<const PodId> pods, const std::function<bool(PodId)>& could_run)
        : snapshot_(s),
          gang_(s.gangs[gang]) {
        for (PodId pod : pods) {
            if (s.pods[pod].gang == gang && could_run(pod)) pods_.push_back(pod);
        }
        taken_.resize(pods_.size());
        if (gang_.fact == nullptr || gang_.fact->sub_groups.empty()) return;
        for (PodId pod : gang_.pods) {
            const SubGroupKey key = sub_group_of(s, pod);
            if (!key) continue;
            if (counts_for_minimums(s, pod))
                ++sub(key).members;
            else
                sub(key);
        }
        std::ranges::sort(subs_, [&](const Sub& a, const Sub& b) { return sub_group_before(s, a.key, b.key); });
    }

    Mandatory pick() {
        Mandatory out;
        need_ = gang_.lacks();
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
        std::int32_t members = 0;  // that count for minimums or are picked
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
            std::int32_t members = 0;
            for (PodId p : gang_.pods)
                members += snapshot_.facts->pod(p).role == role && counts_for_minimums(snapshot_, p) ? 1 : 0;
            for (std::size_t i = 0; i < pods_.size() && members < min; ++i) {
                if (taken_[i] || snapshot_.facts->pod(pods_[i]).role != role) continue;
                take(i, out.pods);
                ++members;
            }
            out.missing += std::max(0, min - members);
        }
    }

    // Complete sub-groups until each policy has as many as it needs.
    void pick_sub_groups(Mandatory& out) {
        if (gang_.fact == nullptr) return;
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
    Mandatory out = Picking(s, demand.gang, demand.pods, could_run).pick();
    if (out.missing > 0) {
        out.lacking = demand.gang;
        out.missing_of_lacking = out.missing;
    }
    for (GangId partner : demand.partners) {
        Mandatory more = Picking(s, partner, demand.pods, could_run).pick();
        out.pods.insert(out.pods.end(), more.pods.begin(), more.pods.end());
        std::ranges::move(more.surplus, std::back_inserter(out.surplus));
        if (out.missing == 0 && more.missing > 0) {
            out.lacking = partner;
            out.missing_of_lacking = more.missing;
        }
        out.missing += more.missing;
    }
    return out;
}

}  // namespace reprieve
