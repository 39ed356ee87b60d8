// What a plan means for a serving deployment or one of its replicas: sentences from the facts and the plan alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "explain/levers.h"
#include "explain/stories.h"
#include "state/serving.h"

namespace reprieve {
namespace {

constexpr std::int64_t kHint = -1000;  // the deletion cost that marks who goes first

class ServingTeller {
public:
    explicit ServingTeller(const Plan& plan) : plan_(plan) {}

    void tell_facts(const ServingRow& row) {
        std::vector<std::string> planes;
        for (const auto& [plane, branch] : row.branches) {
            planes.push_back(
                fmt::format("{} committed and {} running in {}", branch.commit, branch.pods.size(), plane));
        }
        say(fmt::format("{} (priority {}) wants {} {}; {}",
                        row.name,
                        row.priority,
                        row.desired,
                        row.desired == 1 ? "replica" : "replicas",
                        planes.empty() ? "it has none" : fmt::format("{}", fmt::join(planes, ", "))));
    }

    void tell_plan(const std::string& name) {
        for (const ScaleChange& change : plan_.scale) {
            if (change.deployment == name)
                say(fmt::format("the plan scales it from {} to {} in {}", change.from, change.to, change.plane));
        }
        for (const Match& match : plan_.matches) {
            if (match.owner != name) continue;
            say(match.victims.empty() ? fmt::format("a replica of it waits on {} for room that others make", match.node)
                                      : fmt::format("a replica of it waits for {} on {}", victims(match), match.node));
        }
        for (const Unplaced& unplaced : plan_.unplaced) {
            if (unplaced.pod.empty() && unplaced.owner == name)
                say(fmt::format("{} of its replicas {} without room",
                                unplaced.replicas,
                                unplaced.replicas == 1 ? "stays" : "stay"));
        }
    }

    void tell_replica(const ServingRow& row, const std::string& name, const PodExtras& notes) {
        say(fmt::format("{} is a replica of {} (priority {})", name, row.name, row.priority));
        if (!notes.claimed_by.empty()) say(fmt::format("an earlier plan claimed it for {}", notes.claimed_by));
        if (notes.has_deletion_cost && notes.deletion_cost == kHint)
            say("it is marked to go first when its deployment shrinks");
    }

    void tell_match(const std::string& name) {
        for (const Match& match : plan_.matches) {
            for (const MatchVictim& victim : match.victims) {
                if (victim.pod == name)
                    say(fmt::format("its room on {} goes to {}; it counts as {}", match.node, match.owner, victim.as));
            }
        }
    }

    std::vector<std::string> sentences() { return std::move(out_); }

private:
    void say(std::string sentence) { out_.push_back(std::move(sentence)); }

    static std::string victims(const Match& match) {
        std::vector<std::string> parts;
        for (const MatchVictim& victim : match.victims)
            parts.push_back(fmt::format("{} ({})", victim.pod, victim.as));
        return fmt::format("{}", fmt::join(parts, " and "));
    }

    const Plan& plan_;
    std::vector<std::string> out_;
};

}  // namespace

bool is_deployment(const Plan& plan, const Cluster* cluster, const Subject& subject) {
    if (!subject.gang) return false;
    if (cluster != nullptr) return serving_named(*cluster, subject.name).has_value();
    return std::ranges::find(plan.scale, subject.name, &ScaleChange::deployment) != plan.scale.end() ||
           std::ranges::find(plan.matches, subject.name, &Match::owner) != plan.matches.end() ||
           std::ranges::any_of(plan.unplaced,
                               [&](const Unplaced& u) { return u.pod.empty() && u.owner == subject.name; });
}

std::vector<std::string> serving_sentences(const Plan& plan, const Retrials* trials, const Subject& subject) {
    ServingTeller teller(plan);
    if (trials != nullptr) {
        const Cluster& cluster = trials->cluster();
        for (const ServingRow& row : read_servings(cluster, trials->config().plugins.plane_label).rows) {
            if (subject.gang && row.name == subject.name) teller.tell_facts(row);
            for (const auto& [plane, branch] : row.branches) {
                for (PodId pod : branch.pods) {
                    if (!subject.gang && cluster.snapshot().pod_name(pod) == subject.name)
                        teller.tell_replica(row, subject.name, cluster.pod(pod).more());
                }
            }
        }
    }
    if (subject.gang)
        teller.tell_plan(subject.name);
    else
        teller.tell_match(subject.name);
    return teller.sentences();
}

}  // namespace reprieve
