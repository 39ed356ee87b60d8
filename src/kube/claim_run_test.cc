#include "kube/claim_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
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
        if (on_write_) on_write_(claim_);
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
    std::function<void(const nlohmann::json&)> on_write_;  // before the answer
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

TEST_F(ClaimRunTest, WhereOneOfSeveralClaimsFailsTheOthersAreTakenBack) {
    start([this](const Asked& asked) -> Reply {
        if (asked.path.find("/resourceclaims/gone") == std::string::npos) return server_.answer(asked);
        return {.status = 404, .body = status_json(404, "NotFound", "no such claim")};
    });
    Plan both = plan();
    both.placements.front().claims.push_back(both.placements.front().claims.front());
    both.placements.front().claims.back().claim = "ns/gone";
    EXPECT_THAT(carry_out(both), ElementsAre(HasSubstr("bind ns/p: 404")));
    EXPECT_FALSE(server_.claim()["status"].contains("allocation"));
    EXPECT_EQ(api_->count("POST", "/api/v1/namespaces/ns/pods/p/binding"), 0U);
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

// Told of the claim and its class by the watch, as a run that has been there for a while is.
class ClaimWatchedTest : public ClaimRunTest {
protected:
    ClaimWatchedTest() {
        looks_twice_ = true;
        nominate_after_ = Duration::of_seconds(3600);  // waiting pods are not what these tests are about
        server_.on_write_ = [this](const nlohmann::json& claim) { show(claim); };
    }
    // The claim as the server has it has come by the watch.
    void show(const nlohmann::json& text) {
        const std::string version = text["metadata"]["resourceVersion"];
        ResourceClaim claim;
        {
            const std::lock_guard lock(words_mutex_);
            claim.ns = words_.string("ns");
            claim.name = words_.string(text["metadata"]["name"].get<std::string>());
            for (const auto& one : text["status"].value("/allocation/devices/results"_json_pointer, nlohmann::json())) {
                if (!claim.allocation) claim.allocation.emplace();
                claim.allocation->devices.push_back({.request = words_.string("r"),
                                                     .driver = words_.string("d"),
                                                     .pool = words_.string("n1"),
                                                     .device = words_.string(one["device"].get<std::string>()),
                                                     .consumed = {}});
            }
            addresses_.claims().see(claim, words_, "resource.k8s.io/v1", version, text.dump());
        }
        if (!silent_) addresses_.claims().see_version(version);
    }
    void show_class() {
        addresses_.claims().see_class("gpu", R"({"spec":{"config":[{"opaque":{"driver":"d","parameters":{"a":1}}}]}})");
    }
    static Plan waiting() {
        Plan out = plan();
        out.placements.front().after_evictions = true;
        return out;
    }

    std::mutex words_mutex_;
    std::atomic<bool> silent_ = false;  // the watch does not say how far it has come
};

TEST_F(ClaimWatchedTest, WhenTheDevicesAreFreeThereIsOneWriteAndThenTheBinding) {
    show(server_.claim());
    show_class();
    serve();
    static_cast<void>(carry_out(waiting()));
    EXPECT_THAT(server_.claim()["metadata"]["finalizers"], ElementsAre("resource.kubernetes.io/delete-protection"));
    static_cast<void>(carry_out(waiting()));
    const std::size_t before = calls().size();
    EXPECT_THAT(carry_out(plan()), ElementsAre("bind ns/p"));
    std::vector<std::string> after = calls();
    after.erase(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(before));
    EXPECT_THAT(after, ElementsAre(std::string("PUT ") + kClaims + "/c/status", "POST /p/binding"));
    EXPECT_EQ(server_.claim()["status"]["allocation"]["devices"]["config"][0]["source"], "FromClass");
    EXPECT_EQ(std::ranges::count(calls(), std::string("PUT ") + kClaims + "/c"), 1) << "the finalizer, once";
}

TEST_F(ClaimWatchedTest, AClaimThatSomebodyElseWroteToMeanwhileIsLookedAtAgain) {
    nlohmann::json old = server_.claim();
    show(old);
    show_class();
    old["metadata"]["resourceVersion"] = "7";
    old["metadata"]["labels"]["by"] = "another";
    server_.claim_ = old;
    server_.version_ = 7;
    serve();
    EXPECT_THAT(carry_out(plan()), ElementsAre("bind ns/p"));
    EXPECT_EQ(server_.claim()["metadata"]["labels"]["by"], "another");
    EXPECT_EQ(server_.claim()["status"]["reservedFor"][0]["uid"], "u");
}

TEST_F(ClaimWatchedTest, TheBindingWaitsUntilTheWatchHasComeAsFarAsTheWrite) {
    show(server_.claim());
    silent_ = true;
    serve();
    sink_->carry_out(plan());
    ASSERT_TRUE(api_->wait([](const std::vector<Asked>& asked) {
        return std::ranges::any_of(asked, [](const Asked& one) { return one.path.ends_with("/c/status"); });
    }));
    // Somebody was faster, and the watch tells of it first.
    nlohmann::json other = server_.claim();
    other["metadata"]["name"] = "earlier";
    other["status"]["allocation"]["devices"]["results"] = {
        {{"request", "r"}, {"driver", "d"}, {"pool", "n1"}, {"device", "gpu-0"}}};
    show(other);
    addresses_.claims().see_version("100");
    EXPECT_THAT(settle(), ElementsAre(HasSubstr("claim ns/earlier has a device of claim ns/c too")));
    EXPECT_EQ(api_->count("POST", "/api/v1/namespaces/ns/pods/p/binding"), 0U);
    EXPECT_FALSE(server_.claim()["status"].contains("allocation")) << "the later one gives way";
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
    index.see(claim_with("a", "gpu-0", words), words, "resource.k8s.io/v1", "7", "{}");
    EXPECT_EQ(index.shared_device("ns/a"), "");
    index.see(claim_with("b", "gpu-0", words), words, "resource.k8s.io/v1", "8", "{}");
    EXPECT_THAT(index.shared_device("ns/b"), HasSubstr("claim ns/a has a device of claim ns/b too"));
    index.see_gone(claim_with("a", "gpu-0", words), words);
    EXPECT_EQ(index.shared_device("ns/b"), "");
}

TEST(ClaimIndexTest, WhoWaitsForAVersionIsCalledOnceWhenItHasComeBy) {
    ClaimIndex index;
    int called = 0;
    index.see_version("7");
    EXPECT_TRUE(index.has_seen("7", &called, [&] { ++called; }));
    EXPECT_FALSE(index.has_seen("9", &called, [&] { ++called; }));
    EXPECT_FALSE(index.has_seen("9", &index, [&] { called += 100; }));
    index.see_version("8");
    EXPECT_EQ(called, 0);
    index.forget(&index);
    index.see_version("12");
    index.see_version("13");
    EXPECT_EQ(called, 1) << "and whoever was forgotten not at all";
}

TEST(ClaimIndexTest, TheNewestTextOfAClaimWithoutDevicesIsKept) {
    Vocabulary words;
    ClaimIndex index;
    ResourceClaim claim = claim_with("a", "gpu-0", words);
    claim.allocation.reset();
    index.see(claim, words, "resource.k8s.io/v1", "7", "seven");
    index.note_answer("ns/a", "9", true, "nine");
    index.see(claim, words, "resource.k8s.io/v1", "8", "eight");
    EXPECT_EQ(index.text("ns/a"), "nine") << "the watch is behind the answer";
    index.see(claim_with("a", "gpu-0", words), words, "resource.k8s.io/v1", "10", "ten");
    EXPECT_EQ(index.text("ns/a"), "") << "it has devices now";
}

}  // namespace
}  // namespace reprieve
