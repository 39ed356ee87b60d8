#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "explain/levers.h"
#include "explain/margin.h"
#include "explain/proof_scope.h"
#include "explain/stories.h"
#include "explain/victim_order.h"
#include "plugins/cost.h"

namespace reprieve {
namespace {

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

void note(std::vector<std::string>& names, const std::string& name) {
    if (!is_one_of(names, name)) names.push_back(name);
}

}  // namespace

// The plan's reason says so: ", uses claim ns/c with ns/a, ns/b", before what ends it.
std::vector<std::string> shared_claims(const Eviction& e) {
    constexpr std::string_view kUses = ", uses claim ";
    std::vector<std::string> out;
    for (std::size_t at = e.reason.find(kUses); at != std::string::npos; at = e.reason.find(kUses, at + 1)) {
        const std::size_t first = at + kUses.size();
        const std::size_t last = std::min({e.reason.find(kUses, first),
                                           e.reason.find(", over its disruption budget", first),
                                           e.reason.find(';', first),
                                           e.reason.size()});
        out.push_back(e.reason.substr(first, last - first));
    }
    return out;
}

namespace {

// Quotas have three rules; the plan's reason says which one it was.
std::string rule_of_quotas(const std::string& reason) {
    if (reason.starts_with("preemptible in "))
        return "takes preemptible pods of the same quota, whatever their priority, for what its minimum covers";
    if (reason.starts_with("queue ")) return "takes what a quota holds above its minimum";
    return "takes preemptible pods of lower priority";
}

// What an action takes, in general.
std::string rule_of(const std::string& action, const std::string& reason) {
    if (action == "preempt" || action == "gangPreempt") return "takes running pods of strictly lower priority";
    if (action == "gangReclaim") return "takes back what a queue holds above its share";
    if (action == "jobPreempt") return rule_of_quotas(reason);
    if (action == "revoke") return "takes back what a quota uses above its runtime";
    if (action == "servingPreempt") return "takes replicas of services that matter less";
    if (action == "queueBalance") return "takes back what a queue uses above what it was granted or deserves";
    return "";
}

Standing standing_of(const Retrials& trials, PodId pod) {
    const Snapshot& s = trials.snapshot();
    const PodRow& row = s.pods[pod];
    const Pod& fact = s.facts->pod(pod);
    Standing out{.priority = row.unit_priority,
                 .ran_seconds = std::max<std::int64_t>(0, (s.now_time - s.started(pod)).seconds()),
                 .has_started = fact.started.is_set(),
                 .checkpoint_age = std::nullopt,
                 .lost_work = std::nullopt,
                 .lost_resource = trials.config().plugins.lost_work_resource,
                 .grace_seconds = fact.grace_seconds,
                 .queue = row.queue ? s.words->str(s.queues[row.queue].name) : ""};
    if (fact.more().last_checkpoint.is_set())
        out.checkpoint_age = std::max<std::int64_t>(0, (s.now_time - fact.more().last_checkpoint).seconds());
    const WorkResource work = work_resource(s, out.lost_resource);
    if (work) out.lost_work = lost_work(s, pod, work);
    return out;
}

class EvictionTeller {
public:
    EvictionTeller(const Plan& plan, Retrials* trials, const Subject& subject)
        : plan_(plan),
          trials_(trials),
          subject_(subject) {}

