// The runner itself: a scenario that expects something else must fail, and a scenario with a typo must not be read.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "checks.h"
#include "repeat.h"
#include "run.h"

namespace reprieve::scenario {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// One node of 2 cpu; `low` holds both, `high` waits for them.
constexpr const char* kWorld = R"(# The higher pod gets the room.
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 2, memory: 8Gi, pods: 110}}
---
apiVersion: v1
kind: PodList
items:
- metadata: {name: low}
  spec: {nodeName: n1, priority: 1, containers: [{name: c, resources: {requests: {cpu: 2}}}]}
  status: {phase: Running, startTime: 2026-01-01T00:00:00Z}
- metadata: {name: high}
  spec: {priority: 10, containers: [{name: c, resources: {requests: {cpu: 2}}}]}
---
apiVersion: reprieve.dev/v1
kind: Expect
)";

std::string outcome(const std::string& expect) {
    const auto scenario = read_scenario("test", kWorld + expect);
    if (!scenario) return scenario.error().message;
    return run_scenario(*scenario, "", false);
}

TEST(Runner, PassesWhatIsRight) {
    EXPECT_EQ(outcome("plan: {evict: [low], place: {high: n1}, when: afterEvictions}"), "");
    EXPECT_EQ(outcome("plan: {evict: [{pod: low, unit: pod, for: high}], place: [{pod: high, nodeIn: [n1, n2]}]}"), "");
    EXPECT_EQ(outcome("plan: {evict: 1, place: 1}\nunplaced: []\nexit: 0"), "");
    EXPECT_EQ(
        outcome(
            "plan: {evict: [low], place: {...: any}}\ncertificates: [{for: high, status: optimal, cost: {pods: 1}}]"),
        "");
    EXPECT_EQ(outcome("settled: {evict: [low], place: {high: n1}}"), "");
    EXPECT_EQ(outcome("queues: {default: {used: {cpu: 2000}}}"), "");
}

TEST(Runner, SaysWhatIsWrong) {
    EXPECT_THAT(outcome("plan: {}"), HasSubstr("evict: expected none, got default/low"));
    EXPECT_THAT(outcome("plan: {evict: [low]}"), HasSubstr("place: expected none, got default/high"));
    EXPECT_THAT(outcome("plan: {evict: [low], place: {high: n2}}"),
                HasSubstr("place default/high: expected node \"n2\""));
    EXPECT_THAT(outcome("plan: {evict: [low], place: {high: n1}, when: now}"), HasSubstr("expected now"));
    EXPECT_THAT(outcome("plan: {evict: 2, place: 1}"), HasSubstr("evict: expected 2 pods"));
    EXPECT_THAT(outcome("plan: {evict: [{pod: low, pdbViolation: true}], place: 1}"),
                HasSubstr("expected pdbViolation true"));
    EXPECT_THAT(outcome("plan: {evict: [low], place: 1, scale: [{deployment: d}]}"), HasSubstr("scale: expected"));
    EXPECT_THAT(outcome("untouched: [low]"), HasSubstr("untouched default/low"));
    EXPECT_THAT(outcome("unplaced: [high]"), HasSubstr("unplaced: expected default/high, got none"));
    EXPECT_THAT(outcome("untouched: [high]\nnominationsCleared: [high]"), HasSubstr("nominationsCleared: expected"));
    EXPECT_THAT(outcome("untouched: [high]\nwarnings: [moon]"), HasSubstr("warnings: expected 'moon'"));
    EXPECT_THAT(outcome("untouched: [high]\nexit: 3"), HasSubstr("exit: expected 3, got 0"));
    EXPECT_THAT(outcome("certificates: [{for: high, status: optimal, cost: {pods: 2}}]"),
                HasSubstr("certificates: expected"));
    EXPECT_THAT(outcome("queues: {default: {used: {cpu: 1}}}"), HasSubstr("queues default: expected used"));
    EXPECT_THAT(outcome("error: something"), HasSubstr("error: expected 'something'"));
    EXPECT_THAT(outcome("settled: {evict: [], place: {high: n1}}"), HasSubstr("evict: expected none"));
}

TEST(Runner, AFailureShowsSentenceAndTable) {
    const std::string text = outcome("plan: {}");
    EXPECT_THAT(text, HasSubstr("The higher pod gets the room."));
    EXPECT_THAT(text, HasSubstr("default/low"));
}

TEST(Runner, RefusesTyposAndEmptyDemands) {
    EXPECT_THAT(outcome("plan: {evcit: [low]}"), HasSubstr("plan.evcit: unknown key"));
    EXPECT_THAT(outcome("plan: {evict: [{pod: low, unti: pod}]}"), HasSubstr("plan.evict[0].unti: unknown key"));
    EXPECT_THAT(outcome("untuched: [low]"), HasSubstr("untuched: unknown key"));
    EXPECT_THAT(outcome("golden: false"), HasSubstr("demands nothing"));
    EXPECT_THAT(outcome("cycles: [{plan: {}, evnets: []}]"), HasSubstr("cycles[0].evnets: unknown key"));
    EXPECT_THAT(outcome("plan: {}\nconfig: {actoins: []}"), HasSubstr("actoins"));
    EXPECT_FALSE(read_scenario("test", "kind: Expect\nplan: {}"));
}

