// The sections about everything that is no pod placed or evicted: nominations, serving, warnings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/plan_sections.h"

namespace reprieve {
namespace {

Table pods_section(std::string title, const std::vector<std::string>& pods) {
    Table table(std::move(title), {{"POD"}});
    for (const std::string& pod : pods)
        table.add({.cells = {{pod}}, .notes = {}});
    return table;
}

}  // namespace

Table nominations_section(const Plan& plan) { return pods_section("Nominations cleared", plan.nominations_cleared); }

Table force_deletes_section(const Plan& plan) { return pods_section("Force deletes", plan.force_deletes); }

Table scale_section(const Plan& plan) {
    Table table("Scale", {{"DEPLOYMENT"}, {"PLANE"}, {"FROM", ColumnKind::kNumber}, {"TO", ColumnKind::kNumber}});
    for (const ScaleChange& item : plan.scale) {
        const Paint paint = item.to < item.from ? Paint::kRed : Paint::kGreen;
        Row row{.cells = {{item.deployment},
                          {item.plane},
                          {fmt::format("{}", item.from)},
                          {fmt::format("{}", item.to), paint}},
                .notes = {}};
        if (!item.hints.empty()) row.notes.push_back(sentence(fmt::format("removes {}", fmt::join(item.hints, ", "))));
        table.add(std::move(row));
    }
    return table;
}

Table matches_section(const Plan& plan) {
    Table table("Matches", {{"FOR"}, {"NODE"}, {"FREE DEVICES", ColumnKind::kNumber}});
    for (const Match& item : plan.matches) {
        Row row{.cells = {{item.owner}, {item.node}, {fmt::format("{}", item.uses_free)}}, .notes = {}};
        std::vector<std::string> victims;
        victims.reserve(item.victims.size());
        for (const MatchVictim& victim : item.victims)
            victims.push_back(victim.as.empty() ? victim.pod : fmt::format("{} ({})", victim.pod, victim.as));
        row.notes.push_back(sentence(victims.empty() ? "in room that others of this plan leave over"
                                                     : fmt::format("takes {}", fmt::join(victims, ", "))));
        table.add(std::move(row));
    }
    return table;
}

Table annotations_section(const Plan& plan) {
    Table table("Annotations", {{"POD"}, {"CHANGE", ColumnKind::kWord}, {"KEY"}, {"VALUE"}});
    for (const AnnotationChange& item : plan.annotations) {
        bool continues = false;
        const auto add = [&](const char* change, const std::string& key, const std::string& value) {
            table.add({.cells = {{item.pod}, {change}, {key}, {value}}, .notes = {}, .continues = continues});
            continues = true;
        };
        for (const auto& [key, value] : item.set)
            add("set", key, value);
        for (const std::string& key : item.remove)
            add("remove", key, "");
    }
    return table;
}

Table warnings_section(const Plan& plan) {
    Table table("Warnings", {});
    for (const std::string& warning : plan.warnings)
        table.add({.cells = {}, .notes = {sentence(warning, Paint::kPlain)}});
    return table;
}

}  // namespace reprieve
