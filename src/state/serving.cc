#include "state/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "model/revision.h"
#include "state/serving_members.h"

namespace reprieve {
namespace {

constexpr const char* kPlaneLabel = "reprieve.dev/plane";
constexpr const char* kDefaultPlane = "default";

class Reader {
public:
    Reader(const Cluster& cluster, std::string_view plane_label)
        : cluster_(cluster),
          words_(cluster.words()),
          node_label_(words_.find_string(plane_label)),
          label_(words_.find_string(kPlaneLabel)) {}

    ServingRoster read() {
        read_nodes();
        sort_workloads();
        read_deployments();
        for (const auto& [key, planes] : workloads_)
            read_workloads(rows_[key], planes);
        if (!rows_.empty()) read_pods();
        finish();
        return std::move(roster_);
    }

private:
    using Key = std::pair<std::string, std::string>;  // namespace, name
    using ByPlane = std::map<std::string, std::vector<const Workload*>>;

    // What is known of a deployment before everything about it was seen.
    struct Draft {
        ServingRow row;
        bool own_object = false;  // it has a ServingDeployment
        std::optional<std::int32_t> priority;
        std::optional<Resources> need;
        const Workload* pattern = nullptr;  // whose template says what the object does not
    };

    [[nodiscard]] Key key_of(StringId ns, StringId name) const { return {words_.str(ns), words_.str(name)}; }

    [[nodiscard]] std::string plane_named(const Labels& labels, StringId key) const {
        const StringId plane = key ? labels.get(key) : StringId();
        return plane ? words_.str(plane) : std::string();
    }

    [[nodiscard]] std::optional<std::int32_t> class_value(StringId name) const {
        const PriorityClass* cls = name ? cluster_.priority_class(name) : nullptr;
        if (cls != nullptr) return cls->value;
        return std::nullopt;
    }

    void read_nodes() {
        roster_.planes.resize(cluster_.snapshot().nodes.size());
        for (NodeId id : IdRange<NodeId>(roster_.planes.size())) {
            const Node* node = cluster_.node(id);
            if (node == nullptr) continue;
            const std::string plane = plane_named(node->labels, node_label_);
            roster_.planes[id] = plane.empty() ? kDefaultPlane : plane;
        }
    }

    void sort_workloads() {
        for (const auto& id : cluster_.serving_workloads()) {
            const Workload* workload = cluster_.workload(id);
            const StringId serving = serving_of(cluster_, *workload);
            if (!serving) {
                note_missing(*workload);
                continue;
            }
            const std::string plane = plane_named(workload->labels, label_);
            workloads_[key_of(workload->ns, serving)][plane.empty() ? kDefaultPlane : plane].push_back(workload);
        }
        for (auto& [key, planes] : workloads_) {
            for (auto& [plane, list] : planes) {
                const auto routed = [&](const Workload* w) { return gets_traffic(*w, words_); };
                if (std::ranges::any_of(list, routed)) std::erase_if(list, std::not_fn(routed));
                std::ranges::sort(list, {}, [&](const Workload* w) { return words_.text(w->name); });
            }
        }
    }

    void note_missing(const Workload& workload) {
        const StringId named = serving_label(cluster_, workload.labels);
        if (!named || cluster_.servings().find(workload.ns, named)) return;
        missing_.insert(
            fmt::format("ServingDeployment {}/{} does not exist; workloads that name it count by themselves",
                        words_.text(workload.ns),
                        words_.text(named)));
    }

    void read_deployments() {
        const auto& all = cluster_.servings();
        using ServingId = decltype(all.find({}, {}));
        for (const ServingId id : IdRange<ServingId>(all.slots())) {
            const ServingDeployment* fact = all.get(id);
            if (fact == nullptr) continue;
            Draft& draft = rows_[key_of(fact->ns, fact->name)];
            draft.own_object = true;
            draft.row.desired = fact->replicas;
            draft.need = fact->resources;
            draft.priority = fact->priority ? fact->priority : class_value(fact->priority_class);
            if (fact->priority_class && !draft.priority) {
                roster_.warnings.push_back(
                    fmt::format("PriorityClass {} does not exist; ServingDeployment {}/{} names it",
                                words_.text(fact->priority_class),
                                words_.text(fact->ns),
                                words_.text(fact->name)));
            }
            for (const ServingPlane& plane : fact->planes) {
                draft.row.branches[words_.str(plane.name)] = {
                    .score = plane.score, .allowed = true, .commit = plane.committed.value_or(0), .pods = {}};
            }
        }
    }

