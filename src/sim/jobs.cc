// Jobs: pods that are made again until enough of them have finished.
#include <fmt/format.h>

#include <algorithm>

#include "sim/controllers.h"

namespace reprieve {
namespace {

constexpr const char* kGroupNote = "scheduling.k8s.io/group-name";
constexpr const char* kRoleNote = "volcano.sh/task-spec";

}  // namespace

void Controllers::serve_job(SlotId owner) {
    const ObjectKey key = store_.at(owner).key;
    const std::int64_t parallel = number_at(store_.at(owner).body, {"spec", "parallelism"}, 1);
    const std::int64_t completions = number_at(store_.at(owner).body, {"spec", "completions"}, parallel);
    const auto done = static_cast<std::int64_t>(finished_[key].size());
    const bool rests = is_true(store_.at(owner).body, {"spec", "suspend"}) ||
                       has_condition(store_.at(owner).body, "Complete") ||
                       has_condition(store_.at(owner).body, "Failed");
    const std::int64_t want = rests ? 0 : std::min(parallel, completions - done);
    for (auto have = static_cast<std::int64_t>(active_pods(key).size()); have < want; ++have) {
        const Store::Entry& job = store_.at(owner);
        maker_.create(
            maker_.from_template(find_path(job.body, {"spec", "template"}), job, maker_.fresh_name(key.ns, key.name)));
    }
    Json body = store_.at(owner).body;
    make_path(body, {"status", "succeeded"}) = done;
    if (done >= completions) set_condition(body, "Complete", true, "");
    store_.edit(owner, std::move(body));
}

// The gang that the pods of a Volcano Job form: the one its pods name, else one of the Job's own name.
std::string Controllers::group_of(const Store::Entry& job) {
    for (SlotId slot : store_.children(job.key)) {
        const Store::Entry& pod = store_.at(slot);
        if (std::string group = text_at(pod.body, {"metadata", "annotations", kGroupNote});
            pod.is_pod() && !group.empty())
            return group;
    }
    const ObjectKey key{"PodGroup.scheduling.volcano.sh", job.key.ns, job.key.name};
    if (store_.find(key)) return key.name;
    std::int64_t members = 0;
    for (const Json& task : *find_path(job.body, {"spec", "tasks"}))
        members += number_at(task, {"replicas"}, 1);
    Json group = {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                  {"kind", "PodGroup"},
                  {"metadata",
                   {{"name", key.name}, {"namespace", key.ns}, {"ownerReferences", Json::array({reference_to(job)})}}},
                  {"spec", {{"minMember", number_at(job.body, {"spec", "minAvailable"}, members)}}}};
    for (const char* part : {"queue", "priorityClassName", "networkTopology"}) {
        if (const Json* given = find_path(job.body, {"spec", part})) group["spec"][part] = *given;
    }
    static_cast<void>(store_.put(std::move(group)));
    return key.name;
}

void Controllers::serve_volcano_job(SlotId owner) {
    const ObjectKey key = store_.at(owner).key;
    const Json* given = find_path(store_.at(owner).body, {"spec", "tasks"});
    if (given == nullptr || !given->is_array()) return;
    const Json tasks = *given;
    const std::string group = group_of(store_.at(owner));
    for (const Json& task : tasks) {
        const std::string role = text_at(task, {"name"});
        for (std::int64_t i = 0; i < number_at(task, {"replicas"}, 1); ++i) {
            const std::string name = fmt::format("{}-{}-{}", key.name, role, i);
            if (store_.find({"Pod", key.ns, name})) continue;
            Json pod = maker_.from_template(find_path(task, {"template"}), store_.at(owner), name);
            make_path(pod, {"metadata", "annotations", kGroupNote}) = group;
            make_path(pod, {"metadata", "annotations", kRoleNote}) = role;
            const std::string scheduler = text_at(store_.at(owner).body, {"spec", "schedulerName"});
            if (!scheduler.empty()) pod["spec"]["schedulerName"] = scheduler;
            maker_.create(std::move(pod));
        }
    }
}

}  // namespace reprieve
