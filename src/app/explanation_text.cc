#include "app/explanation_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/cost_words.h"
#include "app/fact_sheet.h"
#include "app/margin_words.h"
#include "base/check.h"

namespace reprieve {
namespace {

std::string subject_words(const Explanation& e) { return e.gang ? "gang " + e.name : e.name; }

// "on gpu-2", "on gpu-1 and gpu-2".
std::string on_nodes(const std::vector<std::string>& nodes) { return nodes.empty() ? "" : " on " + list_words(nodes); }

std::string evicted_headline(const Explanation& e) {
    const EvictionStory& story = e.evictions.front();
    const std::string who =
        !e.gang ? e.name
        : story.unit == UnitKind::kSafe
            ? fmt::format("{} of gang {}", count_words(std::ssize(story.pods), "pod", "pods"), e.name)
            : subject_words(e);
    const bool several = e.gang && story.unit == UnitKind::kSafe && story.pods.size() > 1;
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
    const Placement& first = story.placements.front();
    const std::string where =
        list_words(nodes) + (first.domain.empty() ? "" : fmt::format(", in {}", first.domain)) +
        (!e.gang && !first.devices.empty()
             ? fmt::format(", with device{} {}", first.devices.size() == 1 ? "" : "s", list_words(first.devices))
             : "");
    if (e.outcome == Outcome::kPlaced) return fmt::format("{} starts now on {}.", subject_words(e), where);
    return fmt::format(
        "{} is promised room on {}: it starts there once those who leave are gone.", subject_words(e), where);
}

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
            return who + " has no pods: there is nothing to plan.";
    }
    REPRIEVE_CHECK(false, "outcome {}", static_cast<int>(e.outcome));
}

Paint paint_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::kEvicted:
            return Paint::kRed;
        case Outcome::kPlaced:
            return Paint::kGreen;
        case Outcome::kNominated:
        case Outcome::kUnplaced:
            return Paint::kYellow;
        default:
            return Paint::kBold;
    }
}

void tell_proof(FactSheet& sheet, const Certificate& c) {
    switch (c.status) {
        case CertificateStatus::kOptimal:
            sheet.add("Proof", "No cheaper set of victims exists.", Paint::kGreen);
            break;
        case CertificateStatus::kGap: {
            const std::string term = first_difference(c.cost, c.bound);
            sheet.add("Proof",
                      term.empty() ? "It is not proven that no cheaper set exists."
                                   : fmt::format("A cheaper set is not ruled out: the bound is {}.",
                                                 difference_words(c.cost, c.bound, term)),
                      Paint::kYellow);
            break;
        }
        case CertificateStatus::kHeuristic:
            sheet.add("Proof", "None was asked for (improve is off): a cheaper set may exist.", Paint::kYellow);
            break;
        case CertificateStatus::kInfeasible:
            break;
    }
    if (const std::string term = first_difference(c.cost, c.runner_up); !term.empty())
        sheet.add("Runner-up", fmt::format("The next best way has {}.", difference_words(c.cost, c.runner_up, term)));
}

std::string why_evicted(const EvictionStory& s) {
    std::string out = s.rule.empty() ? s.action : fmt::format("{} {}", s.action, s.rule);
    const bool by_priority = s.action == "preempt" || s.action == "gangPreempt";
    if (by_priority && s.standing && s.owner_priority)
        return fmt::format("{}; {} is below the {} of {}.", out, s.standing->priority, *s.owner_priority, s.owner);
    return fmt::format("{}. {}.", out, s.reason);
}

std::string unit_words(const EvictionStory& s) {
    switch (s.unit) {
        case UnitKind::kSafe:
            return fmt::format(
                "Surplus: gang {} keeps its minimum without {}.", s.group, s.pods.size() == 1 ? "it" : "them");
        case UnitKind::kWhole:
            return s.group.empty() ? "Goes alone: it is in no gang."
                                   : fmt::format("Gang {} goes whole, because it cannot spare anybody.", s.group);
        case UnitKind::kReplica:
            return "One replica of a serving deployment.";
        case UnitKind::kPod:
            return s.group.empty() ? "Goes alone: it is in no gang."
                                   : fmt::format("Goes alone, as {} allows.", s.group);
    }
    return "";
}

std::string unit_name(const OrderedUnit& unit) {
    if (unit.pods.size() == 1) return unit.pods.front();
    return fmt::format("{} with {} more", unit.pods.front(), unit.pods.size() - 1);
}

std::string order_words(const EvictionStory& s) {
    const auto own = std::ranges::find_if(s.order, &OrderedUnit::subject);
    if (own == s.order.end()) return "";
    const auto place = own - s.order.begin();
    std::vector<std::string> stay;
    for (const OrderedUnit& unit : s.order) {
        if (!unit.evicted) stay.push_back(unit_name(unit));
    }
    std::string out =
        s.order.size() == 1
            ? "The only one that could go"
            : fmt::format("Place {} of {} in the order in which they could go", place + 1, s.order.size());
    out += on_nodes(s.nodes);
    if (place > 0) out += fmt::format(", after {}", unit_name(s.order[static_cast<std::size_t>(place) - 1]));
    return out + (stay.empty() ? "." : fmt::format("; {} stay{}.", list_words(stay), stay.size() == 1 ? "s" : ""));
}

std::string standing_words(const Standing& s) {
    std::string out = fmt::format("It has run for {} with priority {}", duration_words(s.ran_seconds), s.priority);
    if (s.checkpoint_age) out += fmt::format(", its last checkpoint was {} ago", duration_words(*s.checkpoint_age));
    if (s.lost_work) out += fmt::format(", and loses {} {}-seconds", *s.lost_work, s.lost_resource);
    return out + fmt::format("; it has {} to end.", duration_words(s.grace_seconds));
}

