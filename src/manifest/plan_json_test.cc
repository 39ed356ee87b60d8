#include "manifest/plan_json.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace reprieve {
namespace {

Plan full_plan() {
    Plan plan;
    plan.id = "sha256:abc";
    plan.now = parse_time("2026-01-01T12:00:00Z").value();
    plan.placements = {{"ns/a", "n1", "", {"0", "1:4Gi"}, true, "ns/gang", "rack-1", "gangPreempt"},
                       {"ns/b", "n2", "", {}, false, "", "", "allocate"}};
    plan.evictions = {{"ns/v",
                       "n1",
                       "uid-1",
                       UnitKind::kWhole,
                       "ns/g",
                       "ns/gang",
                       "gangPreempt",
                       EvictionMode::kEvict,
                       true,
                       "preempt",
                       "why"}};
    plan.nominations_cleared = {"ns/c"};
    plan.scale = {{"ns/d", "w1", 3, 2, {"ns/p"}}};
    plan.force_deletes = {"ns/f"};
    plan.annotations = {{"ns/p", {{"k", "v"}, {"e", ""}}, {"old"}}};
    plan.matches = {{"ns/d", "n1", {{"ns/p", "Normal"}}, 1}};
    plan.queues = {{"q", {{"used", {{"cpu", 0}, {"memory", 7}}}, {"deserved", {}}, {"min", {{"cpu", 5}}}}}};
    plan.unplaced = {{"ns/u", "ns/gang", 0, true, "no", {{"no room", 12}}}, {"", "ns/d", 2, false, "later", {}}};
    plan.certificates = {{"ns/gang",
                          "gangPreempt",
                          CertificateStatus::kGap,
                          {{"pdbViolations", 0}, {"pods", 3}},
                          {{"pods", 2}},
                          {{"pods", 4}},
                          "rack r3"}};
    plan.warnings = {"careful"};
    return plan;
}

Plan without_uids(Plan plan) {
    for (Eviction& eviction : plan.evictions)
        eviction.uid.clear();
    return plan;
}

TEST(PlanJson, ClaimsAreReadBackAsWritten) {
    Plan plan = without_uids(full_plan());
    plan.evictions.front().frees = {"ns/claim"};
    plan.placements.back().claims = {
        {"ns/b-gpu",
         {{.request = "r/small", .driver = "d", .pool = "p", .device = "gpu-0", .share = {{"memory", "10Gi"}}},
          {.request = "watch", .driver = "d", .pool = "p", .device = "gpu-1", .admin = true}}}};
    const auto again = plan_from_json(plan_to_json(plan));
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, plan);
}

TEST(PlanJson, AnEmptyPlanHasAllItsArrays) {
    EXPECT_EQ(plan_to_json(Plan{}), R"({
  "apiVersion": "reprieve.dev/v1",
  "kind": "Plan",
  "placements": [],
  "evictions": [],
  "nominationsCleared": [],
  "scale": [],
  "forceDeletes": [],
  "annotations": [],
  "matches": [],
  "queues": [],
  "unplaced": [],
  "certificates": [],
  "warnings": []
}
)");
}

TEST(PlanJson, HasTheShapeOfTheContract) {
    const auto written = nlohmann::ordered_json::parse(plan_to_json(full_plan()));
    EXPECT_EQ(
        written.dump(),
        R"({"apiVersion":"reprieve.dev/v1","kind":"Plan","id":"sha256:abc","now":"2026-01-01T12:00:00Z",)"
        R"("placements":[{"pod":"ns/a","node":"n1","devices":["0","1:4Gi"],"when":"afterEvictions","for":"ns/gang","domain":"rack-1","action":"gangPreempt"},)"
        R"({"pod":"ns/b","node":"n2","when":"now","action":"allocate"}],)"
        R"("evictions":[{"pod":"ns/v","node":"n1","unit":"whole","group":"ns/g","for":"ns/gang","action":"gangPreempt","mode":"evict","pdbViolation":true,"stage":"preempt","reason":"why"}],)"
        R"("nominationsCleared":["ns/c"],)"
        R"("scale":[{"deployment":"ns/d","plane":"w1","from":3,"to":2,"hints":["ns/p"]}],)"
        R"("forceDeletes":["ns/f"],)"
        R"("annotations":[{"pod":"ns/p","set":{"e":"","k":"v"},"remove":["old"]}],)"
        R"("matches":[{"for":"ns/d","node":"n1","victims":[{"pod":"ns/p","as":"Normal"}],"usesFree":1}],)"
        R"("queues":[{"name":"q","deserved":{},"used":{"cpu":0,"memory":7},"min":{"cpu":5}}],)"
        R"("unplaced":[{"pod":"ns/u","for":"ns/gang","verdict":"never","reason":"no","nodes":{"no room":12}},)"
        R"({"for":"ns/d","replicas":2,"verdict":"notNow","reason":"later"}],)"
        R"("certificates":[{"for":"ns/gang","action":"gangPreempt","status":"gap","cost":[["pdbViolations",0],["pods",3]],"bound":[["pods",2]],"runnerUp":[["pods",4]],"binding":"rack r3"}],)"
        R"("warnings":["careful"]})");
}

