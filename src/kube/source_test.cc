#include "kube/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "kube/fake_api.h"

namespace reprieve {
namespace {

using Asked = FakeApi::Asked;
using Reply = FakeApi::Reply;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPods = "/api/v1/pods";
constexpr Duration kLong{60'000'000};

// Answers for pods are the test's; of everything else there is nothing.
class SourceTest : public ::testing::Test {
protected:
    void start(std::function<Reply(const Asked&)> pods, std::function<Reply(const Asked&)> others = {}) {
        api_ = std::make_unique<FakeApi>([pods = std::move(pods), others = std::move(others)](const Asked& asked) {
            if (asked.path == kPods) return pods(asked);
            if (others) {
                const Reply reply = others(asked);
                if (reply.status != 0) return reply;
            }
            return nothing(asked);
        });
        client_ = std::make_unique<HttpClient>(api_->access(), api_->client_options());
        options_.clock = [] { return Time{1}; };
        options_.rediscover = {50'000};
        source_ = std::make_unique<KubeSource>(*client_, words_, known_, addresses_, options_);
    }

    static Reply nothing(const Asked& asked) {
        if (asked.is_watch()) return {.body = "", .stays_open = true};
        const bool is_discovery = std::ranges::count(asked.path, '/') == 3 && asked.path.starts_with("/apis/");
        if (is_discovery) return {.status = 404, .body = "404 page not found"};
        return {.body = list_json("1")};
    }

    // "+name" and "-name" of every pod among the changes of one poll.
    std::vector<std::string> poll(Duration wait = kLong) {
        std::vector<Change> changes;
        alive_ = source_->poll(changes, wait);
        std::vector<std::string> names;
        for (const Change& change : changes) {
            if (const auto* pod = std::get_if<Pod>(&change.object))
                names.push_back((change.removed ? "-" : "+") + pod->name);
            if (const auto* gang = std::get_if<Gang>(&change.object))
                names.push_back((change.removed ? "-" : "+") + words_.str(gang->name));
        }
        return names;
    }
    // Polls until there are so many.
    std::vector<std::string> poll_for(std::size_t count) {
        std::vector<std::string> seen;
        while (seen.size() < count) {
            for (const std::string& one : poll())
                seen.push_back(one);
            if (!alive_) break;
        }
        return seen;
    }
    std::vector<std::string> queries(bool watches) const {
        std::vector<std::string> found;
        for (const Asked& asked : api_->asked()) {
            if (asked.path == kPods && asked.is_watch() == watches) found.push_back(asked.query);
        }
        return found;
    }

    Vocabulary words_;
    KnownPods known_;
    AddressBook addresses_;
    KubeSourceOptions options_;
    std::atomic<int> counter_ = 0;  // for scripts: the fake outlives the body of a test
    std::atomic<int> nodes_ = 0;
    std::unique_ptr<FakeApi> api_;
    std::unique_ptr<HttpClient> client_;
    std::unique_ptr<KubeSource> source_;
    bool alive_ = false;
};

TEST_F(SourceTest, ListsAllPagesThenWatchesFromThere) {
    start([](const Asked& asked) -> Reply {
        if (asked.is_watch()) return {.body = event_json("ADDED", pod_json("c", "11")), .stays_open = true};
        if (asked.query.find("continue=more%2Fof%20it") != std::string::npos)
            return {.body = list_json("10", {pod_json("b", "9")})};
        return {.body = list_json("10", {pod_json("a", "8")}, "more/of it")};
    });
    EXPECT_THAT(poll_for(3), ElementsAre("+a", "+b", "+c"));
    EXPECT_TRUE(source_->synced());
    EXPECT_THAT(queries(true), Each(HasSubstr("resourceVersion=10&")));
    EXPECT_THAT(queries(false).front(), HasSubstr("limit=500"));
    EXPECT_THAT(queries(false), Contains(AllOf(HasSubstr("limit=2000"), HasSubstr("continue="))))
        << "small objects: fewer and larger pages, but no leap";
}

TEST_F(SourceTest, LargeObjectsMakeSmallPages) {
    options_.watcher.page_items = 2;
    options_.watcher.page_goal = 3000;
    start([](const Asked& asked) -> Reply {
        if (asked.is_watch()) return {.stays_open = true};
        const std::string large =
            pod_json(asked.query.find("continue") == std::string::npos ? "a" : "b", "9", std::string(2000, ' '));
        if (large.find("\"a\"") != std::string::npos)
            return {.body = list_json("10", {large, pod_json("c", "9", std::string(2000, ' '))}, "more")};
        return {.body = list_json("10", {large})};
    });
    EXPECT_THAT(poll_for(3), ElementsAre("+a", "+c", "+b"));
    EXPECT_THAT(queries(false), Contains(AllOf(HasSubstr("limit=1&"), HasSubstr("continue="))));
}

TEST_F(SourceTest, APageThatCannotBeReadIsNotAskedForAgain) {
    options_.watcher.page_items = 2;
    start([](const Asked& asked) -> Reply {
        if (asked.is_watch()) return {.stays_open = true};
        if (asked.query.find("limit=8&") != std::string::npos) return {.status = 500};
        if (asked.query.find("continue=") == std::string::npos)
            return {.body = list_json("10", {pod_json("a", "8")}, "more")};
        return {.body = list_json("10", {pod_json("b", "9")})};
    });
    EXPECT_THAT(poll_for(3), ElementsAre("+a", "+a", "+b")) << "from the beginning";
    const auto made = queries(false);
    EXPECT_GE(std::ranges::count_if(made, [](const auto& one) { return one.find("limit=8&") != std::string::npos; }),
              1);
    EXPECT_THAT(made, Contains(AllOf(HasSubstr("limit=2&"), HasSubstr("continue="))));
}

TEST_F(SourceTest, ADroppedWatchGoesOnWhereItStopped) {
    start([](const Asked& asked) -> Reply {
        if (!asked.is_watch()) return {.body = list_json("10")};
        if (asked.query.find("resourceVersion=10&") != std::string::npos) {
            return {.body = event_json("ADDED", pod_json("a", "11")) +
                            event_json("BOOKMARK", R"({"kind":"Pod","metadata":{"resourceVersion":"15"}})")};
        }
        if (asked.query.find("resourceVersion=15&") != std::string::npos)
            return {.body = event_json("DELETED", pod_json("a", "16")), .stays_open = true};
        return {.status = 500};
    });
    EXPECT_THAT(poll_for(2), ElementsAre("+a", "-a"));
    EXPECT_EQ(source_->watcher_counts().expired, 0U);
}

TEST_F(SourceTest, AWatchThatBrokeOffSaysFromWhenToWhenNothingCouldCome) {
    start([&tries = counter_](const Asked& asked) -> Reply {
        if (!asked.is_watch()) return {.body = list_json("10")};
        if (asked.query.find("resourceVersion=10&") != std::string::npos && ++tries < 3) return {.status = 500};
        return {.body = event_json("ADDED", pod_json("a", "11")), .stays_open = true};
    });
    int late = 0;
    source_->on_late([&](Time from, Time to) {
        EXPECT_LT(from, to);
        ++late;
    });
    EXPECT_THAT(poll_for(1), ElementsAre("+a"));
    EXPECT_EQ(late, 1);
}

TEST_F(SourceTest, AKindThatWaitsIsAskedForAgainWhenTheServerAnswersAnother) {
    const auto cut = [](int watch, const char* retry_after) {
        if (watch == 1) return Reply{.body = ""};  // and so the watch ends
        if (watch == 2)
            return Reply{
                .status = 503, .body = status_json(503, "ServiceUnavailable", "x"), .retry_after = retry_after};
        return Reply{.body = "", .stays_open = true};
    };
    start(
        [this, cut](const Asked& asked) {
            if (!asked.is_watch()) return Reply{.body = list_json("10")};
            ++counter_;
            return cut(counter_, "600");
        },
        [this, cut](const Asked& asked) {
            // Nodes come back after pods have begun to wait.
            if (asked.path != "/api/v1/nodes" || !asked.is_watch()) return Reply{.status = 0};
            return counter_ < 2 ? Reply{.body = ""} : cut(++nodes_ + 1, "");
        });
    static_cast<void>(poll());
    EXPECT_TRUE(api_->wait([](const std::vector<Asked>& asked) {
        return std::ranges::count_if(asked, [](const Asked& a) { return a.path == kPods && a.is_watch(); }) >= 3;
    }));
}

TEST_F(SourceTest, FactsAreCurrentWhilePodsAndNodesAreWatched) {
    using Clock = std::chrono::steady_clock;
    start([](const Asked& asked) {
        return asked.is_watch() ? Reply{.body = "", .stays_open = true} : Reply{.body = list_json("10")};
    });
    EXPECT_FALSE(source_->is_current({})) << "nothing has been read yet";
    static_cast<void>(poll());
    while (!source_->is_current({}))
        static_cast<void>(poll());  // it is woken when that changes
    const Clock::time_point later = Clock::now();
    EXPECT_FALSE(source_->is_current(later)) << "a quiet watch may be dead";
    source_->look_now(later);
    while (!source_->is_current(later))
        static_cast<void>(poll());
    EXPECT_EQ(queries(true).size(), 2U);
}

TEST_F(SourceTest, AnExpiredWatchListsAgainAndNoticesWhatIsGone) {
    start([&lists = counter_](const Asked& asked) -> Reply {
        if (!asked.is_watch()) {
            ++lists;
            return {.body = lists == 1 ? list_json("10", {pod_json("a", "1"), pod_json("b", "2")})
                                       : list_json("50", {pod_json("b", "40")})};
        }
        if (asked.query.find("resourceVersion=10&") != std::string::npos)
            return {.body = event_json("ERROR", status_json(410, "Expired", "too old"))};
        return {.body = "", .stays_open = true};
    });
    std::vector<std::string> missed;
    source_->on_missed([&](const std::string& kind, Time from, Time to) {
        EXPECT_LT(from, to);
        missed.push_back(kind);
    });
    EXPECT_THAT(poll_for(4), ElementsAre("+a", "+b", "+b", "-a"));
    EXPECT_EQ(source_->watcher_counts().expired, 1U);
    EXPECT_THAT(missed, ElementsAre("pods")) << "what happened to a in between nobody knows";
}

TEST_F(SourceTest, A410InsteadOfAWatchListsAgainToo) {
    start([](const Asked& asked) -> Reply {
        if (!asked.is_watch()) return {.body = list_json("10", {pod_json("a", "1")})};
        return {.status = 410, .body = status_json(410, "Expired", "too old")};
    });
    EXPECT_THAT(poll_for(3), Each("+a"));
    EXPECT_GE(queries(false).size(), 3U);
}

TEST_F(SourceTest, AListThatExpiresInTheMiddleStartsAgain) {
    start([&continued = counter_](const Asked& asked) -> Reply {
        if (asked.is_watch()) return {.body = "", .stays_open = true};
        if (asked.query.find("continue=") == std::string::npos)
            return {.body = list_json("10", {pod_json("a", "1")}, "more")};
        if (++continued == 1)
            return {.status = 410, .body = status_json(410, "Expired", "the continue token is too old")};
        return {.body = list_json("10", {pod_json("b", "2")})};
    });
    EXPECT_THAT(poll(), ElementsAre("+a", "+a", "+b"));
}

TEST_F(SourceTest, APodThatCannotBeReadIsNotOverlooked) {
    const std::string bad = pod_json("bad", "3", R"("containers":[{"resources":{"requests":{"cpu":"lots"}}}])");
    start([bad](const Asked& asked) -> Reply {
        if (asked.is_watch())
            return {.body = event_json("MODIFIED", bad) + event_json("ADDED", pod_json("c", "12")), .stays_open = true};
        return {.body = list_json("10", {pod_json("a", "1"), bad, pod_json("b", "2")})};
    });
    EXPECT_THAT(poll_for(5), ElementsAre("+a", "+bad", "+b", "+bad", "+c"));
    EXPECT_EQ(source_->counts().malformed, 2U);
}

TEST_F(SourceTest, WhatCannotBeReadIsForgottenWhenItIsGone) {
    const auto quota = [](const char* name) {
        return std::string(R"({"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":")") +
               name + R"(","resourceVersion":"5"},"value":"lots"})";
    };
    start([](const Asked& asked) { return nothing(asked); },
          [this, quota](const Asked& asked) -> Reply {
              if (asked.path != "/apis/scheduling.k8s.io/v1/priorityclasses") return {.status = 0};
              if (!asked.is_watch()) {
                  return ++counter_ == 1 ? Reply{.body = list_json("10", {quota("listed"), quota("dropped")})}
                                         : Reply{.body = list_json("60", {quota("dropped")})};
              }
              if (counter_ > 1) return {.body = event_json("DELETED", quota("dropped")), .stays_open = true};
              return {.body = event_json("ADDED", quota("made")) + event_json("DELETED", quota("made")) +
                              event_json("ERROR", status_json(410, "Expired", "too old"))};
          });
    const auto left_out = [this] {
        std::uint64_t sum = 0;
        for (const KindHealth& health : source_->health())
            sum += health.left_out;
        return sum;
    };
    while (counter_ < 2 || left_out() > 0)
        static_cast<void>(poll({10'000}));
    EXPECT_EQ(source_->counts().malformed, 4U) << "listed, dropped, made; dropped again";
}

TEST_F(SourceTest, APodThatBecameMalformedIsReadWithCareUntilItIsGone) {
    const std::string bad = pod_json("a", "12", R"("containers":[{"resources":{"requests":{"cpu":"lots"}}}])");
    start([bad](const Asked& asked) -> Reply {
        if (!asked.is_watch()) return {.body = list_json("10", {pod_json("a", "1")})};
        return {.body = event_json("MODIFIED", bad) + event_json("DELETED", bad), .stays_open = true};
    });
    EXPECT_THAT(poll_for(3), ElementsAre("+a", "+a", "-a"));
}

TEST_F(SourceTest, KindsThatAppearLaterAreFollowedAndForgottenWhenTheyGo) {
    enum class Stage { kAbsent, kServed, kGone };
    // The fake outlives this body.
    const auto shared = std::make_shared<std::atomic<Stage>>(Stage::kAbsent);
    std::atomic<Stage>& stage = *shared;
    const std::string group =
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"gang","namespace":"ns"},"spec":{"minMember":2}})";
    start([](const Asked& asked) { return nothing(asked); },
          [shared, group](const Asked& asked) -> Reply {
              if (*shared != Stage::kServed)
                  return {.status = asked.path == "/apis/scheduling.volcano.sh/v1beta1/podgroups" ? 404 : 0};
              if (asked.path == "/apis/scheduling.volcano.sh/v1beta1")
                  return {.body = R"({"kind":"APIResourceList","resources":[{"name":"podgroups"}]})"};
              if (asked.path == "/apis/scheduling.volcano.sh/v1beta1/podgroups" && !asked.is_watch())
                  return {.body = list_json("5", {group})};
              return {.status = 0};
          });
    EXPECT_THAT(poll(), IsEmpty());
    EXPECT_TRUE(alive_) << "absent kinds are no error";
    stage = Stage::kServed;
    EXPECT_THAT(poll(), ElementsAre("+gang"));
    EXPECT_TRUE(addresses_.gang("ns/gang").has_value());
    stage = Stage::kGone;
    api_->end_streams();
    EXPECT_THAT(poll(), ElementsAre("-gang"));
    EXPECT_FALSE(addresses_.gang("ns/gang").has_value());
}

