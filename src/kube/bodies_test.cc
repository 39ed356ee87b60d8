#include "kube/bodies.h"

#include <gtest/gtest.h>

#include "kube/http.h"
#include "manifest/plan_note.h"

namespace reprieve {
namespace {

constexpr Time kNoon{1'767'268'800'123'456};  // 2026-01-01T12:00:00.123456Z

TEST(Bodies, Times) {
    EXPECT_EQ(condition_time(kNoon), "2026-01-01T12:00:00Z");
    EXPECT_EQ(micro_time(kNoon), "2026-01-01T12:00:00.123456Z");
    EXPECT_EQ(micro_time({1'767'268'800'000'000}), "2026-01-01T12:00:00.000000Z");
}

TEST(Bodies, NominationCarriesIntentAndReasonInOnePatch) {
    const std::string note = plan_note("sha256:1", {.node = "n1", .victims = {"v1"}, .deadline = kNoon});
    EXPECT_EQ(
        nomination_body("u", "n1", note, "waits", kNoon),
        R"({"metadata":{"uid":"u","annotations":{"reprieve.dev/plan":"{\"id\":\"sha256:1\",\"node\":\"n1\",\"victims\":[\"v1\"],\"deadline\":\"2026-01-01T12:00:00Z\"}"}},)"
        R"("status":{"nominatedNodeName":"n1","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"waits","lastTransitionTime":"2026-01-01T12:00:00Z"}]}})");
    EXPECT_EQ(
        clear_nomination_body("u"),
        R"({"metadata":{"uid":"u","annotations":{"reprieve.dev/plan":null}},"status":{"nominatedNodeName":null}})");
}

TEST(Bodies, DeletesAndEvictionsNameTheUid) {
    EXPECT_EQ(delete_body("u", std::nullopt),
              R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u"}})");
    EXPECT_EQ(delete_body("u", 1),
              R"({"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":1,"preconditions":{"uid":"u"}})");
    EXPECT_EQ(
        eviction_body("p", "u"),
        R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"},"deleteOptions":{"preconditions":{"uid":"u"}}})");
    EXPECT_EQ(unmark_body("u", {}),
              R"({"metadata":{"uid":"u"},"status":{"conditions":[{"type":"DisruptionTarget","$patch":"delete"}]}})");
    EXPECT_EQ(
        unmark_body("u", {"a/b"}),
        R"({"metadata":{"uid":"u","annotations":{"a/b":null}},"status":{"conditions":[{"type":"DisruptionTarget","$patch":"delete"}]}})");
}

TEST(Bodies, BindingCarriesTheDevices) {
    EXPECT_EQ(
        binding_body("p", "u", "n1", {"0", "1:4Gi"}),
        R"({"apiVersion":"v1","kind":"Binding","metadata":{"uid":"u","name":"p","annotations":{"reprieve.dev/devices":"0,1:4Gi"}},"target":{"apiVersion":"v1","kind":"Node","name":"n1"}})");
}

TEST(Bodies, ScalingIsRefusedWhereSomebodyElseScaled) {
    EXPECT_EQ(scale_body(3, 2),
              R"([{"op":"test","path":"/spec/replicas","value":3},{"op":"add","path":"/spec/replicas","value":2}])");
    EXPECT_EQ(scale_body(0, 1),
              R"([{"op":"test","path":"/spec","value":{}},{"op":"add","path":"/spec/replicas","value":1}])");
    EXPECT_EQ(
        max_scale_body(3, 2),
        R"([{"op":"test","path":"/metadata/annotations/autoscaling.knative.dev~1max-scale","value":"3"},{"op":"replace","path":"/metadata/annotations/autoscaling.knative.dev~1max-scale","value":"2"}])");
}

TEST(Bodies, TextsThatAreNotUtf8AreStillJson) {
    EXPECT_NE(unschedulable_body("u", "\xFF", kNoon).find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(Http, StatusOfTheServer) {
    const ApiStatus status = read_status(
        R"({"kind":"Status","reason":"TooManyRequests","message":"m","code":429,"details":{"causes":[{"reason":"DisruptionBudget"}]}})");
    EXPECT_TRUE(status.budget_refused);
    EXPECT_EQ(status.code, 429);
    EXPECT_TRUE(read_status(R"({"kind":"Status","details":{"causes":[{"field":"metadata.uid"}]}})").wrong_uid);
    EXPECT_EQ(read_status("not json").message, "");
    EXPECT_EQ((HttpAnswer{.status = 404, .body = R"({"kind":"Status","reason":"NotFound","message":"gone"})"}.text()),
              "404 NotFound: gone");
    EXPECT_EQ((HttpAnswer{.failure = "no route"}.text()), "no route");
    EXPECT_EQ(url_encode("a/b=c d"), "a%2Fb%3Dc%20d");
}

}  // namespace
}  // namespace reprieve