TEST(PlanJson, ReadsBackWhatItWrote) {
    const Plan plan = full_plan();
    const std::string text = plan_to_json(plan);
    const auto read = plan_from_json(text);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(*read, without_uids(plan));
    EXPECT_EQ(plan_to_json(*read), text);
    EXPECT_EQ(plan_from_json(plan_to_json(Plan{})).value(), Plan{});
}

TEST(PlanJson, EveryKindReadsBack) {
    Plan plan;
    for (const UnitKind unit : {UnitKind::kPod, UnitKind::kSafe, UnitKind::kWhole, UnitKind::kReplica})
        plan.evictions.emplace_back().unit = unit;
    for (const EvictionMode mode : {EvictionMode::kDelete,
                                    EvictionMode::kEvict,
                                    EvictionMode::kSoft,
                                    EvictionMode::kScaleDown,
                                    EvictionMode::kForceDelete}) {
        plan.evictions.emplace_back().mode = mode;
    }
    for (const CertificateStatus status : {CertificateStatus::kOptimal,
                                           CertificateStatus::kGap,
                                           CertificateStatus::kInfeasible,
                                           CertificateStatus::kHeuristic,
                                           CertificateStatus::kUnknown}) {
        plan.certificates.emplace_back().status = status;
    }
    for (const std::int64_t edge :
         {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
        plan.certificates.emplace_back().cost = {{"latestStart", edge}};
    }
    EXPECT_EQ(plan_from_json(plan_to_json(plan)).value(), plan);
}

TEST(PlanJson, HostileNamesAreEscaped) {
    const std::string hostile = "a\"b\\c\nd\te\x01\x7f</script>\xE2\x80\xA8\xF0\x9F\x98\x80";
    Plan plan;
    plan.warnings = {hostile};
    plan.unplaced.emplace_back().nodes = {{hostile, 1}};
    const std::string text = plan_to_json(plan);
    EXPECT_EQ(text.find('\x01'), std::string::npos);
    EXPECT_EQ(plan_from_json(text).value(), plan);
}

TEST(PlanJson, InvalidUtf8IsReplaced) {
    // Alone, truncated, overlong, a surrogate, beyond Unicode; then a good one.
    Plan plan;
    plan.warnings = {"\xFF", "a\xE2\x82", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82\xAC"};
    plan.annotations = {{"p", {{"\xFF", "1"}, {"\xF0\x9F\x98\x80", "2"}, {"\xFE", "3"}, {"\xEF\xBF\xBE", "4"}}, {}}};
    plan.queues = {{"q", {{"\xFF", {}}, {"\xF0\x9F\x98\x80", {}}}}};
    const std::string text = plan_to_json(plan);
    const auto read = plan_from_json(text);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    const std::string bad = "\xEF\xBF\xBD";
    EXPECT_EQ(read->warnings,
              (std::vector<std::string>{
                  bad, "a" + bad + bad, bad + bad, bad + bad + bad, bad + bad + bad + bad, "\xE2\x82\xAC"}));
    EXPECT_EQ(plan_to_json(*read), text);
}

TEST(PlanJson, WrongPlansNameTheKey) {
    const auto error = [](std::string_view members) {
        const auto read =
            plan_from_json(R"({"apiVersion":"reprieve.dev/v1","kind":"Plan",)" + std::string(members) + "}");
        return read ? std::string("read") : read.error().message;
    };
    EXPECT_EQ(error(R"("placements":[{"pod":"a"},{"pod":1}])"), "placements[1].pod: must be a string");
    EXPECT_EQ(error(R"("placements":[{"when":"later"}])"), "placements[0].when: must be now or afterEvictions");
    EXPECT_EQ(error(R"("placements":{})"), "placements: must be a list");
    EXPECT_EQ(error(R"("placements":[3])"), "placements[0]: must be an object");
    EXPECT_EQ(error(R"("evictions":[{"unit":"half"}])"), "evictions[0].unit: \"half\" is not known here");
    EXPECT_EQ(error(R"("evictions":[{"pdbViolation":"no"}])"), "evictions[0].pdbViolation: must be true or false");
    EXPECT_EQ(error(R"("scale":[{"from":1.5}])"), "scale[0].from: must be a whole number of 64 bits");
    EXPECT_EQ(error(R"("scale":[{"to":18446744073709551615}])"), "scale[0].to: must be a whole number of 64 bits");
    EXPECT_EQ(error(R"("certificates":[{"cost":[["pods"]]}])"), "certificates[0].cost[0]: must be [term, value]");
    EXPECT_EQ(error(R"("queues":[{"used":{"cpu":"1"}}])"), "queues[0].used.cpu: must be a whole number of 64 bits");
    EXPECT_EQ(error(R"("extra":1)"), "extra: is not known here");
    EXPECT_NE(error(R"("now":"noon")").find("now: \"noon\" is not an RFC 3339 time"), std::string::npos);
    EXPECT_EQ(plan_from_json("[]").error().message, "plan: must be an object");
    EXPECT_EQ(plan_from_json(R"({"kind":"Plan"})").error().message, "apiVersion: must be reprieve.dev/v1");
    EXPECT_EQ(plan_from_json(R"({"apiVersion":"reprieve.dev/v1"})").error().message, "kind: must be Plan");
    for (const char* text : {"", "{", "nonsense", "{\"a\":\"\xFF\"}"}) {
        const auto read = plan_from_json(text);
        ASSERT_FALSE(read.has_value()) << text;
        EXPECT_EQ(read.error().message.find("plan: not valid JSON"), 0U);
    }
    EXPECT_FALSE(plan_from_json(std::string(1'000'000, '[')).has_value());
}

// What yaml-cpp reads, as JSON: quoted scalars are strings.
nlohmann::ordered_json json_of(const YAML::Node& node) {
    auto json = nlohmann::ordered_json();
    if (node.IsMap()) {
        json = nlohmann::ordered_json::object();
        for (const auto& entry : node)
            json[entry.first.Scalar()] = json_of(entry.second);
    } else if (node.IsSequence()) {
        json = nlohmann::ordered_json::array();
        for (const auto& item : node)
            json.push_back(json_of(item));
    } else if (node.Tag() != "!" && (node.Scalar() == "true" || node.Scalar() == "false")) {
        json = node.Scalar() == "true";
    } else if (node.Tag() != "!" && node.Scalar().find_first_not_of("-0123456789") == std::string::npos) {
        json = std::stoll(node.Scalar());
    } else {
        json = node.Scalar();
    }
    return json;
}

TEST(PlanYaml, SaysTheSameAsTheJson) {
    Plan plan = full_plan();
    plan.warnings = {"true",
                     "No",
                     "null",
                     "~",
                     "",
                     "12",
                     "1e3",
                     "0x1F",
                     "-",
                     "- a",
                     "a: b",
                     "a #b",
                     "a:",
                     "2026-01-01",
                     ".inf",
                     " pad ",
                     "multi\nline\n",
                     "tab\t",
                     "quote\"back\\slash",
                     "\x01\x7f\xC2\x85\xE2\x80\xA8\xEF\xBB\xBF",
                     "\xF0\x9F\x98\x80",
                     "*star",
                     "&and",
                     "!bang",
                     "%d",
                     "@at",
                     "`b",
                     "{a}",
                     "[a]",
                     "a,b",
                     "'single'",
                     "y",
                     "N"};
    EXPECT_EQ(json_of(YAML::Load(plan_to_yaml(plan))).dump(), nlohmann::ordered_json::parse(plan_to_json(plan)).dump());
}

TEST(PlanYaml, IsWhatAPersonWouldWrite) {
    Plan plan;
    plan.placements = {{"ns/a", "n1", "", {"0", "1"}, false, "", "", "allocate"}};
    plan.certificates.emplace_back().cost = {{"pdbViolations", 0}, {"pods", 2}};
    EXPECT_EQ(plan_to_yaml(plan), R"(apiVersion: reprieve.dev/v1
kind: Plan
placements:
  - pod: ns/a
    node: n1
    devices: ["0", "1"]
    when: now
    action: allocate
evictions: []
nominationsCleared: []
scale: []
forceDeletes: []
annotations: []
matches: []
queues: []
unplaced: []
certificates:
  - status: heuristic
    cost:
      - [pdbViolations, 0]
      - [pods, 2]
warnings: []
)");
}

}  // namespace
}  // namespace reprieve
