#include "text/explanation_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "text/cost_words.h"
#include "text/fact_sheet.h"
#include "text/headline.h"
#include "text/margin_words.h"

namespace reprieve {
namespace {

// "on gpu-2", "on gpu-1 and gpu-2".
std::string on_nodes(const std::vector<std::string>& nodes) { return nodes.empty() ? "" : " on " + list_words(nodes); }

void tell_proof(FactSheet& sheet, const Certificate& c, const std::string& scope) {
    switch (c.status) {
        case CertificateStatus::kOptimal:
            sheet.add("Proof",
                      fmt::format("No cheaper set of victims exists{}{}.", scope.empty() ? "" : " ", scope),
                      Paint::kGreen);
            break;
        case CertificateStatus::kGap: {
            const std::string term = first_difference(c.cost, c.bound);
            const std::string open = unproven_words(c.bound, term);
            const std::string gap = open.empty() ? "it could have " + difference_words(c.cost, c.bound, term)
                                                 : fmt::format("nothing is proven about {}", open);
            sheet.add("Proof",
                      term.empty() ? "It is not proven that no cheaper set exists."
                                   : fmt::format("A cheaper set is not ruled out: {}.", gap),
                      Paint::kYellow);
            break;
        }
        case CertificateStatus::kHeuristic:
            sheet.add("Proof",
                      fmt::format("None: {} goes by its order, and a cheaper set may exist.", c.action),
                      Paint::kYellow);
            break;
        case CertificateStatus::kInfeasible:
        case CertificateStatus::kUnknown:
            break;
    }
    if (const std::string term = first_difference(c.cost, c.runner_up); !term.empty())
        sheet.add("Runner-up", fmt::format("The next best way has {}.", difference_words(c.cost, c.runner_up, term)));
}

// Names of actions and objects stay as they are.
std::string as_sentence(std::string words) {
    const std::string_view first = std::string_view(words).substr(0, words.find(' '));
    const bool is_name = first.find('/') != std::string_view::npos || first.ends_with(':');
    if (!is_name && !words.empty() && words.front() >= 'a' && words.front() <= 'z')
        words.front() = static_cast<char>(words.front() - 'a' + 'A');
    return words + ".";
}

std::string why_evicted(const EvictionStory& s) {
    std::string out = s.rule.empty() ? s.action : fmt::format("{} {}", s.action, s.rule);
    const bool by_priority = s.action == "preempt" || s.action == "gangPreempt";
    if (by_priority && s.standing && s.owner_priority)
        return fmt::format("{}; {} is below the {} of {}.", out, s.standing->priority, *s.owner_priority, s.owner);
    return fmt::format("{}. {}", out, as_sentence(s.reason));
}

std::string unit_words(const EvictionStory& s) {
    if (!s.shared.empty())
        return fmt::format("Uses claim {}: they go together, as one unit, because the claim's devices are needed.",
                           list_words(s.shared));
    switch (s.unit) {
        case UnitKind::kSafe:
            if (s.broken) return fmt::format("Gang {} is broken already: it is short of its minimum.", s.group);
            return fmt::format(
                "Surplus: gang {} keeps its minimum without {}.", s.group, s.pods.size() == 1 ? "it" : "them");
        case UnitKind::kWhole:
            if (s.one_by_one)
                return fmt::format("Goes alone: pods of gang {} go one by one, even below its minimum.", s.group);
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
    std::string out = s.has_started ? fmt::format("It has run for {}", duration_words(s.ran_seconds))
                                    : std::string("It has not started, as far as its status says");
    out += fmt::format("{} priority {}", s.has_started ? " with" : ", and has", s.priority);
    if (s.checkpoint_age) out += fmt::format(", its last checkpoint was {} ago", duration_words(*s.checkpoint_age));
    if (s.lost_work) out += fmt::format(", and loses {} {}-seconds", work_text(*s.lost_work), s.lost_resource);
    return out + fmt::format("; it has {} to end.", duration_words(s.grace_seconds));
}

void tell(FactSheet& sheet, const Explanation& e, const EvictionStory& s) {
    sheet.add("Why", why_evicted(s));
    sheet.add("Unit", unit_words(s));
    sheet.add("Order", order_words(s));
    if (!s.frees.empty()) sheet.add("Frees", list_words(s.frees) + ".");
    if (s.standing && !e.gang) sheet.add("Loses", standing_words(*s.standing));
    if (s.mode == EvictionMode::kSoft) sheet.add("How", "It is asked to leave, not deleted.");
    if (s.mode == EvictionMode::kScaleDown)
        sheet.add("How", "Its deployment is scaled down, and it is marked to be the one that goes.");
    if (s.mode == EvictionMode::kForceDelete) sheet.add("How", "It is leaving already, and is deleted at once.");
    if (s.pdb_violation) sheet.add("Budget", "Its disruption budget does not allow it.", Paint::kRed);
    if (s.certificate) {
        const std::string with = s.with.empty() ? "" : fmt::format("Together with {}: ", list_words(s.with));
        sheet.add("Cost", fmt::format("{}{}.", with, cost_words(s.certificate->cost)));
        tell_proof(sheet, *s.certificate, s.proof_scope);
    } else if (!s.with.empty()) {
        sheet.add("With", list_words(s.with));
    }
    if (s.margin) tell_margin(sheet, *s.margin, s);
}

// What follows the number of nodes: reasons are written of several.
std::string of_nodes(std::int64_t count, std::string reason) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOfOne{
        {{"were ", "was "}, {"at their ", "at its "}, {"that do not ", "that does not "}, {"that are ", "that is "}}};
    if (count != 1) return reason;
    for (const auto& [several, one] : kOfOne) {
        if (reason.starts_with(several)) return std::string(one) + reason.substr(several.size());
    }
    return reason;
}

// "4 nodes had an untolerated taint": how many nodes say so, most first.
std::vector<std::string> node_reasons(const std::map<std::string, std::int64_t>& nodes) {
    static constexpr std::string_view kNodes = "node(s) ";
    std::vector<std::pair<std::int64_t, std::string>> order;
    for (const auto& [reason, count] : nodes)
        order.emplace_back(-count, reason);
    std::ranges::sort(order);
    std::vector<std::string> out;
    for (const auto& [negated, reason] : order) {
        const std::string count = count_words(-negated, "node", "nodes");
        out.push_back(reason.starts_with(kNodes)
                          ? fmt::format("{} {}", count, of_nodes(-negated, reason.substr(kNodes.size())))
                          : fmt::format("{}: {}", count, reason));
    }
    return out;
}

// Why nobody has room: of one reason that all nodes give, the reason alone.
std::string nobody_words(const PlacementStory& s) {
    static constexpr std::string_view kNodes = "node(s) ";
    if (!s.limit.empty()) return s.limit;
    if (s.others.size() == 1 && s.others.begin()->second == s.nodes && !s.others.begin()->first.starts_with(kNodes))
        return s.others.begin()->first;
    return fmt::format("{}", fmt::join(node_reasons(s.others), "; "));
}

// How the nodes answered, before anybody was evicted.
std::string room_words(const Explanation& e, const PlacementStory& s) {
    if (s.nodes == 0) return "";
    const std::string whom = e.gang ? "for a member" : "for it";
    const std::string nodes = count_words(s.nodes, "node", "nodes");
    if (s.fitting == 0) {
        const std::string why = nobody_words(s);
        const std::string none = s.nodes == 1 ? "The only node has no" : fmt::format("None of the {} has", nodes);
        return fmt::format("{} free room {}{}{}.", none, whom, why.empty() ? "" : ": ", why);
    }
    const std::string others = fmt::format("{}", fmt::join(node_reasons(s.others), "; "));
    std::string out = fmt::format("{} of {} {} free room {}", s.fitting, nodes, s.fitting == 1 ? "has" : "have", whom);
    if (!others.empty()) out += fmt::format("; {}", others);
    out += ".";
    if (e.outcome == Outcome::kNominated && s.kept) return out + " It keeps the room that it was promised before.";
    if (e.outcome == Outcome::kNominated && s.placements.size() > 1)
        return out + fmt::format(" That is not enough for all {} together, or others came first.", s.placements.size());
    if (e.outcome == Outcome::kNominated) return out + " Others came first, or hold it.";
    return out + (s.fitting == 1 ? "" : " The best score decides, then the name.");
}

void tell(FactSheet& sheet, const Explanation& e, const PlacementStory& s) {
    if (e.gang) {
        for (const Placement& p : s.placements)
            sheet.add("Members",
                      fmt::format("{} on {}{}", p.pod, p.node, p.after_evictions ? ", after evictions" : ""));
    }
    sheet.add("Why there", room_words(e, s));
    for (const std::string& alternative : s.alternatives)
        sheet.add("Instead", alternative);
    std::vector<std::string> gone;
    for (const Eviction& victim : s.expense)
        gone.push_back(victim.pod);
    sheet.add("Expense",
              gone.empty() ? "Nobody is evicted for it."
                           : fmt::format("{} {} evicted for it.", list_words(gone), gone.size() == 1 ? "is" : "are"));
    if (!s.certificate) return;
    sheet.add("Cost", cost_words(s.certificate->cost) + ".");
    tell_proof(sheet, *s.certificate, s.proof_scope);
}

// The plan's reason has a clause from each action that was tried; what the nodes say is told apart.
void tell_reason(FactSheet& sheet, const UnplacedStory& s) {
    static constexpr std::string_view kNobodyFits = "0 of ";
    std::string_view rest = s.reason;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find("; "), rest.size());
        std::string clause(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 2, rest.size()));
        if (!s.nodes.empty() && clause.starts_with(kNobodyFits))
            clause.resize(std::min(clause.find(':'), clause.size()));
        sheet.add("Why", as_sentence(clause));
    }
    for (const std::string& reason : node_reasons(s.nodes))
        sheet.add("Nodes", reason);
}