void tell(FactSheet& sheet, const Explanation& e, const EvictionStory& s) {
    sheet.add("Why", why_evicted(s));
    sheet.add("Unit", unit_words(s));
    sheet.add("Order", order_words(s));
    if (s.standing && !e.gang) sheet.add("Loses", standing_words(*s.standing));
    if (s.mode == EvictionMode::kSoft) sheet.add("How", "It is asked to leave, not deleted.");
    if (s.pdb_violation) sheet.add("Budget", "Its disruption budget does not allow it.", Paint::kRed);
    if (s.certificate) {
        const std::string with = s.with.empty() ? "" : fmt::format("together with {}: ", list_words(s.with));
        sheet.add("Cost", with + cost_words(s.certificate->cost) + ".");
        tell_proof(sheet, *s.certificate);
    } else if (!s.with.empty()) {
        sheet.add("With", list_words(s.with));
    }
    if (s.margin) tell_margin(sheet, *s.margin, s);
}

std::string node_reasons(const std::map<std::string, std::int64_t>& nodes) {
    std::vector<std::pair<std::int64_t, std::string>> order;
    for (const auto& [reason, count] : nodes)
        order.emplace_back(-count, reason);
    std::ranges::sort(order);
    std::vector<std::string> parts;
    for (const auto& [negated, reason] : order)
        parts.push_back(fmt::format("{} {}", -negated, reason));
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string why_there(const PlacementStory& s, bool now) {
    if (s.nodes == 0) return "";
    const std::string others = s.others.empty() ? "" : fmt::format(" The others: {}.", node_reasons(s.others));
    if (!now)
        return s.fitting == 0
                   ? fmt::format(
                         "None of the {} has free room for it.{}", count_words(s.nodes, "node", "nodes"), others)
                   : fmt::format(
                         "Before this plan {} of {} had room for it; others took it, or it takes more than a node.{}",
                         s.fitting,
                         count_words(s.nodes, "node", "nodes"),
                         others);
    const char* choice = s.fitting == 1 ? "" : " The one with the best score wins.";
    return fmt::format("{} of {} {} free room for it.{}{}",
                       s.fitting,
                       count_words(s.nodes, "node", "nodes"),
                       s.fitting == 1 ? "has" : "have",
                       choice,
                       others);
}

void tell(FactSheet& sheet, const Explanation& e, const PlacementStory& s) {
    if (e.gang) {
        for (const Placement& p : s.placements)
            sheet.add("Members",
                      fmt::format("{} on {}{}", p.pod, p.node, p.after_evictions ? ", after evictions" : ""));
    }
    sheet.add("Why there", why_there(s, e.outcome == Outcome::kPlaced));
    std::vector<std::string> gone;
    for (const Eviction& victim : s.expense)
        gone.push_back(victim.pod);
    sheet.add("Expense",
              gone.empty() ? "Nobody is evicted for it."
                           : fmt::format("{} {} evicted for it.", list_words(gone), gone.size() == 1 ? "is" : "are"));
    if (!s.certificate) return;
    sheet.add("Cost", cost_words(s.certificate->cost) + ".");
    tell_proof(sheet, *s.certificate);
}

void tell(FactSheet& sheet, const Explanation& e, const UnplacedStory& s) {
    if (e.gang && !s.pods.empty()) sheet.add("Pods", list_words(s.pods));
    if (s.replicas > 0) sheet.add("Replicas", fmt::format("{} missing", s.replicas));
    sheet.add("Why", s.reason + ".");
    for (const auto& [reason, count] : s.nodes)
        sheet.add("Nodes", fmt::format("{} of them: {}", count, reason));
    for (const Certificate& c : s.certificates) {
        const bool said = s.reason.find(c.binding) != std::string::npos;
        sheet.add(
            "Proof",
            fmt::format(
                "{} cannot help{}.", c.action, said ? ": all that may be evicted is not enough" : ": " + c.binding));
    }
    if (s.never) return;
    for (const Remedy& r : s.remedies)
        sheet.add("Placed if", placing_words(r));
    if (s.remedies.empty() && s.plans > 0) sheet.add("Placed if", "No priority would help.");
}

void tell(FactSheet& sheet, const Explanation&, const SparedStory& s) {
    const std::string owner = s.owner.empty() ? "others" : s.owner;
    sheet.add(
        "For",
        fmt::format(
            "{} takes {}{} for {}.", s.action, list_words(s.instead), s.node.empty() ? "" : " on " + s.node, owner));
    if (!s.rule.empty()) {
        sheet.add("Why spared", fmt::format("It could not be taken: {} (rule {}).", s.why, s.rule));
        return;
    }
    sheet.add("Why spared", "It could have been taken, but the others are enough and cost less.");
    if (s.then) sheet.add("Next", next_words(s));
}

}  // namespace

std::string explanation_to_text(const Explanation& e, const TableStyle& style) {
    FactSheet sheet(headline(e), paint_of(e.outcome));
    if (e.gang && e.members.size() > 1) {
        std::vector<std::string> parts;
        for (const auto& [outcome, count] : e.members)
            parts.push_back(fmt::format("{} {}", count, to_text(outcome)));
        sheet.add("Members", list_words(parts));
    }
    if (!e.detail.empty()) sheet.add("Detail", e.detail + ".");
    for (const EvictionStory& story : e.evictions)
        tell(sheet, e, story);
    if (e.placement) tell(sheet, e, *e.placement);
    for (const UnplacedStory& story : e.unplaced)
        tell(sheet, e, story);
    for (const SparedStory& story : e.spared)
        tell(sheet, e, story);
    return sheet.print(style);
}

}  // namespace reprieve
