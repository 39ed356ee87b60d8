#include <fmt/format.h>

#include <algorithm>

#include "simulate/numbers.h"
#include "simulate/split.h"
#include "simulate/yard.h"

namespace reprieve {
namespace {

constexpr std::int64_t kManyPods = 1'000'000;  // a trace says nothing about how many pods a node may have
// What scores count for containers that ask for nothing.
constexpr std::int64_t kUnaskedCpu = 100;
constexpr std::int64_t kUnaskedMemory = std::int64_t{200} * 1024 * 1024;

}  // namespace

void Yard::make_facts() {
    for (NodeRun& node : nodes_) {
        const std::int64_t gpus = node.fact.allocatable.get(gpu_);
        if (gpus == 0) node.fact.allocatable.erase(gpu_);
        node.fact.allocatable.set(kPods, kManyPods);
        if (gpus > 0) {
            node.fact.device_dim = gpu_;
            for (std::int32_t i = 0; i < static_cast<std::int32_t>(gpus); ++i)
                node.fact.devices.push_back({.index = i});
        }
        tell(node.fact);
    }
    for (std::size_t i = 0; i < trace_.queues.size(); ++i) {
        const std::string& name = trace_.queues[i];
        queues_.push_back(name.empty() ? StringId() : words_.string(name));
        if (name.empty() || !options_.view.queues || queue_facts_.contains(name)) continue;
        Queue queue;
        queue.name = queues_.back();
        queue_facts_.emplace(name, std::move(queue));
    }
    if (options_.view.queues) {
        for (const auto& [name, queue] : queue_facts_)
            tell(queue);
    }
    for (const std::string& key : trace_.topologies)
        topologies_.push_back(key.empty() ? StringId() : words_.string(key));
}

void Yard::tell(Object object, bool removed) {
    fresh_.push_back({.object = std::move(object), .removed = removed, .digest = {}});
}

SpecId Yard::spec_of(const TraceJob& job) {
    const auto key = std::tuple(job.cpu_milli, job.memory, job.gpu_milli, job.selector);
    const auto known = specs_.find(key);
    if (known != specs_.end()) return known->second;
    PodSpec spec;
    spec.requests.set(kPods, 1);
    if (job.cpu_milli > 0) spec.requests.set(kCpu, job.cpu_milli);
    if (job.memory > 0) spec.requests.set(kMemory, job.memory);
    spec.score_cpu = job.cpu_milli > 0 ? job.cpu_milli : kUnaskedCpu;
    spec.score_memory = job.memory > 0 ? job.memory : kUnaskedMemory;
    if (job.gpu_milli >= kMilliGpu) {
        spec.requests.set(gpu_, job.gpu_milli / kMilliGpu);
        spec.devices.whole_dim = gpu_;
        spec.devices.whole = static_cast<std::int32_t>(job.gpu_milli / kMilliGpu);
    } else if (job.gpu_milli > 0) {
        spec.devices.shares = 1;
        spec.devices.share_milli = job.gpu_milli;
    }
    for (const LabelNeed& need : trace_.selectors[job.selector]) {
        Requirement& requirement = spec.node_selector.emplace_back();
        requirement.key = words_.string(need.key);
        requirement.op = SelectorOp::kIn;
        for (const std::string& value : need.values)
            requirement.values.push_back(words_.string(value));
        std::ranges::sort(requirement.values);
    }
    std::ranges::sort(spec.node_selector);
    return specs_.emplace(key, words_.spec(std::move(spec))).first->second;
}

std::string Yard::pod_name(PodRef ref) const { return fmt::format("{}-{}", trace_.jobs[ref.job].name, ref.pod); }

Pod Yard::pod_fact(PodRef ref) const {
    const TraceJob& job = trace_.jobs[ref.job];
    const PodRun& run = run_of(ref);
    Pod pod;
    pod.ns = ns_;
    pod.name = pod_name(ref);
    pod.uid = fmt::format("{}.{}.{}", ref.job, ref.pod, run.life);
    pod.labels = no_labels_;
    if (options_.view.priorities) pod.priority = job.priority;
    pod.created = {options_.start.us + job.submit.us};
    pod.grace_seconds = options_.grace.seconds();
    pod.group = runs_[ref.job]->gang;
    if (options_.view.queues) pod.queue = queues_[job.queue];
    if (run.stage == Stage::kDone) {
        pod.phase = PodPhase::kSucceeded;
        pod.node = nodes_[run.node].fact.name;
    } else if (run.stage == Stage::kHeld || run.stage == Stage::kWorking) {
        pod.node = nodes_[run.node].fact.name;
        pod.phase = PodPhase::kRunning;
        pod.ready = true;
        pod.started = {options_.start.us + run.bound.us};
        if (run.devices) pod.make_extras().held_devices = *run.devices;
    } else if (const auto nominated = nominated_.find(words_.str(ns_) + "/" + pod.name);
               nominated != nominated_.end()) {
        pod.nominated = nominated->second.node;
        if (nominated->second.note) pod.make_extras().plan = nominated->second.note;
    }
    if (run.leaving) {
        pod.deleting = {options_.start.us + now_.us + options_.grace.us};
        pod.disruption_target = true;
    }
    if (!options_.view.checkpoints) return pod;
    if (job.restart.us > 0) pod.make_extras().restart_cost = job.restart;
    if (run.stage == Stage::kWorking && job.checkpoint.us > 0) {
        const std::int64_t restart = run.pays_restart ? job.restart.us : 0;
        const std::int64_t work = run.kept.us + std::max<std::int64_t>(now_.us - run.since.us - restart, 0);
        const std::int64_t since = work - work % job.checkpoint.us - run.kept.us;
        if (since > 0) pod.make_extras().last_checkpoint = {options_.start.us + run.since.us + restart + since};
    }
    return pod;
}

void Yard::tell_pod(PodRef ref) {
    PodRun& run = run_of(ref);
    if (run.stale) return;
    run.stale = true;
    stale_.push_back(ref);
}

void Yard::tell_gone(PodRef ref) {
    PodRun& run = run_of(ref);
    run.stale = false;
    if (!run.told) return;
    run.told = false;
    Pod like;
    like.ns = ns_;
    like.name = pod_name(ref);
    nominated_.erase(words_.str(ns_) + "/" + like.name);
    tell(std::move(like), true);
}

void Yard::tell_gang(std::uint32_t job, bool removed) {
    const TraceJob& trace = trace_.jobs[job];
    Gang gang;
    gang.ns = ns_;
    gang.name = runs_[job]->gang;
    if (!removed) {
        gang.min_members = trace.min;
        if (options_.view.queues) gang.queue = queues_[trace.queue];
        if (options_.view.priorities) gang.priority = trace.priority;
        gang.created = {options_.start.us + trace.submit.us};
        if (trace.topology != 0) gang.topology.emplace().label_key = topologies_[trace.topology];
    }
    tell(std::move(gang), removed);
}

void Yard::tell_checkpoints() {
    while (!checkpoints_.empty() && checkpoints_.top().at <= now_) {
        Checkpoint due = checkpoints_.top();
        checkpoints_.pop();
        if (!runs_[due.pod.job]) continue;
        const PodRun& run = run_of(due.pod);
        if (run.mark != due.mark || run.stage != Stage::kWorking || run.leaving) continue;
        tell_pod(due.pod);
        const std::int64_t period = trace_.jobs[due.pod.job].checkpoint.us;
        due.at.us += (1 + (now_.us - due.at.us) / period) * period;
        checkpoints_.push(due);
    }
}

std::optional<Yard::PodRef> Yard::find(const std::string& uid) const {
    const std::vector<std::string_view> parts = split(uid, '.');
    if (parts.size() != 3) return std::nullopt;
    const auto job = parse_whole(parts[0]);
    const auto pod = parse_whole(parts[1]);
    const auto life = parse_whole(parts[2]);
    if (!job || !pod || !life) return std::nullopt;
    const PodRef ref{static_cast<std::uint32_t>(*job), static_cast<std::int32_t>(*pod)};
    if (ref.job >= runs_.size() || !runs_[ref.job]) return std::nullopt;
    return run_of(ref).life == *life ? std::optional(ref) : std::nullopt;
}

// The promises of the plan, as an API server would write them down and show them.
void Yard::echo_nominations(const Plan& plan) {
    std::map<std::string, const Intent*, std::less<>> intents;
    for (const Intent& intent : plan.intents)
        intents.emplace(intent.pod, &intent);
    for (const Placement& p : plan.placements) {
        if (!p.after_evictions) continue;
        const auto ref = find(p.uid);
        if (!ref || run_of(*ref).stage != Stage::kWaiting) continue;
        Nominated fresh{.pod = *ref, .node = words_.string(p.node), .note = {}};
        const auto intent = intents.find(p.pod);
        const auto known = nominated_.find(p.pod);
        if (intent != intents.end())
            fresh.note = PlanNote{.id = plan.id,
                                  .node = fresh.node,
                                  .victim_uids = intent->second->victims,
                                  .deadline = intent->second->deadline};
        else if (known != nominated_.end() && known->second.node == fresh.node)
            continue;
        nominated_.insert_or_assign(p.pod, std::move(fresh));
        tell_pod(*ref);
    }
    for (const std::string& pod : plan.nominations_cleared) {
        const auto placed = std::ranges::find(plan.placements, pod, &Placement::pod);
        if (placed != plan.placements.end()) continue;
        const auto known = nominated_.find(pod);
        if (known == nominated_.end()) continue;
        const PodRef ref = known->second.pod;
        nominated_.erase(known);
        if (runs_[ref.job] && run_of(ref).stage == Stage::kWaiting) tell_pod(ref);
    }
}

// Since when a quota holds more than its own is written on the quota, and read again by the next plan.
void Yard::echo_queues(const Plan& plan) {
    for (const QueueReport& report : plan.queues) {
        if (!report.over_since) continue;
        const auto queue = queue_facts_.find(report.name);
        if (queue == queue_facts_.end() || queue->second.over_since == *report.over_since) continue;
        queue->second.over_since = *report.over_since;
        tell(queue->second);
    }
}

}  // namespace reprieve
