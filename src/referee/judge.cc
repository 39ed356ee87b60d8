#include "referee/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "actions/cycle.h"
#include "state/pod_named.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kUsPerHour = 3600.0 * 1e6;

// Objects that are different for the length of a thought.
class Supposition {
public:
    explicit Supposition(Rebuild& world) : world_(world) {}
    ~Supposition() {
        for (const auto& [key, was] : before_) {
            static_cast<void>(world_.apply({.at = {}, .key = key, .believed = false, .json = was.json}));
            static_cast<void>(world_.apply({.at = {}, .key = key, .believed = true, .json = was.overlay}));
        }
    }
    Supposition(const Supposition&) = delete;
    Supposition& operator=(const Supposition&) = delete;

    // Lays fields over those that are believed already.
    Result<void> suppose(const std::string& pod, const Json& fields) {
        const std::string key = "Pod " + pod;
        const auto known = world_.world().find(key);
        if (known == world_.world().end()) return {};
        before_.try_emplace(key, known->second);
        Json all = known->second.overlay.empty() ? Json::object() : Json::parse(known->second.overlay);
        all.update(fields);
        return world_.apply({.at = {}, .key = key, .believed = true, .json = all.dump()});
    }

private:
    Rebuild& world_;
    std::map<std::string, RecordedObject> before_;
};

struct Answer {
    bool served = false;  // every pod of the demand has a place; of a gang, its minimum
    std::set<std::string> victims;
    CostVector cost;
    std::string status;
};

class Trial {
public:
    Trial(Rebuild& world, const EvictionCase& what, const SchedulerConfig& config, Time now)
        : world_(world),
          what_(what),
          config_(config),
          now_(now) {}

    Result<Ruling> run() {
        try {
            return hear();
        } catch (const Json::exception& error) {
            return fail(fmt::format("{}: {}", what_.owner, error.what()));
        }
    }

private:
    Cluster& cluster() { return world_.cluster(); }

    Result<Ruling> hear() {
        Ruling out;
        if (auto fresh = cluster().refresh(now_); !fresh) return std::unexpected(fresh.error());
        if (what_.owner.empty()) return hear_for_nobody();
        members_ = members();
        if (members_.empty()) {
            out.heard = false;
            out.evidence = fmt::format("{} was not there when the decision was made", what_.owner);
            return out;
        }
        if (std::ssize(members_) + standing_ < least_) {
            out.heard = false;
            out.evidence = fmt::format("{} was not complete when the decision was made", what_.owner);
            return out;
        }
        for (const std::string& victim : what_.victims) {
            const PodId id = pod_named(cluster(), victim);
            if (id && cluster().pod(id).node) continue;
            out.heard = false;
            out.evidence = fmt::format("{} did not run when the decision was made", victim);
            return out;
        }
        Supposition waiting(world_);
        for (const std::string& pod : members_) {
            if (auto done = waiting.suppose(pod, {{"node", ""}, {"nominated", ""}, {"plan", nullptr}}); !done)
                return std::unexpected(done.error());
        }
        for (const std::string& victim : what_.victims) {
            if (auto done = waiting.suppose(victim, {{"deleting", 0}, {"target", false}}); !done)
                return std::unexpected(done.error());
        }
        if (auto fresh = cluster().refresh(now_); !fresh) return std::unexpected(fresh.error());
        describe(out);
        const Answer free = plan(config_);
        const auto forced = with_these_alone(out.nodes);
        if (!forced) return std::unexpected(forced.error());
        if (auto fresh = cluster().refresh(now_); !fresh) return std::unexpected(fresh.error());
        decide(out, free, *forced);
        return out;
    }

