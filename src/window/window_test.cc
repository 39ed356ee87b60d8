// The window's documents from small worlds: what a page is drawn from.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "actions/cycle.h"
#include "manifest/load.h"
#include "window/copy_process.h"
#include "window/decisions.h"
#include "window/documents.h"
#include "window/file_source.h"
#include "window/page.h"
#include "window/receipt.h"
#include "window/report.h"
#include "window/scope.h"

namespace reprieve::window {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr const char* kWorld = R"(
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {example.com/rack: r1}},
 status: {allocatable: {cpu: "8", memory: 16Gi, nvidia.com/gpu: "2", pods: "10"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: low, namespace: a, uid: u-low, creationTimestamp: "2026-01-01T11:00:00Z"},
 spec: {nodeName: n1, priority: 10, containers: [{name: c, resources: {requests: {cpu: "2", nvidia.com/gpu: "2"}}}]},
 status: {phase: Running, startTime: "2026-01-01T11:00:00Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: high, namespace: b, uid: u-high, creationTimestamp: "2026-01-01T11:59:00Z"},
 spec: {priority: 1000, containers: [{name: c, resources: {requests: {cpu: "2", nvidia.com/gpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: huge, namespace: a, uid: u-huge, creationTimestamp: "2026-01-01T11:58:00Z"},
 spec: {containers: [{name: c, resources: {requests: {cpu: "64"}}}]}}
)";

class WindowTest : public ::testing::Test {
protected:
    void SetUp() override {
        Loader loader(cluster_.words(), [&](Object&& object, const SourceRef&) {
            ASSERT_TRUE(cluster_.add(std::move(object)).has_value());
        });
        const auto loaded = loader.load_text("world", kWorld);
        ASSERT_TRUE(loaded.has_value()) << loaded.error().text();
        const Time now = *parse_time("2026-01-01T12:00:00Z");
        ASSERT_TRUE(cluster_.refresh(now).has_value());
        plan_ = run_cycle(cluster_, config_);
        plan_.now = now;
        plan_.id = "sha256:0123456789abcdef";
        sort_plan(plan_);
    }

    Cluster cluster_{ClusterOptions{}};
    SchedulerConfig config_;
    Plan plan_;
};

TEST_F(WindowTest, ADecisionIsEverythingThatAPlanDoesForOneOwner) {
    const std::vector<Decision> decisions = decisions_of(plan_, 7);
    ASSERT_EQ(decisions.size(), 1);
    EXPECT_EQ(decisions[0].id, "0123456789-1");
    EXPECT_EQ(decisions[0].owner, "b/high");
    EXPECT_EQ(decisions[0].action, "preempt");
    EXPECT_EQ(decisions[0].evictions.size(), 1);
    EXPECT_EQ(decisions[0].placements.size(), 1);
    ASSERT_TRUE(decisions[0].certificate.has_value());
    EXPECT_EQ(decisions[0].certificate->status, CertificateStatus::kOptimal);
}

TEST_F(WindowTest, AReceiptShowsTheNodeBeforeAndAfter) {
    const auto entry = describe(cluster_, plan_, decisions_of(plan_, 7)[0], {.kind = "files", .arguments = "-f x"});
    const Json row = Json::parse(entry->row);
    EXPECT_EQ(row["cycle"], 7);
    EXPECT_EQ(row["outcome"], "planned");
    EXPECT_EQ(row["lost"], (Json{{"resource", "nvidia.com/gpu"}, {"seconds", 7200}}));
    const Json receipt = Json::parse(entry->receipt);
    EXPECT_EQ(receipt["victims"][0]["pod"], "a/low");
    EXPECT_EQ(receipt["victims"][0]["ranSeconds"], 3600);
    EXPECT_EQ(receipt["nodes"][0]["rack"], "r1");
    EXPECT_EQ(receipt["nodes"][0]["devices"].size(), 2);
    EXPECT_EQ(receipt["nodes"][0]["pods"][0]["then"], "leaves");
    EXPECT_EQ(receipt["nodes"][0]["pods"][1]["then"], "promised");
    EXPECT_EQ(receipt["commands"][0], "reprieve explain a/low -f x --now 2026-01-01T12:00:00Z");
}

TEST_F(WindowTest, NeverAndNotNowAreKeptApart) {
    const Json waiting = Json::parse(waiting_document(cluster_, plan_));
    EXPECT_EQ(waiting["notNow"].size(), 0);
    ASSERT_EQ(waiting["never"].size(), 1);
    EXPECT_EQ(waiting["never"][0]["binding"], "Insufficient cpu");
    EXPECT_EQ(waiting["never"][0]["pods"][0]["pod"], "a/huge");
    EXPECT_EQ(waiting["promised"][0]["waitsFor"], Json::array({"a/low"}));
}

TEST_F(WindowTest, RoomHasACellForEveryDevice) {
    const Json room = Json::parse(room_document(cluster_, plan_));
    const Json& node = room["nodes"][0];
    EXPECT_EQ(node[0], "n1");
    EXPECT_EQ(node[7], 2);
    EXPECT_EQ(node[8][0][7], "e") << "it is about to leave";
    EXPECT_EQ(node[8][0][8], Json::array({0, 1}));
    EXPECT_EQ(node[8][1][7], "p") << "its room is promised";
}

TEST_F(WindowTest, TheSummaryCounts) {
    const Json now = Json::parse(summary_document(cluster_, plan_, {}, "files"));
    EXPECT_EQ(now["counts"]["evicted"], 1);
    EXPECT_EQ(now["counts"]["placedAfterEvictions"], 1);
    EXPECT_EQ(now["counts"]["never"], 1);
    EXPECT_EQ(now["leaving"][0]["for"], "b/high");
}

TEST_F(WindowTest, AQuestionIsAskedOfACopy) {
    FileSource source(cluster_, plan_, config_, {});
    const auto spoilt = source.ask({}, [](Scene& scene) -> Result<std::string> {
        Node gone;
        gone.name = scene.cluster.words().string("n1");
        scene.cluster.remove(Object(gone));
        if (!scene.cluster.refresh(scene.plan.now)) return fail("no refresh");
        return std::to_string(scene.cluster.snapshot().nodes_by_name.size());
    });
    EXPECT_EQ(spoilt.value_or("-"), "0");
    EXPECT_EQ(cluster_.snapshot().nodes_by_name.size(), 1) << "the cluster itself is as it was";
}

TEST(CopyProcess, EndsWhatTakesTooLongOrBreaks) {
    auto slow = start_copy(
        []() -> Result<std::string> {
            while (true)
                std::this_thread::yield();
        },
        {.time = std::chrono::milliseconds(50)});
    ASSERT_TRUE(slow.has_value());
    EXPECT_THAT(slow->wait().error().message, HasSubstr("took longer"));
    auto broken = start_copy([]() -> Result<std::string> { _exit(3); }, {});
    EXPECT_THAT(broken->wait().error().message, HasSubstr("without an answer"));
    auto refused = start_copy([]() -> Result<std::string> { return fail("what is wrong"); }, {});
    EXPECT_EQ(refused->wait().error().message, "what is wrong");
}

// A copy that kept the listening socket would hold the port of a program that was killed and starts again.
TEST(CopyProcess, HoldsNothingOpenThatIsNotItsOwn) {
    const int before = open("/dev/null", O_RDONLY);
    auto copy = start_copy(
        []() -> Result<std::string> {
            int others = 0;
            for (int file = STDERR_FILENO + 1; file < 1024; ++file)
                others += fcntl(file, F_GETFD) >= 0 ? 1 : 0;
            return std::to_string(others);
        },
        {});
    ASSERT_TRUE(copy.has_value());
    EXPECT_EQ(copy->wait().value_or("-"), "1") << "the pipe for its answer";
    EXPECT_GE(fcntl(before, F_GETFD), 0);
    close(before);
}

TEST_F(WindowTest, TenantsLearnNoForeignNames) {
    const auto entry = describe(cluster_, plan_, decisions_of(plan_, 1)[0], {});
    const std::string seen = scoped(entry->receipt, {"a"});
    EXPECT_THAT(seen, HasSubstr("a/low"));
    EXPECT_THAT(seen, Not(HasSubstr("b/high"))) << "for whom it leaves is another tenant's business";
    EXPECT_THAT(seen, HasSubstr("nvidia.com/gpu")) << "resources are no names";
    const std::string room = scoped(room_document(cluster_, plan_), {"b"});
    EXPECT_THAT(room, Not(HasSubstr("a/low")));
    EXPECT_THAT(room, HasSubstr("b/high"));
    const Json waiting = Json::parse(scoped(waiting_document(cluster_, plan_), {"b"}));
    EXPECT_THAT(waiting.dump(), Not(HasSubstr("huge")));
}

// A tenant's receipt says how many leave, not who; and no command tells their names by another way.
TEST(Scope, AReceiptKeepsItsShapeAndLosesForeignNames) {
    const Json seen = Json::parse(scoped(R"({"for":"a/high",
        "victims":[{"pod":"b/low","node":"n1"},{"pod":"a/low","node":"n1"}],
        "commands":["reprieve plan --record r","reprieve explain b/low --record r",
            "kubectl get events -n b --field-selector involvedObject.name=low",
            "kubectl get events -n a --field-selector involvedObject.name=low"]})",
                                         {"a"}));
    EXPECT_EQ(seen.at("victims").size(), 2U);
    EXPECT_EQ(seen.at("victims")[0].at("pod"), "(another namespace)");
    EXPECT_EQ(seen.at("victims")[1].at("pod"), "a/low");
    EXPECT_EQ(seen.at("commands"),
              Json({"reprieve plan --record r", "kubectl get events -n a --field-selector involvedObject.name=low"}));
}

TEST(Report, IsOneFileWhoseDataCannotEndIt) {
    if (!has_page()) {
        EXPECT_FALSE(report_html("referee", "{}").has_value()) << "a build without a page says so";
        return;
    }
    const auto html = report_html("referee", R"({"verdicts":[{"for":"</script><b>x"}]})");
    ASSERT_TRUE(html.has_value()) << html.error().message;
    EXPECT_THAT(*html, HasSubstr("data-kind=\"referee\""));
    EXPECT_THAT(*html, Not(HasSubstr("</script><b>x")));
    EXPECT_THAT(*html, HasSubstr("\\u003c/script>"));
    EXPECT_THAT(*html, Not(HasSubstr("src=\"/")));
}

}  // namespace
}  // namespace reprieve::window