    EvictionStory tell(const std::string& owner, EvictionMode mode) const {
        EvictionStory out{.owner = owner};
        for (const Eviction& e : plan_.evictions) {
            if (e.owner != owner) continue;
            if (is_one_of(subject_.pods, e.pod) && e.mode == mode)
                add(out, e);
            else if (e.mode != EvictionMode::kForceDelete && mode != EvictionMode::kForceDelete)
                out.with.push_back(e.pod);
        }
        out.rule = rule_of(out.action, out.reason);
        // What leaves already is no cost of the plan.
        if (const Certificate* c = certificate_for(plan_, owner); c != nullptr && mode != EvictionMode::kForceDelete)
            out.certificate = *c;
        if (trials_ != nullptr) look_closer(out);
        return out;
    }

private:
    static void add(EvictionStory& out, const Eviction& e) {
        note(out.pods, e.pod);
        note(out.nodes, e.node);
        out.action = e.action;
        out.reason = e.reason;
        out.unit = e.unit;
        out.group = e.group;
        out.broken = out.broken || e.reason.find(", of a gang that is broken already") != std::string::npos;
        out.mode = e.mode;
        out.pdb_violation = out.pdb_violation || e.pdb_violation;
        for (const std::string& claim : shared_claims(e))
            note(out.shared, claim);
        // The plan's reason ends with what is freed: "; frees gpu-0, gpu-1 of claim ns/c".
        constexpr std::string_view kFrees = "; frees ";
        for (std::size_t at = e.reason.find(kFrees); at != std::string::npos;) {
            const std::size_t next = e.reason.find(kFrees, at + kFrees.size());
            note(out.frees, e.reason.substr(at + kFrees.size(), next - at - kFrees.size()));
            at = next;
        }
    }

    static bool goes_one_by_one(const Snapshot& s, PodId pod) {
        const GangId gang = s.pods[pod].gang;
        const Gang* fact = gang ? s.gangs[gang].fact : nullptr;
        return fact != nullptr && fact->disruption == DisruptionMode::kSingle;
    }

    // What only the facts tell.
    void look_closer(EvictionStory& out) const {
        const Cluster& cluster = trials_->cluster();
        out.owner_priority = attack_priority(cluster, out.owner);
        if (const PodId owner = pod_named(cluster, out.owner)) out.grows = bool(cluster.snapshot().pods[owner].node);
        if (const PodId pod = pod_named(cluster, out.pods.front())) {
            out.standing = standing_of(*trials_, pod);
            out.one_by_one = goes_one_by_one(cluster.snapshot(), pod);
            // A replica stands for its deployment, whatever its own priority is.
            if (const auto row = serving_with(cluster, pod)) out.standing->priority = row->priority;
        }
        // What a quota gives back, it gives for nobody by name.
        const Certificate* of_quota =
            out.owner.empty() && out.standing ? certificate_for(plan_, out.standing->queue) : nullptr;
        if (of_quota != nullptr) out.certificate = *of_quota;
        out.proof_scope = proof_scope(*trials_, out.owner);
        // Each queue pays its own bill.
        if (out.owner.empty() && out.standing) {
            std::erase_if(out.with, [&](const std::string& name) {
                const PodId other = pod_named(cluster, name);
                const QueueId queue = other ? cluster.snapshot().pods[other].queue : QueueId();
                return !queue || cluster.words().text(cluster.snapshot().queues[queue].name) != out.standing->queue;
            });
        }
        out.order = victim_order(*trials_, out.owner, out.action, out.nodes);
        for (OrderedUnit& unit : out.order)
            unit.subject = std::ranges::any_of(unit.pods, [&](const std::string& p) { return is_one_of(out.pods, p); });
        out.margin = margin_of_victim(*trials_, subject_, out.owner);
    }

    const Plan& plan_;
    Retrials* trials_;
    const Subject& subject_;
};

}  // namespace

std::vector<EvictionStory> eviction_stories(const Plan& plan, Retrials* trials, const Subject& subject) {
    std::set<std::pair<std::string, EvictionMode>> bills;
    for (const Eviction& e : plan.evictions) {
        if (is_one_of(subject.pods, e.pod)) bills.emplace(e.owner, e.mode);
    }
    std::vector<EvictionStory> out;
    const EvictionTeller teller(plan, trials, subject);
    for (const auto& [owner, mode] : bills)
        out.push_back(teller.tell(owner, mode));
    return out;
}

}  // namespace reprieve
