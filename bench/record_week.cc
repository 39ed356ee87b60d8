// A generated week of a cluster, recorded as fast as it can be: what a change takes on disk, what it costs the loop to
// hand it over, and how long `history` takes to answer.
//
//     record_week FOLDER [DAYS] [CHANGES_A_SECOND]
//
// Pods of 400 templates live for seven changes each: made, bound, starting, ready, marked, leaving, gone.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <deque>

#include "record/reader.h"
#include "record/recorder.h"
#include "record/retention.h"

namespace reprieve {
namespace {

constexpr Time kMonday{std::int64_t{1'772'409'600} * 1'000'000};  // 2026-03-02
constexpr int kTemplates = 400;
constexpr int kNodes = 1000;
constexpr int kStages = 7;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct LivingPod {
    std::int64_t number = 0;
    int stage = 0;
    Time created;
    [[nodiscard]] std::string name() const {
        return fmt::format("team-{}/work-{:05x}-{:05x}",
                           number % 40,
                           number % kTemplates * 7919 % 0xFFFFF,
                           number * 2654435761 % 0xFFFFF);
    }
    [[nodiscard]] std::string node() const { return fmt::format("node-{}", number * 31 % kNodes); }
};

// As an API server writes it: most of it is nothing that a scheduler reads.
std::string pod_text(const LivingPod& pod, Time now) {
    const std::int64_t shape = pod.number % kTemplates;
    const std::string name = pod.name();
    std::string env;
    for (int i = 0; i < 12; ++i)
        env +=
            fmt::format("{}{{\"name\":\"SETTING_{}\",\"value\":\"value-{}-{}\"}}", i > 0 ? "," : "", i, shape, i * 37);
    std::string out = fmt::format(
        "{{\"metadata\":{{\"name\":\"{}\",\"generateName\":\"work-\",\"namespace\":\"team-{}\",\"uid\":\"{:08x}-0000-"
        "4000-8000-{:012x}\","
        "\"resourceVersion\":\"{}\",\"creationTimestamp\":\"{}\",\"labels\":{{\"app\":\"work-{}\",\"pod-template-"
        "hash\":\"{:x}\"}},"
        "\"annotations\":{{\"kubectl.kubernetes.io/"
        "restartedAt\":\"2026-03-01T00:00:00Z\"}},\"ownerReferences\":[{{\"apiVersion\":\"apps/v1\","
        "\"kind\":\"ReplicaSet\",\"name\":\"work-{:x}\",\"uid\":\"{:08x}-1111-4000-8000-000000000000\",\"controller\":"
        "true}}],"
        "\"managedFields\":[{}]",
        name.substr(name.find('/') + 1),
        pod.number % 40,
        pod.number * 40503 % 0xFFFFFFFF,
        pod.number,
        now.us / 1000,
        format_time(pod.created),
        shape,
        shape * 7919,
        shape * 7919,
        shape,
        fmt::format("{{\"manager\":\"kubelet\",\"fieldsV1\":{{\"f:status\":\"{:x>1200}\"}}}}", ""));
    if (pod.stage >= 5) out += fmt::format(",\"deletionTimestamp\":\"{}\"", format_time(now));
    out += fmt::format(
        "}},\"spec\":{{\"schedulerName\":\"reprieve\",\"priority\":{},\"containers\":[{{\"name\":\"main\",\"image\":"
        "\"registry.example.com/work-{}:1.0\","
        "\"args\":[\"--shard={}\",\"--verbose\"],\"env\":[{}],\"resources\":{{\"requests\":{{\"cpu\":\"{}\",\"memory\":"
        "\"{}Gi\"}}}}}}],"
        "\"tolerations\":[{{\"key\":\"node.kubernetes.io/"
        "not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}}]",
        shape % 5 * 100,
        shape,
        shape,
        env,
        1 + shape % 8,
        2 + shape % 30);
    if (pod.stage >= 1) out += fmt::format(",\"nodeName\":\"{}\"", pod.node());
    out += fmt::format("}},\"status\":{{\"phase\":\"{}\"", pod.stage >= 2 ? "Running" : "Pending");
    if (pod.stage >= 2)
        out += fmt::format(",\"startTime\":\"{}\",\"podIP\":\"10.0.{}.{}\"",
                           format_time(pod.created + Duration::of_seconds(2)),
                           pod.number % 250,
                           pod.number % 251);
    out += fmt::format(
        ",\"conditions\":[{{\"type\":\"PodScheduled\",\"status\":\"{}\"}},{{\"type\":\"Ready\",\"status\":\"{}\","
        "\"lastTransitionTime\":\"{}\"}}",
        pod.stage >= 1 ? "True" : "False",
        pod.stage >= 3 ? "True" : "False",
        format_time(now));
    if (pod.stage >= 4)
        out +=
            ",{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"PreemptionByScheduler\",\"message\":"
            "\"reprieve: preempting to accommodate a higher priority pod\"}";
    return out + "]}}";
}

int run(const std::string& folder, std::int64_t days, std::int64_t rate) {
    auto opened = Recorder::open({.folder = folder, .version = "bench"});
    if (!opened) {
        fmt::print(stderr, "{}\n", opened.error().message);
        return 1;
    }
    Recorder& recorder = **opened;
    std::deque<LivingPod> pods;
    std::int64_t next = 0;
    std::int64_t changes = 0;
    double handing = 0;
    const auto start = Clock::now();
    recorder.put(ReadyItem{.at = kMonday});
    for (std::int64_t second = 0; second < days * 86400; ++second) {
        const Time now = kMonday + Duration::of_seconds(second);
        CycleItem cycle{.at = now};
        cycle.acted = true;
        cycle.plan.id = fmt::format("sha256:{:064x}", second * 2654435761);
        cycle.plan.now = now;
        for (std::int64_t i = 0; i < rate; ++i, ++changes) {
            // Lives overlap: the pod whose turn it is makes a step, and a new one comes when one has gone.
            if (pods.size() < 2000) pods.push_back({.number = ++next, .stage = 0, .created = now});
            LivingPod pod = pods.front();
            pods.pop_front();
            const std::string name = pod.name();
            const std::string json = pod.stage < kStages - 1 ? pod_text(pod, now) : std::string();
            FactItem item{.at = now, .key = {}, .text = nullptr, .pod = {}};
            if (!json.empty()) {
                item.pod = PodSight{
                    .uid = fmt::format("{:08x}-0000-4000-8000-{:012x}", pod.number * 40503 % 0xFFFFFFFF, pod.number),
                    .node = pod.stage >= 1 ? pod.node() : "",
                    .created = pod.created,
                    .started = {},
                    .leaving = pod.stage >= 5 ? now : Time(),
                    .runs = pod.stage >= 2};
                if (pod.stage == 0)
                    cycle.plan.placements.push_back(
                        {.pod = pod.name(), .node = pod.node(), .uid = {}, .action = "allocate"});
                ++pod.stage;
                pods.push_back(pod);
            }
            // What the loop's thread does for a change: it keeps the text, names it, and hands it over.
            const auto before = Clock::now();
            item.text = std::make_shared<const FactText>(FactText{.api_version = "v1", .kind = "Pod", .json = json});
            item.key = "Pod " + name;
            recorder.put(std::move(item));
            handing += seconds_since(before);
        }
        const auto before = Clock::now();
        for (const Placement& p : cycle.plan.placements)
            recorder.put(StepItem{.at = now, .report = {.step = SinkStep::kBind, .pod = p.pod}});
        recorder.put(std::move(cycle));
        handing += seconds_since(before);
        if (second % 600 == 0) recorder.flush();  // a week in minutes: the writer is given time, as it has in life
    }
    recorder.close();
    std::int64_t bytes = 0;
    for (const RecordPath& file : record_files(folder))
        bytes += file.bytes;
    fmt::print("{} changes, {} pods, {} days: {} bytes, {:.1f} a change; {:.2f} us a change to hand over; {:.1f} s\n",
               changes,
               next,
               days,
               bytes,
               static_cast<double>(bytes) / static_cast<double>(changes),
               handing * 1e6 / static_cast<double>(changes),
               seconds_since(start));
    const auto asked = Clock::now();
    auto reader = RecordReader::open(folder);
    if (!reader) return 1;
    const std::string name = LivingPod{.number = next / 2}.name();
    const auto found = (*reader)->decisions({.name = name});
    const auto lives = (*reader)->lives({.name = name});
    fmt::print("history of {}: {} decisions, {} lives in {:.1f} ms\n",
               name,
               found.size(),
               lives.size(),
               seconds_since(asked) * 1e3);
    return 0;
}

}  // namespace
}  // namespace reprieve

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fputs("usage: record_week FOLDER [DAYS] [CHANGES_A_SECOND]\n", stderr);
        return 2;
    }
    return reprieve::run(argv[1], argc > 2 ? std::atoll(argv[2]) : 7, argc > 3 ? std::atoll(argv[3]) : 50);
}
