// The sections about pods: placements, evictions, certificates, unplaced.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "model/config.h"
#include "text/cost_words.h"
#include "text/display_text.h"
#include "text/plan_sections.h"

namespace reprieve {
namespace {

RowNote cost_note(std::string label, const CostVector& cost, Paint paint) {
    RowNote note{.label = std::move(label), .pieces = {}, .paint = paint};
    for (const auto& [term, value] : cost) {
        if (!note.pieces.empty()) note.pieces.back() += " ·";
        note.pieces.push_back(fmt::format("{} {}", term, cost_text(cost, term, value)));
    }
    return note;
}

RowNote runner_up_note(const Certificate& certificate) {
    RowNote note = cost_note("runner-up", certificate.runner_up, Paint::kDim);
    const std::string term = first_difference(certificate.cost, certificate.runner_up);
    note.pieces.push_back(term.empty() ? "(costs the same)" : fmt::format("(worse in {})", term));
    return note;
}

RowNote bound_note(const Certificate& certificate) {
    RowNote note = cost_note("bound", certificate.bound, Paint::kDim);
    const std::string term = first_difference(certificate.cost, certificate.bound);
    if (!term.empty()) note.pieces.push_back(fmt::format("(not proven from {} on)", term));
    return note;
}

Paint paint_of(CertificateStatus status) {
    switch (status) {
        case CertificateStatus::kOptimal:
            return Paint::kGreen;
        case CertificateStatus::kGap:
        case CertificateStatus::kHeuristic:
        case CertificateStatus::kUnknown:
            return Paint::kYellow;
        case CertificateStatus::kInfeasible:
            return Paint::kRed;
    }
    REPRIEVE_CHECK(false, "certificate status {}", static_cast<int>(status));
}

// Whom the certificate of an unplaced pod is for: its gang, else the pod itself.
const std::string& demand_of(const Unplaced& item) { return item.owner.empty() ? item.pod : item.owner; }

// "3 Insufficient cpu", most nodes first.
std::vector<std::string> node_counts(const Unplaced& item) {
    std::vector<std::pair<std::int64_t, std::string_view>> order;
    order.reserve(item.nodes.size());
    for (const auto& [reason, count] : item.nodes)
        order.emplace_back(-count, reason);
    std::ranges::sort(order);
    std::vector<std::string> counts;
    counts.reserve(order.size());
    for (const auto& [negated, reason] : order)
        counts.push_back(fmt::format("{} {}", -negated, reason));
    return counts;
}

// The counts, unless the reason names each of them already.
void note_nodes(Row& row, const Unplaced& item) {
    const std::vector<std::string> counts = node_counts(item);
    const auto said = [&](const std::string& count) { return item.reason.find(count) != std::string::npos; };
    if (std::ranges::all_of(counts, said)) return;
    row.notes.push_back(sentence(fmt::format("nodes: {}", fmt::join(counts, ", "))));
}

// The certificates of a plan that refuse, by whom they are for; several actions may have tried.
using Proofs = std::multimap<std::string_view, const Certificate*>;

Proofs proofs_of(const Plan& plan) {
    Proofs proofs;
    for (const Certificate& certificate : plan.certificates) {
        if (is_refusal(certificate.status)) proofs.emplace(certificate.owner, &certificate);
    }
    return proofs;
}

std::string proof_cell(Row& row, const Unplaced& item, const Proofs& proofs) {
    std::map<std::string_view, std::set<std::string_view>> actions;  // by what they say: proven, or not known
    const auto [first, last] = proofs.equal_range(demand_of(item));
    for (auto at = first; at != last; ++at) {
        const Certificate& proof = *at->second;
        actions[to_text(proof.status)].insert(proof.action);
        const bool said = item.reason.find(proof.binding) != std::string::npos;
        if (!said) row.notes.push_back(sentence(proof.binding));
    }
    std::string cell;
    for (const auto& [status, names] : actions)
        cell += fmt::format("{}{} ({})", cell.empty() ? "" : ", ", status, fmt::join(names, ", "));
    return cell;
}

// What a queue or quota gives back, it gives for nobody by name.
bool gives_back(const Certificate& c) {
    return c.action == to_text(ActionKind::kQueueBalance) || c.action == to_text(ActionKind::kRevoke);
}

Row certificate_row(const Certificate& item) {
    Row row{.cells = {{item.owner}, {item.action}, {to_text(item.status), paint_of(item.status)}}, .notes = {}};
    if (!item.cost.empty()) row.notes.push_back(cost_note("cost", item.cost, Paint::kPlain));
    if (!item.bound.empty() && item.bound != item.cost) row.notes.push_back(bound_note(item));
    if (!item.runner_up.empty()) row.notes.push_back(runner_up_note(item));
    if (!item.binding.empty()) row.notes.push_back({.label = "because", .pieces = words_of(item.binding)});
    return row;
}

}  // namespace

Table placements_section(const Plan& plan) {
    Table table("Placements",
                {{"POD"},
                 {"NODE"},
                 {"DEVICES"},
                 {"WHEN", ColumnKind::kWord},
                 {"FOR"},
                 {"DOMAIN"},
                 {"ACTION", ColumnKind::kWord}});
    for (const Placement& item : plan.placements) {
        const Cell when = item.after_evictions ? Cell{"after evictions", Paint::kYellow} : Cell{"now", Paint::kGreen};
        const std::string devices = fmt::format("{}", fmt::join(device_words(item), ","));
        table.add({.cells = {{item.pod}, {item.node}, {devices}, when, {item.owner}, {item.domain}, {item.action}},
                   .notes = {}});
    }
    return table;
}

Table evictions_section(const Plan& plan) {
    Table table("Evictions",
                {{"POD"},
                 {"NODE"},
                 {"UNIT", ColumnKind::kWord},
                 {"GROUP"},
                 {"FOR"},
                 {"ACTION", ColumnKind::kWord},
                 {"STAGE", ColumnKind::kWord},
                 {"MODE", ColumnKind::kWord},
                 {"PDB", ColumnKind::kWord}},
                true);
    for (const Eviction& item : plan.evictions) {
        const Cell budget = item.pdb_violation ? Cell{"violated", Paint::kRed} : Cell{};
        Row row{.cells = {{item.pod, Paint::kRed},
                          {item.node},
                          {to_text(item.unit)},
                          {item.group},
                          {item.owner},
                          {item.action},
                          {item.stage},
                          {to_text(item.mode)},
                          budget},
                .notes = {}};
        if (!item.reason.empty()) row.notes.push_back(sentence(item.reason));
        table.add(std::move(row));
    }
    return table;
}

Table certificates_section(const Plan& plan) {
    std::set<std::string_view> unplaced;
    for (const Unplaced& item : plan.unplaced)
        unplaced.insert(demand_of(item));
    Table table("Freed for whom, at what cost",
                {{"FOR"}, {"ACTION", ColumnKind::kWord}, {"STATUS", ColumnKind::kWord}});
    for (const Certificate& item : plan.certificates) {
        if (gives_back(item) || (is_refusal(item.status) && unplaced.contains(item.owner))) continue;
        table.add(certificate_row(item));
    }
    return table;
}

Table gifts_section(const Plan& plan) {
    Table table("Given back, at what cost", {{"QUEUE"}, {"ACTION", ColumnKind::kWord}, {"STATUS", ColumnKind::kWord}});
    for (const Certificate& item : plan.certificates) {
        if (gives_back(item)) table.add(certificate_row(item));
    }
    return table;
}

Table unplaced_section(const Plan& plan) {
    const Proofs proofs = proofs_of(plan);
    Table table("Unplaced",
                {{"POD"},
                 {"REPLICAS", ColumnKind::kNumber},
                 {"FOR"},
                 {"VERDICT", ColumnKind::kWord},
                 {"PROOF", ColumnKind::kWord}},
                true);
    for (const Unplaced& item : plan.unplaced) {
        Row row;
        if (!item.reason.empty()) row.notes.push_back(sentence(item.reason));
        note_nodes(row, item);
        const std::string proof = proof_cell(row, item, proofs);
        row.cells = {{item.pod},
                     {item.replicas == 0 ? "" : fmt::format("{}", item.replicas)},
                     {item.owner},
                     item.never ? Cell{"never", Paint::kRed} : Cell{"not now", Paint::kYellow},
                     {proof}};
        table.add(std::move(row));
    }
    return table;
}

}  // namespace reprieve
