// Writes that have their turn late, on a server that is busy with others.
#include <future>

#include "kube/sink_case.h"

namespace reprieve {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class LateWritesTest : public SinkCase {
protected:
    static Plan binds(const std::string& name) {
        Plan plan{.id = "sha256:" + name, .now = kNow};
        plan.placements = {{.pod = "ns/" + name, .node = "n1", .uid = "uid-" + name, .action = "allocate"}};
        return plan;
    }
};

TEST_F(LateWritesTest, ABindingDoesNotWaitForANominationThatIsOver) {
    in_flight_ = 1;
    std::promise<void> released;
    const std::shared_future<void> release = released.get_future().share();
    start([release](const Asked& asked) {
        if (asked.path.ends_with("/slow/binding")) release.wait();
        return Reply{};
    });
    see(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"high","namespace":"ns","uid":"uid-high","resourceVersion":"1"},
            "spec":{"containers":[]},"status":{"nominatedNodeName":"n7"}})");
    Plan waits = binds("high");
    waits.placements[0].after_evictions = true;
    sink_->carry_out(binds("slow"));
    sink_->carry_out(waits);
    sink_->carry_out(binds("high"));
    std::promise<void> taken;
    client_->run(this, [&] { taken.set_value(); });
    taken.get_future().wait();
    released.set_value();
    EXPECT_THAT(settle(), UnorderedElementsAre("bind ns/slow", "bind ns/high"));
    EXPECT_THAT(calls(), ElementsAre("POST /slow/binding", "POST /high/binding"));
}

TEST_F(LateWritesTest, AMarkThatAnotherPlanHasWrittenAnewIsNotTakenBack) {
    idle_in_flight_ = 1;
    start([](const Asked& asked) { return Reply{.silent = asked.path.ends_with("/a/status")}; });
    const std::string marked =
        R"-("conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler",
                          "message":"reprieve: preempted for ns/gone (preempt)"}])-";
    for (const char* name : {"a", "b"})
        see(pod_json(name, "1", R"("nodeName":"n1")", marked));
    see(pod_json("high", "1", "", ""));
    sink_->carry_out({.id = "sha256:old", .now = kNow});  // b is to be unmarked after a
    ASSERT_TRUE(api_->wait([](const auto& asked) { return asked.size() == 1; }));
    Plan plan{.id = "sha256:new", .now = kNow};
    plan.placements = {
        {.pod = "ns/high", .node = "n1", .uid = "uid-high", .after_evictions = true, .action = "preempt"}};
    plan.evictions = {{.pod = "ns/b", .node = "n1", .uid = "uid-b", .owner = "ns/high", .action = "preempt"}};
    plan.intents = {{.pod = "ns/high", .uid = "uid-high", .node = "n1", .victims = {"uid-b"}, .deadline = kNow}};
    sink_->carry_out(plan);
    ASSERT_TRUE(api_->wait([](const auto& asked) { return asked.back().method == "DELETE"; }));
    api_->end_streams();
    static_cast<void>(settle());
    EXPECT_EQ(std::ranges::count(calls(), "PATCH /b/status"), 1);
    EXPECT_THAT(body_of("PATCH", "/b/status"), ::testing::HasSubstr("for ns/high"));
}

}  // namespace
}  // namespace reprieve
