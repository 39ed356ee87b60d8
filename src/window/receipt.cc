#include "window/receipt.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "manifest/plan_json.h"
#include "plugins/cost.h"
#include "state/pod_named.h"
#include "window/facts_json.h"

namespace reprieve::window {
namespace {

// A receipt of a thousand nodes is read by nobody; how many are left out is said.
constexpr std::size_t kMostNodes = 24;
constexpr std::size_t kMostPods = 120;
constexpr const char* kGpu = "nvidia.com/gpu";

// A name in a shell: what could mean something there is quoted.
std::string shell_word(const std::string& text) {
    const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("-_./:=,").find(c) != std::string_view::npos;
    });
    if (plain) return text;
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

// Evictions, placements and certificate as the plan prints them.
OrderedJson plan_words(const Decision& decision) {
    Plan part;
    part.evictions = decision.evictions;
    part.placements = decision.placements;
    if (decision.certificate) part.certificates = {*decision.certificate};
    return OrderedJson::parse(plan_to_json_line(part));
}

class ReceiptWriter {
public:
    ReceiptWriter(const Cluster& cluster, const Plan& plan, const Decision& decision, const Origin& origin)
        : cluster_(cluster),
          s_(cluster.snapshot()),
          plan_(plan),
          decision_(decision),
          origin_(origin),
          owner_(owner_facts(cluster, decision.owner)) {}

    std::shared_ptr<DecisionEntry> write() {
        auto entry = std::make_shared<DecisionEntry>();
        entry->id = decision_.id;
        entry->owner = decision_.owner;
        entry->action = decision_.action;
        entry->status = decision_.certificate ? to_text(decision_.certificate->status) : "";
        entry->queue = owner_.queue;
        entry->outcome = decision_.outcome;
        entry->priority = owner_.priority;
        entry->evicts = !decision_.evictions.empty();
        entry->at = decision_.at;
        entry->names = names();
        OrderedJson row = history_row();
        entry->row = row.dump();
        add_details(row);
        entry->receipt = row.dump();
        return entry;
    }

private:
    [[nodiscard]] std::vector<std::string> names() const {
        std::set<std::string> all{decision_.owner};
        for (const Eviction& e : decision_.evictions) {
            all.insert(e.pod);
            if (!e.group.empty()) all.insert(e.group);
        }
        for (const Placement& p : decision_.placements)
            all.insert(p.pod);
        return {all.begin(), all.end()};
    }

    // The keys of `history -o json`, then what only the window has.
    [[nodiscard]] OrderedJson history_row() const {
        const OrderedJson words = plan_words(decision_);
        OrderedJson row = OrderedJson::object();
        put(row, "id", decision_.id);
        row["at"] = time_json(decision_.at);
        row["cycle"] = decision_.cycle;
        put(row, "for", decision_.owner);
        put(row, "action", decision_.action);
        row["evictions"] = words["evictions"];
        row["placements"] = words["placements"];
        row["certificate"] = words["certificates"].empty() ? OrderedJson(nullptr) : words["certificates"][0];
        put(row, "outcome", decision_.outcome);
        row["started"] = decision_.started.empty() ? OrderedJson(nullptr) : OrderedJson(decision_.started);
        if (owner_.priority) row["priority"] = *owner_.priority;
        put(row, "queue", owner_.queue);
        OrderedJson lost = lost_work_json();
        if (!lost.empty()) row["lost"] = std::move(lost);
        return row;
    }

    // Work that goes with the victims, in GPU-seconds where they hold GPUs, else in core-seconds.
    [[nodiscard]] OrderedJson lost_work_json() const {
        OrderedJson out = OrderedJson::object();
        const WorkResource gpu = work_resource(s_, kGpu);
        std::int64_t gpu_seconds = 0;
        std::int64_t core_seconds = 0;
        for (const Eviction& eviction : decision_.evictions) {
            const PodId pod = pod_named(cluster_, eviction.pod);
            if (!pod) continue;
            if (gpu) gpu_seconds = saturating_add(gpu_seconds, lost_work(s_, pod, gpu));
            core_seconds = saturating_add(core_seconds, lost_work(s_, pod, WorkResource{.dim = kCpu, .cls = {}}));
        }
        if (gpu_seconds > 0) {
            out["resource"] = kGpu;
            out["seconds"] = gpu_seconds;
        } else if (core_seconds > 0) {
            out["resource"] = "cpu";
            out["seconds"] = core_seconds;
        }
        return out;
    }

    void add_details(OrderedJson& out) const {
        out["plan"] = plan_.id;
        out["wants"] = wants();
        out["victims"] = victims();
        const std::vector<std::string> touched = touched_nodes();
        OrderedJson nodes = OrderedJson::array();
        for (std::size_t i = 0; i < touched.size() && i < kMostNodes; ++i)
            nodes.push_back(node_json(touched[i]));
        out["nodes"] = std::move(nodes);
        out["nodesTouched"] = touched.size();
        out["nodesInAll"] = s_.nodes_by_name.size();
        out["commands"] = commands();
    }

    [[nodiscard]] OrderedJson wants() const {
        OrderedJson out = OrderedJson::array();
        for (const std::string& name : owner_.pods) {
            if (const PodId pod = pod_named(cluster_, name)) out.push_back(pod_json(cluster_, pod));
            if (out.size() == kMostPods) break;
        }
        return out;
    }

