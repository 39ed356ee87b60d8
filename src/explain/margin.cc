#include "explain/margin.h"

#include <algorithm>
#include <map>
#include <set>

#include "explain/levers.h"
#include "explain/other_places.h"
#include "explain/threshold.h"
#include "plugins/cost.h"

namespace reprieve {
namespace {

constexpr std::int32_t kHighestPriority = 1'000'000'000;  // that users may give
constexpr std::size_t kMostPlaces = 4;                    // asked about
constexpr std::size_t kEnoughPlaces = 2;                  // told of

bool goes(const Plan& plan, const std::vector<std::string>& pods) {
    return std::ranges::any_of(plan.evictions,
                               [&](const Eviction& e) { return std::ranges::find(pods, e.pod) != pods.end(); });
}

// Priorities at which a comparison with somebody else turns.
std::vector<std::int64_t> turning_priorities(const Cluster& cluster) {
    std::set<std::int64_t> values;
    const auto note = [&](std::int64_t priority) { values.insert({priority, priority + 1}); };
    for (const PodRow& row : cluster.snapshot().pods) {
        if (row.state == PodState::kRunning) note(row.unit_priority);
    }
    for (const ServingRow& row : read_servings(cluster, kAnyPlaneLabel).rows)
        note(row.priority);
    return {values.begin(), values.end()};
}

Remedy remedy(Lever lever, std::string of, std::int64_t from, std::int64_t to, Consequence then) {
    return {.lever = lever,
            .of = std::move(of),
            .from = from,
            .to = to,
            .nodes = {},
            .domain = "",
            .then = std::move(then)};
}

// One thing that is given different values, and what each of them led to.
class Inquiry {
public:
    using Holds = std::function<bool(const Plan&)>;

    Inquiry(Retrials& trials, std::string owner, Holds holds)
        : trials_(trials),
          owner_(std::move(owner)),
          holds_(std::move(holds)) {}

    // Whether that change does it; nullopt: nobody knows.
    std::optional<bool> ask(std::int64_t value, const Retrials::Change& change) {
        const auto plan = trials_.with(change);
        if (!plan) return std::nullopt;
        if (!holds_(*plan)) return false;
        then_[value] = compare(trials_.plan(), *plan, owner_);
        return true;
    }

    // The smallest value beyond `below` that does it, if `above` does.
    std::optional<std::int64_t> smallest(std::int64_t below,
                                         std::int64_t above,
                                         std::vector<std::int64_t> hints,
                                         const std::function<Retrials::Change(std::int64_t)>& set) {
        const Question question = [&](std::int64_t value) { return ask(value, set(value)); };
        if (above <= below || question(above) != true) return std::nullopt;
        return find_threshold(below, above, std::move(hints), question);
    }

    [[nodiscard]] Consequence then(std::int64_t value) const { return then_.at(value); }

private:
    Retrials& trials_;
    std::string owner_;
    Holds holds_;
    std::map<std::int64_t, Consequence> then_;
};

class VictimMargin {
public:
    VictimMargin(Retrials& trials, const Subject& subject, const std::string& owner)
        : trials_(trials),
          subject_(subject),
          owner_(owner) {}

    Margin find() {
        const std::int64_t before = trials_.count();
        forbid();
        if (out_.without) {
            priority();
            min_runtime_lever();
            checkpoint();
            place();
        }
        out_.plans = trials_.count() - before;
        out_.complete = !trials_.refused();
        return std::move(out_);
    }

private:
    [[nodiscard]] Inquiry inquiry() const {
        return {trials_, owner_, [this](const Plan& plan) { return !goes(plan, subject_.pods); }};
    }

    void forbid() {
        const auto change = protect(trials_, subject_.pods);
        if (!change) return;
        if (const auto plan = trials_.with(*change)) out_.without = compare(trials_.plan(), *plan, owner_);
    }

    void priority() {
        const auto lever = priority_lever(trials_.cluster(), subject_);
        if (!lever) return;
        const auto attacker = attack_priority(trials_.cluster(), owner_);
        std::vector<std::int64_t> tops;
        if (attacker && *attacker > lever->now) tops.push_back(*attacker);
        tops.push_back(kHighestPriority);
        for (const std::int64_t top : tops) {
            Inquiry asked = inquiry();
            const auto found = asked.smallest(lever->now, top, turning_priorities(trials_.cluster()), [&](auto value) {
                return lever->set(static_cast<std::int32_t>(value));
            });
            if (!found) continue;
            out_.remedies.push_back(remedy(Lever::kPriority, lever->of, lever->now, *found, asked.then(*found)));
            return;
        }
    }

    // The pod, or the members of the gang that run.
    [[nodiscard]] std::vector<PodId> running() const {
        std::vector<PodId> out;
        for (const std::string& name : subject_.pods) {
            const PodId pod = pod_named(trials_.cluster(), name);
            if (pod && trials_.snapshot().pods[pod].state == PodState::kRunning) out.push_back(pod);
        }
        return out;
    }

