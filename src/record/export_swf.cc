#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "manifest/decode.h"
#include "record/export.h"

namespace reprieve {
namespace {

struct SwfJob {
    Time submitted;
    Time started;
    Time ended;
    std::int64_t processors = 0;
    std::int64_t memory_kib = 0;  // of all pods
    std::int64_t pods = 0;
    std::string queue;
    std::string owner;
    int status = -1;
};

// What jobs are made of: pods as they were last seen.
class SwfWorkload {
public:
    SwfWorkload() : decoder_(words_) {}

    void see(const RecordedChange& change) {
        if (change.believed || !change.key.starts_with("Pod ")) return;
        if (change.json.empty()) {
            end(std::string(change.key), change.at);
            return;
        }
        auto decoded = decoder_.decode(change.json);
        if (!decoded || !*decoded) return;
        const auto* pod = std::get_if<Pod>(&**decoded);
        if (!pod) return;
        const std::string key(change.key);
        if (const auto known = open_.find(key); known != open_.end() && known->second.uid != pod->uid)
            end(key, change.at);
        Open& one = open_[key];
        one.uid = pod->uid;
        one.pod = *pod;
        if (pod->phase == PodPhase::kRunning && !one.started.is_set())
            one.started = pod->started.is_set() ? pod->started : change.at;
        if (pod->finished()) {
            one.status = pod->phase == PodPhase::kSucceeded ? 1 : 0;
            one.ended = change.at;
        }
    }

    std::string text(Time from, Time to) {
        while (!open_.empty())
            end(open_.begin()->first, {});
        std::vector<SwfJob> jobs;
        for (auto& [name, job] : jobs_) {
            if (job.submitted >= from && (!to.is_set() || job.submitted <= to)) jobs.push_back(job);
        }
        std::ranges::stable_sort(jobs, {}, &SwfJob::submitted);
        const Time zero = jobs.empty() ? Time() : jobs.front().submitted;
        std::string out = fmt::format(
            "; Version: 2.2\n; Computer: Kubernetes, recorded by Reprieve\n; UnixStartTime: {}\n"
            "; MaxJobs: {}\n; Note: processors are GPUs where a job asks for any, else CPUs; memory is per processor\n",
            zero.us / 1'000'000,
            jobs.size());
        std::map<std::string, int> queues;
        std::map<std::string, int> owners;
        int number = 0;
        for (const SwfJob& job : jobs) {
            const auto seconds = [](Duration d) { return (d.us + 500'000) / 1'000'000; };
            const int queue = queues.try_emplace(job.queue, static_cast<int>(queues.size()) + 1).first->second;
            const int owner = owners.try_emplace(job.owner, static_cast<int>(owners.size()) + 1).first->second;
            // Both fields count for each processor; rounded up, so that a job never asks for less than it did.
            const std::int64_t memory =
                job.memory_kib > 0 ? (job.memory_kib + job.processors - 1) / job.processors : -1;
            out += fmt::format("{} {} {} {} {} -1 {} {} -1 {} {} {} -1 {} {} -1 -1 -1\n",
                               ++number,
                               seconds(job.submitted - zero),
                               job.started.is_set() ? seconds(job.started - job.submitted) : -1,
                               job.started.is_set() && job.ended.is_set() ? seconds(job.ended - job.started) : -1,
                               job.started.is_set() ? job.processors : -1,
                               memory,
                               job.processors,
                               memory,
                               job.status,
                               owner,
                               owner,
                               queue);
        }
        return out;
    }

private:
    struct Open {
        std::string uid;
        Pod pod;
        Time started;
        Time ended;
        int status = -1;
    };

    void end(const std::string& key, Time at) {
        const auto known = open_.find(key);
        if (known == open_.end()) return;
        const Open& one = known->second;
        const Pod& pod = one.pod;
        const std::string ns = words_.str(pod.ns);
        const std::string name =
            pod.group ? "g" + ns + "/" + words_.str(pod.group) : "p" + ns + "/" + pod.name + one.uid;
        SwfJob& job = jobs_[name];
        const PodSpec& spec = words_.spec(pod.spec);
        std::int64_t gpus = 0;
        for (const auto& [dim, amount] : spec.requests) {
            if (words_.text(dim).ends_with("/gpu")) gpus += amount;
        }
        const std::int64_t cpus = std::max<std::int64_t>((spec.requests.get(kCpu) + 999) / 1000, 1);
        job.processors += gpus > 0 ? gpus : cpus;
        job.memory_kib += spec.requests.get(kMemory) / 1024;
        if (!job.submitted.is_set() || pod.created < job.submitted) job.submitted = pod.created;
        job.started = std::max(job.started, one.started);
        const Time ended = one.ended.is_set() ? one.ended : at;
        job.ended = std::max(job.ended, ended);
        // Killed before it had finished: cancelled.
        job.status = one.status >= 0 ? one.status : (at.is_set() ? 5 : -1);
        job.queue = pod.queue ? words_.str(pod.queue) : ns;
        job.owner = ns;
        ++job.pods;
        open_.erase(known);
    }

    Vocabulary words_;
    Decoder decoder_;
    std::map<std::string, Open> open_;
    std::map<std::string, SwfJob> jobs_;
};

}  // namespace

Result<std::string> export_swf(RecordReader& reader, Time from, Time to) {
    SwfWorkload workload;
    RecordVisitor visitor;
    bool started = false;
    visitor.keyframe = [&](const RecordedWorld& world, Time at, bool fresh) -> Result<void> {
        if (!fresh && started) return {};
        started = true;
        for (const auto& [key, object] : world)
            workload.see({.at = at, .key = key, .believed = false, .json = object.json});
        return {};
    };
    visitor.change = [&](const RecordedChange& change) -> Result<void> {
        workload.see(change);
        return {};
    };
    visitor.cycle = [&](const RecordedCycle& cycle) -> Result<bool> { return !to.is_set() || cycle.at <= to; };
    if (auto walked = reader.walk(from, visitor); !walked) return std::unexpected(walked.error());
    return workload.text(from, to);
}

}  // namespace reprieve
