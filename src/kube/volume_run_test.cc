#include "kube/volume_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "kube/fake_api.h"

namespace reprieve {
namespace {

using Asked = FakeApi::Asked;
using Reply = FakeApi::Reply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kClaim = "/api/v1/namespaces/ns/persistentvolumeclaims/data";
constexpr const char* kVolume = "/api/v1/persistentvolumes/disk";

class VolumeRunTest : public ::testing::Test {
protected:
    // Runs to the end; "ok", or why not.
    std::string run(FakeApi::Script script, const std::string& volume) {
        api_ = std::make_unique<FakeApi>(std::move(script));
        HttpClient client(api_->access(), api_->client_options());
        KnownPods pods;
        Outbox outbox(client, pods, [] { return true; });
        Placement placement{.pod = "ns/p", .node = "n1"};
        placement.volumes = {{.claim = "ns/data", .volume = volume}};
        std::promise<std::string> result;
        client.run(&outbox, [&] {
            std::make_shared<VolumeRun>(outbox,
                                        VolumeRunOptions{.look_every = {1'000}, .give_up = {5'000'000}},
                                        placement,
                                        [&](bool ok, std::string what) { result.set_value(ok ? "ok" : what); })
                ->start();
        });
        return result.get_future().get();
    }
    std::vector<std::string> writes() const {
        std::vector<std::string> out;
        for (const Asked& asked : api_->asked()) {
            if (asked.method != "GET") out.push_back(asked.method + " " + asked.path + " " + asked.body);
        }
        return out;
    }

    std::unique_ptr<FakeApi> api_;
    std::atomic<bool> written_ = false;
};

std::string claim_json(const std::string& phase, const std::string& volume, const std::string& selected) {
    const std::string notes = selected.empty() ? "" : R"("volume.kubernetes.io/selected-node":")" + selected + R"(")";
    return R"({"metadata":{"name":"data","uid":"u1","annotations":{)" + notes + R"(}},"spec":{"volumeName":")" +
           volume + R"("},"status":{"phase":")" + phase + R"("}})";
}

TEST_F(VolumeRunTest, PromisesAVolumeThatIsThereAndWaitsForTheClaim) {
    const auto script = [this](const Asked& asked) -> Reply {
        if (asked.method == "PATCH") written_ = true;
        if (asked.path == kVolume) return {.body = R"({"metadata":{"resourceVersion":"7"},"spec":{}})"};
        return {.body = written_ ? claim_json("Bound", "disk", "") : claim_json("Pending", "", "")};
    };
    EXPECT_EQ(run(script, "disk"), "ok");
    EXPECT_THAT(writes(),
                ElementsAre(::testing::AllOf(HasSubstr("PATCH " + std::string(kVolume)),
                                             HasSubstr(R"("resourceVersion":"7")"),
                                             HasSubstr(R"("name":"data","namespace":"ns","uid":"u1")"))));
}

TEST_F(VolumeRunTest, LeavesAVolumeAloneThatAnotherClaimHas) {
    const auto script = [](const Asked& asked) -> Reply {
        if (asked.path == kVolume)
            return {.body = R"({"spec":{"claimRef":{"namespace":"ns","name":"other","uid":"u2"}}})"};
        return {.body = claim_json("Pending", "", "")};
    };
    EXPECT_EQ(run(script, "disk"), "volume disk belongs to claim ns/other");
    EXPECT_THAT(writes(), ElementsAre());
}

TEST_F(VolumeRunTest, TellsTheClaimItsNodeWhereADiskMustBeMade) {
    int looks = 0;
    const auto script = [this, &looks](const Asked& asked) -> Reply {
        if (asked.method == "PATCH") {
            written_ = true;
            return {};
        }
        if (!written_) return {.body = claim_json("Pending", "", "")};
        return {.body = ++looks < 3 ? claim_json("Pending", "", "n1") : claim_json("Bound", "made", "n1")};
    };
    EXPECT_EQ(run(script, ""), "ok");
    EXPECT_THAT(writes(),
                ElementsAre("PATCH " + std::string(kClaim) +
                            R"( {"metadata":{"annotations":{"volume.kubernetes.io/selected-node":"n1"}}})"));
}

TEST_F(VolumeRunTest, GivesUpWhereTheDiskCannotBeMade) {
    const auto script = [](const Asked&) -> Reply { return {.body = claim_json("Pending", "", "")}; };
    EXPECT_EQ(run(script, ""), "claim ns/data cannot be provisioned for node n1");
}

TEST_F(VolumeRunTest, DoesNotTakeAClaimAwayFromItsNode) {
    const auto script = [](const Asked&) -> Reply { return {.body = claim_json("Pending", "", "n2")}; };
    EXPECT_EQ(run(script, ""), "claim ns/data is being provisioned for node n2");
    EXPECT_THAT(writes(), ElementsAre());
}

}  // namespace
}  // namespace reprieve
