#include "kube/lease.h"

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <nlohmann/json.hpp>

#include "kube/fake_api.h"

namespace reprieve {
namespace {

using Asked = FakeApi::Asked;
using Reply = FakeApi::Reply;
using Json = nlohmann::json;

constexpr Duration kPatient{60'000'000};

// The Lease as a server keeps it: a write needs the last version.
class LeaseTest : public ::testing::Test {
protected:
    LeaseTest() : api_([this](const Asked& asked) { return answer(asked); }) {
        ElectionOptions options;
        options.identity = "us";
        options.retry = {1'000};
        client_ = std::make_unique<HttpClient>(api_.access(), api_.client_options());
        lease_ = std::make_unique<LeaderLease>(*client_, options, [] { return Time{1}; });
    }
    ~LeaseTest() override {
        lease_.reset();
        client_.reset();
    }

    Reply answer(const Asked& asked) {
        if (asked.path.find("/leases") == std::string::npos) return {};
        const std::lock_guard lock(mutex_);
        if (asked.method != "GET") {
            Json wanted = Json::parse(asked.body);
            const bool current =
                stored_.is_null() || wanted["metadata"]["resourceVersion"] == stored_["metadata"]["resourceVersion"];
            if (!current) return {.status = 409, .body = status_json(409, "Conflict", "the object has been modified")};
            stored_ = std::move(wanted);
            stored_["metadata"]["resourceVersion"] = std::to_string(++version_);
            Reply reply{.body = stored_.dump()};
            // The server has done it; the answer takes its time.
            reply.silent = hold_.exchange(false);
            return reply;
        }
        if (stored_.is_null()) return {.status = 404, .body = status_json(404, "NotFound", "no lease")};
        return {.body = stored_.dump()};
    }
    [[nodiscard]] std::string holder() {
        const std::lock_guard lock(mutex_);
        return stored_["spec"]["holderIdentity"];
    }

    std::atomic<bool> hold_ = false;
    std::mutex mutex_;  // the server answers on threads of its own
    int version_ = 0;
    Json stored_;
    FakeApi api_;
    std::unique_ptr<HttpClient> client_;
    std::unique_ptr<LeaderLease> lease_;
};

TEST_F(LeaseTest, ARenewalThatIsOnItsWayIsWaitedForAndThenGivenUp) {
    while (!lease_->leads())
        std::this_thread::yield();
    hold_ = true;
    while (hold_)
        std::this_thread::yield();
    auto resigned = std::async(std::launch::async, [this] { lease_->resign(kPatient); });
    while (lease_->leads())
        std::this_thread::yield();
    api_.end_streams();
    resigned.get();
    EXPECT_EQ(holder(), "");
    EXPECT_FALSE(lease_->leads());
}

TEST_F(LeaseTest, LeadingIsToldWithTheMomentSinceWhichItHolds) {
    const auto before = std::chrono::steady_clock::now() - std::chrono::seconds(1);
    while (!lease_->leads())
        std::this_thread::yield();
    EXPECT_GT(lease_->leads_since(), before);
    const auto since = lease_->leads_since();
    const std::size_t asked = api_.asked().size();
    ASSERT_TRUE(api_.wait([&](const auto& all) { return all.size() > asked + 3; }));
    EXPECT_EQ(lease_->leads_since(), since) << "renewals change nothing";
}

}  // namespace
}  // namespace reprieve