    // Whole seconds that each of them has had.
    [[nodiscard]] std::vector<std::int64_t> ages() const {
        const Snapshot& s = trials_.snapshot();
        std::vector<std::int64_t> out;
        for (PodId pod : running())
            out.push_back((s.now_time - s.started(pod)).us / 1'000'000);
        return out;
    }

    void min_runtime_lever() {
        if (!plugin_on(trials_.config(), "minRuntime")) return;
        std::vector<std::int64_t> hints = ages();
        if (hints.empty()) return;
        const Snapshot& s = trials_.snapshot();
        std::int64_t now = 0;
        for (const std::string& name : subject_.pods)
            now = std::max(now, s.pods[pod_named(trials_.cluster(), name)].min_runtime.us / 1'000'000);
        // Longer than it has run.
        for (std::int64_t& age : hints)
            ++age;
        const std::int64_t top = *std::ranges::max_element(hints);
        Inquiry asked = inquiry();
        const auto found = asked.smallest(
            now, top, hints, [&](auto value) { return min_runtime(trials_.cluster(), subject_, value); });
        if (found) out_.remedies.push_back(remedy(Lever::kMinRuntime, subject_.name, now, *found, asked.then(*found)));
    }

    [[nodiscard]] bool counts_work() const {
        const SchedulerConfig& config = trials_.config();
        if (config.plugins.lost_work_resource.empty()) return false;
        const auto actions = actions_of(config);
        return std::ranges::any_of(actions, [&](const ActionConfig& action) {
            return CostOrder(action, config.plugins).has(CostTerm::kLostWork);
        });
    }

    // Who has more to lose since its last checkpoint is more expensive; who has less may make others superfluous.
    void checkpoint() {
        if (!counts_work()) return;
        const std::vector<PodId> pods = running();
        const std::vector<std::int64_t> run = ages();
        if (pods.empty()) return;
        std::int64_t age = 0;  // of the oldest one
        for (PodId pod : pods)
            age = std::max(age, checkpoint_age(trials_.snapshot(), pod));
        const auto older = [&](std::int64_t value) { return checkpoints_from(trials_.cluster(), pods, value); };
        const auto newer = [&](std::int64_t by) { return checkpoints_since(trials_.cluster(), pods, age - by); };
        Inquiry asked = inquiry();
        if (const auto found = asked.smallest(age, *std::ranges::max_element(run), {}, older))
            note_checkpoint(age, *found, asked.then(*found));
        else if (const auto by = asked.smallest(0, age, {}, newer))
            note_checkpoint(age, age - *by, asked.then(*by));
    }

    void note_checkpoint(std::int64_t from, std::int64_t to, Consequence then) {
        out_.remedies.push_back(remedy(Lever::kCheckpointAge, subject_.name, from, to, std::move(then)));
    }

    void place() {
        const std::vector<PodId> pods = running();
        std::size_t told = 0;
        for (const OtherPlace& other : other_places(trials_.cluster(), trials_.config(), pods, kMostPlaces)) {
            Inquiry asked = inquiry();
            if (asked.ask(0, run_on(trials_.cluster(), pods, other.nodes)) != true) continue;
            Remedy moved = remedy(Lever::kNode, subject_.name, 0, 0, asked.then(0));
            std::set<std::string> names;
            for (NodeId node : other.nodes)
                names.emplace(trials_.snapshot().node_name(node));
            moved.nodes.assign(names.begin(), names.end());
            moved.domain = other.domain;
            out_.remedies.push_back(std::move(moved));
            if (++told == kEnoughPlaces) return;
        }
    }

    Retrials& trials_;
    const Subject& subject_;
    const std::string& owner_;
    Margin out_;
};

}  // namespace

std::optional<std::int32_t> attack_priority(const Cluster& cluster, const std::string& owner) {
    const Snapshot& s = cluster.snapshot();
    if (const GangId gang = gang_named(cluster, owner)) return s.gangs[gang].attack_priority;
    const PodId pod = pod_named(cluster, owner);
    if (!pod) {
        const auto row = serving_named(cluster, owner);
        return row ? std::optional(row->priority) : std::nullopt;
    }
    return s.pods[pod].gang ? s.gangs[s.pods[pod].gang].attack_priority : s.pods[pod].priority;
}

Margin margin_of_victim(Retrials& trials, const Subject& subject, const std::string& owner) {
    return VictimMargin(trials, subject, owner).find();
}

std::optional<Remedy> placing_priority(Retrials& trials, const Subject& subject) {
    const auto lever = priority_lever(trials.cluster(), subject);
    if (!lever) return std::nullopt;
    const std::string& owner = subject.name;
    Inquiry asked(trials, owner, [&](const Plan& plan) {
        return std::ranges::none_of(plan.unplaced, [&](const Unplaced& item) {
            return item.pod.empty() ? item.owner == owner
                                    : std::ranges::find(subject.pods, item.pod) != subject.pods.end();
        });
    });
    const auto found =
        asked.smallest(lever->now, kHighestPriority, turning_priorities(trials.cluster()), [&](auto value) {
            return lever->set(static_cast<std::int32_t>(value));
        });
    if (!found) return std::nullopt;
    return remedy(Lever::kPriority, lever->of, lever->now, *found, asked.then(*found));
}

}  // namespace reprieve
