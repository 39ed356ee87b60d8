#include "text/headline.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "text/cost_words.h"

namespace reprieve {
namespace {

std::string subject_words(const Explanation& e) {
    if (e.deployment) return "Deployment " + e.name;
    return e.gang ? "Gang " + e.name : e.name;
}

std::string evicted_headline(const Explanation& e) {
    const EvictionStory& story = e.evictions.front();
    if (e.deployment) {
        const std::string count = count_words(std::ssize(story.pods), "replica", "replicas");
        return fmt::format("{} of {} {} scaled away{} to make room for {}.",
                           count,
                           e.name,
                           story.pods.size() == 1 ? "is" : "are",
                           story.nodes.empty() ? "" : " from " + list_words(story.nodes),
                           story.owner);
    }
    const bool part = story.unit == UnitKind::kSafe || (!story.shared.empty() && !story.takes_gang());
    const std::string who =
        !e.gang ? e.name
        : part  ? fmt::format("{} of gang {}", count_words(std::ssize(story.pods), "pod", "pods"), e.name)
                : subject_words(e);
    const bool several = e.gang && part && story.pods.size() > 1;
    return fmt::format("{} {} evicted{} to make room for {}.",
                       who,
                       several ? "are" : "is",
                       story.nodes.empty() ? "" : " from " + list_words(story.nodes),
                       story.owner.empty() ? "others" : story.owner);
}

std::string placed_headline(const Explanation& e) {
    const PlacementStory& story = *e.placement;
    std::vector<std::string> nodes;
    for (const Placement& p : story.placements) {
        if (std::ranges::find(nodes, p.node) == nodes.end()) nodes.push_back(p.node);
    }
    std::ranges::sort(nodes);
    const Placement& first = story.placements.front();
    const std::vector<std::string> devices = device_words(first);
    const std::string where =
        list_words(nodes) + (first.domain.empty() ? "" : fmt::format(", in {}", first.domain)) +
        (!e.gang && !devices.empty()
             ? fmt::format(", with device{} {}", devices.size() == 1 ? "" : "s", list_words(devices))
             : "");
    if (e.outcome == Outcome::kPlaced) return fmt::format("{} starts now on {}.", subject_words(e), where);
    return fmt::format(
        "{} is promised room on {}: it starts there once those who leave are gone.", subject_words(e), where);
}

}  // namespace

std::string headline(const Explanation& e) {
    const std::string who = subject_words(e);
    switch (e.outcome) {
        case Outcome::kEvicted:
            return evicted_headline(e);
        case Outcome::kPlaced:
        case Outcome::kNominated:
            return placed_headline(e);
        case Outcome::kUnplaced:
            return e.unplaced.front().never ? who + " stays unplaced, and no eviction could change that."
                                            : who + " stays unplaced for now.";
        case Outcome::kGrowing:
            return fmt::format("{} grows{} once those who leave are gone.", who, e.node.empty() ? "" : " on " + e.node);
        case Outcome::kSpared:
            return fmt::format(
                "{} stays{}, where room is made for others.", who, e.node.empty() ? "" : " on " + e.node);
        case Outcome::kUntouched:
            return e.node.empty() ? who + " is not touched by the plan."
                                  : fmt::format("{} runs on {}, and the plan does not touch it.", who, e.node);
        case Outcome::kLeaving:
            return who + " is leaving already: the plan counts its room as free and does nothing to it.";
        case Outcome::kEnded:
            return who + " has ended: there is nothing to plan.";
        case Outcome::kGated:
            return who + " waits for its scheduling gates: the plan does not see it.";
        case Outcome::kForeign:
            return who + " waits for another scheduler: the plan leaves it alone.";
        case Outcome::kServing:
            return who + " is a replica of a serving deployment.";
        case Outcome::kNoMembers:
            return e.deployment ? who + " has no replicas yet." : who + " has no pods: there is nothing to plan.";
    }
    REPRIEVE_CHECK(false, "outcome {}", static_cast<int>(e.outcome));
}

Paint headline_paint(Outcome outcome) {
    switch (outcome) {
        case Outcome::kEvicted:
            return Paint::kRed;
        case Outcome::kPlaced:
            return Paint::kGreen;
        case Outcome::kNominated:
        case Outcome::kUnplaced:
        case Outcome::kGrowing:
            return Paint::kYellow;
        default:
            return Paint::kBold;
    }
}

}  // namespace reprieve