    // Pods that a queue or quota gave back, not for a demand: its right is that it held more than it may.
    Result<Ruling> hear_for_nobody() {
        Ruling out;
        for (const std::string& victim : what_.victims) {
            const PodId id = pod_named(cluster(), victim);
            if (!id || !cluster().pod(id).node) {
                out.heard = false;
                out.evidence = fmt::format("{} did not run when the decision was made", victim);
                return out;
            }
        }
        describe(out);
        out.least_pods = std::ssize(what_.victims);
        out.least_gpu_hours = out.gpu_hours_lost;
        const std::vector<QueueReport> queues = run_cycle(cluster(), config_).queues;
        std::set<std::string> over;
        for (const std::string& victim : what_.victims) {
            const std::string excess = excess_of(pod_named(cluster(), victim), queues);
            if (excess.empty()) {
                out.evidence = fmt::format(
                    "{} was evicted for no demand, and no queue of its own held more than it may, by our rules",
                    victim);
                return out;
            }
            over.insert(excess);
        }
        out.verdict = CaseVerdict::kFair;
        out.evidence = fmt::format("evicted for no demand: {}", fmt::join(over, ", "));
        return out;
    }

    // How a queue of the pod holds more than it may of something; empty: none does.
    std::string excess_of(PodId pod, const std::vector<QueueReport>& reports) {
        const Snapshot& s = cluster().snapshot();
        if (!s.pods[pod].queue) return {};
        for (const QueueId queue : s.queue_path[s.pods[pod].queue]) {
            const std::string name = cluster().words().str(s.queues[queue].name);
            const auto report = std::ranges::find(reports, name, &QueueReport::name);
            if (report == reports.end()) continue;
            for (const char* may : {"allocated", "deserved", "runtime"}) {
                const auto limits = report->shares.find(may);
                const auto used = report->shares.find("used");
                if (limits == report->shares.end() || used == report->shares.end()) continue;
                for (const auto& [resource, limit] : limits->second) {
                    const auto held = used->second.find(resource);
                    if (held == used->second.end() || held->second <= limit) continue;
                    return fmt::format("queue {} held more {} than {}",
                                       name,
                                       resource,
                                       std::string_view(may) == "runtime" ? "its runtime" : "it deserves");
                }
            }
        }
        return {};
    }

    // The pods of the demand that have no place yet, or got theirs by this decision.
    std::vector<std::string> members() {
        const Snapshot& s = cluster().snapshot();
        if (const PodId pod = pod_named(cluster(), what_.owner)) return {what_.owner};
        std::vector<std::string> out;
        for (std::size_t i = 0; i < s.pods.size(); ++i) {
            const PodId id{static_cast<std::uint32_t>(i)};
            const PodRow& row = s.pods[id];
            if (row.state == PodState::kAbsent || !row.gang || s.gang_name(row.gang) != what_.owner) continue;
            const Pod& pod = cluster().pod(id);
            least_ = s.gangs[row.gang].min;
            if (pod.finished()) {
                standing_ += pod.phase == PodPhase::kSucceeded ? 1 : 0;
                continue;
            }
            if (!pod.node || what_.nodes.contains(cluster().words().str(pod.node)))
                out.push_back(cluster().words().str(pod.ns) + "/" + pod.name);
            else
                ++standing_;
        }
        return out;
    }

    double gpu_hours(const std::string& victim) {
        const PodId id = pod_named(cluster(), victim);
        if (!id) return 0;
        const Pod& pod = cluster().pod(id);
        std::int64_t gpus = 0;
        for (const auto& [dim, amount] : cluster().words().spec(pod.spec).requests) {
            const std::string_view name = cluster().words().text(dim);
            if (name.ends_with("/gpu") || name.starts_with("nvidia.com/gpu")) gpus += amount;
        }
        const Time since = std::max(pod.started, pod.more().last_checkpoint);
        if (gpus == 0 || !since.is_set() || since >= now_) return 0;
        return static_cast<double>(gpus) * static_cast<double>((now_ - since).us) / kUsPerHour;
    }

    void describe(Ruling& out) {
        const Snapshot& s = cluster().snapshot();
        if (const PodId pod = members_.empty() ? PodId() : pod_named(cluster(), members_.front())) {
            out.priority = priority();
            if (s.pods[pod].queue) out.queue = cluster().words().str(s.queues[s.pods[pod].queue].name);
        }
        out.nodes = what_.nodes;
        for (const std::string& victim : what_.victims) {
            const PodId id = pod_named(cluster(), victim);
            if (id && cluster().pod(id).node) out.nodes.insert(cluster().words().str(cluster().pod(id).node));
            out.gpu_hours_lost += gpu_hours(victim);
        }
    }

