#include "web/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "web/gzip.h"

namespace reprieve {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

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

TEST_F(ServerTest, WhatNobodyHandlesIsRefusedInASentence) {
    server_.get("/both", [](const WebRequest&) { return WebAnswer{.body = "got"}; });
    server_.post("/both", [](const WebRequest& request) { return WebAnswer{.body = request.body}; });
    server_.get("/gone", [](const WebRequest&) { return WebAnswer{.status = 404, .body = "its own words"}; });
    server_.refusals([](int status, const std::string& sentence) {
        return WebAnswer{.status = status, .body = "<" + sentence + ">", .headers = {{"X-Frame", "none"}}};
    });
    start();
    const auto none = client_->Get("/none");
    EXPECT_EQ(none->status, 404);
    EXPECT_EQ(none->body, "<nothing is at /none>");
    EXPECT_EQ(none->get_header_value("X-Frame"), "none");
    EXPECT_EQ(client_->Get("/gone")->body, "its own words");
    for (const auto& wrong : {client_->Put("/both", "x", "text/plain"),
                              client_->Patch("/both", "x", "text/plain"),
                              client_->Delete("/both"),
                              client_->Options("/both")}) {
        ASSERT_TRUE(wrong);
        EXPECT_EQ(wrong->status, 405);
        EXPECT_EQ(wrong->get_header_value("Allow"), "GET, HEAD, POST");
        EXPECT_THAT(wrong->body, HasSubstr("</both is not for "));
    }
    EXPECT_EQ(client_->Post("/gone", "x", "text/plain")->get_header_value("Allow"), "GET, HEAD");
    EXPECT_EQ(client_->Post("/none", "x", "text/plain")->status, 404);
    EXPECT_EQ(client_->Post("/both", "x", "text/plain")->body, "x");
    const auto long_address = client_->Get("/both?q=" + std::string(9000, 'a'));
    EXPECT_EQ(long_address->status, 414);
    EXPECT_EQ(long_address->body, "<addresses of more than 8192 bytes are not taken>");
    const auto long_body = client_->Post("/both", std::string(9U << 20U, 'x'), "text/plain");
    ASSERT_TRUE(long_body);
    EXPECT_EQ(long_body->status, 413);
    EXPECT_EQ(long_body->body, "<bodies of more than 8 MiB are not taken>");
    // What curl calls a form, because nobody told it otherwise.
    const std::string manifest(1U << 20U, 'x');
    const auto form = client_->Post("/both", manifest, "application/x-www-form-urlencoded");
    ASSERT_TRUE(form);
    EXPECT_EQ(form->status, 200);
    EXPECT_EQ(form->body, manifest);
    const httplib::Headers packed{{"Content-Encoding", "gzip"}};
    EXPECT_EQ(client_->Post("/both", packed, gzip(manifest), "text/plain")->body, manifest);
    const auto bomb = client_->Post("/both", packed, gzip(std::string(64U << 20U, 'x')), "text/plain");
    ASSERT_TRUE(bomb);
    EXPECT_EQ(bomb->status, 413);
    const auto parts = client_->Post("/both", "--b--", "multipart/form-data; boundary=b");
    ASSERT_TRUE(parts);
    EXPECT_EQ(parts->status, 415);
    EXPECT_THAT(parts->body, HasSubstr("a form with parts is not taken"));
}

// What the server answers to these bytes; for what a client would not send.
std::string answer_to(int port, const std::string& bytes) {
    const int file = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string answer;
    if (connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) {
        std::array<char, 4096> piece{};
        for (ssize_t got = 0; (got = read(file, piece.data(), piece.size())) > 0;)
            answer.append(piece.data(), static_cast<std::size_t>(got));
    }
    close(file);
    return answer;
}

// As `curl -X POST` sends it. The library would wait for the end of a body that nobody has announced, and then give up.
TEST_F(ServerTest, ABodyWithoutALengthIsNotWaitedFor) {
    server_.get("/read", [](const WebRequest&) { return WebAnswer{.body = "got"}; });
    server_.post("/write", [](const WebRequest&) { return WebAnswer{.body = "got"}; });
    start();
    const std::string wrong = answer_to(server_.port(), "POST /read HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(wrong, StartsWith("HTTP/1.1 405 "));
    EXPECT_THAT(wrong, HasSubstr("Allow: GET, HEAD\r\n"));
    EXPECT_THAT(wrong, HasSubstr("/read is not for POST\n"));
    EXPECT_THAT(answer_to(server_.port(), "PUT /none HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                StartsWith("HTTP/1.1 404 "));
    EXPECT_THAT(answer_to(server_.port(), "POST /write HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                StartsWith("HTTP/1.1 411 "));
}

TEST_F(ServerTest, WhatIsNoHttpGetsASentenceToo) {
    start();
    const std::string answer = answer_to(server_.port(), "FETCH / HTTP/1.1\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 "));
    EXPECT_THAT(answer, HasSubstr("the request cannot be understood\n"));
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