void tell_refusal(FactSheet& sheet, const UnplacedStory& s, const Certificate& c) {
    if (c.status == CertificateStatus::kUnknown) {
        sheet.add("Proof", fmt::format("{} found no way; that there is none is not proven.", c.action), Paint::kYellow);
        return;
    }
    const bool said = s.reason.find(c.binding) != std::string::npos;
    // Also true of whoever may have nobody evicted.
    if (said && c.action == "allocate" && !s.never) {
        sheet.add("Proof", "None of the actions that evict can help with that.");
        return;
    }
    // Without a word about nodes it is something else that keeps it out, which is told above.
    const std::string_view enough = !s.never          ? "no set of evictions that may be made for it lets it in"
                                    : s.nodes.empty() ? "no eviction changes that"
                                                      : "no node is what it asks for, whoever leaves";
    sheet.add("Proof", fmt::format("{} cannot help: {}.", c.action, said ? enough : c.binding));
}

void tell(FactSheet& sheet, const Explanation& e, const UnplacedStory& s) {
    if (e.gang && !s.pods.empty()) sheet.add("Pods", list_words(s.pods));
    if (s.replicas > 0) sheet.add("Replicas", fmt::format("{} missing", s.replicas));
    tell_reason(sheet, s);
    for (const Certificate& c : s.certificates)
        tell_refusal(sheet, s, c);
    for (const Remedy& r : s.remedies)
        sheet.add("Placed if", placing_words(r), Paint::kGreen);
    if (s.remedies.empty() && s.plans > 0) sheet.add("Placed if", "No priority would help.");
}

