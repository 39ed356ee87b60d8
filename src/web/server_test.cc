#include "web/server.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>

namespace reprieve {
namespace {

class ServerTest : public ::testing::Test {
protected:
    void start() {
        const Result<void> started = server_.start("127.0.0.1:0");
        ASSERT_TRUE(started.has_value()) << started.error().message;
        client_ = std::make_unique<httplib::Client>("127.0.0.1", server_.port());
    }

    WebServer server_;
    std::unique_ptr<httplib::Client> client_;
};

TEST_F(ServerTest, ProbesSayWhatIsWrong) {
    std::atomic<bool> ready = false;
    server_.probe("/readyz", [&]() -> Result<void> {
        if (!ready) return fail("the first list is not complete");
        return {};
    });
    start();
    EXPECT_EQ(client_->Get("/readyz")->status, 503);
    EXPECT_EQ(client_->Get("/readyz")->body, "the first list is not complete\n");
    ready = true;
    EXPECT_EQ(client_->Get("/readyz")->status, 200);
    EXPECT_EQ(client_->Get("/readyz")->body, "ok");
}

TEST_F(ServerTest, RoutesWithBodyAndQuery) {
    server_.get("/metrics", [](const WebRequest&) {
        return WebAnswer{.body = "m 1\n", .content_type = "text/plain; version=0.0.4"};
    });
    server_.post("/echo", [](const WebRequest& request) {
        return WebAnswer{.status = 201, .body = request.body + request.query("q")};
    });
    start();
    const auto metrics = client_->Get("/metrics");
    EXPECT_EQ(metrics->body, "m 1\n");
    EXPECT_EQ(metrics->get_header_value("Content-Type"), "text/plain; version=0.0.4");
    const auto echo = client_->Post("/echo?q=2", "1", "text/plain");
    EXPECT_EQ(echo->status, 201);
    EXPECT_EQ(echo->body, "12");
    EXPECT_EQ(client_->Get("/none")->status, 404);
}

TEST_F(ServerTest, AddressesThatCannotBeListenedOn) {
    EXPECT_FALSE(WebServer().start("nowhere").has_value());
    EXPECT_FALSE(WebServer().start("127.0.0.1:99999").has_value());
    EXPECT_FALSE(WebServer().start("127.0.0.1:x").has_value());
    start();
    EXPECT_FALSE(WebServer().start("127.0.0.1:" + std::to_string(server_.port())).has_value())
        << "somebody listens there";
}

TEST_F(ServerTest, StopsAtOnceAndTwice) {
    start();
    server_.stop();
    server_.stop();
    EXPECT_FALSE(client_->Get("/healthz"));
}

}  // namespace
}  // namespace reprieve
