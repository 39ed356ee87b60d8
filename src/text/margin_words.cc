#include "text/margin_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/cost_words.h"

namespace reprieve {
namespace {

std::vector<std::string> but(std::vector<std::string> names, const std::vector<std::string>& without) {
    std::erase_if(names, [&](const std::string& name) { return std::ranges::find(without, name) != without.end(); });
    return names;
}

// "then x would go instead", with whatever else changes.
std::string then_words(const Consequence& c, const EvictionStory& story) {
    const std::string stays = fmt::format("{} would stay without {}room", story.owner, story.grows ? "more " : "");
    std::string out = !c.placed           ? stays
                      : c.evicted.empty() ? "nobody else would go"
                                          : fmt::format("{} would go instead", list_words(c.evicted));
    const std::vector<std::string> spared = but(c.spared, story.pods);
    if (!spared.empty()) out += fmt::format(", and {} would be spared too", list_words(spared));
    if (!c.unplaced.empty()) out += fmt::format(", and {} would find no place", list_words(c.unplaced));
    return out;
}

std::string cost_change(const Consequence& c, const CostVector& cost) {
    if (!c.worse_in.empty()) return fmt::format(" That costs more: {}.", difference_words(cost, c.cost, c.worse_in));
    if (!c.cheaper_in.empty())
        return fmt::format(" That costs less: {}.", difference_words(cost, c.cost, c.cheaper_in));
    return c.cost.empty() ? "" : " That costs the same.";
}

std::string without_words(const Consequence& c, const EvictionStory& story) {
    std::string out = fmt::format("If nobody could take it, {}.", then_words(c, story));
    // Who serves fewer demands has another bill, which says nothing about this one.
    const bool comparable = c.placed && c.unplaced.empty() && story.certificate;
    return out + (comparable ? cost_change(c, story.certificate->cost) : "");
}

// "its priority" or "the priority of gang x".
std::string whose(const Remedy& r, const EvictionStory& story, const char* what) {
    const bool own = std::ranges::find(story.pods, r.of) != story.pods.end();
    return own ? fmt::format("its {}", what) : fmt::format("the {} of {}", what, r.of);
}

std::string remedy_words(const Remedy& r, const EvictionStory& story) {
    switch (r.lever) {
        case Lever::kPriority:
            return fmt::format("{} were {} or more (it is {})", whose(r, story, "priority"), r.to, r.from);
        case Lever::kMinRuntime:
            return fmt::format("{} were {} or more ({})",
                               whose(r, story, "minimum run time"),
                               duration_words(r.to),
                               r.from == 0 ? "it has none" : fmt::format("it is {}", duration_words(r.from)));
        case Lever::kCheckpointAge:
            return fmt::format("{} were {} old or {} (it is {})",
                               whose(r, story, "last checkpoint"),
                               duration_words(r.to),
                               r.to > r.from ? "older" : "newer",
                               duration_words(r.from));
        case Lever::kNode:
            return fmt::format("it ran on {}{}, where there is room",
                               list_words(r.nodes),
                               r.domain.empty() ? "" : fmt::format(" in {}", r.domain));
    }
    return "";
}

}  // namespace

void tell_margin(FactSheet& sheet, const Margin& margin, const EvictionStory& story) {
    if (margin.without) sheet.add("Without it", without_words(*margin.without, story));
    for (const Remedy& r : margin.remedies)
        sheet.add(
            "Spared if", fmt::format("{}; then {}.", remedy_words(r, story), then_words(r.then, story)), Paint::kGreen);
    if (margin.remedies.empty() && margin.complete)
        sheet.add("Spared if", "No change of its priority, its minimum run time or its place would have spared it.");
    if (!margin.complete)
        sheet.add(
            "Limit",
            fmt::format("Stopped after {}: there may be more to say.", count_words(margin.plans, "plan", "plans")));
}

std::string placing_words(const Remedy& r) {
    std::string then =
        r.then.for_it.empty() ? "it would be placed without evictions" : list_words(r.then.for_it) + " would go for it";
    if (!r.then.unplaced.empty()) then += fmt::format(", and {} would find no place", list_words(r.then.unplaced));
    return fmt::format("the priority of {} were {} or more (it is {}); then {}.", r.of, r.to, r.from, then);
}

std::string next_words(const SparedStory& s) {
    const Consequence& c = *s.then;
    const std::string protect = fmt::format("Were {} protected, ", s.instead.size() == 1 ? s.instead.front() : "they");
    if (!c.placed) return fmt::format("{}{} would stay without room: this one could not help.", protect, s.owner);
    return fmt::format("{}{} would go.", protect, list_words(c.evicted));
}

}  // namespace reprieve