    void read_workloads(Draft& draft, const ByPlane& planes) {
        const bool planes_listed = !draft.row.branches.empty();
        for (const auto& [plane, list] : planes) {
            ServingBranch& branch = draft.row.branches[plane];
            if (!planes_listed) branch.allowed = true;
            branch.commit = 0;
            for (const Workload* workload : list) {
                branch.commit += workload->replicas;
                branch.rollout = branch.rollout || replaces_pods(*workload);
                if (draft.pattern == nullptr) draft.pattern = workload;
                if (!draft.own_object) draft.row.desired = workload->desired_replicas.value_or(0);
            }
            if (list.size() > 1) refuse_choice(branch, list, plane);
        }
    }

    static bool replaces_pods(const Workload& workload) {
        return workload.kind == WorkloadKind::kDeployment &&
               workload.updated_replicas.value_or(0) < workload.status_replicas.value_or(0);
    }

    // Which of them to scale is not for us to guess.
    void refuse_choice(ServingBranch& branch, const std::vector<const Workload*>& list, const std::string& plane) {
        branch.allowed = false;
        branch.unclear = true;
        roster_.warnings.push_back(fmt::format(
            "{} workloads are the commit of one serving deployment in plane {} ({}/{} and {}); none is scaled",
            list.size(),
            plane,
            words_.text(list[0]->ns),
            words_.text(list[0]->name),
            words_.text(list[1]->name)));
    }

    void read_pods() {
        const Snapshot& s = cluster_.snapshot();
        for (PodId id : IdRange<PodId>(s.pods.size())) {
            if (!s.pods[id].has(kServing) || s.pods[id].has(kFinished)) continue;
            const Pod& pod = cluster_.pod(id);
            const auto found = rows_.find(key_of(pod.ns, serving_of(cluster_, pod)));
            if (found == rows_.end()) continue;
            Draft& draft = found->second;
            if (!draft.own_object)
                draft.row.branches.begin()->second.pods.push_back(id);
            else
                draft.row.branches[plane_of(id)].pods.push_back(id);
        }
    }

    [[nodiscard]] std::string plane_of(PodId id) const {
        const std::string named = plane_named(words_.labels(cluster_.pod(id).labels), label_);
        if (!named.empty()) return named;
        const NodeId node = cluster_.snapshot().pods[id].node;
        return node ? roster_.planes[node] : kDefaultPlane;
    }

    void finish() {
        for (auto& [key, draft] : rows_) {
            ServingRow& row = draft.row;
            row.name = key.first + "/" + key.second;
            row.priority = draft.priority ? *draft.priority : template_priority(draft.pattern);
            Resources need = draft.need                 ? *draft.need
                             : draft.pattern != nullptr ? draft.pattern->replica_requests
                                                        : Resources();
            need.drop_zeros();
            need.set(kPods, 1);
            row.need.assign(need.begin(), need.end());
            for (auto& [plane, branch] : row.branches) {
                std::ranges::sort(branch.pods, [&](PodId a, PodId b) { return cluster_.snapshot().name_less(a, b); });
                branch.rollout = branch.rollout || of_two_replica_sets(branch);
            }
            roster_.rows.push_back(std::move(row));
        }
        roster_.warnings.insert(roster_.warnings.end(), missing_.begin(), missing_.end());
        std::ranges::sort(roster_.warnings);
    }

    [[nodiscard]] std::int32_t template_priority(const Workload* pattern) const {
        if (pattern != nullptr && pattern->template_priority) return *pattern->template_priority;
        if (pattern != nullptr && pattern->template_priority_class)
            return class_value(pattern->template_priority_class).value_or(0);
        const PriorityClass* standard = cluster_.default_priority_class();
        return standard == nullptr ? 0 : standard->value;
    }

    [[nodiscard]] bool of_two_replica_sets(const ServingBranch& branch) const {
        std::set<StringId> sets;
        for (PodId id : branch.pods) {
            const Pod& pod = cluster_.pod(id);
            if (!pod.terminating() && words_.text(pod.owner.kind) == "ReplicaSet") sets.insert(pod.owner.name);
        }
        return sets.size() > 1;
    }

    const Cluster& cluster_;
    const Vocabulary& words_;
    StringId node_label_;
    StringId label_;
    std::map<Key, Draft> rows_;
    std::map<Key, ByPlane> workloads_;
    std::set<std::string> missing_;
    ServingRoster roster_;
};

}  // namespace

ServingRoster read_servings(const Cluster& cluster, std::string_view plane_label) {
    return Reader(cluster, plane_label).read();
}

}  // namespace reprieve
