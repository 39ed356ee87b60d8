#include "simulate/placement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "simulate/fit.h"
#include "simulate/numbers.h"

namespace reprieve {
namespace {

constexpr double kMostCpu = 128'000;  // what scores are scaled by, in the paper's code: milli-cores and milli-GPU
constexpr double kMostGpu = 8'000;
constexpr std::int64_t kBest = 100;
constexpr std::int64_t kMostPercent = 1000;
constexpr double kTypicalPart = 0.95;  // shapes that make up so much of the workload stand for all of it

struct Ask {
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::int64_t milli = 0;  // of each GPU
    std::int64_t count = 0;  // GPUs
    std::uint32_t selector = 0;
    friend auto operator<=>(const Ask&, const Ask&) = default;
    [[nodiscard]] std::int64_t all() const { return milli * count; }
};

Ask ask_of(const TraceJob& job) {
    Ask ask{job.cpu_milli, job.memory, 0, 0, job.selector};
    if (job.gpu_milli == 0) return ask;
    ask.milli = std::min(job.gpu_milli, kMilliGpu);
    ask.count = std::max<std::int64_t>(1, job.gpu_milli / kMilliGpu);
    return ask;
}

struct Typical {
    Ask ask;
    double part = 0;
};

struct Host {
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::vector<std::int64_t> gpus;              // what each has left
    std::map<std::int64_t, std::int64_t> kinds;  // pods by how many GPUs they have; 0: a share
    std::vector<bool> opens;                     // to which selectors
    double frag = -1;                            // as it is now; below 0: not known

    [[nodiscard]] std::int64_t left() const { return std::accumulate(gpus.begin(), gpus.end(), std::int64_t{0}); }
    [[nodiscard]] bool holds(const Ask& ask) const {
        if (ask.milli == 0) return true;
        return std::ranges::count_if(gpus, [&](std::int64_t left) { return left >= ask.milli; }) >= ask.count;
    }
};

class Places {
public:
    Places(const std::vector<TraceNode>& nodes, const JobTrace& trace, PlaceScore score, std::uint64_t seed)
        : score_(score),
          draw_(splitmix64(seed)) {
        order_.resize(nodes.size());
        std::iota(order_.begin(), order_.end(), 0U);
        std::ranges::sort(order_, {}, [&](std::uint32_t n) -> const std::string& { return nodes[n].name; });
        for (const std::uint32_t n : order_) {
            Host& host = hosts_.emplace_back();
            host.cpu = nodes[n].cpu_milli;
            host.memory = nodes[n].memory;
            host.gpus.assign(static_cast<std::size_t>(nodes[n].gpus), kMilliGpu);
            for (const auto& needs : trace.selectors)
                host.opens.push_back(selects(needs, nodes[n]));
        }
        find_typical(trace);
    }

    // The node, as numbered in the input; none: it fits nowhere.
    std::optional<std::uint32_t> place(const Ask& ask) {
        fits_.clear();
        for (std::size_t i = 0; i < hosts_.size(); ++i) {
            if (fits(hosts_[i], ask)) fits_.push_back(i);
        }
        if (fits_.empty()) return std::nullopt;
        std::size_t best = fits_.front();
        if (score_ == PlaceScore::kRandom) {
            best = fits_[draw() % fits_.size()];
        } else {
            std::int64_t most = score_of(hosts_[best], ask);
            for (std::size_t i = 1; i < fits_.size(); ++i) {
                const std::int64_t score = score_of(hosts_[fits_[i]], ask);
                if (score > most) {
                    most = score;
                    best = fits_[i];
                }
            }
        }
        take(hosts_[best], ask);
        return order_[best];
    }

private:
    std::uint64_t draw() { return draw_ = splitmix64(draw_); }

    static bool fits(const Host& host, const Ask& ask) {
        return host.opens[ask.selector] && host.cpu >= ask.cpu && host.memory >= ask.memory && host.holds(ask);
    }

    // The most frequent shapes of the workload, until they make up most of it.
    void find_typical(const JobTrace& trace) {
        std::map<Ask, std::int64_t> counts;
        for (const TraceJob& job : trace.jobs) {
            Ask ask = ask_of(job);
            ask.memory = 0;
            ++counts[ask];
        }
        std::vector<std::pair<std::int64_t, Ask>> sorted;
        for (const auto& [ask, count] : counts)
            sorted.emplace_back(count, ask);
        std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.first > b.first; });
        const auto total = static_cast<double>(trace.jobs.size());
        double sum = 0;
        for (const auto& [count, ask] : sorted) {
            if (sum >= kTypicalPart * total) break;
            sum += static_cast<double>(count);
            typical_.push_back({ask, static_cast<double>(count)});
        }
        for (Typical& t : typical_)
            t.part /= sum;
    }