TEST(Runner, TheWorldFollowsThePlan) {
    EXPECT_EQ(outcome(R"(
cycles:
- plan: {evict: [low], place: {high: n1}, when: afterEvictions}
- plan: {place: {high: n1}, when: afterEvictions}
  untouched: [low]
- events: [{time: +30s}, {victimsGone: true}]
  plan: {place: {high: n1}, when: now}
- events: [{victimsReturn: true}]
  plan: {}
  unplaced: [low-again]
- events:
  - finish: high
  - create: {apiVersion: v1, kind: Pod, metadata: {name: late}, spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
  - set: {kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4}}}
  plan: {place: {late: n1, low-again: n1}, when: now}
- events: [{delete: late}, {delete: {kind: Node, name: n1}}]
  plan: {}
  warnings: any
)"),
              "");
}

TEST(Runner, EventsMustMakeSense) {
    EXPECT_THAT(outcome("cycles: [{events: [{explode: x}], plan: {}}]"), HasSubstr("event explode: is not known"));
    EXPECT_THAT(outcome("cycles: [{events: [{delete: nobody}], plan: {}}]"), HasSubstr("event delete: there is no"));
    EXPECT_THAT(outcome("cycles: [{events: [{victimsGone: true}], plan: {}}]"), HasSubstr("nothing is terminating"));
}

TEST(Runner, GoldenFilesAreKeptAndCompared) {
    const std::filesystem::path golden = std::filesystem::path(testing::TempDir()) / "reprieve-runner.plan.json";
    const auto scenario =
        read_scenario("test", std::string(kWorld) + "golden: true\nplan: {evict: [low], place: {high: n1}}");
    ASSERT_TRUE(scenario);
    EXPECT_EQ(run_scenario(*scenario, golden, true), "");
    EXPECT_EQ(run_scenario(*scenario, golden, false), "");
    const auto text = read_text(golden);
    ASSERT_TRUE(text);
    EXPECT_THAT(*text, HasSubstr("\"default/low\""));
    std::filesystem::resize_file(golden, text->size() - 2);
    EXPECT_THAT(run_scenario(*scenario, golden, false), HasSubstr("not the one kept"));
    std::filesystem::remove(golden);
}

std::vector<std::string> expanded(const char* text) {
    Faults faults;
    std::vector<Json> out;
    expand(Json::parse(text), out, faults);
    std::vector<std::string> lines;
    for (const Json& document : out)
        lines.push_back(document.dump());
    lines.insert(lines.end(), faults.begin(), faults.end());
    return lines;
}

TEST(Repeat, FillsInNumbersAndNames) {
    EXPECT_THAT(expanded(R"({"kind":"Repeat","count":3,"template":{"a-{i}":"{i%2}-{i:02}","n":"{i*10+1:int}"}})"),
                ElementsAre(R"({"a-0":"0-00","n":1})", R"({"a-1":"1-01","n":11})", R"({"a-2":"0-02","n":21})"));
    EXPECT_THAT(expanded(R"({"kind":"Repeat","from":5,"count":1,"template":["{i}","x"]})"),
                ElementsAre(R"("5")", R"("x")"));
    EXPECT_THAT(expanded(R"({"kind":"Repeat","over":["p","q"],"as":"w","template":{"w":"{w}{i}"}})"),
                ElementsAre(R"({"w":"p{i}"})", R"({"w":"q{i}"})"));
    EXPECT_THAT(
        expanded(R"({"kind":"Repeat","count":2,"template":{"kind":"Repeat","as":"j","count":1,"template":"{i}{j}"}})"),
        ElementsAre(R"("00")", R"("10")"));
    EXPECT_THAT(expanded(R"({"kind":"Repeat","count":1,"template":"[{\"index\":{i}}]"})"),
                ElementsAre(R"("[{\"index\":0}]")"));
}

TEST(Repeat, RefusesWhatItDoesNotKnow) {
    EXPECT_THAT(expanded(R"({"kind":"Repeat","count":1,"tmplate":"x"})"),
                ElementsAre("Repeat.tmplate: unknown key", "Repeat.template: is missing"));
    EXPECT_THAT(expanded(R"({"kind":"Repeat","template":"x"})"), ElementsAre(HasSubstr("either a `count`")));
}

TEST(Names, AreSpelledOut) {
    EXPECT_THAT(spelled_out("low-{8..10}"), ElementsAre("low-8", "low-9", "low-10"));
    EXPECT_THAT(spelled_out("low-{08..10}"), ElementsAre("low-08", "low-09", "low-10"));
    EXPECT_THAT(spelled_out("low"), ElementsAre("low"));
    EXPECT_EQ(full_name("a"), "default/a");
    EXPECT_EQ(full_name("ns/a"), "ns/a");
}

}  // namespace
}  // namespace reprieve::scenario
