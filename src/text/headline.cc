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

// What becomes of the replicas that go for one beneficiary in one way.
std::string replicas_headline(const Explanation& e, const EvictionStory& story, bool first) {
    const std::string count = count_words(std::ssize(story.pods), "replica", "replicas");
    const char* are = story.pods.size() == 1 ? "is" : "are";
    const std::string whose = first ? " of " + e.name : "";
    const std::string nodes = list_words(story.nodes);
    if (story.mode == EvictionMode::kForceDelete)
        return fmt::format(
            "{}{} that {} leaving {} {} deleted at once for {}", count, whose, are, nodes, are, story.owner);
    return fmt::format("{}{} {} scaled away from {} to make room for {}", count, whose, are, nodes, story.owner);
}

std::string evicted_headline(const Explanation& e) {
    const EvictionStory& story = e.evictions.front();
    if (e.deployment) {
        std::string out;
        for (const EvictionStory& one : e.evictions)
            out += (out.empty() ? "" : "; ") + replicas_headline(e, one, out.empty());
        return out + ".";
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

// Whether it is told of room that is made on its own node, or of none.
bool makes_room_there(const Explanation& e) {
    return e.spared.empty() || e.node.empty() ||
           std::ranges::any_of(e.spared, [&](const SparedStory& s) { return s.node == e.node; });
}

std::string waiting_headline(const Explanation& e) {
    std::int64_t replicas = 0;
    bool never = true;
    for (const UnplacedStory& story : e.unplaced) {
        replicas += story.replicas;
        never = never && story.never;
    }
    return fmt::format("{} of {} {} without room{}.",
                       count_words(replicas, "replica", "replicas"),
                       e.name,
                       replicas == 1 ? "stays" : "stay",
                       never ? ", and no eviction could change that" : " for now");
}

}  // namespace

std::string headline(const Explanation& e) {
    const std::string who = subject_words(e);
    if (e.deployment && e.outcome == Outcome::kUnplaced) return waiting_headline(e);
    if (e.deployment && e.outcome == Outcome::kNominated)
        return who + " is promised room: replicas of it start once others have made it.";
    if (e.deployment && e.outcome == Outcome::kGrowing) return who + " is scaled up: there is free room for it.";
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
            return fmt::format("{} stays{}, where {}.",
                               who,
                               e.node.empty() ? "" : " on " + e.node,
                               makes_room_there(e) ? "room is made for others" : "others are evicted");
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
