// Worlds in which the referee once spoke against a fair decision, and an export that once was another world.
#include <gmock/gmock.h>

#include "record/export.h"
#include "record/reader_files.h"
#include "recorded_story.h"
#include "referee/record_referee.h"

namespace reprieve {
namespace {

using testing::HasSubstr;

// Recorded without a configuration; judged with one that names no schedulers, too.
void expect_one_fair_decision(const std::string& yaml, const std::string& victim) {
    const Folder folder;
    tell_story({.yaml = yaml, .record = {.folder = folder.path()}});
    auto reader = RecordReader::open(folder.path());
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    for (const bool own_config : {true, false}) {
        const auto report = judge_record(**reader, {}, own_config);
        ASSERT_TRUE(report.has_value()) << report.error().message;
        ASSERT_EQ(report->verdicts.size(), 1U);
        const JudgedDecision& one = report->verdicts.front();
        EXPECT_THAT(one.victims, testing::ElementsAre(victim));
        EXPECT_STREQ(to_text(one.ruling.verdict), "fair") << one.ruling.evidence;
    }
}

// The decision's node counts against the domains that the pod itself may go to, not against that node alone.
TEST(JudgedWorlds, HardSpreadIsJudgedOverAllItsDomains) {
    expect_one_fair_decision(R"(apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1, zone: z1}}
status: {allocatable: {cpu: "4", pods: "110"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {kubernetes.io/hostname: n2, zone: z2}}
status: {allocatable: {cpu: "1", pods: "110"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: keep1, labels: {app: foo}}
spec: {schedulerName: reprieve, priority: 1000, nodeName: n1, containers: [{name: c, image: a, resources: {requests: {cpu: "1"}}}]}
status: {phase: Running, startTime: "2026-01-01T00:00:00Z"}
---
apiVersion: v1
kind: Pod
metadata: {name: keep2, labels: {app: foo}}
spec: {schedulerName: reprieve, priority: 1000, nodeName: n2, containers: [{name: c, image: a, resources: {requests: {cpu: "1"}}}]}
status: {phase: Running, startTime: "2026-01-01T00:00:00Z"}
---
apiVersion: v1
kind: Pod
metadata: {name: low, labels: {app: foo}}
spec: {schedulerName: reprieve, priority: 0, nodeName: n1, containers: [{name: c, image: a, resources: {requests: {cpu: "1"}}}]}
status: {phase: Running, startTime: "2026-01-01T00:00:00Z"}
---
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: foo}}
spec:
  schedulerName: reprieve
  priority: 1000
  containers: [{name: c, image: a, resources: {requests: {cpu: "1"}}}]
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: foo}}}]
status: {phase: Pending}
)",
                             "default/low");
}

// The cheaper victim is whom another pod of the same plan must run beside.
TEST(JudgedWorlds, WhomAnotherPlacementNeedsWasNoChoice) {
    expect_one_fair_decision(R"(apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: "3", pods: "110"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: needed, labels: {app: x}}
spec: {schedulerName: reprieve, priority: 0, nodeName: n1, containers: [{name: c, image: a, resources: {requests: {cpu: "1"}}}]}
status: {phase: Running, startTime: "2026-01-01T00:00:00Z"}
---
apiVersion: v1
kind: Pod
metadata: {name: dear}
spec: {schedulerName: reprieve, priority: 20, nodeName: n1, containers: [{name: c, image: a, resources: {requests: {cpu: "1"}}}]}
status: {phase: Running, startTime: "2026-01-01T00:00:00Z"}
---
apiVersion: v1
kind: Pod
metadata: {name: near}
spec:
  schedulerName: reprieve
  priority: 100
  containers: [{name: c, image: a, resources: {requests: {cpu: "1"}}}]
  affinity:
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: x}}}
---
apiVersion: v1
kind: Pod
metadata: {name: second}
spec: {schedulerName: reprieve, priority: 90, containers: [{name: c, image: a, resources: {requests: {cpu: "1"}}}]}
)",
                             "default/dear");
}

TEST(ExportedWorlds, KeepHowManyPodsAWorkloadStillWants) {
    const Folder folder;
    tell_story({.yaml = R"(apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: "4", pods: "110"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: capped}
spec:
  parallelism: 4
  completions: 1
  template:
    spec: {schedulerName: reprieve, containers: [{name: c, image: a, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: rests}
spec:
  suspend: true
  parallelism: 2
  template:
    spec: {schedulerName: reprieve, containers: [{name: c, image: a, resources: {requests: {cpu: "1"}}}]}
)",
                .record = {.folder = folder.path()},
                .cycles = 2});
    auto reader = RecordReader::open(folder.path());
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    const auto cycle = (*reader)->cycle_at(Time{INT64_MAX});
    ASSERT_TRUE(cycle.has_value());
    const auto manifests = export_manifests(**reader, *cycle);
    ASSERT_TRUE(manifests.has_value()) << manifests.error().message;
    EXPECT_THAT(*manifests, HasSubstr("\"completions\":1"));
    EXPECT_THAT(*manifests, HasSubstr("\"suspend\":true"));
}

// Two processes wrote into one record: what one believed is about a pod that only the other knew.
TEST(DamagedWorlds, ABeliefAboutAPodThatIsNotThereIsNoLineOfTheRecord) {
    RecordedWorld world{{"Pod ns/a", {.json = "{}", .overlay = {}}}};
    EXPECT_TRUE(apply_change({.at = {}, .key = "Pod ns/a", .believed = true, .json = "{}"}, world));
    EXPECT_FALSE(apply_change({.at = {}, .key = "Pod ns/b", .believed = true, .json = "{}"}, world));
    EXPECT_EQ(world.size(), 1U);
}

}  // namespace
}  // namespace reprieve
