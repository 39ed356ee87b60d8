// The window over HTTP: what browsers and scripts get.
#include "window/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

namespace reprieve::window {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// Moments made by hand.
class GivenSource final : public MomentSource {
public:
    GivenSource() {
        auto moment = std::make_shared<Moment>();
        moment->serial = 3;
        moment->summary = R"({"kind":"Now"})";
        moment->waiting = R"({"kind":"Waiting"})";
        moment->queues = R"({"kind":"Queues"})";
        for (int i = 0; i < 5; ++i) {
            auto entry = std::make_shared<DecisionEntry>();
            entry->id = "d" + std::to_string(i);
            entry->owner = "ns/p" + std::to_string(i);
            entry->names = {entry->owner};
            entry->queue = i % 2 == 0 ? "even" : "odd";
            entry->status = "optimal";
            entry->priority = i;
            entry->evicts = i > 2;
            entry->row = R"({"id":")" + entry->id + R"(","evictions":[]})";
            entry->receipt = entry->row;
            entry->why = R"({"explanations":{}})";
            moment->decisions.push_back(entry);
        }
        moment_ = moment;
    }
    Result<std::shared_ptr<const Moment>> moment(std::optional<Time>) override { return moment_; }
    Result<std::string> ask(std::optional<Time>, const Question& question) override {
        Scene scene{cluster_, plan_, config_};
        return question(scene);
    }
    Result<std::string> room(std::optional<Time>) override { return std::string(5000, ' ') + R"({"kind":"Room"})"; }
    Result<std::string> lifelines(std::optional<Time>, const std::string&) override {
        return R"({"kind":"Lifelines"})";
    }
    std::int64_t newest(std::int64_t seen, std::chrono::milliseconds wait) override {
        std::unique_lock lock(mutex_);
        if (seen == 3) never_.wait_for(lock, wait);  // nothing else comes, and nobody may spin meanwhile
        return 3;
    }
    [[nodiscard]] std::string kind() const override { return "files"; }

private:
    Cluster cluster_{ClusterOptions{}};
    Plan plan_;
    SchedulerConfig config_;
    std::shared_ptr<const Moment> moment_;
    std::mutex mutex_;
    std::condition_variable never_;
};

class ApiTest : public ::testing::Test {
protected:
    void start(WindowOptions options = {}) {
        options.version = "1";
        options.take = [](Cluster&, std::string_view, Time) { return std::vector<std::string>(); };
        window_ = std::make_unique<Window>(source_, std::move(options));
        window_->route(server_);
        ASSERT_TRUE(server_.start("127.0.0.1:0").has_value());
        client_ = std::make_unique<httplib::Client>("127.0.0.1", server_.port());
    }
    void TearDown() override {
        if (window_) window_->close();
        server_.stop();
    }
    [[nodiscard]] Json get(const std::string& path) { return Json::parse(client_->Get(path)->body); }

