#include <fmt/format.h>

#include <iterator>
#include <map>
#include <unordered_map>

#include "base/utf8.h"
#include "state/pod_named.h"
#include "window/documents.h"
#include "window/facts_json.h"

namespace reprieve::window {
namespace {

// The document of 5,000 nodes and 150,000 pods is columns of numbers, written by hand: names once, everything else as
// places in lists.
class RoomWriter {
public:
    RoomWriter(const Cluster& cluster, const Plan& plan) : cluster_(cluster), s_(cluster.snapshot()), plan_(plan) {}

    std::string write() {
        note_plan();
        fmt::format_to(
            out(), R"({{"apiVersion":"reprieve.dev/v1","kind":"Room","now":"{}","nodes":[)", format_time(s_.now_time));
        const char* comma = "";
        for (const NodeId id : s_.nodes_by_name) {
            if (cluster_.node(id) == nullptr) continue;
            text_ += comma;
            comma = ",\n";
            write_node(id);
        }
        text_ += "],\"racks\":";
        write_words(racks_);
        text_ += ",\"queues\":";
        write_words(queues_);
        text_ += ",\"gangs\":";
        write_words(gangs_);
        text_ += "}";
        return std::move(text_);
    }

private:
    // Words in the order in which they were first needed.
    struct Words {
        std::vector<std::string> list;
        std::unordered_map<std::string, int> at;
        int index(std::string word) {
            const auto [it, fresh] = at.try_emplace(word, static_cast<int>(list.size()));
            if (fresh) list.push_back(std::move(word));
            return it->second;
        }
    };

    std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }

    void write_text(std::string_view word) { text_ += OrderedJson(valid_utf8(word)).dump(); }

    void write_words(const Words& words) {
        text_ += '[';
        for (std::size_t i = 0; i < words.list.size(); ++i) {
            if (i > 0) text_ += ',';
            write_text(words.list[i]);
        }
        text_ += ']';
    }

    void note_plan() {
        for (const Eviction& eviction : plan_.evictions) {
            if (const PodId pod = pod_named(cluster_, eviction.pod)) evicted_[pod] = &eviction;
        }
        for (const Placement& placement : plan_.placements)
            coming_[placement.node].push_back(&placement);
    }

    // [name, rack, flags, cpu, cpu used, memory, memory used, devices, [pods]]
    void write_node(NodeId id) {
        const Node& node = *cluster_.node(id);
        const std::string name(s_.node_name(id));
        const std::string rack = rack_of(s_, id);
        text_ += '[';
        write_text(name);
        const int flags = (node.ready ? 0 : 1) | (node.unschedulable ? 2 : 0) | (node.taints.empty() ? 0 : 4);
        const std::int64_t cpu = node.allocatable.get(kCpu);
        const std::int64_t memory = node.allocatable.get(kMemory);
        fmt::format_to(out(),
                       ",{},{},{},{},{},{},{},[",
                       rack.empty() ? -1 : racks_.index(rack),
                       flags,
                       cpu,
                       cpu - s_.now.free(id, kCpu),
                       memory,
                       memory - s_.now.free(id, kMemory),
                       s_.devices[id].size());
        const char* comma = "";
        for (const PodId pod : s_.node_pods[id]) {
            text_ += comma;
            comma = ",";
            const auto found = evicted_.find(pod);
            const bool leaving = s_.pods[pod].state == PodState::kTerminating;
            const bool promised = s_.pods[pod].state == PodState::kNominated;
            write_pod(pod, leaving ? 'l' : found != evicted_.end() ? 'e' : promised ? 'p' : 'r', nullptr);
        }
        if (const auto coming = coming_.find(name); coming != coming_.end()) {
            for (const Placement* placement : coming->second) {
                const PodId pod = pod_named(cluster_, placement->pod);
                if (!pod || s_.pods[pod].state == PodState::kNominated) continue;
                text_ += comma;
                comma = ",";
                write_pod(pod, placement->after_evictions ? 'p' : 'n', placement);
            }
        }
        text_ += "]]";
    }

    // [name, queue, priority, gang, started (s), cpu, memory, state, [devices]]
    void write_pod(PodId id, char state, const Placement* placement) {
        const PodRow& row = s_.pods[id];
        const Resources& requests = s_.spec_of(id).requests;
        text_ += '[';
        write_text(s_.pod_name(id));
        fmt::format_to(out(),
                       ",{},{},{},{},{},{},\"{}\",[",
                       row.queue ? queues_.index(queue_name(s_, row.queue)) : -1,
                       row.priority,
                       row.gang ? gangs_.index(s_.gang_name(row.gang)) : -1,
                       s_.started(id).us / 1'000'000,
                       requests.get(kCpu),
                       requests.get(kMemory),
                       state);
        const char* comma = "";
        if (placement != nullptr) {
            for (const std::string& device : placement->devices) {
                fmt::format_to(out(), "{}{}", comma, std::atoi(device.c_str()));
                comma = ",";
            }
        } else {
            for (const DeviceHold& hold : s_.holds[id]) {
                fmt::format_to(out(), "{}{}", comma, hold.index);
                comma = ",";
            }
        }
        text_ += "]]";
    }

    const Cluster& cluster_;
    const Snapshot& s_;
    const Plan& plan_;
    std::string text_;
    Words racks_;
    Words queues_;
    Words gangs_;
    std::unordered_map<PodId, const Eviction*> evicted_;
    std::map<std::string, std::vector<const Placement*>> coming_;
};

}  // namespace

std::string room_document(const Cluster& cluster, const Plan& plan) { return RoomWriter(cluster, plan).write(); }

}  // namespace reprieve::window
