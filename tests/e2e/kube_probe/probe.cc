#include "probe.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "manifest/plan_json.h"

namespace reprieve {
namespace {

using Json = nlohmann::json;

Time wall_clock() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

double thread_cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

const char* text_of(SinkStep step) {
    constexpr const char* kTexts[] = {
        "record", "mark", "evict", "nominate", "clearNomination", "bind", "scale", "forceDelete", "annotate", "status"};
    return kTexts[static_cast<std::size_t>(step)];
}

constexpr const char* kKinds[] = {"Node",
                                  "Pod",
                                  "PriorityClass",
                                  "Namespace",
                                  "Gang",
                                  "CompositeGroup",
                                  "Queue",
                                  "HyperNode",
                                  "Budget",
                                  "Workload",
                                  "ServingDeployment",
                                  "PersistentVolume",
                                  "VolumeClaim",
                                  "StorageClass",
                                  "CsiNode",
                                  "CsiDriver",
                                  "CsiStorageCapacity"};

std::string name_of(const Object& object, const Vocabulary& words) {
    return std::visit(
        [&](const auto& one) -> std::string {
            std::string name;
            if constexpr (requires { one.ns; }) name = words.str(one.ns) + "/";
            if constexpr (std::is_same_v<std::decay_t<decltype(one)>, Pod>)
                return name + one.name;
            else
                return name + words.str(one.name);
        },
        object);
}

HttpClientOptions client_options(const ProbeOptions& options, std::uint64_t seed) {
    HttpClientOptions out;
    out.line.plain_http = options.plain_http;
    out.in_flight = options.in_flight;
    out.seed = seed;
    return out;
}

}  // namespace

Probe::Probe(ProbeOptions options) : options_(std::move(options)) {
    HttpClientOptions reading = client_options(options_, 1);
    reading.line.buffer_bytes = 256L << 10;
    reads_ = std::make_unique<HttpClient>(options_.access, reading);
    writes_ = std::make_unique<HttpClient>(options_.access, client_options(options_, 2));
    options_.source.clock = wall_clock;
    source_ = std::make_unique<KubeSource>(*reads_, words_, known_, addresses_, options_.source);
    KubeSinkOptions sink;
    if (!options_.identity.empty()) {
        options_.election.identity = options_.identity;
        lease_ = std::make_unique<LeaderLease>(*writes_, options_.election, wall_clock);
        sink.may_act = [this] { return lease_->leads(); };
    }
    sink.on_failure = [this] { source_->wake(); };
    sink_ = std::make_unique<KubeSink>(*writes_, known_, addresses_, sink);
}

Probe::~Probe() {
    sink_.reset();
    source_.reset();
    if (lease_) lease_->resign({3'000'000});
    lease_.reset();
}

std::string Probe::run() {
    std::vector<Change> changes;
    const auto begun = std::chrono::steady_clock::now();
    const double cpu = thread_cpu_seconds();
    bool first = true;
    while (source_->poll(changes, {50'000})) {
        if (first) {
            first_poll_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
            poll_cpu_seconds_ = thread_cpu_seconds() - cpu;
            first = false;
        }
        for (const Change& change : changes)
            take(change);
        changes.clear();
        if (options_.knows_answers) act();
        std::deque<std::packaged_task<Json()>> questions;
        {
            const std::lock_guard lock(mutex_);
            questions.swap(questions_);
        }
        for (auto& question : questions)
            question();
    }
    return source_->fault();
}

void Probe::stop() { source_->stop(); }

Json Probe::ask(const std::function<Json()>& question) {
    std::packaged_task<Json()> task(question);
    std::future<Json> answer = task.get_future();
    {
        const std::lock_guard lock(mutex_);
        questions_.push_back(std::move(task));
    }
    source_->wake();
    if (answer.wait_for(std::chrono::seconds(60)) != std::future_status::ready) return {{"error", "not polling"}};
    return answer.get();
}

// The benchmark's names: preemptor high-i belongs on node-i and displaces low-i-0..2.
void Probe::take(const Change& change) {
    const std::string name = name_of(change.object, words_);
    const auto* pod = std::get_if<Pod>(&change.object);
    if (pod == nullptr) {
        auto& names = others_[kKinds[change.object.index()]];
        change.removed ? static_cast<void>(names.erase(name)) : static_cast<void>(names.insert(name));
        return;
    }
    if (change.removed) {
        pods_.erase(name);
        int preemptor = 0;
        int victim = 0;
        if (options_.knows_answers && std::sscanf(name.c_str(), "default/low-%d-%d", &preemptor, &victim) == 2 &&
            planned_.contains(preemptor)) {
            if (--victims_left_[preemptor] == 0) ready_.insert(preemptor);
        }
        return;
    }
    SeenPod& seen = pods_[name];
    seen.uid = pod->uid;
    seen.node = words_.str(pod->node);
    seen.nominated = words_.str(pod->nominated);
    seen.deleting = pod->terminating();
    seen.marked = pod->disruption_target;
    seen.planned = pod->more().plan.has_value();
    int index = 0;
    if (options_.knows_answers && seen.node.empty() && std::sscanf(name.c_str(), "default/high-%d", &index) == 1 &&
        !planned_.contains(index))
        waiting_.insert(index);
}

void Probe::act() {
    constexpr int kVictims = 3;
    if (waiting_.empty() && ready_.empty()) return;
    Plan plan;
    plan.id = "sha256:known";
    plan.now = wall_clock();
    for (const int index : waiting_) {
        const std::string pod = fmt::format("default/high-{}", index);
        const std::string node = fmt::format("node-{}", index);
        plan.placements.push_back({.pod = pod, .node = node, .after_evictions = true, .action = "preempt"});
        for (int victim = 0; victim < kVictims; ++victim) {
            plan.evictions.push_back({.pod = fmt::format("default/low-{}-{}", index, victim),
                                      .node = node,
                                      .owner = pod,
                                      .action = "preempt",
                                      .reason = "higher priority"});
        }
        planned_[index] = true;
        victims_left_[index] = kVictims;
    }
    for (const int index : ready_)
        plan.placements.push_back(
            {.pod = fmt::format("default/high-{}", index), .node = fmt::format("node-{}", index), .action = "preempt"});
    waiting_.clear();
    ready_.clear();
    fill_uids(plan);
    fill_intents(plan);
    sink_->carry_out(plan);
}

std::string Probe::uid_of(const std::string& pod) const {
    const auto found = pods_.find(pod);
    return found == pods_.end() ? std::string() : found->second.uid;
}

// What the loop would record: on each pod that waits, the victims on its node.
void Probe::fill_intents(Plan& plan) {
    for (const Placement& placement : plan.placements) {
        if (!placement.after_evictions) continue;
        Intent intent{.pod = placement.pod, .uid = placement.uid, .node = placement.node, .deadline = plan.now};
        for (const Eviction& eviction : plan.evictions) {
            if (eviction.node == placement.node) intent.victims.push_back(eviction.uid);
        }
        std::ranges::sort(intent.victims);
        if (!plan.evictions.empty()) plan.intents.push_back(std::move(intent));
    }
}

void Probe::fill_uids(Plan& plan) const {
    for (Placement& placement : plan.placements) {
        if (placement.uid.empty()) placement.uid = uid_of(placement.pod);
    }
    for (Eviction& eviction : plan.evictions) {
        if (eviction.uid.empty()) eviction.uid = uid_of(eviction.pod);
    }
}

Json Probe::carry_out(const std::string& request) {
    const Json order = Json::parse(request, nullptr, false);
    if (!order.is_object() || !order.contains("plan")) return {{"error", "needs a plan"}};
    Result<Plan> plan = plan_from_json(order["plan"].dump());
    if (!plan) return {{"error", plan.error().message}};
    plan->now = wall_clock();
    const Json uids = order.value("uids", Json::object());
    for (Eviction& eviction : plan->evictions)
        eviction.uid = uids.value(eviction.pod, "");
    fill_uids(*plan);
    fill_intents(*plan);
    sink_->carry_out(*plan);
    return Json::object();
}

Json Probe::state() const {
    Json pods = Json::object();
    for (const auto& [name, pod] : pods_) {
        pods[name] = {{"uid", pod.uid},
                      {"node", pod.node},
                      {"nominated", pod.nominated},
                      {"deleting", pod.deleting},
                      {"marked", pod.marked},
                      {"planned", pod.planned}};
    }
    Json others = Json::object();
    for (const auto& [kind, names] : others_)
        others[kind] = names;
    return {{"pods", pods}, {"others", others}};
}

Json Probe::counts() const {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const KubeSourceCounts& source = source_->counts();
    const WatcherCounts& watchers = source_->watcher_counts();
    const HttpCounts& writes = writes_->counts();
    return {{"synced", source_->synced()},
            {"leads", lease_ == nullptr || lease_->leads()},
            {"idle", sink_->idle()},
            {"settled", sink_->settled()},
            {"pods", pods_.size()},
            {"objects", source.objects},
            {"malformed", source.malformed},
            {"bytes", source.bytes},
            {"lists", watchers.lists.load()},
            {"watches", watchers.watches.load()},
            {"expired", watchers.expired.load()},
            {"requests", writes.requests.load()},
            {"retries", writes.retries.load()},
            {"refused", writes.refused.load()},
            {"knownPods", known_.size()},
            {"firstPollSeconds", first_poll_seconds_},
            {"firstPollCpuSeconds", poll_cpu_seconds_},
            {"cpuSeconds",
             static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6}};
}

Json Probe::reports() {
    std::vector<SinkReport> reports;
    sink_->collect(reports);
    for (const SinkReport& report : reports)
        reports_.push_back({{"step", text_of(report.step)},
                            {"pod", report.pod},
                            {"uid", report.uid},
                            {"ok", report.ok},
                            {"what", report.what}});
    return reports_;
}

}  // namespace reprieve