TEST_F(SourceTest, AKindThatIsRefusedForAMomentIsNotForgotten) {
    // As of a server that has just started: it does not know roles and kinds yet.
    const auto starting = std::make_shared<std::atomic<int>>(0);
    options_.watcher.backoff = {{1'000}, {1'000}};
    const auto group = [](const std::string& name) {
        return R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":")" + name +
               R"(","namespace":"ns"},"spec":{"minMember":2}})";
    };
    start([](const Asked& asked) { return nothing(asked); },
          [starting, group](const Asked& asked) -> Reply {
              if (!asked.path.starts_with("/apis/scheduling.volcano.sh/v1beta1")) return {.status = 0};
              if (asked.path.ends_with("v1beta1"))
                  return {.body = R"({"kind":"APIResourceList","resources":[{"name":"podgroups"}]})"};
              if (!asked.path.ends_with("/podgroups")) return {.status = 0};
              if (*starting > 0) {
                  --*starting;
                  return {.status = 403, .body = status_json(403, "Forbidden", "not yet")};
              }
              if (!asked.is_watch()) return {.body = list_json("5", {group("gang")})};
              return {.body = "", .stays_open = true};
          });
    EXPECT_THAT(poll_for(1), ElementsAre("+gang"));
    *starting = 5;
    api_->end_streams();
    while (*starting > 0)
        EXPECT_THAT(poll({1'000}), IsEmpty());
    EXPECT_TRUE(addresses_.gang("ns/gang").has_value());
}

TEST_F(SourceTest, AFullInboxStopsReadingAndLosesNothing) {
    options_.inbox_bytes = 512;
    constexpr int kEvents = 200;
    start([](const Asked& asked) -> Reply {
        if (!asked.is_watch()) return {.body = list_json("10")};
        std::string events;
        for (int i = 0; i < kEvents; ++i)
            events += event_json("ADDED", pod_json("p" + std::to_string(i), std::to_string(11 + i)));
        return {.body = events, .stays_open = true};
    });
    const std::vector<std::string> seen = poll_for(kEvents);
    ASSERT_EQ(seen.size(), static_cast<std::size_t>(kEvents));
    for (int i = 0; i < kEvents; ++i)
        EXPECT_EQ(seen[static_cast<std::size_t>(i)], "+p" + std::to_string(i));
}

TEST_F(SourceTest, CredentialsThatAreRefusedEndTheWorldWithAReason) {
    options_.refusals = 2;
    options_.watcher.backoff = {{1'000}, {1'000}};
    start([](const Asked&) -> Reply {
        return {.status = 403, .body = status_json(403, "Forbidden", "pods is forbidden")};
    });
    poll();
    EXPECT_FALSE(alive_);
    EXPECT_THAT(source_->fault(), HasSubstr("pods cannot be read: 403 Forbidden: pods is forbidden"));
}

TEST_F(SourceTest, HowFarTheWatchOfClaimsHasComeIsKnown) {
    const auto claim = [](const std::string& version) {
        return R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"namespace":"ns","name":"c",)"
               R"("uid":"u","resourceVersion":")" +
               version + R"("},"spec":{"devices":{"requests":[]}}})";
    };
    start([](const Asked& asked) { return nothing(asked); },
          [claim](const Asked& asked) -> Reply {
              if (asked.path == "/apis/resource.k8s.io/v1")
                  return {.body = R"({"kind":"APIResourceList","resources":[{"name":"resourceclaims"}]})"};
              if (asked.path != "/apis/resource.k8s.io/v1/resourceclaims") return {.status = 0};
              if (asked.is_watch()) return {.body = event_json("MODIFIED", claim("12")), .stays_open = true};
              return {.body = list_json("10", {claim("8")})};
          });
    poll();
    int called = 0;
    ClaimIndex& claims = addresses_.claims();
    EXPECT_TRUE(claims.has_seen("10", this, [&] { ++called; })) << "the list tells of everything before it";
    EXPECT_FALSE(claims.has_seen("13", this, [&] { ++called; }));
    while (!claims.has_seen("12", this, [] {}))
        poll();
    EXPECT_EQ(called, 0);
    EXPECT_THAT(claims.text("ns/c"), HasSubstr(R"("resourceVersion":"12")"));
    claims.forget(this);
}

TEST_F(SourceTest, AWakeEndsTheWait) {
    start([](const Asked& asked) { return nothing(asked); });
    poll();
    source_->wake();
    EXPECT_THAT(poll(), IsEmpty());
    EXPECT_TRUE(alive_);
    source_->stop();
    poll();
    EXPECT_FALSE(alive_);
    EXPECT_EQ(source_->fault(), "");
}

}  // namespace
}  // namespace reprieve
