// What a plan means for a serving deployment or one of its replicas: sentences from the facts and the plan alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "explain/stories.h"
#include "state/serving.h"

namespace reprieve {
namespace {

constexpr std::int64_t kHint = -1000;  // the deletion cost that marks who goes first

class ServingTeller {
public:
    ServingTeller(const Plan& plan, const Cluster& cluster) : plan_(plan), cluster_(cluster) {}

    void tell_deployment(const ServingRow& row) {
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
        for (const ScaleChange& change : plan_.scale) {
            if (change.deployment == row.name)
                say(fmt::format("the plan scales it from {} to {} in {}", change.from, change.to, change.plane));
        }
        for (const Match& match : plan_.matches) {
            if (match.owner != row.name) continue;
            say(match.victims.empty() ? fmt::format("a replica of it waits on {} for room that others make", match.node)
                                      : fmt::format("a replica of it waits for {} on {}", victims(match), match.node));
        }
        for (const Unplaced& unplaced : plan_.unplaced) {
            if (unplaced.pod.empty() && unplaced.owner == row.name)
                say(fmt::format("{} of its replicas {} without room",
                                unplaced.replicas,
                                unplaced.replicas == 1 ? "stays" : "stay"));
        }
    }

    void tell_replica(const ServingRow& row, PodId pod) {
        const std::string name = cluster_.snapshot().pod_name(pod);
        const PodExtras& notes = cluster_.pod(pod).more();
        say(fmt::format("{} is a replica of {} (priority {})", name, row.name, row.priority));
        if (!notes.claimed_by.empty()) say(fmt::format("an earlier plan claimed it for {}", notes.claimed_by));
        if (notes.has_deletion_cost && notes.deletion_cost == kHint)
            say("it is marked to go first when its deployment shrinks");
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
    const Cluster& cluster_;
    std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> serving_sentences(
    const Plan& plan, const Cluster& cluster, std::string_view plane_label, const Subject& subject, bool& deployment) {
    ServingTeller teller(plan, cluster);
    for (const ServingRow& row : read_servings(cluster, plane_label).rows) {
        if (subject.gang && row.name == subject.name) {
            deployment = true;
            teller.tell_deployment(row);
        }
        for (const auto& [plane, branch] : row.branches) {
            for (PodId pod : branch.pods) {
                if (!subject.gang && cluster.snapshot().pod_name(pod) == subject.name) teller.tell_replica(row, pod);
            }
        }
    }
    return teller.sentences();
}

}  // namespace reprieve
