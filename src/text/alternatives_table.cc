#include "text/alternatives_table.h"

#include <fmt/format.h>

#include <set>

#include "text/cost_words.h"

namespace reprieve {
namespace {

std::set<std::string> victims_of(const Plan& plan) {
    std::set<std::string> out;
    for (const Eviction& e : plan.evictions)
        out.insert(e.pod);
    return out;
}

std::string alternative_title(const std::string& name) {
    if (name == "cheapest") return "cheapest (the plan)";
    if (name == "pdbClean") return "no budget broken";
    if (name == "fewestJobs") return "fewest jobs";
    if (name == "leastWorkLost") return "least work lost";
    if (name == "soonestFree") return "soonest free";
    return name;
}

}  // namespace

Table alternatives_section(const Alternatives& alternatives) {
    Table table("Alternatives",
                {{"AIM", ColumnKind::kWord},
                 {"PODS", ColumnKind::kNumber},
                 {"JOBS", ColumnKind::kNumber},
                 {"OVER BUDGET", ColumnKind::kNumber},
                 {"PRIORITY", ColumnKind::kNumber},
                 {"LOST", ColumnKind::kNumber},
                 {"FREE IN", ColumnKind::kNumber},
                 {"WAIT", ColumnKind::kNumber}});
    const std::set<std::string> chosen = victims_of(alternatives.plans.front().plan);
    for (const Alternative& a : alternatives.plans) {
        const std::set<std::string> victims = victims_of(a.plan);
        const bool first = &a == &alternatives.plans.front();
        Row row{.cells = {{alternative_title(a.name)},
                          {fmt::format("{}", a.pods)},
                          {fmt::format("{}", a.jobs_broken)},
                          {fmt::format("{}", a.pdb_violations), a.pdb_violations > 0 ? Paint::kRed : Paint::kPlain},
                          {a.pods == 0 ? "" : fmt::format("{}", a.highest_priority)},
                          {duration_words(a.lost_work)},
                          {duration_words(a.seconds_until_free)},
                          {fmt::format("{}", a.unplaced), a.unplaced > 0 ? Paint::kYellow : Paint::kPlain}},
                .notes = {}};
        if (!first && victims == chosen)
            row.notes.push_back(sentence("the same victims as the plan"));
        else
            row.notes.push_back(sentence("evicts " + list_words({victims.begin(), victims.end()})));
        table.add(std::move(row));
    }
    return table;
}

}  // namespace reprieve