    Answer plan(const SchedulerConfig& config) {
        Answer out;
        const Plan plan = run_cycle(cluster(), config, {what_.owner});
        std::set<std::string> placed;
        for (const Placement& p : plan.placements)
            placed.insert(p.pod);
        const auto found =
            std::ranges::count_if(members_, [&](const std::string& pod) { return placed.contains(pod); });
        // A gang is served once its minimum is; a set of single pods has none, and each of them counts.
        out.served = found == std::ssize(members_) || (least_ > 0 && found > 0 && found + standing_ >= least_);
        for (const Eviction& e : plan.evictions)
            out.victims.insert(e.pod);
        for (const Certificate& c : plan.certificates) {
            if (c.owner != what_.owner || is_refusal(c.status)) continue;
            out.cost = c.cost;
            out.status = to_text(c.status);
        }
        return out;
    }

    // The same with nobody to take but the victims, and nowhere to go but where they were.
    Result<Answer> with_these_alone(const std::set<std::string>& nodes) {
        Supposition alone(world_);
        const Snapshot& s = cluster().snapshot();
        std::vector<std::string> others;
        for (std::size_t i = 0; i < s.pods.size(); ++i) {
            const PodId id{static_cast<std::uint32_t>(i)};
            if (s.pods[id].state == PodState::kAbsent) continue;
            const Pod& pod = cluster().pod(id);
            std::string name = cluster().words().str(pod.ns) + "/" + pod.name;
            if (pod.node && nodes.contains(cluster().words().str(pod.node)) && !what_.victims.contains(name))
                others.push_back(std::move(name));
        }
        for (const std::string& other : others) {
            if (auto done = alone.suppose(other, {{"preemptible", false}, {"marker", "it was not evicted"}}); !done)
                return std::unexpected(done.error());
        }
        // Said apart from the pods' own rules: which nodes their spread constraints count is asked of these.
        SchedulerConfig there = config_;
        there.plugins.only_nodes.assign(nodes.begin(), nodes.end());
        if (auto fresh = cluster().refresh(now_); !fresh) return std::unexpected(fresh.error());
        return plan(there);
    }

    [[nodiscard]] static std::int64_t term(const CostVector& cost, std::string_view name) {
        for (const auto& [term, value] : cost) {
            if (term == name) return value;
        }
        return 0;
    }

