#include "app/simulate_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "app/inputs.h"
#include "app/recorded_workload.h"
#include "base/digest.h"
#include "base/version.h"
#include "manifest/config.h"
#include "manifest/load.h"
#include "simulate/fit.h"
#include "simulate/numbers.h"
#include "simulate/read_trace.h"

namespace reprieve {
namespace {

constexpr std::size_t kNamedJobs = 3;  // of those that can never run

Result<Duration> read_until(const std::string& text) {
    if (const auto seconds = parse_trace_seconds(text)) return *seconds;
    const auto duration = parse_duration(text);
    if (!duration || duration->us <= 0)
        return fail(fmt::format("--until: '{}' is neither a number of seconds nor a duration such as 36h", text),
                    ErrorKind::kUsage);
    return *duration;
}

Result<std::pair<Duration, Duration>> read_failures(const std::string& text) {
    const std::size_t slash = text.find('/');
    const auto up = parse_duration(text.substr(0, slash));
    const auto down = parse_duration(slash == std::string::npos ? "" : text.substr(slash + 1));
    if (!up || !down || up->us <= 0 || down->us <= 0)
        return fail(fmt::format("--failures: '{}' is not UP/DOWN, two durations such as 720h/1h", text),
                    ErrorKind::kUsage);
    return std::pair(*up, *down);
}

// From the manifests: what the simulation must know of nodes itself.
Result<std::vector<TraceNode>> nodes_in_manifests(const std::vector<std::string>& files) {
    Vocabulary words;
    std::vector<TraceNode> nodes;
    std::set<std::string> names;
    std::string twice;
    const Dim gpu = words.dimension("nvidia.com/gpu");
    Loader loader(words, [&](Object&& object, const SourceRef& source) {
        const auto* node = std::get_if<Node>(&object);
        if (node == nullptr) return;
        TraceNode& out = nodes.emplace_back();
        out.name = words.str(node->name);
        if (!names.insert(out.name).second && twice.empty())
            twice = fmt::format("{}:{}: Node {}: is given twice", source.file(), source.line(), out.name);
        out.cpu_milli = node->allocatable.get(kCpu);
        out.memory = node->allocatable.get(kMemory);
        out.gpus = node->allocatable.get(gpu);
        for (const auto& [key, value] : node->labels)
            out.labels.emplace_back(words.str(key), words.str(value));
        std::ranges::sort(out.labels);
    });
    for (const std::string& file : files) {
        if (auto loaded = loader.load(file); !loaded) return fail(loaded.error().text());
    }
    if (!twice.empty()) return fail(twice);
    if (nodes.empty()) return fail(fmt::format("{}: holds no Node", files.front()));
    return nodes;
}

// What the files below it hold.
std::string manifest_key(const std::string& path) {
    namespace fs = std::filesystem;
    std::vector<std::string> files;
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        files.push_back(path);
    } else {
        for (const auto& entry : fs::recursive_directory_iterator(path, ignored)) {
            if (entry.is_regular_file(ignored)) files.push_back(entry.path().string());
        }
    }
    std::ranges::sort(files);
    std::string key;
    for (const std::string& file : files) {
        const auto text = read_file(file);
        const Digest digest = digest_bytes(text ? *text : std::string());
        key += fmt::format("manifest {} {:016x}{:016x}\n", file, digest.high, digest.low);
    }
    return key;
}

Result<std::vector<Policy>> read_policies(const std::vector<std::string>& written, std::string& key) {
    std::vector<Policy> policies;
    for (const std::string& text : written.empty() ? std::vector<std::string>{"reprieve"} : written) {
        const std::size_t equals = text.find('=');
        const std::string name = text.substr(0, equals);
        if (std::ranges::find(policies, name, &Policy::name) != policies.end())
            return fail(fmt::format("--policy: '{}' is given twice", name), ErrorKind::kUsage);
        if (name.empty() || name.find_first_of("/\\ ") != std::string::npos)
            return fail(fmt::format("--policy: '{}' is no name for a policy", name), ErrorKind::kUsage);
        if (equals == std::string::npos) {
            auto policy = built_in_policy(name);
            if (!policy)
                return fail(
                    fmt::format("--policy: no policy '{}' is built in ({}); for one of your own write NAME=FILE",
                                name,
                                fmt::join(built_in_policies(), ", ")),
                    ErrorKind::kUsage);
            policies.push_back(std::move(*policy));
        } else {
            const std::string file = text.substr(equals + 1);
            if (file.empty()) return fail(fmt::format("--policy: '{}' names no file: write NAME=FILE", text));
            const auto config_text = read_file(file);
            if (!config_text) return std::unexpected(config_text.error());
            auto config = parse_config(*config_text, file);
            if (!config) return std::unexpected(config.error());
            Policy& policy = policies.emplace_back();
            policy.name = name;
            policy.config = std::move(*config);
            policy.config_text = *config_text;
            settle_view(policy);
        }
        key += fmt::format("policy {} {}\n", name, policies.back().config_text);
    }
    return policies;
}

bool is_csv(const std::string& file) { return file.ends_with(".csv"); }

Result<JobTrace> read_jobs(const std::string& file, const std::vector<TraceNode>& nodes, std::string& key) {
    const auto text = read_file(file);
    if (!text) return std::unexpected(text.error());
    const Digest digest = digest_bytes(*text);
    key += fmt::format("trace {:016x}{:016x}\n", digest.high, digest.low);
    if (!file.ends_with(".swf")) return read_jobs_csv(file, *text);
    return read_swf(file, *text, std::ranges::any_of(nodes, [](const TraceNode& n) { return n.gpus > 0; }));
}

std::string for_seed(const std::string& file, std::uint64_t seed) {
    std::string out = file;
    const std::size_t at = out.find("{seed}");
    if (at != std::string::npos) out.replace(at, 6, std::to_string(seed));
    return out;
}

void remark_on(const SeedTrace& jobs, std::vector<std::string>& remarks) {
    for (const std::string& warning : jobs.trace.warnings)
        remarks.push_back(warning);
    std::size_t never = 0;
    std::string named;
    for (std::size_t i = 0; i < jobs.never.size(); ++i) {
        if (jobs.never[i].empty()) continue;
        if (never++ < kNamedJobs)
            named += fmt::format("{}{}: {}", named.empty() ? "" : "; ", jobs.trace.jobs[i].name, jobs.never[i]);
    }
    if (never == 0) return;
    remarks.push_back(fmt::format("{}: {} of {} jobs can never run here and are counted apart ({}{})",
                                  jobs.file,
                                  never,
                                  jobs.trace.jobs.size(),
                                  named,
                                  never > kNamedJobs ? "; ..." : ""));
}

Result<void> read_seeds(const SimulateOptions& options, SimulateJob& job) {
    const bool by_seed = options.trace.find("{seed}") != std::string::npos;
    const std::uint64_t last = by_seed ? static_cast<std::uint64_t>(job.seed_count) : 1;
    for (std::uint64_t seed = 1; seed <= last; ++seed) {
        SeedTrace& jobs = job.seeds[seed];
        jobs.file = for_seed(options.trace, seed);
        if (jobs.trace.jobs.empty()) {  // a record was read before
            auto trace = read_jobs(jobs.file, job.nodes, job.key);
            if (!trace) return std::unexpected(trace.error());
            jobs.trace = std::move(*trace);
        }
        jobs.never = why_never(job.nodes, jobs.trace);
        remark_on(jobs, job.remarks);
        const bool several = std::ranges::any_of(jobs.trace.jobs, [](const TraceJob& j) { return j.pods > 1; });
        const auto places = std::ranges::find_if(job.policies, [](const Policy& p) { return p.place.has_value(); });
        if (several && places != job.policies.end())
            return fail(
                fmt::format("--policy: {} places single pods, and {} has jobs of several", places->name, jobs.file),
                ErrorKind::kUsage);
    }
    const bool random =
        std::ranges::any_of(job.policies, [](const Policy& p) { return p.place == PlaceScore::kRandom; });
    if (job.seed_count > 1 && !by_seed && !job.failures && !random)
        job.remarks.emplace_back(
            "nothing here depends on the seed: all seeds give the same result (use {seed} in --trace, or --failures)");
    return {};
}

// Equal keys, equal workloads.
std::string recorded_key(const RecordedWorkload& record) {
    std::string text;
    for (const TraceNode& node : record.nodes) {
        text += fmt::format("{} {} {} {}", node.name, node.cpu_milli, node.memory, node.gpus);
        for (const auto& [key, value] : node.labels)
            text += fmt::format(" {}={}", key, value);
        for (const Outage& outage : node.outages)
            text += fmt::format(" {}+{}", outage.at.us, outage.down.us);
    }
    for (const TraceJob& j : record.trace.jobs) {
        text += fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {}\n",
                            j.name,
                            j.submit.us,
                            j.duration.us,
                            j.checkpoint.us,
                            j.restart.us,
                            j.cpu_milli,
                            j.memory,
                            j.gpu_milli,
                            j.pods,
                            j.min,
                            j.priority,
                            record.trace.queues[j.queue],
                            record.trace.topologies[j.topology],
                            j.selector);
    }
    for (const std::string& fact : record.facts)
        text += fact;
    const Digest digest = digest_bytes(text);
    return fmt::format("record {:016x}{:016x} {}\n", digest.high, digest.low, record.length.us);
}

