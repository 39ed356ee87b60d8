#include "kube/claim_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "kube/sink_case.h"

namespace reprieve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kClaims = "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims";

// One claim on a server that refuses writes to a version that is not the newest.
class OneClaim {
public:
    Reply answer(const Asked& asked) {
        const std::lock_guard lock(mutex_);
        if (asked.path.find("/deviceclasses/") != std::string::npos)
            return {.body = R"({"spec":{"config":[{"opaque":{"driver":"d","parameters":{"a":1}}}]}})"};
        if (asked.path.find("/resourceclaims") == std::string::npos)
            return {.status = asked.path.ends_with("/binding") ? binding_ : 200, .body = pod_};
        if (asked.method == "GET") return {.body = claim_.dump()};
        nlohmann::json written = nlohmann::json::parse(asked.body);
        if (written["metadata"]["resourceVersion"] != claim_["metadata"]["resourceVersion"])
            return {.status = 409, .body = status_json(409, "Conflict", "modified")};
        written["metadata"]["resourceVersion"] = std::to_string(++version_);
        claim_ = written;
        return {.body = claim_.dump()};
    }

    nlohmann::json claim() const {
        const std::lock_guard lock(mutex_);
        return claim_;
    }
    void set_pod(std::string text) {
        const std::lock_guard lock(mutex_);
        pod_ = std::move(text);
    }

    mutable std::mutex mutex_;  // answers are given on the server's threads
    nlohmann::json claim_ = nlohmann::json::parse(
        R"({"metadata":{"namespace":"ns","name":"c","uid":"u-c","resourceVersion":"1"},
            "spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu"}}]}},"status":{}})");
    std::string pod_ = R"({"metadata":{"uid":"u"},"spec":{}})";
    int binding_ = 201;
    int version_ = 1;
};

class ClaimRunTest : public SinkCase {
protected:
    static Plan plan() {
        Plan plan{.id = "x", .now = kNow};
        Placement& placement = plan.placements.emplace_back(Placement{.pod = "ns/p", .node = "n1", .uid = "u"});
        PlacedClaim& claim = placement.claims.emplace_back();
        claim.claim = "ns/c";
        claim.is_new = true;
        claim.nodes = {{{NodeRule{.key = "", .op = "In", .values = {"n1"}}}}};
        claim.results.push_back({.request = "r", .driver = "d", .pool = "n1", .device = "gpu-0", .cls = "gpu"});
        return plan;
    }
    void serve() {
        start([this](const Asked& asked) { return server_.answer(asked); });
    }
    std::vector<std::string> writes() const {
        std::vector<std::string> out;
        for (const std::string& call : calls()) {
            if (!call.starts_with("GET")) out.push_back(call);
        }
        return out;
    }

    OneClaim server_;
};

TEST_F(ClaimRunTest, WritesFinalizerThenDevicesThenBinding) {
    serve();
    EXPECT_THAT(carry_out(plan()), ElementsAre("bind ns/p"));
    EXPECT_THAT(
        writes(),
        ElementsAre(
            std::string("PUT ") + kClaims + "/c", std::string("PUT ") + kClaims + "/c/status", "POST /p/binding"));
    const nlohmann::json status = server_.claim()["status"];
    EXPECT_EQ(status["allocation"]["devices"]["results"][0]["device"], "gpu-0");
    EXPECT_EQ(status["allocation"]["nodeSelector"]["nodeSelectorTerms"][0]["matchFields"][0]["values"][0], "n1");
    EXPECT_EQ(status["allocation"]["devices"]["config"][0]["source"], "FromClass");
    EXPECT_EQ(status["reservedFor"][0]["uid"], "u");
}

TEST_F(ClaimRunTest, WhatAnEarlierLifeWroteIsNotWrittenAgain) {
    serve();
    static_cast<void>(carry_out(plan()));
    const nlohmann::json before = server_.claim();
    sink_.reset();
    serve();
    known_.see_gone("ns/p");
    EXPECT_THAT(carry_out(plan()), ElementsAre("bind ns/p"));
    EXPECT_EQ(server_.claim(), before);
    EXPECT_THAT(writes(), ElementsAre("POST /p/binding"));
}

TEST_F(ClaimRunTest, AClaimWithOtherDevicesIsRefused) {
    server_.claim_["status"]["allocation"]["devices"]["results"] = {
        {{"request", "r"}, {"driver", "d"}, {"pool", "n2"}, {"device", "gpu-7"}}};
    serve();
    EXPECT_THAT(carry_out(plan()), ElementsAre(HasSubstr("was given other devices meanwhile")));
    EXPECT_THAT(writes(), ElementsAre());
}

TEST_F(ClaimRunTest, ABindingThatFailsFreesTheDevicesAgain) {
    server_.binding_ = 403;
    serve();
    EXPECT_THAT(carry_out(plan()), ElementsAre(HasSubstr("bind ns/p: 403")));
    EXPECT_FALSE(server_.claim()["status"].contains("allocation"));
    EXPECT_FALSE(server_.claim()["status"].contains("reservedFor"));
}

TEST_F(ClaimRunTest, DevicesOfAPodWithoutAPlaceAreGivenBack) {
    serve();
    static_cast<void>(carry_out(plan()));
    Plan release{.id = "y", .now = kNow};
    release.releases.push_back({.claim = "ns/c", .pod = "ns/p", .uid = "u"});
    static_cast<void>(carry_out(release));
    EXPECT_FALSE(server_.claim()["status"].contains("allocation"));
}

TEST_F(ClaimRunTest, APodThatHasItsNodeKeepsItsDevices) {
    serve();
    static_cast<void>(carry_out(plan()));
    server_.set_pod(R"({"metadata":{"uid":"u"},"spec":{"nodeName":"n1"}})");
    Plan release{.id = "y", .now = kNow};
    release.releases.push_back({.claim = "ns/c", .pod = "ns/p", .uid = "u"});
    static_cast<void>(carry_out(release));
    EXPECT_TRUE(server_.claim()["status"].contains("allocation"));
}

ResourceClaim claim_with(const std::string& name, const std::string& device, Vocabulary& words) {
    ResourceClaim claim;
    claim.ns = words.string("ns");
    claim.name = words.string(name);
    claim.allocation.emplace();
    claim.allocation->devices.push_back({.request = words.string("r"),
                                         .driver = words.string("d"),
                                         .pool = words.string("p"),
                                         .device = words.string(device),
                                         .consumed = {}});
    return claim;
}

TEST(ClaimIndexTest, TheLaterOfTwoClaimsWithOneDeviceIsTold) {
    Vocabulary words;
    ClaimIndex index;
    index.see(claim_with("a", "gpu-0", words), words, "resource.k8s.io/v1", "7");
    EXPECT_TRUE(index.has_seen("ns/a", "7"));
    EXPECT_FALSE(index.has_seen("ns/a", "8"));
    EXPECT_EQ(index.shared_device("ns/a"), "");
    index.see(claim_with("b", "gpu-0", words), words, "resource.k8s.io/v1", "8");
    EXPECT_THAT(index.shared_device("ns/b"), HasSubstr("claim ns/a has a device of claim ns/b too"));
    index.see_gone(claim_with("a", "gpu-0", words), words);
    EXPECT_EQ(index.shared_device("ns/b"), "");
}

}  // namespace
}  // namespace reprieve
