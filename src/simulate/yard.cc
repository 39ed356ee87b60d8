#include "simulate/yard.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "model/placed_devices.h"

namespace reprieve {

Yard::Yard(Vocabulary& words,
           const std::vector<TraceNode>& nodes,
           const JobTrace& trace,
           const std::vector<std::string>& never,
           std::vector<Object> facts,
           YardOptions options)
    : words_(words),
      trace_(trace),
      never_(never),
      options_(options),
      express_(nodes, trace),
      series_(sample_step(trace, options.until), trace.jobs.empty() ? Duration{} : trace.jobs.back().submit) {
    runs_.resize(trace_.jobs.size());
    outcome_.jobs.resize(trace_.jobs.size());
    ns_ = words_.string("default");
    no_labels_ = words_.labels({});
    gpu_ = words_.dimension("nvidia.com/gpu");
    nodes_.reserve(nodes.size());
    for (const TraceNode& node : nodes) {
        const auto index = static_cast<std::uint32_t>(nodes_.size());
        NodeRun& run = nodes_.emplace_back();
        run.fact.name = words_.string(node.name);
        node_names_.emplace(node.name, index);
        capacity_milli_ += node.gpus * kMilliGpu;
        for (const Outage& outage : node.outages) {
            arrange(outage.at, EventKind::kNodeDown, index);
            arrange({outage.at.us + outage.down.us}, EventKind::kNodeUp, index);
        }
        run.fact.allocatable.set(kCpu, node.cpu_milli);
        run.fact.allocatable.set(kMemory, node.memory);
        run.fact.allocatable.set(gpu_, node.gpus);
        for (const auto& [key, value] : node.labels)
            run.fact.labels.set(words_.string(key), words_.string(value));
    }
    up_milli_ = capacity_milli_;
    for (Object& fact : facts) {
        if (const auto* queue = std::get_if<Queue>(&fact)) queue_facts_.emplace(words_.str(queue->name), *queue);
        if (!std::holds_alternative<Queue>(fact)) tell(std::move(fact));
    }
    make_facts();
}

Yard::~Yard() = default;

std::optional<Duration> Yard::next_event() const {
    std::optional<Duration> next;
    if (!events_.empty()) next = events_.top().at;
    if (next_job_ < trace_.jobs.size()) {
        const Duration submit = trace_.jobs[next_job_].submit;
        if (!next || submit < *next) next = submit;
    }
    if (next && options_.until && *next > *options_.until) return std::nullopt;
    // Nodes that fail and return when everything is done are nobody's business.
    if (done_jobs_ == trace_.jobs.size()) return std::nullopt;
    return next;
}

void Yard::arrange(Duration at, EventKind kind, std::uint32_t what, std::int32_t pod, std::uint32_t mark) {
    events_.push({.at = at, .order = next_order_++, .kind = kind, .what = what, .pod = pod, .mark = mark});
}

void Yard::advance(Duration to) {
    while (series_.due() <= to) {
        ledger_.advance({series_.due().us - now_.us});
        now_ = series_.due();
        series_.add(sample());
    }
    ledger_.advance({to.us - now_.us});
    now_ = to;
}

Sample Yard::sample() const {
    return {.at = now_,
            .gpu_milli = up_milli_,
            .held_milli = held_milli_,
            .working_milli = ledger_.working(),
            .running_jobs = running_jobs_,
            .waiting_jobs = waiting_jobs_,
            .waiting_pods = waiting_pods_,
            .evictions = static_cast<std::int64_t>(outcome_.evictions.size()),
            .lost = ledger_.lost(),
            .asked_milli = asked_milli_};
}

bool Yard::poll(std::vector<Change>& out, Duration wait) {
    if (has_news() && (waiting_pods_ > 0 || !begun_)) {
        begun_ = true;
        flush(out);
        return true;
    }
    const Duration limit = wait == kForever ? wait : Duration{now_.us + wait.us};
    while (true) {
        const std::optional<Duration> next = next_event();
        if (!next) {
            if (has_news() && waiting_pods_ > 0) {
                flush(out);
                return true;
            }
            const Duration end = options_.until.value_or(kForever);
            if (wait == kForever || limit > end) return false;
            if (done_jobs_ == trace_.jobs.size()) return false;
            advance(limit);
            flush(out);
            return true;
        }
        if (*next > limit) {
            advance(limit);
            flush(out);
            return true;
        }
        advance(*next);
        while (!events_.empty() && events_.top().at <= now_) {
            const Event event = events_.top();
            events_.pop();
            happen(event);
        }
        submit_all();
        if (!has_news() || waiting_pods_ == 0) continue;
        flush(out);
        return true;
    }
}

void Yard::flush(std::vector<Change>& out) {
    if (options_.view.checkpoints) tell_checkpoints();
    for (const PodRef ref : stale_) {
        if (!runs_[ref.job] || !run_of(ref).stale) continue;
        PodRun& run = run_of(ref);
        run.stale = false;
        if (run.stage == Stage::kAway) continue;
        run.told = true;
        const SpecId spec = spec_of(trace_.jobs[ref.job]);
        Pod pod = pod_fact(ref);
        pod.spec = spec;
        tell(std::move(pod));
    }
    stale_.clear();
    if (out.empty())
        out.swap(fresh_);
    else
        std::ranges::move(fresh_, std::back_inserter(out));
    fresh_.clear();
}

void Yard::happen(const Event& event) {
    switch (event.kind) {
        case EventKind::kNodeDown:
            return fail_node(event.what);
        case EventKind::kNodeUp: {
            NodeRun& node = nodes_[event.what];
            node.fact.ready = true;
            node.fact.unschedulable = false;
            express_.set_ready(event.what, true);
            up_milli_ += node.fact.allocatable.get(gpu_) * kMilliGpu;
            return tell(node.fact);
        }
        default:
            break;
    }
    if (!runs_[event.what]) return;
    JobRun& run = *runs_[event.what];
    if (event.kind == EventKind::kGiveUp) {
        if (run.tries == event.mark && !run.up) give_up(event.what);
        return;
    }
    if (event.kind == EventKind::kBack) return come_back(event.what);
    const PodRef ref{event.what, event.pod};
    if (run_of(ref).mark != event.mark) return;
    if (event.kind == EventKind::kPodDone) return pod_done(ref);
    lose(ref, Stage::kWaiting);
    break_if_too_few(ref.job);
}

void Yard::carry_out(const Plan& plan) {
    std::map<std::string, std::string, std::less<>> certificates;
    for (const Certificate& c : plan.certificates) {
        if (!is_refusal(c.status)) certificates.emplace(c.owner, to_text(c.status));
    }
    std::map<std::string, std::uint32_t, std::less<>> demands;  // whose job it is
    for (const Placement& p : plan.placements) {
        if (plan.evictions.empty()) break;
        if (const auto ref = find(p.uid)) demands.emplace(p.owner.empty() ? p.pod : p.owner, ref->job);
    }
    std::vector<PodRef> victims;
    std::map<std::string, bool> owners;
    for (const Eviction& e : plan.evictions) {
        const auto ref = find(e.uid);
        if (!ref || run_of(*ref).leaving) continue;
        PodRun& run = run_of(*ref);
        if (run.stage != Stage::kHeld && run.stage != Stage::kWorking) continue;
        const auto proof = certificates.find(e.owner);
        owners[e.owner] = proof != certificates.end() && proof->second == "optimal";
        run.eviction = static_cast<std::int32_t>(outcome_.evictions.size());
        EvictionOutcome& record = outcome_.evictions.emplace_back();
        record.at = now_;
        record.job = ref->job;
        record.pod = ref->pod;
        record.node = run.node;
        record.owner = e.owner;
        record.action = e.action;
        record.certificate = proof == certificates.end() ? "heuristic" : proof->second;
        record.reason = e.reason;
        // A chain: whoever makes others go had to go itself.
        if (const auto demand = demands.find(e.owner); demand != demands.end())
            record.depth = runs_[demand->second]->depth + 1;
        runs_[ref->job]->depth = std::max(runs_[ref->job]->depth, record.depth);
        ++outcome_.jobs[ref->job].evictions;
        outcome_.history.push_back({now_, ref->job, ref->pod, run.node, true});
        victims.push_back(*ref);
    }
    outcome_.decisions += static_cast<std::int64_t>(owners.size());
    for (const auto& [owner, optimal] : owners)
        outcome_.optimal += optimal ? 1 : 0;
    for (const PodRef ref : victims)
        evict(ref);
    for (const PodRef ref : victims)
        break_if_too_few(ref.job);
    for (const Placement& p : plan.placements) {
        if (p.after_evictions) continue;
        const auto ref = find(p.uid);
        const auto node = node_names_.find(p.node);
        if (!ref || node == node_names_.end() || run_of(*ref).stage != Stage::kWaiting) continue;
        nominated_.erase(p.pod);
        auto devices =
            p.devices.empty() ? nullptr : std::make_unique<std::vector<DeviceHold>>(placed_devices(p.devices));
        bind(*ref, node->second, std::move(devices));
    }
    echo_nominations(plan);
    echo_queues(plan);
}

RunOutcome Yard::finish() {
    if (options_.until && now_ < *options_.until && done_jobs_ < trace_.jobs.size()) advance(*options_.until);
    for (std::uint32_t job = 0; job < runs_.size(); ++job) {
        if (!runs_[job]) continue;
        for (std::int32_t pod = 0; pod < trace_.jobs[job].pods; ++pod) {
            const PodRef ref{job, pod};
            if (run_of(ref).stage != Stage::kWorking) continue;
            // Work in flight is not lost: it only is not done yet.
            PodRun& run = run_of(ref);
            const Duration spent{now_.us - run.since.us};
            const Duration restart{run.pays_restart ? std::min(spent.us, trace_.jobs[job].restart.us) : 0};
            ledger_.stops(trace_.jobs[job].gpu_milli, {spent.us - restart.us}, restart);
            outcome_.jobs[job].lost += Wide{trace_.jobs[job].gpu_milli} * restart.us;
            run.stage = Stage::kHeld;
        }
    }
    for (std::size_t job = 0; job < never_.size(); ++job)
        outcome_.jobs[job].never_fits = !never_[job].empty();
    // What was decided at one moment has no order of its own.
    std::ranges::stable_sort(outcome_.history, [](const Deciding& a, const Deciding& b) {
        return std::tuple(a.at, !a.evicts, a.job, a.pod) < std::tuple(b.at, !b.evicts, b.job, b.pod);
    });
    outcome_.samples = series_.take();
    outcome_.samples.push_back(sample());
    outcome_.end = now_;
    outcome_.capacity = Wide{capacity_milli_} * now_.us;
    outcome_.used = ledger_.used();
    outcome_.lost = ledger_.lost();
    if (broken_.empty() && !ledger_.balanced()) broken_ = "used and lost do not add up to what the clock counted";
    if (broken_.empty() && outcome_.used + outcome_.lost > outcome_.capacity)
        broken_ = "more was used and lost than the cluster has";
    Wide by_job = 0;
    for (const JobOutcome& job : outcome_.jobs)
        by_job += job.lost;
    if (broken_.empty() && by_job != outcome_.lost) broken_ = "what the jobs lost is not what was lost";
    outcome_.conserved = broken_.empty();
    outcome_.broken = broken_;
    return std::move(outcome_);
}

}  // namespace reprieve
