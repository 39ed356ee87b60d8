#include "laboratory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "actions/cycle.h"
#include "base/check.h"
#include "manifest/config.h"
#include "manifest/plan_json.h"

namespace reprieve::property {

Laboratory::Laboratory() : cluster_(ClusterOptions{}), decoder_(cluster_.words()) {}

Object Laboratory::decoded(const Json& document) {
    auto object = decoder_.decode(document.dump());
    REPRIEVE_CHECK(object && *object, "{}: {}", document.dump(), object ? "ignored" : object.error().text());
    return std::move(**object);
}

void Laboratory::apply(const Json& document) { cluster_.apply(decoded(document)); }

void Laboratory::remove(const Json& document) { cluster_.remove(decoded(document)); }

void Laboratory::refresh(Time now) {
    const auto done = cluster_.refresh(now);
    REPRIEVE_CHECK(done, "{}", done.error().message);
}

std::string Laboratory::plan(const SchedulerConfig& config) { return plan_to_json(run_cycle(cluster_, config)); }

std::unique_ptr<Laboratory> build(const std::vector<Json>& documents, Time now) {
    auto out = std::make_unique<Laboratory>();
    for (const Json& document : documents)
        out->apply(document);
    out->refresh(now);
    return out;
}

SchedulerConfig read_config(const Json& config) {
    const auto parsed = parse_config(config.dump(), "config");
    REPRIEVE_CHECK(parsed, "{}", parsed.error().message);
    return *parsed;
}

std::string numbers(const Cluster& cluster) {
    const Snapshot& s = cluster.snapshot();
    std::map<std::string, std::string> rows;
    const auto list = [&](auto amount) {
        std::map<std::string, std::int64_t> by_name;
        for (Dim dim : IdRange<Dim>(s.dims)) {
            if (const std::int64_t value = amount(dim); value != 0) by_name[std::string(s.words->text(dim))] = value;
        }
        std::string text;
        for (const auto& [name, value] : by_name)
            text += fmt::format(" {}={}", name, value);
        return text;
    };
    for (NodeId node : s.nodes_by_name) {
        rows[fmt::format("node {} now", s.node_name(node))] = list([&](Dim d) { return s.now.free(node, d); });
        rows[fmt::format("node {} later", s.node_name(node))] = list([&](Dim d) { return s.later.free(node, d); });
    }
    for (QueueId queue : IdRange<QueueId>(s.queues.size())) {
        if (!s.queues[queue].alive) continue;
        rows[fmt::format("queue {} now", s.words->text(s.queues[queue].name))] =
            list([&](Dim d) { return s.now.queue_used(queue, d); });
        rows[fmt::format("queue {} later", s.words->text(s.queues[queue].name))] =
            list([&](Dim d) { return s.later.queue_used(queue, d); });
    }
    for (DomainId domain : IdRange<DomainId>(s.domains.domains.size())) {
        const Domain& one = s.domains.domains[domain];
        rows[fmt::format("domain {} {} now", s.words->text(one.label_key), s.words->text(one.name))] =
            list([&](Dim d) { return s.now.domain_free(domain, d); });
    }
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        const PodRow& row = s.pods[pod];
        if (row.state == PodState::kAbsent) continue;
        std::set<std::string> budgets;
        for (BudgetId id : s.class_of(pod).budgets)
            budgets.insert(fmt::format("{}:{}", s.words->text(s.budgets[id].fact->name), s.budgets[id].left));
        rows["pod " + s.pod_name(pod)] = fmt::format(
            " state={} priority={}/{} traits={} queue={} gang={} node={} started={} minRuntime={} volumes={} "
            "budgets={}",
            static_cast<int>(row.state),
            row.priority,
            row.unit_priority,
            row.traits,
            row.queue ? s.words->text(s.queues[row.queue].name) : "-",
            row.gang ? s.gang_name(row.gang) : "-",
            row.node ? s.node_name(row.node) : "-",
            format_time(s.started(pod)),
            row.min_runtime.us,
            std::ranges::count_if(s.class_of(pod).volumes, [](const ClassVolume& v) { return v.claim.valid(); }),
            fmt::join(budgets, ","));
    }
    for (GangId gang : IdRange<GangId>(s.gangs.size())) {
        const GangRow& row = s.gangs[gang];
        if (!row.alive) continue;
        rows["gang " + s.gang_name(gang)] =
            fmt::format(" min={} live={} done={} members={} attack={} defend={} composite={}",
                        row.min,
                        row.live,
                        row.done,
                        row.pods.size(),
                        row.attack_priority,
                        row.defend_priority,
                        row.composite.valid());
    }
    std::string out;
    for (const auto& [row, text] : rows)
        out += fmt::format("{}:{}\n", row, text);
    for (const std::string& warning : cluster.warnings())
        out += warning + "\n";
    return out;
}

std::string difference(const std::string& a, const std::string& b) {
    if (a == b) return "";
    const auto lines = [](const std::string& text) {
        std::vector<std::string> out;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);)
            out.push_back(line);
        return out;
    };
    const std::vector<std::string> x = lines(a);
    const std::vector<std::string> y = lines(b);
    const auto [from_x, from_y] = std::ranges::mismatch(x, y);
    const auto common_tail =
        std::mismatch(x.rbegin(), std::make_reverse_iterator(from_x), y.rbegin(), std::make_reverse_iterator(from_y));
    std::string out;
    for (auto it = from_x; it != common_tail.first.base(); ++it)
        out += "- " + *it + "\n";
    for (auto it = from_y; it != common_tail.second.base(); ++it)
        out += "+ " + *it + "\n";
    return out;
}

std::string as_text(const std::vector<Json>& documents) {
    std::string out;
    for (const Json& document : documents)
        out += document.dump() + "\n";
    return out;
}

}  // namespace reprieve::property
