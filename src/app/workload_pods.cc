#include "app/workload_pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "manifest/decode.h"
#include "sim/derived_objects.h"
#include "state/serving_members.h"

namespace reprieve {
namespace {

constexpr const char* kGroupNote = "scheduling.k8s.io/group-name";
constexpr const char* kRoleNote = "volcano.sh/task-spec";
// No cluster holds more; a slip of the keyboard must not fill the memory.
constexpr std::int64_t kMostPods = 1'000'000;

std::string ns_of(const Json& body) {
    const std::string ns = text_at(body, {"metadata", "namespace"});
    return ns.empty() ? "default" : ns;
}

std::string name_of(const Json& body) { return text_at(body, {"metadata", "name"}); }

bool is_volcano(const Json& body) { return text_at(body, {"apiVersion"}).starts_with("batch.volcano.sh/"); }

Json reference(const Json& body) {
    return {{"apiVersion", text_at(body, {"apiVersion"})},
            {"kind", text_at(body, {"kind"})},
            {"name", name_of(body)},
            {"controller", true}};
}

// The controller that an object names.
std::string controller_of(const Json& body, std::string_view kind) {
    const Json* owners = find_path(body, {"metadata", "ownerReferences"});
    if (owners == nullptr || !owners->is_array()) return "";
    for (const Json& owner : *owners) {
        if (text_at(owner, {"kind"}) == kind) return text_at(owner, {"name"});
    }
    return "";
}

bool volcano_job_has_ended(const Json& volcano_job) {
    const std::string phase = text_at(volcano_job, {"status", "state", "phase"});
    return phase == "Completed" || phase == "Failed" || phase == "Aborted" || phase == "Terminated" ||
           phase == "Aborting" || phase == "Terminating" || phase == "Completing";
}

// Volcano's admission names those that have no name.
std::string task_name(const Json& task, std::size_t place) {
    const std::string name = text_at(task, {"name"});
    return name.empty() ? fmt::format("default{}", place) : name;
}

// What is being deleted makes nothing more, and neither does what is done or about to be.
bool has_ended(const Json& body, std::span<const char* const> conditions) {
    if (!text_at(body, {"metadata", "deletionTimestamp"}).empty()) return true;
    return std::ranges::any_of(conditions, [&](const char* condition) { return has_condition(body, condition); });
}

// The indexes of an Indexed Job that are done: "0,2-4".
std::set<std::int64_t> completed_indexes(const Json& job) {
    std::set<std::int64_t> out;
    const std::string text = text_at(job, {"status", "completedIndexes"});
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end && std::ssize(out) < kMostPods) {
        std::int64_t first = 0;
        const auto read = std::from_chars(at, end, first);
        if (read.ec != std::errc{}) break;
        std::int64_t last = first;
        at = read.ptr;
        if (at < end && *at == '-') {
            const auto upper = std::from_chars(at + 1, end, last);
            if (upper.ec != std::errc{}) break;
            at = upper.ptr;
        }
        for (; first <= last && std::ssize(out) < kMostPods; ++first)
            out.insert(first);
        if (at == end || *at != ',') break;
        ++at;
    }
    return out;
}

// The index of an Indexed Job's pod, which the controller calls NAME-INDEX-LETTERS; -1: it has none.
std::int64_t completion_index(const Vocabulary& words, const Pod& pod) {
    std::string_view text;
    const StringId key = words.find_string("batch.kubernetes.io/job-completion-index");
    if (const StringId written = key ? words.labels(pod.labels).get(key) : StringId()) {
        text = words.text(written);
    } else {
        const std::string prefix = words.str(pod.owner.name) + "-";
        text = pod.name;
        if (!text.starts_with(prefix)) return -1;
        text.remove_prefix(prefix.size());
        text = text.substr(0, text.find('-'));
    }
    std::int64_t out = -1;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? out : -1;
}

// The largest number of pods that one part of a workload asks for.
std::int64_t pods_asked(const Json& body) {
    const std::int64_t parallel = number_at(body, {"spec", "parallelism"}, 0);
    std::int64_t most = std::min(parallel, number_at(body, {"spec", "completions"}, parallel));
    most = std::max(most, number_at(body, {"spec", "replicas"}, 0));
    most = std::max(most, number_at(body, {"spec", "leaderWorkerTemplate", "size"}, 0));
    for (const char* parts : {"tasks", "replicatedJobs"}) {
        const Json* list = find_path(body, {"spec", parts});
        if (list == nullptr || !list->is_array()) continue;
        for (const Json& part : *list)
            most = std::max(most, number_at(part, {"replicas"}, 0));
    }
    return most;
}

const Workload* find_workload(const Cluster& cluster, WorkloadKind kind, const Json& body) {
    const Vocabulary& words = cluster.words();
    const StringId ns = words.find_string(ns_of(body));
    const StringId name = words.find_string(name_of(body));
    return ns && name ? cluster.workload(kind, ns, name) : nullptr;
}

}  // namespace

