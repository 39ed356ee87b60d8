#include "simulate/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace reprieve {
namespace {

const std::string* label_of(const TraceNode& node, const std::string& key) {
    for (const auto& [name, value] : node.labels) {
        if (name == key) return &value;
    }
    return nullptr;
}

// How many pods of the job an empty node holds.
std::int64_t held_by(const TraceNode& node, const TraceJob& job) {
    std::int64_t most = job.pods;
    if (job.cpu_milli > 0) most = std::min(most, node.cpu_milli / job.cpu_milli);
    if (job.memory > 0) most = std::min(most, node.memory / job.memory);
    if (job.gpu_milli >= kMilliGpu) most = std::min(most, node.gpus / (job.gpu_milli / kMilliGpu));
    if (job.gpu_milli > 0 && job.gpu_milli < kMilliGpu) most = std::min(most, node.gpus * (kMilliGpu / job.gpu_milli));
    return most;
}

std::string look(const std::vector<TraceNode>& nodes, const JobTrace& trace, const TraceJob& job) {
    const std::string& topology = trace.topologies[job.topology];
    std::map<std::string, std::int64_t> room;  // by domain
    bool selected = false;
    bool one = false;
    for (const TraceNode& node : nodes) {
        if (!selects(trace.selectors[job.selector], node)) continue;
        selected = true;
        const std::int64_t pods = held_by(node, job);
        one = one || pods > 0;
        if (topology.empty() || job.pods == 1) {
            room[""] += pods;
        } else if (const std::string* domain = label_of(node, topology)) {
            room[*domain] += pods;
        }
    }
    if (!selected) return "no node has the labels that it asks for";
    if (!one) return "no node is large enough for one of its pods";
    const auto most = std::ranges::max_element(room, {}, [](const auto& entry) { return entry.second; });
    if (most == room.end()) return fmt::format("no node has a label {}", topology);
    if (most->second < job.min)
        return topology.empty()
                   ? fmt::format("the whole cluster holds {} of its {} pods", most->second, job.min)
                   : fmt::format("no {} holds more than {} of its {} pods", topology, most->second, job.min);
    return {};
}

}  // namespace

bool selects(const std::vector<LabelNeed>& needs, const TraceNode& node) {
    return std::ranges::all_of(needs, [&](const LabelNeed& need) {
        const std::string* value = label_of(node, need.key);
        return value != nullptr && std::ranges::find(need.values, *value) != need.values.end();
    });
}

std::vector<std::string> why_never(const std::vector<TraceNode>& nodes, const JobTrace& trace) {
    using Shape =
        std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int32_t, std::int32_t, std::uint32_t, std::uint32_t>;
    std::map<Shape, std::string> known;
    std::vector<std::string> out;
    out.reserve(trace.jobs.size());
    for (const TraceJob& job : trace.jobs) {
        const Shape shape{job.cpu_milli, job.memory, job.gpu_milli, job.pods, job.min, job.topology, job.selector};
        auto found = known.find(shape);
        if (found == known.end()) found = known.emplace(shape, look(nodes, trace, job)).first;
        out.push_back(found->second);
    }
    return out;
}

}  // namespace reprieve