    std::int64_t score_of(Host& host, const Ask& ask) {
        switch (score_) {
            case PlaceScore::kBestFit: {
                const double rest = (static_cast<double>(host.cpu - ask.cpu) / kMostCpu +
                                     static_cast<double>(host.left() - ask.all()) / kMostGpu) *
                                    0.5;
                return static_cast<std::int64_t>((1.0 - rest) * static_cast<double>(kBest));
            }
            case PlaceScore::kDotProd: {
                const double product =
                    static_cast<double>(host.cpu) / kMostCpu * (static_cast<double>(ask.cpu) / kMostCpu) +
                    static_cast<double>(host.left()) / kMostGpu * (static_cast<double>(ask.all()) / kMostGpu);
                return static_cast<std::int64_t>(static_cast<double>(kBest) * (1.0 - product / 2.0));
            }
            case PlaceScore::kGpuClustering:
                return clustering(host, ask);
            case PlaceScore::kGpuPacking:
                return packing(host, ask);
            case PlaceScore::kFgd:
                return fragmentation(host, ask);
            case PlaceScore::kRandom:
                break;
        }
        return 0;
    }

    static std::int64_t kind_of(const Ask& ask) { return ask.milli < kMilliGpu ? 0 : ask.count; }

    // Pods beside pods of the same size, fullest nodes first.
    static std::int64_t clustering(const Host& host, const Ask& ask) {
        if (ask.milli == 0) return 0;
        constexpr std::int64_t kQuarter = kBest / 4;
        const auto most = static_cast<std::int64_t>(kMostGpu);
        const std::int64_t full = kQuarter * (most - host.left()) / most;
        if (host.kinds.contains(kind_of(ask))) return full + (host.kinds.size() == 1 ? 3 : 2) * kQuarter;
        return host.kinds.empty() ? full + kQuarter : full;
    }

    // Shared GPUs first, then idle GPUs of nodes in use, then idle nodes.
    static std::int64_t packing(const Host& host, const Ask& ask) {
        if (ask.milli == 0) return 0;
        const auto idle = std::ranges::count(host.gpus, kMilliGpu);
        if (idle == static_cast<std::ptrdiff_t>(host.gpus.size()))
            return std::max<std::int64_t>(kBest / 3 - idle, idle);
        std::vector<std::int64_t> sorted = host.gpus;
        std::ranges::sort(sorted);
        std::int64_t wanted = ask.count;
        std::int64_t idle_used = 0;
        std::int64_t left = 0;
        for (const std::int64_t gpu : sorted) {
            if (wanted == 0) break;
            if (gpu < ask.milli) continue;
            --wanted;
            idle_used += gpu == kMilliGpu ? 1 : 0;
            left += gpu * 100 / kMilliGpu;
        }
        if (idle_used > 0) return std::max(kBest / 2 - idle_used, kBest / 3);
        return std::max(kBest - left / 10, kBest / 2);
    }

    // What of the idle GPUs the typical workload cannot use, in milli-GPU.
    double frag_of(const Host& host) const {
        double sum = 0;
        const auto left = static_cast<double>(host.left());
        for (const Typical& t : typical_) {
            const bool usable =
                t.ask.milli > 0 && host.opens[t.ask.selector] && host.cpu >= t.ask.cpu && host.holds(t.ask);
            if (!usable) {
                sum += t.part * left;
                continue;
            }
            std::int64_t too_small = 0;
            for (const std::int64_t gpu : host.gpus)
                too_small += gpu < t.ask.milli ? gpu : 0;
            sum += t.part * static_cast<double>(too_small);
        }
        return sum;
    }

    std::int64_t fragmentation(Host& host, const Ask& ask) {
        if (host.frag < 0) host.frag = frag_of(host);
        if (ask.milli > 0 && ask.milli < kMilliGpu) return best_share(host, ask).first;
        Host after = host;
        subtract(after, ask);
        return gradient(host.frag, frag_of(after));
    }