void WorkloadPods::note(std::string_view kind,
                        std::string_view api_version,
                        std::string_view json,
                        const SourceRef& source) {
    static constexpr std::string_view kKinds[] = {
        "Job", "Deployment", "ReplicaSet", "StatefulSet", "JobSet", "LeaderWorkerSet"};
    if (std::ranges::find(kKinds, kind) == std::end(kKinds)) return;
    Json body = Json::parse(json, nullptr, false);
    if (!body.is_object()) return;
    // Items of a list may leave it to the list to say what they are.
    body["kind"] = kind;
    body["apiVersion"] = api_version;
    const std::string where =
        fmt::format("{}:{}: {} {}/{}", source.file(), source.line(), kind, ns_of(body), name_of(body));
    if (const std::int64_t asked = pods_asked(body); asked > kMostPods) {
        if (too_many_.empty())
            too_many_ =
                fmt::format("{}: spec: asks for {} pods, more than the {} that are made", where, asked, kMostPods);
        return;
    }
    static constexpr const char* kEnds[] = {"Complete", "Completed", "Failed", "FailureTarget", "SuccessCriteriaMet"};
    if (has_ended(body, kEnds)) return;
    const bool is_over = kind == "JobSet" && !text_at(body, {"status", "terminalState"}).empty();
    const std::vector<Json> derived = is_over ? std::vector<Json>() : derived_objects(body);
    for (const Json& object : derived) {
        if (text_at(object, {"kind"}) == "Pod")
            made_.push_back({.body = object, .where = where});
        else
            documents_.push_back({.body = object, .where = where, .derived = true});
    }
    if (kind != "JobSet" && kind != "LeaderWorkerSet") documents_.push_back({.body = std::move(body), .where = where});
}

void WorkloadPods::count_pods(const Cluster& cluster) {
    const Snapshot& s = cluster.snapshot();
    for (PodId id : IdRange<PodId>(s.pods.size())) {
        if (s.pods[id].state == PodState::kAbsent) continue;
        const Pod& pod = cluster.pod(id);
        const std::string ns = cluster.words().str(pod.ns);
        names_.insert(ns + "/" + pod.name);
        if (!pod.owner.kind) continue;
        Owned& owned = owned_[{cluster.words().str(pod.owner.kind), ns + "/" + cluster.words().str(pod.owner.name)}];
        owned.names.insert(pod.name);
        owned.active += pod.finished() || pod.terminating() ? 0 : 1;
        owned.succeeded += pod.phase == PodPhase::kSucceeded ? 1 : 0;
        if (pod.phase == PodPhase::kSucceeded || !(pod.finished() || pod.terminating()))
            owned.indexes.insert(completion_index(cluster.words(), pod));
    }
}

bool WorkloadPods::is_there(const std::string& ns, const std::string& name) const {
    return names_.contains(ns + "/" + name);
}

void WorkloadPods::add(const Document& document, Json object) {
    object["metadata"]["namespace"] = ns_of(document.body);
    if (text_at(object, {"kind"}) == "Pod") names_.insert(ns_of(object) + "/" + name_of(object));
    made_.push_back({.body = std::move(object), .where = document.where});
}

// As many pods of the template as are lacking, under the first free numbers.
void WorkloadPods::make_numbered(const Document& document,
                                 const Json& owner,
                                 const std::string& prefix,
                                 std::int64_t count,
                                 const std::set<std::int64_t>& done) {
    for (std::int64_t i = 0; count > 0; ++i) {
        const std::string name = fmt::format("{}-{}", prefix, i);
        if (done.contains(i) || is_there(ns_of(document.body), name)) continue;
        add(document, pod_from_template(find_path(document.body, {"spec", "template"}), owner, name));
        --count;
    }
}

void WorkloadPods::make_job(const Document& document) {
    const Json& job = document.body;
    if (is_true(job, {"spec", "suspend"})) return;
    const Owned& owned = owned_[{"Job", ns_of(job) + "/" + name_of(job)}];
    const std::int64_t parallel = number_at(job, {"spec", "parallelism"}, 1);
    const std::int64_t done = std::max(owned.succeeded, number_at(job, {"status", "succeeded"}, 0));
    // Without a number of completions the first that succeeds says that the work is done.
    const std::int64_t completions = number_at(job, {"spec", "completions"}, -1);
    if (completions < 0 && done > 0) return;
    const std::int64_t left = completions < 0 ? parallel : completions - done;
    std::set<std::int64_t> taken = completed_indexes(job);
    if (text_at(job, {"spec", "completionMode"}) == "Indexed") taken.insert(owned.indexes.begin(), owned.indexes.end());
    make_numbered(document, reference(job), name_of(job), std::min(parallel, left) - owned.active, taken);
}