std::string why_not_needed(const SparedStory& s) {
    if (s.then && !s.then->placed) return "Without the others, its going would not make the room.";
    return s.next ? "It could have been taken, but the others are enough, and come before it."
                  : "It could have been taken, but the others are enough.";
}

void tell(FactSheet& sheet, const Explanation&, const SparedStory& s) {
    const std::string owner = s.owner.empty() ? "others" : s.owner;
    sheet.add("For",
              fmt::format("{} takes {} for {}{}.",
                          s.action,
                          list_words(s.instead),
                          owner,
                          s.node.empty() ? "" : " and makes room on " + s.node));
    if (!s.rule.empty()) {
        sheet.add("Why spared", fmt::format("It could not be taken: {} (rule {}).", s.why, s.rule));
        return;
    }
    sheet.add("Why spared", why_not_needed(s));
    if (s.then) sheet.add("Next", next_words(s));
}

}  // namespace

std::string explanation_to_text(const Explanation& e, const TableStyle& style) {
    FactSheet sheet(headline(e), headline_paint(e.outcome));
    if (e.gang && e.members.size() > 1) {
        std::vector<std::string> parts;
        for (const auto& [outcome, count] : e.members)
            parts.push_back(fmt::format("{} {}", count, to_text(outcome)));
        sheet.add("Members", list_words(parts));
    }
    if (!e.detail.empty()) sheet.add("Detail", e.detail + ".");
    for (const std::string& sentence : e.serving)
        sheet.add("Serving", as_sentence(sentence));
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