std::string command_of(const SimulateOptions& options) {
    std::string out = "reprieve simulate";
    for (const std::string& file : options.cluster)
        out += " -f " + file;
    out += " --trace '" + options.trace + "'";
    for (const std::string& policy : options.policies)
        out += " --policy " + policy;
    out += fmt::format(" --seeds {}", options.seeds);
    for (const auto& [name, value] : {std::pair("--until", &options.until),
                                      std::pair("--grace", &options.grace),
                                      std::pair("--failures", &options.failures)}) {
        if (!value->empty()) out += fmt::format(" {} {}", name, *value);
    }
    return out;
}

}  // namespace

std::vector<TraceNode> SimulateJob::nodes_of(std::uint64_t seed) const {
    std::vector<TraceNode> out = nodes;
    if (!failures) return out;
    const Duration horizon =
        options.until.value_or(Duration{trace_of(seed).trace.jobs.back().submit.us * 2 + failures->first.us});
    for (std::size_t i = 0; i < out.size(); ++i) {
        std::uint64_t draw = splitmix64(seed * 0x9E3779B97F4A7C15ULL + i);
        // Times between failures are memoryless; whole seconds, at least one.
        const auto next = [&](Duration mean) {
            draw = splitmix64(draw);
            const double uniform = (static_cast<double>(draw >> 11U) + 0.5) / 9007199254740992.0;
            const double seconds = -std::log(uniform) * static_cast<double>(mean.us) / 1e6;
            return std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds)) * 1'000'000;
        };
        std::int64_t at = next(failures->first);
        while (at < horizon.us && out[i].outages.size() < 10'000) {
            const std::int64_t down = next(failures->second);
            out[i].outages.push_back({{at}, {down}});
            at += down + next(failures->first);
        }
    }
    return out;
}