    GivenSource source_;
    std::unique_ptr<Window> window_;
    WebServer server_;
    std::unique_ptr<httplib::Client> client_;
};

TEST_F(ApiTest, ListsInPages) {
    start();
    Json page = get("/api/v1/decisions?limit=2");
    EXPECT_EQ(page["total"], 5);
    EXPECT_EQ(page["decisions"].size(), 2);
    EXPECT_EQ(page["next"], "d1");
    page = get("/api/v1/decisions?limit=2&after=d3");
    EXPECT_EQ(page["decisions"].size(), 1);
    EXPECT_EQ(page["next"], nullptr);
    EXPECT_EQ(client_->Get("/api/v1/decisions?after=none")->status, 404);
    EXPECT_EQ(client_->Get("/api/v1/decisions?limit=x")->status, 400);
    const auto nothing = client_->Get("/api/v1/decisions?limit=0");
    EXPECT_EQ(nothing->status, 400) << "a reader of pages would never come to an end";
    EXPECT_EQ(Json::parse(nothing->body)["error"], "limit: at least 1");
    EXPECT_EQ(client_->Get("/api/v1/decisions?limit=-1")->status, 400);
    for (const char* asked :
         {"limit=1001", "evicting=maybe", "certificate=foo", "action=foo", "outcome=foo", "priority=high"})
        EXPECT_EQ(client_->Get(std::string("/api/v1/decisions?") + asked)->status, 400) << asked;
    EXPECT_EQ(client_->Get("/api/v1/now?at=yesterday")->status, 400);
}

TEST_F(ApiTest, Filters) {
    start();
    EXPECT_EQ(get("/api/v1/decisions?queue=odd")["total"], 2);
    EXPECT_EQ(get("/api/v1/decisions?priority=3")["total"], 2);
    EXPECT_EQ(get("/api/v1/decisions?certificate=gap")["total"], 0);
    EXPECT_EQ(get("/api/v1/decisions?q=p4")["decisions"][0]["id"], "d4");
    EXPECT_EQ(get("/api/v1/decisions?evicting=true")["total"], 2);
}

TEST_F(ApiTest, AReceiptKnowsItsNeighbours) {
    start();
    const Json receipt = get("/api/v1/decisions/d1");
    EXPECT_EQ(receipt["neighbours"]["newer"], "d0");
    EXPECT_EQ(receipt["neighbours"]["older"], "d2");
    EXPECT_TRUE(receipt["why"].contains("explanations"));
    EXPECT_EQ(client_->Get("/api/v1/decisions/none")->status, 404);
}

TEST_F(ApiTest, WhatIsKnownIsNotSentAgain) {
    start();
    const auto first = client_->Get("/api/v1/waiting");
    const std::string etag = first->get_header_value("ETag");
    EXPECT_EQ(client_->Get("/api/v1/waiting", {{"If-None-Match", etag}})->status, 304);
    EXPECT_EQ(client_->Get("/api/v1/waiting", {{"If-None-Match", "\"other\""}})->status, 200);
    EXPECT_EQ(client_->Get("/api/v1/waiting", {{"If-None-Match", "W/" + etag}})->status, 304);
    EXPECT_EQ(client_->Get("/api/v1/waiting", {{"If-None-Match", "\"other\", " + etag}})->status, 304);
    EXPECT_EQ(client_->Get("/api/v1/waiting", {{"If-None-Match", "*"}})->status, 304);
    const auto asked = client_->Post("/api/v1/what-if", {{"If-None-Match", "*"}}, "kind: Pod", "text/plain");
    EXPECT_EQ(asked->status, 200) << "a question is answered, whatever is known";
}

TEST_F(ApiTest, CompressesOnce) {
    start();
    client_->set_decompress(false);
    const auto room = client_->Get("/api/v1/room", {{"Accept-Encoding", "gzip, deflate, br, zstd"}});
    EXPECT_EQ(room->get_header_value_count("Content-Encoding"), 1);
    EXPECT_EQ(room->get_header_value("Content-Encoding"), "gzip");
    EXPECT_LT(room->body.size(), 200);
}

TEST_F(ApiTest, ForeignPagesGetNoAnswer) {
    start();
    EXPECT_EQ(client_->Get("/api/v1/now", {{"Host", "evil.example.com"}})->status, 421);
    // A name that begins like a loopback address is a stranger's all the same.
    for (const char* host :
         {"127.0.0.1.evil.example.com", "127.evil.example.com:80", "127.1", "localhost.evil.example"})
        EXPECT_EQ(client_->Get("/api/v1/now", {{"Host", host}})->status, 421) << host;
    for (const char* host : {"127.0.0.2:8080", "[::1]:8080", "localhost"})
        EXPECT_EQ(client_->Get("/api/v1/now", {{"Host", host}})->status, 200) << host;
    EXPECT_EQ(client_->Post("/api/v1/what-if", {{"Origin", "http://evil.example.com"}}, "x", "text/plain")->status,
              403);
    EXPECT_EQ(client_->Post("/api/v1/what-if", "kind: Pod", "text/plain")->status, 200);
    const std::string policy = client_->Get("/api/v1/now")->get_header_value("Content-Security-Policy");
    EXPECT_THAT(policy, HasSubstr("default-src 'none'; script-src 'self'"));
}

TEST_F(ApiTest, EveryErrorIsJsonWithTheHeadersOfTheRest) {
    start();
    const std::vector<std::pair<httplib::Result, int>> refused = [&] {
        std::vector<std::pair<httplib::Result, int>> out;
        out.emplace_back(client_->Post("/api/v1/now", "x", "text/plain"), 405);
        out.emplace_back(client_->Put("/api/v1/decisions", "x", "text/plain"), 405);
        out.emplace_back(client_->Delete("/api/v1/now"), 405);
        out.emplace_back(client_->Options("/api/v1/what-if"), 405);
        out.emplace_back(client_->Get("/api/v1/none"), 404);
        out.emplace_back(client_->Post("/none", "x", "text/plain"), 404);
        out.emplace_back(client_->Get("/api/v1/decisions?q=" + std::string(9000, 'a')), 414);
        out.emplace_back(client_->Post("/api/v1/what-if", std::string(9U << 20U, 'x'), "text/plain"), 413);
        return out;
    }();
    for (const auto& [answer, status] : refused) {
        ASSERT_TRUE(answer) << status;
        EXPECT_EQ(answer->status, status) << answer->body;
        const Json body = Json::parse(answer->body, nullptr, false);
        EXPECT_TRUE(body.is_object() && body["error"].is_string()) << answer->body;
        EXPECT_EQ(answer->get_header_value("Content-Type"), "application/json; charset=utf-8");
        EXPECT_THAT(answer->get_header_value("Content-Security-Policy"), HasSubstr("frame-ancestors 'none'"));
        EXPECT_EQ(answer->get_header_value("X-Content-Type-Options"), "nosniff");
        EXPECT_EQ(answer->has_header("Allow"), status == 405);
    }
    EXPECT_EQ(refused.front().first->get_header_value("Allow"), "GET, HEAD");
    EXPECT_EQ(refused[3].first->get_header_value("Allow"), "GET, HEAD, POST");
}

TEST_F(ApiTest, ANameThatIsNoneIsNotFound) {
    start();
    const auto none = client_->Get("/api/v1/waiting?name=foo");
    EXPECT_EQ(none->status, 404);
    EXPECT_EQ(Json::parse(none->body)["error"], "foo: there is no such pod or gang");
    const auto bytes = client_->Get("/api/v1/waiting?name=%ff%fe%00");
    EXPECT_EQ(bytes->status, 404);
    const Json body = Json::parse(bytes->body, nullptr, false);
    ASSERT_TRUE(body.is_object()) << "valid UTF-8 only";
    EXPECT_THAT(body["error"].get<std::string>(), ::testing::EndsWith(": there is no such pod or gang"));
}

TEST_F(ApiTest, WhatIfIsBounded) {
    start();
    EXPECT_EQ(client_->Post("/api/v1/what-if", std::string(5U << 20U, 'x'), "text/plain")->status, 413);
    EXPECT_EQ(client_->Post("/api/v1/what-if", "", "text/plain")->status, 400);
}

TEST_F(ApiTest, AsksForATokenWhereOneIsNeeded) {
    WindowOptions options;
    options.only_loopback = false;
    options.authorize = [](const std::string& token) -> Result<Viewer> {
        if (token == "admin") return Viewer{};
        return fail("this token is not known");
    };
    start(std::move(options));
    EXPECT_EQ(client_->Get("/api/v1/now")->status, 401);
    EXPECT_EQ(client_->Get("/api/v1/now", {{"Authorization", "Bearer x"}})->status, 401);
    EXPECT_EQ(client_->Get("/api/v1/now", {{"Authorization", "Bearer admin"}})->status, 200);
    EXPECT_EQ(client_->Get("/api/v1/events")->status, 401);
}

TEST_F(ApiTest, EventsSayWhereTheProgramIs) {
    start();
    std::string seen;
    client_->Get("/api/v1/events", [&](const char* data, std::size_t size) {
        seen.append(data, size);
        return seen.find("\n\n") == std::string::npos;
    });
    EXPECT_THAT(seen, HasSubstr("id: 3\nevent: cycle\n"));
}

TEST_F(ApiTest, ProbesAnswerWhileManyWindowsAreOpen) {
    server_.probe("/healthz", []() -> Result<void> { return {}; });
    start();
    // Also makes what the library keeps for all clients, before there are threads.
    ASSERT_EQ(client_->Get("/healthz")->status, 200);
    constexpr int kWindows = 100;
    std::latch open(kWindows);
    std::promise<void> end;
    const std::shared_future<void> over = end.get_future().share();
    std::vector<std::thread> windows;
    for (int i = 0; i < kWindows; ++i) {
        windows.emplace_back([&] {
            httplib::Client client("127.0.0.1", server_.port());
            // Whoever gets a stream, and whoever is told that there are too many, holds the connection.
            bool first = true;
            client.Get("/api/v1/events", [&](const char*, std::size_t) {
                if (std::exchange(first, false)) open.count_down();
                over.wait();
                return false;
            });
            if (first) open.count_down();
        });
    }
    open.wait();
    EXPECT_EQ(client_->Get("/healthz")->status, 200);
    EXPECT_EQ(client_->Get("/api/v1/now")->status, 200);
    int status = 0;
    client_->Get(
        "/api/v1/events",
        [&](const httplib::Response& response) {
            status = response.status;
            return false;  // a stream would not end
        },
        [](const char*, std::size_t) { return false; });
    EXPECT_EQ(status, 503) << "as many streams as are served at once";
    end.set_value();
    for (std::thread& thread : windows)
        thread.join();
}

}  // namespace
}  // namespace reprieve::window