// A Deployment's pods belong to its ReplicaSets; one that is not in the input is known from its pods.
void WorkloadPods::make_replicas(const Document& document, const Cluster& cluster) {
    const Json& body = document.body;
    const std::string ns = ns_of(body);
    const bool deployment = text_at(body, {"kind"}) == "Deployment";
    const Workload* fact =
        find_workload(cluster, deployment ? WorkloadKind::kDeployment : WorkloadKind::kReplicaSet, body);
    const bool serves = !text_at(body, {"metadata", "labels", "reprieve.dev/serving"}).empty();
    if (deployment && (serves || (fact != nullptr && serving_of(cluster, *fact)))) return;
    std::int64_t active = 0;
    std::set<std::string> sets;
    std::pair<std::int64_t, std::string> newest{-1, name_of(body)};
    if (!deployment) {
        const std::string above = controller_of(body, "Deployment");
        const auto is_above = [&](const Document& d) {
            return text_at(d.body, {"kind"}) == "Deployment" && ns_of(d.body) == ns && name_of(d.body) == above;
        };
        if (!above.empty() && std::ranges::any_of(documents_, is_above)) return;  // it makes them
        sets.insert(name_of(body));
    }
    for (const Document& other : documents_) {
        if (!deployment || text_at(other.body, {"kind"}) != "ReplicaSet" || ns_of(other.body) != ns ||
            controller_of(other.body, "Deployment") != name_of(body))
            continue;
        sets.insert(name_of(other.body));
        const std::string revision =
            text_at(other.body, {"metadata", "annotations", "deployment.kubernetes.io/revision"});
        newest = std::max(newest, {revision.empty() ? 0 : std::atoll(revision.c_str()), name_of(other.body)});
    }
    const Snapshot& s = cluster.snapshot();
    for (PodId id : IdRange<PodId>(s.pods.size())) {
        if (fact == nullptr || fact->selector.null || s.pods[id].state == PodState::kAbsent) continue;
        const Pod& pod = cluster.pod(id);
        if (cluster.words().text(pod.ns) != ns ||
            !fact->selector.matches(cluster.words().labels(pod.labels), cluster.words()))
            continue;
        // Pods that say nothing of their owner are told by the selector.
        if (!pod.owner.kind) active += pod.finished() || pod.terminating() ? 0 : 1;
        if (!deployment || cluster.words().text(pod.owner.kind) != "ReplicaSet") continue;
        const std::string set = cluster.words().str(pod.owner.name);
        if (sets.insert(set).second && newest.first < 0) newest = {-1, set};
    }
    for (const std::string& set : sets)
        active += owned_[{"ReplicaSet", ns + "/" + set}].active;
    Json owner = reference(body);
    if (deployment)
        owner = {{"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}, {"name", newest.second}, {"controller", true}};
    make_numbered(document, owner, newest.second, number_at(body, {"spec", "replicas"}, 1) - active);
}

void WorkloadPods::make_stateful_set(const Document& document) {
    const Json& set = document.body;
    const std::int64_t first = number_at(set, {"spec", "ordinals", "start"}, 0);
    for (std::int64_t i = first; i < first + number_at(set, {"spec", "replicas"}, 1); ++i) {
        const std::string name = fmt::format("{}-{}", name_of(set), i);
        if (!is_there(ns_of(set), name))
            add(document, pod_from_template(find_path(set, {"spec", "template"}), reference(set), name));
    }
}

// Its pods are a gang: the one that its pods or a PodGroup of its name say, else one of its own making.
void WorkloadPods::make_volcano_job(const Document& document, const Cluster& cluster) {
    const Json& job = document.body;
    const Json* tasks = find_path(job, {"spec", "tasks"});
    if (tasks == nullptr || !tasks->is_array() || volcano_job_has_ended(job)) return;
    const std::string ns = ns_of(job);
    std::string group = name_of(job);
    const Snapshot& s = cluster.snapshot();
    bool grouped = false;
    for (GangId gang : IdRange<GangId>(s.gangs.size())) {
        if (!s.gangs[gang].alive || s.words->text(s.gangs[gang].ns) != ns) continue;
        const std::string name = s.words->str(s.gangs[gang].name);
        const bool of_its_pods = std::ranges::any_of(s.gangs[gang].pods, [&](PodId p) {
            return owned_[{"Job", ns + "/" + name_of(job)}].names.contains(cluster.pod(p).name);
        });
        if (name != name_of(job) && !of_its_pods) continue;
        group = name;
        grouped = true;
    }
    std::int64_t least_members = 0;  // as Volcano's admission writes it where the Job does not
    Json roles = Json::object();
    for (std::size_t at = 0; at < tasks->size(); ++at) {
        const Json& task = (*tasks)[at];
        const std::int64_t least = number_at(task, {"minAvailable"}, -1);
        least_members += least >= 0 ? least : number_at(task, {"replicas"}, 1);
        if (least >= 0) roles[task_name(task, at)] = least;
    }
    if (const std::int64_t written = number_at(job, {"spec", "minAvailable"}, 0); written > 0) least_members = written;
    if (!grouped) {
        Json made = {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                     {"kind", "PodGroup"},
                     {"metadata", {{"name", group}}},
                     {"spec", {{"minMember", least_members}}}};
        if (!roles.empty()) made["spec"]["minTaskMember"] = roles;
        for (const char* part : {"queue", "priorityClassName", "networkTopology"}) {
            if (const Json* given = find_path(job, {"spec", part})) made["spec"][part] = *given;
        }
        add(document, std::move(made));
    }
    for (std::size_t at = 0; at < tasks->size(); ++at) {
        const Json& task = (*tasks)[at];
        for (std::int64_t i = 0; i < number_at(task, {"replicas"}, 1); ++i) {
            const std::string name = fmt::format("{}-{}-{}", name_of(job), task_name(task, at), i);
            if (is_there(ns, name)) continue;
            Json pod = pod_from_template(find_path(task, {"template"}), reference(job), name);
            make_path(pod, {"metadata", "annotations", kGroupNote}) = group;
            make_path(pod, {"metadata", "annotations", kRoleNote}) = task_name(task, at);
            if (std::string scheduler = text_at(job, {"spec", "schedulerName"}); !scheduler.empty())
                pod["spec"]["schedulerName"] = std::move(scheduler);
            add(document, std::move(pod));
        }
    }
}

void WorkloadPods::make(const Document& document, const Cluster& cluster) {
    const std::string kind = text_at(document.body, {"kind"});
    if (is_volcano(document.body)) return make_volcano_job(document, cluster);
    const Json* pattern = find_path(document.body, {"spec", "template"});
    if (pattern == nullptr || !pattern->is_object()) {
        // Of the others, what says nothing of its pods may be there for its pods' sake.
        if (kind == "Job" && owned_[{"Job", ns_of(document.body) + "/" + name_of(document.body)}].names.empty())
            warnings_.insert(fmt::format("Job {}/{}: spec.template is missing, so its pods are not made",
                                         ns_of(document.body),
                                         name_of(document.body)));
        return;
    }
    if (kind == "StatefulSet") return make_stateful_set(document);
    if (kind == "Deployment" || kind == "ReplicaSet") return make_replicas(document, cluster);
    make_job(document);
}

// What a workload derives may stand in the input as well, made by its controller already: that one says what is
// lacking.
void WorkloadPods::forget_derived_twice() {
    std::set<std::pair<std::string, std::string>> read;
    const auto key = [](const Document& d) {
        return std::pair(text_at(d.body, {"kind"}), ns_of(d.body) + "/" + name_of(d.body));
    };
    for (const Document& document : documents_) {
        if (!document.derived) read.insert(key(document));
    }
    std::erase_if(documents_, [&](const Document& d) { return d.derived && read.contains(key(d)); });
}

Result<void> WorkloadPods::add_missing(Cluster& cluster) {
    if (!too_many_.empty()) return fail(too_many_);
    if (documents_.empty() && made_.empty()) return {};
    count_pods(cluster);
    std::erase_if(made_, [&](const Document& d) { return is_there(ns_of(d.body), name_of(d.body)); });
    for (const Document& pod : made_)
        names_.insert(ns_of(pod.body) + "/" + name_of(pod.body));
    forget_derived_twice();
    for (const Document& document : documents_)
        make(document, cluster);
    Decoder decoder(cluster.words());
    for (const Document& document : made_) {
        auto decoded = decoder.decode(document.body.dump());
        if (!decoded)
            return fail(
                fmt::format("{}: template: {}: {}", document.where, decoded.error().field, decoded.error().what));
        if (!*decoded) continue;
        if (auto added = cluster.add(std::move(**decoded)); !added) return added;
    }
    return {};
}

}  // namespace reprieve