    // Whether `a` is less than `b` in the order of its terms; costs of different kinds are not compared.
    [[nodiscard]] static bool less(const CostVector& a, const CostVector& b) {
        if (a.size() != b.size() || a.empty()) return false;
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (a[i].first != b[i].first) return false;
            if (a[i].second != b[i].second) return a[i].second < b[i].second;
        }
        return false;
    }

    // By which the demand may take from others: of a gang, the gang's.
    std::int32_t priority() {
        const Snapshot& s = cluster().snapshot();
        const PodId first = pod_named(cluster(), members_.front());
        if (!first) return 0;
        return s.pods[first].gang ? s.gangs[s.pods[first].gang].attack_priority : s.pods[first].priority;
    }

    // A victim whose priority is not lower; empty: there is none.
    std::string too_important() {
        const Snapshot& s = cluster().snapshot();
        const PodId first = pod_named(cluster(), members_.front());
        if (!first) return {};
        for (const std::string& victim : what_.victims) {
            const PodId id = pod_named(cluster(), victim);
            const bool same_queue = id && s.pods[id].queue == s.pods[first].queue;
            if (id && same_queue && s.pods[id].unit_priority >= priority()) return victim;
        }
        return {};
    }

    // A gang that the evictions leave below its minimum without ending it; empty: none.
    std::string broken_gang() {
        const Snapshot& s = cluster().snapshot();
        std::map<GangId, std::int64_t> taken;
        for (const std::string& victim : what_.victims) {
            const PodId id = pod_named(cluster(), victim);
            if (id && s.pods[id].gang) ++taken[s.pods[id].gang];
        }
        for (const auto& [gang, count] : taken) {
            const GangRow& row = s.gangs[gang];
            const std::int64_t min = row.fact ? row.fact->min_members : 0;
            const std::int64_t left = row.live - count;
            // Members that have succeeded stand for those that were missing before, not for those that go.
            const std::int64_t stand_in = std::clamp<std::int64_t>(min - row.live, 0, row.done);
            if (left > 0 && left + stand_in < min) return s.gang_name(gang);
        }
        return {};
    }

    void decide(Ruling& out, const Answer& free, const Answer& forced) {
        const std::string victims = fmt::format("{}", fmt::join(what_.victims, ", "));
        out.least_pods = std::ssize(what_.victims);
        out.least_gpu_hours = out.gpu_hours_lost;
        if (free.served) {
            out.least_pods = std::min(out.least_pods, std::ssize(free.victims));
            double hours = 0;
            for (const std::string& victim : free.victims)
                hours += gpu_hours(victim);
            out.least_gpu_hours = std::min(out.least_gpu_hours, hours);
        }
        const auto rule = [&](CaseVerdict verdict, std::string evidence) {
            out.verdict = verdict;
            out.evidence = std::move(evidence);
        };
        if (free.served && free.victims.empty())
            return rule(CaseVerdict::kNeedless, fmt::format("{} fitted without evicting anybody", what_.owner));
        const auto name_cheaper = [&] {
            out.has_cheaper = true;
            out.cheaper.assign(free.victims.begin(), free.victims.end());
            out.cheaper_cost = free.cost;
            out.cheaper_status = free.status;
        };
        if (const std::string pod = too_important(); !pod.empty()) {
            return rule(CaseVerdict::kUnlawful, fmt::format("{} has no lower priority than {}", pod, what_.owner));
        }
        if (const std::string gang = broken_gang(); !gang.empty())
            return rule(CaseVerdict::kUnlawful, fmt::format("gang {} is left below its minimum", gang));
        const bool breaks = forced.served && term(forced.cost, "pdbViolations") > 0 && forced.victims == what_.victims;
        if (breaks && free.served && term(free.cost, "pdbViolations") == 0) {
            name_cheaper();
            return rule(CaseVerdict::kUnlawful,
                        fmt::format("a disruption budget was broken; evicting {} would have broken none",
                                    fmt::join(free.victims, ", ")));
        }
        // A part of them was enough where they were, or with the beneficiary elsewhere.
        for (const auto& [answer, where] : {std::pair(&forced, "there"), std::pair(&free, "elsewhere")}) {
            std::vector<std::string> stays;
            std::ranges::set_difference(what_.victims, answer->victims, std::back_inserter(stays));
            if (!answer->served || stays.empty() || !std::ranges::includes(what_.victims, answer->victims)) continue;
            out.could_have_stayed = stays;
            if (free.served) name_cheaper();
            return rule(CaseVerdict::kTooMany,
                        fmt::format("{} could have stayed: {} fits {} without {}",
                                    fmt::join(stays, ", "),
                                    what_.owner,
                                    where,
                                    stays.size() == 1 ? "that" : "those"));
        }
        if (!forced.served) {
            return rule(CaseVerdict::kUnclear,
                        fmt::format("by our rules {} does not fit even after evicting {}", what_.owner, victims));
        }
        if (free.served && less(free.cost, forced.cost)) {
            name_cheaper();
            return rule(
                CaseVerdict::kNotCheapest,
                fmt::format("evicting {} would have cost less ({})", fmt::join(free.victims, ", "), free.status));
        }
        if (free.served) out.least_pods = std::min(out.least_pods, std::ssize(free.victims));
        rule(CaseVerdict::kFair, fmt::format("nothing less would have done for {}", what_.owner));
    }

    Rebuild& world_;
    const EvictionCase& what_;
    const SchedulerConfig& config_;
    Time now_;
    std::vector<std::string> members_;
    std::int64_t least_ = 0;     // members that the gang needs; 0: it is none
    std::int64_t standing_ = 0;  // members that have a place whatever is decided
};

}  // namespace

const char* to_text(CaseVerdict verdict) {
    constexpr const char* kWords[] = {
        "needless", "unlawful", "too many", "not cheapest", "wasted", "repeated", "fair", "unclear"};
    return kWords[static_cast<std::size_t>(verdict)];
}

Result<Ruling> judge(Rebuild& world, const EvictionCase& what, const SchedulerConfig& config, Time now) {
    return Trial(world, what, config, now).run();
}

}  // namespace reprieve
