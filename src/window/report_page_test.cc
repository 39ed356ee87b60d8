#include "window/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <memory>

namespace reprieve::window {
namespace {

using ::testing::HasSubstr;

class ReportPageTest : public ::testing::Test {
protected:
    void start(bool only_loopback) {
        page_ = std::make_unique<ReportPage>("<!doctype html><script>draw()</script>", only_loopback);
        page_->route(server_);
        ASSERT_TRUE(server_.start("127.0.0.1:0").has_value());
        client_ = std::make_unique<httplib::Client>("127.0.0.1", server_.port());
    }
    void TearDown() override { server_.stop(); }

    std::unique_ptr<ReportPage> page_;
    WebServer server_;
    std::unique_ptr<httplib::Client> client_;
};

TEST_F(ReportPageTest, MayDrawAndNothingElse) {
    start(true);
    const auto report = client_->Get("/");
    EXPECT_EQ(report->status, 200);
    EXPECT_EQ(report->body, "<!doctype html><script>draw()</script>");
    const std::string policy = report->get_header_value("Content-Security-Policy");
    EXPECT_THAT(policy, HasSubstr("default-src 'none'; script-src 'unsafe-inline';"));
    EXPECT_THAT(policy, HasSubstr("; frame-ancestors 'none'"));
    EXPECT_EQ(report->get_header_value("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(report->get_header_value("Cross-Origin-Resource-Policy"), "same-origin");
    const std::string etag = report->get_header_value("ETag");
    EXPECT_EQ(client_->Get("/", {{"If-None-Match", etag}})->status, 304);
}

TEST_F(ReportPageTest, IsForNamesOfThisMachine) {
    start(true);
    const auto foreign = client_->Get("/", {{"Host", "evil.example.com"}});
    EXPECT_EQ(foreign->status, 421);
    EXPECT_EQ(foreign->body, "{\"error\":\"the window answers only to names of this machine\"}\n");
    EXPECT_EQ(client_->Get("/none", {{"Host", "evil.example.com"}})->status, 421);
}

TEST_F(ReportPageTest, IsForEverybodyWhereThatWasAskedFor) {
    start(false);
    EXPECT_EQ(client_->Get("/", {{"Host", "reports.example.com"}})->status, 200);
}

TEST_F(ReportPageTest, RefusesInJson) {
    start(true);
    const auto none = client_->Get("/none");
    EXPECT_EQ(none->status, 404);
    EXPECT_EQ(none->body, "{\"error\":\"nothing is at /none\"}\n");
    EXPECT_THAT(none->get_header_value("Content-Security-Policy"), HasSubstr("frame-ancestors 'none'"));
    const auto wrong = client_->Delete("/");
    EXPECT_EQ(wrong->status, 405);
    EXPECT_EQ(wrong->get_header_value("Allow"), "GET, HEAD");
}

}  // namespace
}  // namespace reprieve::window