    // In the order of the plan: first who goes first.
    [[nodiscard]] OrderedJson victims() const {
        OrderedJson out = OrderedJson::array();
        const WorkResource gpu = work_resource(s_, kGpu);
        for (const Eviction& eviction : decision_.evictions) {
            const PodId id = pod_named(cluster_, eviction.pod);
            OrderedJson victim = id ? pod_json(cluster_, id) : OrderedJson{{"pod", eviction.pod}};
            put(victim, "node", eviction.node);
            victim["unit"] = to_text(eviction.unit);
            put(victim, "group", eviction.group);
            victim["mode"] = to_text(eviction.mode);
            victim["pdbViolation"] = eviction.pdb_violation;
            put(victim, "reason", eviction.reason);
            const bool holds_gpu = gpu && id && amount_held(s_, id, gpu) > 0;
            if (id) {
                victim["lost"] = {
                    {"resource", holds_gpu ? kGpu : "cpu"},
                    {"seconds", lost_work(s_, id, holds_gpu ? gpu : WorkResource{.dim = kCpu, .cls = {}})}};
            }
            out.push_back(std::move(victim));
            if (out.size() == kMostPods) break;
        }
        return out;
    }

    // Nodes where something changes, those that lose most pods first.
    [[nodiscard]] std::vector<std::string> touched_nodes() const {
        std::map<std::string, int> changes;
        for (const Eviction& e : decision_.evictions)
            changes[e.node] += 2;
        for (const Placement& p : decision_.placements)
            ++changes[p.node];
        std::vector<std::string> nodes;
        for (const auto& [node, count] : changes) {
            if (!node.empty()) nodes.push_back(node);
        }
        std::ranges::stable_sort(nodes, [&](const auto& a, const auto& b) { return changes[a] > changes[b]; });
        return nodes;
    }

    [[nodiscard]] OrderedJson node_json(const std::string& name) const {
        OrderedJson out = OrderedJson::object();
        put(out, "name", name);
        const StringId word = cluster_.words().find_string(name);
        const NodeId id = word ? cluster_.find_node(word) : NodeId();
        if (!id || cluster_.node(id) == nullptr) return out;
        const Node& node = *cluster_.node(id);
        put(out, "rack", rack_of(s_, id));
        out["allocatable"] = amounts_json(*s_.words, node.allocatable);
        OrderedJson devices = OrderedJson::array();
        for (const Device& device : s_.devices[id])
            devices.push_back({{"index", device.index}, {"group", device.group}});
        out["devices"] = std::move(devices);
        OrderedJson pods = OrderedJson::array();
        for (const PodId pod : s_.node_pods[id]) {
            OrderedJson entry = pod_json(cluster_, pod);
            const std::string full = s_.pod_name(pod);
            const bool leaves =
                std::ranges::find(decision_.evictions, full, &Eviction::pod) != decision_.evictions.end();
            entry["then"] = leaves ? "leaves" : "stays";
            pods.push_back(std::move(entry));
            if (pods.size() == kMostPods) break;
        }
        for (const Placement& placement : decision_.placements) {
            if (placement.node == name) pods.push_back(coming(placement));
        }
        out["podsInAll"] = s_.node_pods[id].size();
        out["pods"] = std::move(pods);
        return out;
    }

    [[nodiscard]] OrderedJson coming(const Placement& placement) const {
        const PodId id = pod_named(cluster_, placement.pod);
        OrderedJson entry = id ? pod_json(cluster_, id) : OrderedJson{{"pod", placement.pod}};
        OrderedJson devices = OrderedJson::array();
        for (const std::string& device : placement.devices) {
            const int index = std::atoi(device.c_str());
            devices.push_back(index);
        }
        entry["devices"] = std::move(devices);
        entry["then"] = placement.after_evictions ? "promised" : "placed";
        return entry;
    }

    [[nodiscard]] OrderedJson commands() const {
        OrderedJson out = OrderedJson::array();
        const std::string at = format_time(decision_.at);
        const std::string when = " --now " + at;
        const std::string& about = decision_.evictions.empty() ? decision_.owner : decision_.evictions.front().pod;
        if (origin_.kind == "record") {
            for (std::string& command : commands_of_cycle(about, origin_.arguments, decision_.cycle))
                out.push_back(std::move(command));
        } else if (!origin_.arguments.empty()) {
            out.push_back(fmt::format("reprieve explain {} {}{}", shell_word(about), origin_.arguments, when));
            out.push_back(fmt::format(
                "reprieve plan {}{}{}", origin_.arguments, when, origin_.kind == "files" ? " --alternatives" : ""));
        }
        if (origin_.kind == "files") return out;
        for (const Eviction& eviction : decision_.evictions) {
            const std::size_t slash = eviction.pod.find('/');
            if (slash == std::string::npos) continue;
            out.push_back(fmt::format("kubectl get events -n {} --field-selector involvedObject.name={}",
                                      shell_word(eviction.pod.substr(0, slash)),
                                      shell_word(eviction.pod.substr(slash + 1))));
            if (out.size() == 4) break;
        }
        return out;
    }

    const Cluster& cluster_;
    const Snapshot& s_;
    const Plan& plan_;
    const Decision& decision_;
    const Origin& origin_;
    OwnerFacts owner_;
};

}  // namespace

std::vector<std::string> commands_of_cycle(const std::string& about, const std::string& arguments, std::int64_t cycle) {
    return {fmt::format("reprieve explain {} {} --cycle {}", shell_word(about), arguments, cycle),
            fmt::format("reprieve plan {} --cycle {}", arguments, cycle)};
}

std::shared_ptr<DecisionEntry> describe(const Cluster& cluster,
                                        const Plan& plan,
                                        const Decision& decision,
                                        const Origin& origin) {
    return ReceiptWriter(cluster, plan, decision, origin).write();
}

}  // namespace reprieve::window