Result<SimulateJob> read_simulate_job(const SimulateOptions& options) {
    SimulateJob job;
    job.command = command_of(options);
    job.seed_count = options.seeds;
    job.key = fmt::format("reprieve {}\nuntil {}\ngrace {}\nfailures {}\nseeds {}\n",
                          kVersion,
                          options.until,
                          options.grace,
                          options.failures,
                          options.seeds);
    if (!options.until.empty()) {
        const auto until = read_until(options.until);
        if (!until) return std::unexpected(until.error());
        job.options.until = *until;
    }
    if (!options.grace.empty()) {
        const auto grace = parse_duration(options.grace);
        if (!grace || grace->us < 0)
            return fail(fmt::format("--grace: '{}' is no duration such as 30s", options.grace), ErrorKind::kUsage);
        job.options.grace = *grace;
    }
    if (!options.failures.empty()) {
        const auto failures = read_failures(options.failures);
        if (!failures) return std::unexpected(failures.error());
        job.failures = *failures;
    }
    std::optional<RecordedWorkload> record;
    if (is_record(options.trace)) {
        auto read = read_recorded_workload(options.trace);
        if (!read) return std::unexpected(read.error());
        record = std::move(*read);
        job.key += recorded_key(*record);
        if (!job.options.until) job.options.until = record->length;
        job.options.facts = record->facts;
    }
    if (options.cluster.empty() && !record)
        return fail("--filename is missing: only a record brings its own cluster", ErrorKind::kUsage);
    std::vector<std::string> tables;
    for (const std::string& file : options.cluster)
        (is_csv(file) ? tables : job.manifests).push_back(file);
    for (const std::string& file : tables) {
        const auto text = read_file(file);
        if (!text) return std::unexpected(text.error());
        const Digest digest = digest_bytes(*text);
        job.key += fmt::format("nodes {:016x}{:016x}\n", digest.high, digest.low);
        auto nodes = read_nodes_csv(file, *text);
        if (!nodes) return std::unexpected(nodes.error());
        job.nodes.insert(job.nodes.end(), nodes->begin(), nodes->end());
    }
    if (options.cluster.empty()) {
        job.nodes = record->nodes;
    } else if (tables.empty()) {
        auto nodes = nodes_in_manifests(job.manifests);
        if (!nodes) return std::unexpected(nodes.error());
        job.nodes = std::move(*nodes);
    }
    for (const std::string& file : job.manifests)
        job.key += manifest_key(file);
    auto policies = read_policies(options.policies, job.key);
    if (!policies) return std::unexpected(policies.error());
    job.policies = std::move(*policies);
    if (record) job.seeds[1].trace = std::move(record->trace);
    if (auto read = read_seeds(options, job); !read) return std::unexpected(read.error());
    job.options.manifests = job.manifests;
    return job;
}

}  // namespace reprieve
