#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/quantity.h"
#include "simulate/csv.h"
#include "simulate/numbers.h"
#include "simulate/read_trace.h"
#include "simulate/split.h"

namespace reprieve {
namespace {

constexpr std::string_view kNodeColumns[] = {"name", "count", "cpu", "memory", "gpus", "labels", "fails"};
enum NodeColumn : std::size_t { kNodeName, kNodeCount, kNodeCpu, kNodeMemory, kNodeGpus, kNodeLabels, kNodeFails };

constexpr std::int64_t kMostNodes = 1'000'000;
constexpr std::int64_t kMostGpus = 1024;

// "at+down;at+down", in the order of time and without overlap.
std::string read_outages(std::string_view text, std::vector<Outage>& out) {
    for (const std::string_view part : split(text, ';')) {
        const std::size_t plus = part.find('+');
        const auto at = parse_trace_seconds(part.substr(0, plus));
        const auto down = plus == std::string_view::npos ? std::nullopt : parse_trace_seconds(part.substr(plus + 1));
        if (!at || !down || down->us == 0)
            return fmt::format("'{}' is not AT+DOWN, in seconds, with DOWN above 0", part);
        out.push_back({*at, *down});
    }
    std::ranges::sort(out, {}, &Outage::at);
    for (std::size_t i = 1; i < out.size(); ++i) {
        if (out[i].at.us < out[i - 1].at.us + out[i - 1].down.us) return "two failures overlap";
    }
    return {};
}

std::string read_labels(std::string_view text, std::vector<std::pair<std::string, std::string>>& out) {
    for (const std::string_view part : split(text, ';')) {
        const std::size_t equals = part.find('=');
        if (equals == std::string_view::npos || equals == 0) return fmt::format("'{}' is not KEY=VALUE", part);
        out.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    }
    std::ranges::sort(out);
    for (std::size_t i = 1; i < out.size(); ++i) {
        if (out[i].first == out[i - 1].first) return fmt::format("'{}' is given twice", out[i].first);
    }
    return {};
}

Result<TraceNode> read_node(const CsvTable& table) {
    TraceNode node;
    node.name = table.field(kNodeName);
    if (node.name.empty()) return table.wrong(kNodeName, "is empty");
    if (!table.field(kNodeCpu).empty()) {
        const auto cpu = parse_quantity(table.field(kNodeCpu), QuantityUnit::kMilli);
        if (!cpu || *cpu < 0) return table.wrong(kNodeCpu, fmt::format("'{}' is no amount", table.field(kNodeCpu)));
        node.cpu_milli = *cpu;
    }
    if (!table.field(kNodeMemory).empty()) {
        const auto memory = parse_quantity(table.field(kNodeMemory), QuantityUnit::kWhole);
        if (!memory || *memory < 0)
            return table.wrong(kNodeMemory, fmt::format("'{}' is no amount", table.field(kNodeMemory)));
        node.memory = *memory;
    }
    if (!table.field(kNodeGpus).empty()) {
        const auto gpus = parse_whole(table.field(kNodeGpus));
        if (!gpus || *gpus < 0 || *gpus > kMostGpus)
            return table.wrong(kNodeGpus,
                               fmt::format("'{}' is no whole number from 0 to {}", table.field(kNodeGpus), kMostGpus));
        node.gpus = *gpus;
    }
    if (const std::string what = read_labels(table.field(kNodeLabels), node.labels); !what.empty())
        return table.wrong(kNodeLabels, what);
    if (const std::string what = read_outages(table.field(kNodeFails), node.outages); !what.empty())
        return table.wrong(kNodeFails, what);
    return node;
}

}  // namespace

Result<std::vector<TraceNode>> read_nodes_csv(const std::string& file, std::string_view text) {
    auto table = CsvTable::open(file, text, kNodeColumns);
    if (!table) return std::unexpected(table.error());
    if (!table->has(kNodeName)) return fail(fmt::format("{}:1: column name is missing", file));
    std::vector<TraceNode> nodes;
    std::set<std::string, std::less<>> names;
    while (true) {
        const auto row = table->next();
        if (!row) return std::unexpected(row.error());
        if (!*row) break;
        auto node = read_node(*table);
        if (!node) return std::unexpected(node.error());
        std::int64_t count = 1;
        if (const std::string_view written = table->field(kNodeCount); !written.empty()) {
            const auto value = parse_whole(written);
            if (!value || *value < 1 || *value > kMostNodes)
                return table->wrong(kNodeCount,
                                    fmt::format("'{}' is no whole number from 1 to {}", written, kMostNodes));
            count = *value;
        }
        if (static_cast<std::int64_t>(nodes.size()) + count > kMostNodes)
            return table->wrong(kNodeCount, fmt::format("these are more than {} nodes in all", kMostNodes));
        const std::string base = node->name;
        for (std::int64_t i = 0; i < count; ++i) {
            if (count > 1) node->name = fmt::format("{}-{}", base, i);
            if (!names.insert(node->name).second)
                return table->wrong(kNodeName, fmt::format("a node '{}' was given before", node->name));
            nodes.push_back(*node);
        }
    }
    if (nodes.empty()) return fail(fmt::format("{}: has no nodes", file));
    return nodes;
}

}  // namespace reprieve
