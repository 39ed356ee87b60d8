// A story on the embedded cluster that is recorded while the loop runs. For tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <random>
#include <string>

#include "loop/delayed_world.h"
#include "loop/loop_test_world.h"
#include "record/reader.h"
#include "record/record_observer.h"
#include "record/recorder.h"
#include "record/replay.h"

namespace reprieve {

// A folder that is gone when the test is over.
class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "reprieve-record-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~Folder() {
        std::error_code none;
        std::filesystem::remove_all(path_, none);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

struct StoryOptions {
    std::string yaml;
    std::vector<std::string> files;
    Time start = kLoopStart;
    Delays delays;
    RecordOptions record;
    Duration cycle_budget{};
    std::int64_t cycles = 0;  // 0: to the end
};

struct StoryEnd {
    std::int64_t cycles = 0;
    RecordCounts counts;
};

// Runs a world to its end. `at_end` gets the recorder before it is closed.
inline StoryEnd tell_story(StoryOptions options, const std::function<void(Recorder&)>& at_end = {}) {
    World world({.start = options.start, .seed = 1, .latency = {}});
    if (!options.yaml.empty()) {
        const auto loaded = world.load_text("world.yaml", options.yaml);
        EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
    }
    for (const std::string& file : options.files) {
        const auto loaded = world.load(file);
        EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
    }
    world.begin();
    Cluster cluster({.scheduler_names = {"reprieve"}, .topology_levels = {}, .queues_by_namespace = false});
    DelayedSink sink(world, options.delays);
    DelayedSource source(world, cluster.words(), options.delays, sink);
    if (options.record.version.empty()) options.record.version = "test";
    auto recorder = Recorder::open(options.record);
    EXPECT_TRUE(recorder.has_value()) << recorder.error().message;
    RecordObserver observer(**recorder, cluster.words());
    source.keep_texts();
    LoopOptions loop_options;
    loop_options.config.scheduler_names = {"reprieve"};
    loop_options.cycle_budget = options.cycle_budget;
    loop_options.cycles = options.cycles;
    loop_options.beliefs.tell = [&](const Pod& told, const Pod& believed) { observer.on_belief(told, believed); };
    ControlLoop loop(cluster, source, sink, observer, loop_options);
    loop.run();
    (*recorder)->flush();
    if (at_end) at_end(**recorder);
    const StoryEnd end{.cycles = loop.counts().cycles, .counts = (*recorder)->counts()};
    (*recorder)->close();
    return end;
}

inline ReplayReport replay_of(const std::string& path) {
    auto reader = RecordReader::open(path);
    EXPECT_TRUE(reader.has_value()) << reader.error().message;
    if (!reader) return {};
    EXPECT_TRUE((*reader)->troubles().empty()) << (*reader)->troubles().front();
    const auto report = replay(**reader, {});
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return report ? *report : ReplayReport();
}

inline void expect_identical(const ReplayReport& report) {
    EXPECT_GT(report.cycles, 0);
    EXPECT_EQ(report.different, 0);
    EXPECT_EQ(report.identical, report.cycles);
    if (report.first) ADD_FAILURE() << "recorded " << report.first->recorded << "\nreplayed " << report.first->replayed;
}

// A world of some nodes that are too small for all that wants to run on them.
inline std::string crowded_world(std::uint32_t seed) {
    std::mt19937 dice(seed);
    const auto roll = [&](int from, int below) { return std::uniform_int_distribution<int>(from, below - 1)(dice); };
    std::string yaml;
    const int nodes = roll(2, 6);
    int next = 0;
    for (int n = 0; n < nodes; ++n) {
        const int cpus = roll(3, 8);
        yaml += node_yaml("n" + std::to_string(n), cpus);
        for (int room = cpus; room > 0 && roll(0, 5) > 0;) {
            TestPodText pod{.name = "run-" + std::to_string(next++),
                            .priority = roll(0, 4),
                            .cpu = roll(1, std::min(room, 3) + 1),
                            .node = "n" + std::to_string(n)};
            if (roll(0, 2) == 0) pod.owner = "set-" + std::to_string(roll(0, 3));
            pod.grace = roll(1, 20);
            if (roll(0, 5) == 0) pod.annotations = "reprieve.dev/sim-run: 61m";
            room -= pod.cpu;
            yaml += pod_yaml(pod);
        }
    }
    for (int i = roll(1, 6); i > 0; --i)
        yaml += pod_yaml({.name = "wait-" + std::to_string(i), .priority = roll(1, 8), .cpu = roll(1, 5)});
    for (int g = roll(0, 3); g > 0; --g) {
        const std::string gang = "gang-" + std::to_string(g);
        const int min = roll(1, 4);
        yaml += gang_yaml(gang, min, roll(0, 8));
        for (int i = min + roll(0, 2); i > 0; --i)
            yaml += pod_yaml({.name = gang + "-" + std::to_string(i), .cpu = roll(1, 3), .group = gang});
    }
    yaml += "---\nkind: Timeline\nevents:\n";
    for (int i = 0; i < 6; ++i) {
        yaml += "  - at: " + std::to_string(10 * i + roll(0, 9)) + "s\n";
        if (roll(0, 4) == 0)
            yaml += "    apply: {apiVersion: v1, kind: Node, metadata: {name: extra-" + std::to_string(i) +
                    "}, status: {allocatable: {cpu: '3', pods: '20'}}}\n";
        else
            yaml += "    apply: {apiVersion: v1, kind: Pod, metadata: {name: late-" + std::to_string(i) +
                    "}, spec: {schedulerName: reprieve, priority: " + std::to_string(roll(0, 10)) +
                    ", containers: [{name: main, resources: {requests: {cpu: '" + std::to_string(roll(1, 4)) +
                    "'}}}]}}\n";
    }
    return yaml;
}

}  // namespace reprieve
