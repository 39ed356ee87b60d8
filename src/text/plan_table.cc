#include "text/plan_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "text/paint.h"
#include "text/plan_sections.h"
#include "text/terminal.h"

namespace reprieve {
namespace {

// "3 placed now, 1 unplaced"; what is zero is not said.
class Clause {
public:
    explicit Clause(bool colour) : colour_(colour) {}

    void add(std::int64_t count, std::string_view what, Paint paint) {
        if (count == 0) return;
        if (!text_.empty()) text_ += ", ";
        text_ += painted(fmt::format("{} {}", count, what), paint, colour_);
    }
    void add(std::size_t count, std::string_view one, std::string_view many, Paint paint) {
        add(static_cast<std::int64_t>(count), count == 1 ? one : many, paint);
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    bool colour_;
    std::string text_;
};

std::string demands_clause(const Plan& plan, bool colour) {
    const auto waiting = std::ranges::count_if(plan.placements, &Placement::after_evictions);
    std::int64_t unplaced = 0;
    for (const Unplaced& item : plan.unplaced)
        unplaced += item.pod.empty() ? item.replicas : 1;
    Clause clause(colour);
    clause.add(static_cast<std::int64_t>(plan.placements.size()) - waiting, "placed now", Paint::kGreen);
    clause.add(waiting, "after evictions", Paint::kYellow);
    clause.add(unplaced, "unplaced", Paint::kYellow);
    return clause.text();
}

std::string changes_clause(const Plan& plan, bool colour) {
    Clause clause(colour);
    const auto over_budget = std::ranges::count_if(plan.evictions, &Eviction::pdb_violation);
    const std::string remark = over_budget == 0 ? "" : fmt::format(" ({} over a disruption budget)", over_budget);
    clause.add(plan.evictions.size(), "pod evicted" + remark, "pods evicted" + remark, Paint::kRed);
    clause.add(plan.nominations_cleared.size(), "nomination cleared", "nominations cleared", Paint::kPlain);
    clause.add(plan.scale.size(), "scale change", "scale changes", Paint::kPlain);
    clause.add(plan.annotations.size(), "pod annotated", "pods annotated", Paint::kPlain);
    return clause.text();
}

std::string summary(const Plan& plan, bool colour) {
    const std::string demands = demands_clause(plan, colour);
    const std::string changes = changes_clause(plan, colour);
    if (demands.empty() && changes.empty()) return "Nothing to do";
    return demands + (demands.empty() || changes.empty() ? "" : "; ") + changes;
}

}  // namespace

TableStyle table_style() {
    const OutputStream stream = look_at_stream(STDOUT_FILENO);
    return {.colour = stream.colour, .width = stream.width};
}

std::string plan_to_table(const Plan& plan, const TableStyle& style) {
    static constexpr std::array kSections{
        placements_section,
        evictions_section,
        certificates_section,
        gifts_section,
        unplaced_section,
        nominations_section,
        scale_section,
        force_deletes_section,
        matches_section,
        annotations_section,
        queues_section,
        warnings_section,
    };
    std::string out = summary(plan, style.colour) + "\n";
    for (const auto& section : kSections) {
        const Table table = section(plan);
        if (table.empty()) continue;
        out += "\n";
        table.print(out, style);
    }
    return out;
}

}  // namespace reprieve
