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

}  // namespace
}  // namespace reprieve
