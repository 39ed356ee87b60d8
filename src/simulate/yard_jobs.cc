#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "simulate/numbers.h"
#include "simulate/yard.h"

namespace reprieve {

void Yard::submit_all() {
    const std::size_t first = next_job_;
    while (next_job_ < trace_.jobs.size() && trace_.jobs[next_job_].submit <= now_) {
        if (!never_[next_job_].empty())
            ++done_jobs_;
        else
            submit(static_cast<std::uint32_t>(next_job_));
        ++next_job_;
    }
    if (next_job_ > first && options_.express) serve_at_once(first, next_job_);
}

// In the order in which a cycle would serve them. Several queues take turns by their shares: where the turns could
// matter, that is the loop's.
void Yard::serve_at_once(std::size_t first, std::size_t last) {
    std::vector<std::uint32_t> jobs;
    std::int64_t pods = 0;
    bool one_queue = true;
    for (std::size_t i = first; i < last; ++i) {
        if (!runs_[i]) continue;
        const TraceJob& job = trace_.jobs[i];
        if (!express_.serves(job)) return;
        one_queue = one_queue && job.queue == trace_.jobs[first].queue;
        jobs.push_back(static_cast<std::uint32_t>(i));
        ++pods;
    }
    if (waiting_pods_ != pods || leaving_pods_ > 0) return;
    std::ranges::sort(jobs, [&](std::uint32_t a, std::uint32_t b) {
        const TraceJob& x = trace_.jobs[a];
        const TraceJob& y = trace_.jobs[b];
        const std::int32_t p = options_.view.priorities ? x.priority : 0;
        const std::int32_t q = options_.view.priorities ? y.priority : 0;
        return p != q ? p > q : pod_name({a, 0}) < pod_name({b, 0});
    });
    if (!one_queue && !any_order_is_the_same(jobs)) return;
    for (const std::uint32_t job : jobs) {
        const auto node = express_.best(trace_.jobs[job]);
        if (!node) return;
        const std::int64_t count = trace_.jobs[job].gpu_milli / kMilliGpu;
        auto devices = std::make_unique<std::vector<DeviceHold>>();
        for (std::int32_t i = 0; static_cast<std::int64_t>(devices->size()) < count; ++i) {
            if ((nodes_[*node].devices >> static_cast<unsigned>(i) & 1U) == 0) devices->push_back({.index = i});
        }
        bind({job, 0}, *node, count > 0 ? std::move(devices) : nullptr);
    }
}

// Whether each of them gets a node, and the same one, whoever comes first.
bool Yard::any_order_is_the_same(const std::vector<std::uint32_t>& jobs) {
    constexpr std::size_t kMostOrdered = 4;  // so many orders can be tried
    if (jobs.size() > kMostOrdered) return false;
    std::vector<std::uint32_t> order = jobs;
    std::ranges::sort(order);
    std::map<std::uint32_t, std::uint32_t> chosen;
    bool same = true;
    do {
        std::vector<std::uint32_t> taken;
        for (const std::uint32_t job : order) {
            const auto node = express_.best(trace_.jobs[job]);
            same = node && chosen.try_emplace(job, *node).first->second == *node;
            if (!same) break;
            express_.occupy(*node, trace_.jobs[job], +1);
            taken.push_back(*node);
        }
        for (std::size_t i = taken.size(); i-- > 0;)
            express_.occupy(taken[i], trace_.jobs[order[i]], -1);
    } while (same && std::ranges::next_permutation(order).found);
    return same;
}

void Yard::submit(std::uint32_t job) {
    const TraceJob& trace = trace_.jobs[job];
    auto run = std::make_unique<JobRun>();
    run->pods.resize(static_cast<std::size_t>(trace.pods));
    if (trace.pods > 1 && options_.view.gangs) run->gang = words_.string(trace.name);
    runs_[job] = std::move(run);
    asked_milli_ += trace.all_gpu_milli();
    waiting_pods_ += trace.pods;
    ++waiting_jobs_;
    if (runs_[job]->gang) tell_gang(job, false);
    for (std::int32_t pod = 0; pod < trace.pods; ++pod)
        tell_pod({job, pod});
}

void Yard::bind(PodRef ref, std::uint32_t node, std::unique_ptr<std::vector<DeviceHold>> devices) {
    const TraceJob& trace = trace_.jobs[ref.job];
    JobRun& job = *runs_[ref.job];
    PodRun& run = run_of(ref);
    NodeRun& host = nodes_[node];
    run.stage = Stage::kHeld;
    run.node = node;
    run.bound = now_;
    run.devices = std::move(devices);
    if (run.devices) {
        for (const DeviceHold& hold : *run.devices)
            host.devices |= hold.index < 64 ? std::uint64_t{1} << static_cast<unsigned>(hold.index) : 0;
    }
    express_.occupy(node, trace, +1);
    outcome_.history.push_back({now_, ref.job, ref.pod, node, false});
    run.place = static_cast<std::uint32_t>(host.pods.size());
    host.pods.push_back(ref);
    host.held_milli += trace.gpu_milli;
    held_milli_ += trace.gpu_milli;
    if (host.held_milli > host.fact.allocatable.get(gpu_) * kMilliGpu && broken_.empty())
        broken_ = fmt::format("{} holds more GPUs than it has", words_.text(host.fact.name));
    --waiting_pods_;
    ++job.bound;
    if (job.up) {
        begin_work(ref);
    } else if (job.bound + job.done >= trace.min) {
        job.up = true;
        ++job.tries;
        --waiting_jobs_;
        ++running_jobs_;
        if (outcome_.jobs[ref.job].start == kNotYet) outcome_.jobs[ref.job].start = now_;
        for (std::int32_t pod = 0; pod < trace.pods; ++pod) {
            if (run_of({ref.job, pod}).stage == Stage::kHeld) begin_work({ref.job, pod});
        }
    } else if (job.bound == 1 && !options_.view.gangs) {
        arrange({now_.us + options_.gang_patience.us}, EventKind::kGiveUp, ref.job, 0, ++job.tries);
    }
    tell_pod(ref);
}

void Yard::begin_work(PodRef ref) {
    const TraceJob& trace = trace_.jobs[ref.job];
    PodRun& run = run_of(ref);
    run.stage = Stage::kWorking;
    run.since = now_;
    ledger_.starts(trace.gpu_milli);
    const std::int64_t restart = run.pays_restart ? trace.restart.us : 0;
    arrange({now_.us + restart + trace.duration.us - run.kept.us}, EventKind::kPodDone, ref.job, ref.pod, ++run.mark);
    if (options_.view.checkpoints && trace.checkpoint.us > 0) {
        const std::int64_t first = trace.checkpoint.us - run.kept.us % trace.checkpoint.us;
        checkpoints_.push({.at = {now_.us + restart + first}, .pod = ref, .mark = run.mark});
    }
}

// What it did beyond its last checkpoint is lost, and so is the time of its restart. A pod that is done keeps all.
void Yard::end_work(PodRef ref, bool done) {
    const TraceJob& trace = trace_.jobs[ref.job];
    PodRun& run = run_of(ref);
    const std::int64_t spent = now_.us - run.since.us;
    const std::int64_t restart = run.pays_restart ? std::min(spent, trace.restart.us) : 0;
    const std::int64_t work = run.kept.us + spent - restart;
    std::int64_t kept = done ? work : 0;
    if (!done && trace.checkpoint.us > 0) kept = work - work % trace.checkpoint.us;
    const Duration lost{restart + work - kept};
    ledger_.stops(trace.gpu_milli, {kept - run.kept.us}, lost);
    const Wide amount = Wide{trace.gpu_milli} * lost.us;
    outcome_.jobs[ref.job].lost += amount;
    if (run.eviction >= 0) outcome_.evictions[static_cast<std::size_t>(run.eviction)].lost = amount;
    run.kept = {kept};
    run.pays_restart = true;
}

void Yard::leave_node(PodRef ref) {
    PodRun& run = run_of(ref);
    NodeRun& host = nodes_[run.node];
    const std::int64_t milli = trace_.jobs[ref.job].gpu_milli;
    host.held_milli -= milli;
    held_milli_ -= milli;
    const PodRef last = host.pods.back();
    host.pods[run.place] = last;
    run_of(last).place = run.place;
    host.pods.pop_back();
    --runs_[ref.job]->bound;
    if (run.devices) {
        for (const DeviceHold& hold : *run.devices)
            host.devices &=
                hold.index < 64 ? ~(std::uint64_t{1} << static_cast<unsigned>(hold.index)) : ~std::uint64_t{0};
    }
    run.devices.reset();
    express_.occupy(run.node, trace_.jobs[ref.job], -1);
    leaving_pods_ -= run.leaving ? 1 : 0;
}

void Yard::pod_done(PodRef ref) {
    PodRun& run = run_of(ref);
    if (run.stage != Stage::kWorking) return;
    end_work(ref, true);
    leave_node(ref);
    run.stage = Stage::kDone;
    run.leaving = false;
    ++run.mark;
    JobRun& job = *runs_[ref.job];
    // A member that has succeeded stays for its gang to count on.
    if (job.gang)
        tell_pod(ref);
    else
        tell_gone(ref);
    if (++job.done < trace_.jobs[ref.job].pods) return;
    outcome_.jobs[ref.job].finish = now_;
    --running_jobs_;
    drop_job(ref.job);
}

void Yard::drop_job(std::uint32_t job) {
    if (runs_[job]->gang) {
        for (std::int32_t pod = 0; pod < trace_.jobs[job].pods; ++pod)
            tell_gone({job, pod});
        tell_gang(job, true);
    }
    runs_[job].reset();
    ++done_jobs_;
}

void Yard::lose(PodRef ref, Stage next) {
    PodRun& run = run_of(ref);
    ++outcome_.pods_lost;
    if (run.stage == Stage::kWorking) end_work(ref, false);
    leave_node(ref);
    tell_gone(ref);
    run.stage = next;
    run.leaving = false;
    run.eviction = -1;
    ++run.mark;
    ++run.life;
    if (next != Stage::kWaiting) return;
    ++waiting_pods_;
    tell_pod(ref);
}

void Yard::break_if_too_few(std::uint32_t job) {
    if (!runs_[job] || !runs_[job]->up) return;
    JobRun& run = *runs_[job];
    const TraceJob& trace = trace_.jobs[job];
    if (run.bound + run.done >= trace.min) return;
    run.up = false;
    --running_jobs_;
    ++waiting_jobs_;
    ++outcome_.jobs[job].restarts;
    // Who is left of the gang can do nothing alone: it starts again together.
    for (std::int32_t pod = 0; pod < trace.pods; ++pod) {
        const Stage stage = run_of({job, pod}).stage;
        if (stage == Stage::kHeld || stage == Stage::kWorking) lose({job, pod}, Stage::kWaiting);
    }
}

void Yard::evict(PodRef ref) {
    PodRun& run = run_of(ref);
    if (options_.grace.us == 0) return lose(ref, Stage::kWaiting);
    run.leaving = true;
    ++leaving_pods_;
    arrange({now_.us + options_.grace.us}, EventKind::kPodGone, ref.job, ref.pod, run.mark);
    tell_pod(ref);
}

// Part of a gang holds places that it can do nothing with. They are given back, and tried for again a little later,
// each job after another time.
void Yard::give_up(std::uint32_t job) {
    const TraceJob& trace = trace_.jobs[job];
    for (std::int32_t pod = 0; pod < trace.pods; ++pod) {
        PodRun& run = run_of({job, pod});
        if (run.stage == Stage::kHeld) {
            lose({job, pod}, Stage::kAway);
            --outcome_.pods_lost;  // it had not begun
        } else if (run.stage == Stage::kWaiting) {
            tell_gone({job, pod});
            run.stage = Stage::kAway;
            --waiting_pods_;
            ++run.life;
        }
    }
    ++runs_[job]->tries;
    const auto patience = static_cast<std::uint64_t>(options_.gang_patience.us);
    const std::uint64_t draw = splitmix64(options_.seed ^ (std::uint64_t{job} << 20U) ^ runs_[job]->tries);
    arrange({now_.us + static_cast<std::int64_t>(patience / 10 + draw % patience)}, EventKind::kBack, job);
}

void Yard::come_back(std::uint32_t job) {
    for (std::int32_t pod = 0; pod < trace_.jobs[job].pods; ++pod) {
        PodRun& run = run_of({job, pod});
        if (run.stage != Stage::kAway) continue;
        run.stage = Stage::kWaiting;
        ++waiting_pods_;
        tell_pod({job, pod});
    }
}

void Yard::fail_node(std::uint32_t node) {
    NodeRun& host = nodes_[node];
    host.fact.ready = false;
    host.fact.unschedulable = true;  // what the taint of a node that does not answer comes to
    express_.set_ready(node, false);
    up_milli_ -= host.fact.allocatable.get(gpu_) * kMilliGpu;
    tell(host.fact);
    std::vector<std::uint32_t> jobs;
    while (!host.pods.empty()) {
        jobs.push_back(host.pods.back().job);
        lose(host.pods.back(), Stage::kWaiting);
    }
    std::ranges::sort(jobs);
    const auto same = std::ranges::unique(jobs);
    jobs.erase(same.begin(), same.end());
    for (const std::uint32_t job : jobs)
        break_if_too_few(job);
}

}  // namespace reprieve
