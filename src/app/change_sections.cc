// The sections about everything that is no pod placed or evicted: nominations, serving, queues, warnings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "app/amounts.h"
#include "app/plan_sections.h"

namespace reprieve {
namespace {

Table pods_section(std::string title, const std::vector<std::string>& pods) {
    Table table(std::move(title), {{"POD"}});
    for (const std::string& pod : pods)
        table.add({.cells = {{pod}}, .notes = {}});
    return table;
}

// The shares that some queue has, in the order of the JSON: the well-known ones, then the others by name.
std::vector<std::string> shares_of(const std::vector<QueueReport>& queues) {
    static constexpr std::array<const char*, 6> kFirst{
        "deserved", "allocated", "used", "usedLive", "preempting", "runtime"};
    std::set<std::string> present;
    for (const QueueReport& queue : queues) {
        for (const auto& [share, amounts] : queue.shares)
            present.insert(share);
    }
    std::vector<std::string> shares;
    for (const char* share : kFirst) {
        if (present.erase(share) > 0) shares.emplace_back(share);
    }
    shares.insert(shares.end(), present.begin(), present.end());
    return shares;
}

// "usedLive" -> "USED LIVE".
std::string title_of(const std::string& share) {
    std::string title;
    for (const char c : share) {
        if (c >= 'A' && c <= 'Z') title += ' ';
        title += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return title;
}

std::set<std::string> resources_of(const QueueReport& queue) {
    std::set<std::string> resources;
    for (const auto& [share, amounts] : queue.shares) {
        for (const auto& [resource, amount] : amounts)
            resources.insert(resource);
    }
    return resources;
}

// A share that does not speak of the resource says nothing, which is not the same as zero.
Cell amount_cell(const QueueReport& queue, const std::string& share, const std::string& resource) {
    const auto amounts = queue.shares.find(share);
    if (amounts == queue.shares.end()) return {"-", Paint::kDim};
    const auto amount = amounts->second.find(resource);
    if (amount == amounts->second.end()) return {"-", Paint::kDim};
    return {human_amount(resource, amount->second)};
}

bool queues_matter(const std::vector<QueueReport>& queues) {
    if (queues.size() != 1 || queues.front().name != "default") return true;
    const auto& shares = queues.front().shares;
    return std::ranges::any_of(shares, [](const auto& share) { return share.first != "used"; });
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
        if (!victims.empty()) row.notes.push_back(sentence(fmt::format("takes {}", fmt::join(victims, ", "))));
        table.add(std::move(row));
    }
    return table;
}

Table annotations_section(const Plan& plan) {
    Table table("Annotations", {{"POD"}, {"CHANGE", ColumnKind::kWord}, {"KEY"}, {"VALUE"}});
    for (const AnnotationChange& item : plan.annotations) {
        for (const auto& [key, value] : item.set)
            table.add({.cells = {{item.pod}, {"set"}, {key}, {value}}, .notes = {}});
        for (const std::string& key : item.remove)
            table.add({.cells = {{item.pod}, {"remove"}, {key}, {}}, .notes = {}});
    }
    return table;
}

Table queues_section(const Plan& plan) {
    const std::vector<std::string> shares = shares_of(plan.queues);
    std::vector<Column> columns{{"QUEUE"}, {"RESOURCE"}};
    for (const std::string& share : shares)
        columns.push_back({title_of(share), ColumnKind::kNumber});
    Table table("Queues", std::move(columns));
    if (!queues_matter(plan.queues)) return table;
    for (const QueueReport& queue : plan.queues) {
        // The name stands in every row, for whoever searches the lines.
        Paint name_paint = Paint::kPlain;
        for (const std::string& resource : resources_of(queue)) {
            Row row{.cells = {{queue.name, name_paint}, {resource}}, .notes = {}};
            for (const std::string& share : shares)
                row.cells.push_back(amount_cell(queue, share, resource));
            table.add(std::move(row));
            name_paint = Paint::kDim;
        }
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
