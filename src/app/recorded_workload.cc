#include "app/recorded_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/recorded_lives.h"
#include "plugins/filter.h"

namespace reprieve {
namespace {

constexpr const char* kNodeLabel = "reprieve.dev/node";  // which nodes a pod may use, by name
constexpr std::string_view kGpuResource = "nvidia.com/gpu";

std::string count_of(std::int64_t count, const char* one, const char* many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

struct Shape {
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::int64_t gpu_milli = 0;
    friend bool operator==(const Shape&, const Shape&) = default;
};

class WorkloadOfRecord {
public:
    WorkloadOfRecord(RecordedLives& lives, std::string path) : lives_(lives), path_(std::move(path)) {}

    RecordedWorkload make() {
        out_.length = lives_.end() - lives_.start();
        for (const auto& [key, json] : lives_.facts())
            out_.facts.push_back(json);
        add_nodes();
        std::map<std::int64_t, std::vector<const RecordedPlace*>> gangs;
        for (const RecordedPlace& place : lives_.places()) {
            if (!place.first_started.is_set() && place.end == RecordedPlace::End::kDeleted)
                ++unborn_;
            else if (place.gang >= 0 && lives_.gangs()[static_cast<std::size_t>(place.gang)].fact.min_members > 0)
                gangs[place.gang].push_back(&place);
            else
                add_job({&place}, nullptr);
        }
        for (const auto& [gang, places] : gangs)
            add_job(places, &lives_.gangs()[static_cast<std::size_t>(gang)].fact);
        std::ranges::sort(out_.trace.jobs, [](const TraceJob& a, const TraceJob& b) {
            return std::tie(a.submit, a.name) < std::tie(b.submit, b.name);
        });
        say_what_is_not_known();
        return std::move(out_);
    }

private:
    Shape shape_of(SpecId id) {
        const PodSpec& spec = lives_.words().spec(id);
        Shape shape{.cpu = spec.requests.get(kCpu), .memory = spec.requests.get(kMemory), .gpu_milli = 0};
        if (spec.devices.shares > 0)
            shape.gpu_milli = spec.devices.shares * spec.devices.share_milli;
        else if (const Dim gpu = lives_.words().find_dimension(kGpuResource))
            shape.gpu_milli = spec.requests.get(gpu) * kMilliGpu;
        return shape;
    }

    void add_nodes() {
        for (const auto& [name, seen] : lives_.nodes()) {
            if (!seen.fact.name) continue;
            TraceNode& node = out_.nodes.emplace_back();
            node.name = name;
            node.cpu_milli = seen.fact.allocatable.get(kCpu);
            node.memory = seen.fact.allocatable.get(kMemory);
            if (const Dim gpu = lives_.words().find_dimension(kGpuResource)) node.gpus = seen.fact.allocatable.get(gpu);
            for (const auto& [by, spec] : seen.fixed) {
                const Shape shape = shape_of(spec);
                node.cpu_milli = std::max<std::int64_t>(node.cpu_milli - shape.cpu, 0);
                node.memory = std::max<std::int64_t>(node.memory - shape.memory, 0);
                ++fixed_;
            }
            for (const auto& [key, value] : seen.fact.labels)
                node.labels.emplace_back(lives_.words().str(key), lives_.words().str(value));
            node.labels.emplace_back(kNodeLabel, name);
            std::ranges::sort(node.labels);
            node.outages = seen.outages;
        }
    }

    // The nodes that selectors, affinity and taints leave to a pod; by name, since a trace knows no taints.
    std::uint32_t selector_of(SpecId id) {
        const auto known = selectors_.find(id.value());
        if (known != selectors_.end()) return known->second;
        const PodSpec& spec = lives_.words().spec(id);
        LabelNeed need{.key = kNodeLabel, .values = {}};
        for (const auto& [name, seen] : lives_.nodes()) {
            if (!seen.fact.name) continue;
            const bool kept_out = std::ranges::any_of(seen.fact.taints, [&](const Taint& taint) {
                return taint.effect != TaintEffect::kPreferNoSchedule && !tolerates(spec, taint);
            });
            if (!kept_out && matches_node(spec, seen.fact, lives_.words())) need.values.push_back(name);
        }
        auto& all = out_.trace.selectors;
        std::uint32_t index = 0;
        if (need.values.size() < out_.nodes.size()) {
            const std::vector<LabelNeed> needs{std::move(need)};
            index = static_cast<std::uint32_t>(std::ranges::find(all, needs) - all.begin());
            if (index == all.size()) all.push_back(needs);
        }
        return selectors_.emplace(id.value(), index).first->second;
    }

    static std::uint32_t index_in(std::vector<std::string>& texts, const std::string& text) {
        const auto at = static_cast<std::uint32_t>(std::ranges::find(texts, text) - texts.begin());
        if (at == texts.size()) texts.push_back(text);
        return at;
    }

    std::int32_t priority_of(const Pod& pod, const Gang* gang) {
        if (gang != nullptr && gang->priority) return *gang->priority;
        if (pod.priority) return *pod.priority;
        for (const StringId name : {pod.priority_class, gang != nullptr ? gang->priority_class : StringId()}) {
            const auto known = name ? lives_.classes().find(lives_.words().str(name)) : lives_.classes().end();
            if (known != lives_.classes().end()) return known->second.value;
        }
        for (const auto& [name, one] : lives_.classes()) {
            if (one.global_default) return one.value;
        }
        return 0;
    }

    Duration run_time(const RecordedPlace& place) {
        using End = RecordedPlace::End;
        if (place.first_started.is_set() && place.first_started < lives_.start()) ++before_;
        const Duration rest = lives_.end() - place.submitted;
        if (place.end == End::kDone || place.end == End::kDeleted) {
            cut_ += place.interruptions > 0 ? 1 : 0;
            const std::int64_t last = place.started.is_set() ? (place.ended - place.started).us : 0;
            return {std::max<std::int64_t>(place.saved.us + last, 0)};
        }
        ++(place.first_started.is_set() ? open_ : waiting_);
        return rest;
    }

    void note_what_is_left_out(const PodSpec& spec) {
        if (!spec.affinity.empty() || !spec.anti_affinity.empty() || !spec.spread.empty()) ++neighbours_;
        if (!spec.volumes.empty() || !spec.ports.empty()) ++volumes_;
        if (!spec.claims.empty()) ++claims_;
        for (const auto& [dim, amount] : spec.requests) {
            const std::string_view name = lives_.words().text(dim);
            if (dim != kCpu && dim != kMemory && dim != kPods && name != kGpuResource)
                resources_.insert(std::string(name));
        }
    }

    void add_job(const std::vector<const RecordedPlace*>& places, const Gang* gang) {
        const Pod& first = places.front()->pod;
        const Vocabulary& words = lives_.words();
        TraceJob job;
        job.name = words.str(first.ns) + "." + (gang != nullptr ? words.str(gang->name) : first.name);
        if (const int before = names_[job.name]++; before > 0) job.name += fmt::format(".{}", before + 1);
        job.pods = static_cast<std::int32_t>(places.size());
        job.min = gang != nullptr ? std::clamp(gang->min_members, 1, job.pods) : 1;
        job.priority = priority_of(first, gang);
        job.selector = selector_of(first.spec);
        const StringId queue = first.queue ? first.queue : gang != nullptr ? gang->queue : StringId();
        job.queue = index_in(out_.trace.queues, words.str(queue));
        if (gang != nullptr && gang->topology && gang->topology->hard) {
            if (gang->topology->label_key)
                job.topology = index_in(out_.trace.topologies, words.str(gang->topology->label_key));
            else
                ++tiers_;
        }
        Time submitted = places.front()->submitted;
        bool alike = true;
        for (const RecordedPlace* place : places) {
            submitted = std::min(submitted, place->submitted);
            job.duration = std::max(job.duration, run_time(*place));
            if (place->checkpoint.us > 0 && (job.checkpoint.us == 0 || place->checkpoint < job.checkpoint))
                job.checkpoint = place->checkpoint;
            if (const auto cost = place->pod.more().restart_cost) job.restart = std::max(job.restart, *cost);
            const Shape shape = shape_of(place->pod.spec);
            alike = alike && shape == shape_of(first.spec) && place->pod.spec == first.spec;
            job.cpu_milli = std::max(job.cpu_milli, shape.cpu);
            job.memory = std::max(job.memory, shape.memory);
            job.gpu_milli = std::max(job.gpu_milli, shape.gpu_milli);
            note_what_is_left_out(words.spec(place->pod.spec));
        }
        mixed_ += alike ? 0 : 1;
        job.submit = submitted - lives_.start();
        out_.trace.jobs.push_back(std::move(job));
    }

    void say(std::int64_t count, const char* one, const char* many, const char* rest) {
        if (count > 0) out_.trace.warnings.push_back(fmt::format("{}: {} {}", path_, count_of(count, one, many), rest));
    }

    void say_what_is_not_known() {
        out_.trace.derivations = {"run=record", "evictions=stripped"};
        say(lives_.evictions(),
            "eviction",
            "evictions",
            "of the recorded policy left out: whoever was made again is one job");
        say(cut_,
            "pod",
            "pods",
            "ended after being stopped and made again: the true run time is not known; counted are the work up to the "
            "last "
            "checkpoint that was told and the last run");
        say(open_,
            "pod",
            "pods",
            "had not ended when the record does: taken to run from arrival to the end of the record");
        say(waiting_,
            "pod",
            "pods",
            "never ran: the run time is not known; taken to be from arrival to the end of the record");
        say(unborn_, "pod", "pods", "deleted before running: left out");
        say(before_,
            "pod",
            "pods",
            "ran before the record begins: placed anew at its start, with the rest of the run time");
        say(mixed_, "gang", "gangs", "of different members: each member counts as the largest");
        say(fixed_, "pod", "pods", "of DaemonSets or static: taken off what the nodes offer");
        say(neighbours_, "pod", "pods", "with affinity to pods or spread: these rules are not simulated");
        say(volumes_, "pod", "pods", "with volumes or host ports: these are not simulated");
        say(claims_, "pod", "pods", "with device claims: these are not simulated");
        say(tiers_, "gang", "gangs", "with tiers of HyperNodes: these are not simulated");
        say(lives_.budgets(), "disruption budget", "disruption budgets", "not simulated");
        if (!resources_.empty())
            out_.trace.warnings.push_back(fmt::format("{}: not simulated: {}", path_, fmt::join(resources_, ", ")));
    }

    RecordedLives& lives_;
    std::string path_;
    RecordedWorkload out_;
    std::map<std::uint32_t, std::uint32_t> selectors_;  // by spec
    std::map<std::string, int> names_;
    std::set<std::string> resources_;
    std::int64_t unborn_ = 0;
    std::int64_t cut_ = 0;
    std::int64_t open_ = 0;
    std::int64_t waiting_ = 0;
    std::int64_t before_ = 0;
    std::int64_t mixed_ = 0;
    std::int64_t fixed_ = 0;
    std::int64_t neighbours_ = 0;
    std::int64_t volumes_ = 0;
    std::int64_t claims_ = 0;
    std::int64_t tiers_ = 0;
};

}  // namespace

bool is_record(const std::string& path) {
    std::error_code ignored;
    return path.ends_with(".db") || std::filesystem::is_directory(path, ignored);
}

Result<RecordedWorkload> read_recorded_workload(const std::string& path) {
    auto reader = RecordReader::open(path);
    if (!reader) return std::unexpected(reader.error());
    RecordedLives lives;
    if (auto read = lives.read(**reader); !read) return std::unexpected(read.error());
    RecordedWorkload out = WorkloadOfRecord(lives, path).make();
    for (const std::string& trouble : (*reader)->troubles())
        out.trace.warnings.push_back(trouble);
    for (const RecordGap& gap : (*reader)->gaps())
        out.trace.warnings.push_back(fmt::format("{}: not everything is known from {} to {}: {}",
                                                 path,
                                                 format_time(gap.from),
                                                 format_time(gap.to),
                                                 gap.why));
    if (out.trace.jobs.empty()) return fail(fmt::format("{}: no pod is in this record", path));
    return out;
}

}  // namespace reprieve
