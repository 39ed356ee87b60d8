#include "kube/scaling.h"

#include <algorithm>

#include "kube/sink_case.h"

namespace reprieve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class ScalingTest : public SinkCase {
protected:
    void see_deployment() {
        see(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"ns","labels":{"reprieve.dev/serving":"h","reprieve.dev/plane":"w1"}},"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},"template":{}}})");
    }
    static Plan scale_down() {
        Plan plan{.id = "x", .now = kNow};
        plan.scale = {{.deployment = "ns/h", .plane = "w1", .from = 3, .to = 2, .hints = {"ns/d-1"}}};
        plan.annotations = {
            {.pod = "ns/d-1",
             .set = {{"controller.kubernetes.io/pod-deletion-cost", "-1000"}, {"reprieve.dev/claimed-by", "ns/x"}}}};
        return plan;
    }
    void confirm_hint() {
        see(pod_json(
            "d-1",
            "1001",
            R"("nodeName":"n1")",
            "",
            R"("annotations":{"controller.kubernetes.io/pod-deletion-cost":"-1000","reprieve.dev/claimed-by":"ns/x"})"));
    }
    static constexpr const char* kEvents = "/apis/events.k8s.io/v1/namespaces/ns/events";
    static constexpr const char* kScale = "/apis/apps/v1/namespaces/ns/deployments/d/scale";
};

TEST_F(ScalingTest, ScalesOnlyAfterTheHintHasComeBack) {
    start([](const Asked& asked) {
        return asked.path.ends_with("/d-1") ? Reply{.body = pod_json("d-1", "900")} : Reply{};
    });
    see_deployment();
    sink_->carry_out(scale_down());
    ASSERT_TRUE(api_->wait([](const auto& asked) { return asked.size() == 1; }));
    sink_->carry_out(scale_down());  // the next cycle wants the same
    EXPECT_EQ(api_->count("PATCH", kScale), 0U);
    EXPECT_FALSE(sink_->idle());
    confirm_hint();
    EXPECT_THAT(settle(), UnorderedElementsAre("annotate ns/d-1", "scale ns/h"));
    EXPECT_EQ(api_->count("PATCH", kScale), 1U);
}

TEST_F(ScalingTest, ReplicasThatAreScaledAwayLearnForWhom) {
    start([](const Asked& asked) {
        return asked.path.ends_with("/d-1") ? Reply{.body = pod_json("d-1", "900")} : Reply{};
    });
    see_deployment();
    Plan plan = scale_down();
    plan.evictions = {
        {.pod = "ns/d-1",
         .node = "n1",
         .uid = "uid-d-1",
         .owner = "ns/x",
         .action = "servingPreempt",
         .mode = EvictionMode::kScaleDown,
         .reason = "because"},
        {.pod = "ns/elsewhere", .node = "n1", .uid = "uid-e", .owner = "ns/x", .mode = EvictionMode::kScaleDown}};
    sink_->carry_out(plan);
    ASSERT_TRUE(api_->wait([](const auto& asked) { return asked.size() == 1; }));
    confirm_hint();
    const auto wait_for_call = [&](const char* path) {
        return api_->wait(
            [path](const auto& asked) { return std::ranges::find(asked, path, &Asked::path) != asked.end(); });
    };
    ASSERT_TRUE(wait_for_call(kScale));
    sink_->carry_out({.id = "y", .now = kNow});  // what is being done is not asked for again
    static_cast<void>(settle());
    ASSERT_TRUE(wait_for_call(kEvents));
    EXPECT_EQ(api_->count("POST", kEvents), 1U);
    EXPECT_THAT(body_of("POST", kEvents), HasSubstr("Preempted for ns/x on node n1 by servingPreempt: because"));
    EXPECT_THAT(body_of("POST", kEvents), HasSubstr("uid-d-1"));
}

TEST_F(ScalingTest, APlanThatNoLongerScalesIsObeyed) {
    start([](const Asked& asked) {
        return asked.path.ends_with("/d-1") ? Reply{.body = pod_json("d-1", "900")} : Reply{};
    });
    see_deployment();
    sink_->carry_out(scale_down());
    EXPECT_THAT(carry_out({.id = "y", .now = kNow}), ElementsAre("annotate ns/d-1"));
    confirm_hint();
    EXPECT_EQ(api_->count("PATCH", kScale), 0U);
}

TEST_F(ScalingTest, SomebodyElsesScaleIsNotOverwritten) {
    start([](const Asked& asked) {
        if (asked.method == "GET") return Reply{.body = R"({"kind":"Scale","spec":{"replicas":7}})"};
        return asked.path == kScale ? Reply{.status = 422, .body = status_json(422, "Invalid", "rejected")} : Reply{};
    });
    see_deployment();
    Plan plan = scale_down();
    plan.scale[0].hints.clear();
    plan.annotations.clear();
    EXPECT_THAT(carry_out(plan), ElementsAre("scale ns/h: somebody else scaled it to 7"));
}

}  // namespace
}  // namespace reprieve