    static std::int64_t gradient(double before, double after) {
        return static_cast<std::int64_t>(1.0 / (1.0 + std::exp(-(before - after) / 1000.0)) *
                                         static_cast<double>(kBest));
    }

    // The device that leaves least in pieces, with its score.
    std::pair<std::int64_t, std::size_t> best_share(Host& host, const Ask& ask) const {
        std::pair<std::int64_t, std::size_t> best{-1, 0};
        std::vector<std::pair<std::int64_t, std::int64_t>> known;  // devices with the same room score the same
        Host after = host;
        after.cpu -= ask.cpu;
        for (std::size_t i = 0; i < host.gpus.size(); ++i) {
            if (host.gpus[i] < ask.milli) continue;
            const auto same = std::ranges::find(known, host.gpus[i], &std::pair<std::int64_t, std::int64_t>::first);
            std::int64_t score = 0;
            if (same != known.end()) {
                score = same->second;
            } else {
                after.gpus[i] -= ask.milli;
                score = gradient(host.frag, frag_of(after));
                after.gpus[i] += ask.milli;
                known.emplace_back(host.gpus[i], score);
            }
            if (score > best.first) best = {score, i};
        }
        return best;
    }

    static void subtract(Host& host, const Ask& ask) {
        host.cpu -= ask.cpu;
        std::int64_t wanted = ask.count;
        for (std::int64_t& gpu : host.gpus) {
            if (wanted == 0) break;
            if (gpu != kMilliGpu) continue;
            gpu = 0;
            --wanted;
        }
    }

    void take(Host& host, const Ask& ask) {
        if (ask.milli > 0 && ask.milli < kMilliGpu) {
            std::size_t device = host.gpus.size();
            if (score_ == PlaceScore::kFgd) {
                if (host.frag < 0) host.frag = frag_of(host);
                device = best_share(host, ask).second;
            } else {
                std::uint64_t seen = 0;
                for (std::size_t i = 0; i < host.gpus.size(); ++i) {
                    if (host.gpus[i] < ask.milli) continue;
                    if (score_ == PlaceScore::kRandom) {
                        if (draw() % ++seen == 0) device = i;
                    } else if (device == host.gpus.size() || host.gpus[i] < host.gpus[device]) {
                        device = i;
                    }
                }
            }
            host.gpus[device] -= ask.milli;
            host.cpu -= ask.cpu;
        } else {
            subtract(host, ask);
        }
        host.memory -= ask.memory;
        if (ask.milli > 0) ++host.kinds[kind_of(ask)];
        host.frag = -1;
    }

    PlaceScore score_;
    std::uint64_t draw_;
    std::vector<std::uint32_t> order_;
    std::vector<Host> hosts_;
    std::vector<Typical> typical_;
    std::vector<std::size_t> fits_;
};

}  // namespace

RunOutcome place_all(const std::vector<TraceNode>& nodes, const JobTrace& trace, PlaceScore score, std::uint64_t seed) {
    RunOutcome out;
    out.jobs.resize(trace.jobs.size());
    std::int64_t capacity = 0;
    for (const TraceNode& node : nodes)
        capacity += node.gpus * kMilliGpu;
    Places places(nodes, trace, score, seed);
    const Duration end = trace.jobs.back().submit;
    Sample now;
    now.gpu_milli = capacity;
    std::int64_t percent = 0;
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        const TraceJob& job = trace.jobs[i];
        now.at = job.submit;
        now.asked_milli += job.gpu_milli;
        if (const auto node = places.place(ask_of(job))) {
            ++now.running_jobs;
            now.held_milli += job.gpu_milli;
            now.working_milli += job.gpu_milli;
            out.jobs[i].start = job.submit;
            out.jobs[i].finish = {job.submit.us + job.duration.us};
            out.used += Wide{job.gpu_milli} * (end.us - job.submit.us);
            out.history.push_back({job.submit, static_cast<std::uint32_t>(i), 0, *node, false});
        } else {
            ++now.waiting_jobs;
            ++now.waiting_pods;
        }
        for (; capacity > 0 && now.asked_milli * 100 >= percent * capacity && percent <= kMostPercent; ++percent)
            out.samples.push_back(now);
    }
    now.at = end;
    out.samples.push_back(now);
    out.end = end;
    out.capacity = Wide{capacity} * end.us;
    out.conserved = out.used <= out.capacity && now.held_milli <= capacity;
    if (!out.conserved) out.broken = "more was placed than the cluster has";
    return out;
}

}  // namespace reprieve
