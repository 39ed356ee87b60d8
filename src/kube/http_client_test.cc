#include "kube/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <future>
#include <sstream>

#include "kube/fake_api.h"

namespace reprieve {
namespace {

using Reply = FakeApi::Reply;
using Asked = FakeApi::Asked;

HttpRequest get(const std::string& path) {
    HttpRequest request;
    request.path = path;
    return request;
}

std::vector<std::string> paths_asked(const FakeApi& api) {
    std::vector<std::string> paths;
    for (const Asked& asked : api.asked())
        paths.push_back(asked.path);
    return paths;
}

class HttpClientTest : public ::testing::Test {
protected:
    HttpAnswer ask(HttpClient& client, HttpRequest request) {
        std::promise<HttpAnswer> answered;
        client.send(this, std::move(request), [&](HttpAnswer answer) { answered.set_value(std::move(answer)); });
        return answered.get_future().get();
    }
};

TEST_F(HttpClientTest, KnowsTheServersTime) {
    FakeApi api([](const Asked&) { return Reply{.body = "{}", .date = "Fri, 01 Jan 2100 00:00:00 GMT"}; });
    HttpClient client(api.access(), api.client_options());
    ask(client, get("/x"));
    EXPECT_EQ(format_time(client.clock().now()).substr(0, 10), "2100-01-01");
}

TEST_F(HttpClientTest, AWatchDoesNotTellTheTime) {
    FakeApi api([](const Asked&) { return Reply{.body = "{}\n", .date = "Fri, 01 Jan 2100 00:00:00 GMT"}; });
    HttpClient client(api.access(), api.client_options());
    std::promise<void> ended;
    client.run(this, [&] {
        client.open(
            this, get("/x"), [](std::string_view) { return true; }, [&](const HttpAnswer&) { ended.set_value(); });
    });
    ended.get_future().get();
    EXPECT_NE(format_time(client.clock().now()).substr(0, 10), "2100-01-01");
}

TEST_F(HttpClientTest, SendsMethodBodyAndToken) {
    FakeApi api([](const Asked&) { return Reply{.status = 201, .body = "made"}; });
    HttpClient client(api.access(), api.client_options());
    HttpRequest request = get("/api/v1/things?a=b");
    request.method = "POST";
    request.body = R"({"x":1})";
    const HttpAnswer answer = ask(client, request);
    EXPECT_TRUE(answer.ok());
    EXPECT_EQ(answer.body, "made");
    const Asked asked = api.asked().at(0);
    EXPECT_EQ(asked.method, "POST");
    EXPECT_EQ(asked.path, "/api/v1/things");
    EXPECT_EQ(asked.query, "a=b");
    EXPECT_EQ(asked.body, R"({"x":1})");
    EXPECT_EQ(asked.authorization, "Bearer very-secret");
}

TEST_F(HttpClientTest, TriesAgainWhatMayPass) {
    int calls = 0;
    FakeApi api([&](const Asked&) {
        ++calls;
        if (calls == 1) return Reply{.status = 503};
        if (calls == 2) return Reply{.status = 429, .body = "{}", .retry_after = "0"};
        return Reply{.status = 200, .body = "at last"};
    });
    HttpClient client(api.access(), api.client_options());
    EXPECT_EQ(ask(client, get("/x")).body, "at last");
    EXPECT_EQ(client.counts().retries, 2U);
    EXPECT_EQ(client.counts().refused, 1U);
}

TEST_F(HttpClientTest, AConnectionThatBringsNothingIsLeftForAnother) {
    int calls = 0;
    FakeApi api([&](const Asked&) { return ++calls == 1 ? Reply{.silent = true} : Reply{.body = "at last"}; });
    HttpClientOptions options = api.client_options();
    options.silence = {50'000};
    HttpClient client(api.access(), options);
    HttpRequest request = get("/x");
    request.deadline = request.patience = {600'000'000};  // far away: it is not what helps
    EXPECT_EQ(ask(client, request).body, "at last");
}

TEST_F(HttpClientTest, ARequestMaySayHowLongASilenceItBears) {
    FakeApi api([&](const Asked&) { return Reply{.silent = true}; });
    HttpClient client(api.access(), api.client_options());
    HttpRequest request = get("/x");
    request.deadline = {600'000'000};
    request.silence = {50'000};
    request.patience = {};
    EXPECT_EQ(ask(client, request).status, 0);
    EXPECT_EQ(api.asked().size(), 1U);
}

TEST_F(HttpClientTest, StreamsOnConnectionsThatBringNothingEnd) {
    FakeApi api([&](const Asked& asked) {
        return asked.path == "/watch" ? Reply{.body = "line\n", .stays_open = true} : Reply{.silent = true};
    });
    HttpClientOptions options = api.client_options();
    options.silence = {50'000};
    HttpClient client(api.access(), options);
    std::promise<void> begun;
    std::promise<HttpAnswer> ended;
    client.run(this, [&] {
        client.open(
            this,
            get("/watch"),
            [&](std::string_view bytes) {
                if (!bytes.empty()) begun.set_value();
                return true;
            },
            [&](HttpAnswer answer) { ended.set_value(std::move(answer)); });
    });
    begun.get_future().get();
    HttpRequest request = get("/x");
    request.patience = {};
    EXPECT_EQ(ask(client, request).status, 0);
    EXPECT_TRUE(ended.get_future().get().passing());
}

TEST_F(HttpClientTest, EveryRoundHasConnectionsOfItsOwn) {
    const Access access{.server = "https://127.0.0.1:1", .authority_pem = "certificates"};
    Line line(access, {});
    const std::string first = line.authority();
    const std::string folder = line.authority_folder("/etc");
    ASSERT_TRUE(line.pulse().give_up(0));
    EXPECT_NE(line.authority(), first);
    EXPECT_THAT(line.authority(), ::testing::StartsWith("certificates"));
    EXPECT_NE(line.authority_folder("/etc"), folder);
}

TEST_F(HttpClientTest, DoesNotTryAgainWhatWillNotPass) {
    FakeApi api([](const Asked& asked) { return Reply{.status = asked.path == "/gone" ? 404 : 503}; });
    HttpClient client(api.access(), api.client_options());
    EXPECT_EQ(ask(client, get("/gone")).status, 404);
    HttpRequest once = get("/once");
    once.patience = {};
    EXPECT_EQ(ask(client, once).status, 503);
    HttpRequest last_word = get("/last");
    last_word.is_final = [](const HttpAnswer& answer) { return answer.status == 503; };
    EXPECT_EQ(ask(client, last_word).status, 503);
    EXPECT_EQ(api.asked().size(), 3U);
}

TEST_F(HttpClientTest, NobodyThereIsAFailureWithAReason) {
    Access nowhere{.server = "http://127.0.0.1:1"};
    HttpClientOptions options;
    options.line.plain_http = true;
    HttpClient client(nowhere, options);
    HttpRequest request = get("/");
    request.patience = {};
    const HttpAnswer answer = ask(client, request);
    EXPECT_EQ(answer.status, 0);
    EXPECT_FALSE(answer.failure.empty());
    EXPECT_TRUE(answer.passing());
}

TEST_F(HttpClientTest, AnAnswerThatIsTooLargeIsNotTaken) {
    FakeApi api([](const Asked&) { return Reply{.status = 200, .body = std::string(1000, 'x')}; });
    HttpClient client(api.access(), api.client_options());
    HttpRequest request = get("/");
    request.answer_limit = 999;
    const HttpAnswer answer = ask(client, request);
    EXPECT_EQ(answer.failure, "the answer is larger than 999 bytes");
    EXPECT_EQ(api.asked().size(), 1U) << "it will not get smaller";
}

TEST_F(HttpClientTest, AClosedGateKeepsRequestsBack) {
    FakeApi api([](const Asked&) { return Reply{}; });
    HttpClient client(api.access(), api.client_options());
    const std::function<bool()> closed = [] { return false; };
    HttpRequest request = get("/");
    request.gate = &closed;
    EXPECT_EQ(ask(client, request).status, 0);
    EXPECT_TRUE(api.asked().empty());
}

TEST_F(HttpClientTest, AGateThatShutsWhileTheConnectionIsMadeKeepsTheRequestBack) {
    std::atomic<int> asked{0};
    const std::function<bool()> gate = [&] { return ++asked == 1; };
    FakeApi api([](const Asked&) { return Reply{}; });
    HttpClient client(api.access(), api.client_options());
    HttpRequest request = get("/");
    request.method = "DELETE";
    request.gate = &gate;
    const HttpAnswer answer = ask(client, request);
    EXPECT_TRUE(answer.withheld);
    EXPECT_FALSE(answer.unsure);
    EXPECT_TRUE(api.asked().empty());
    EXPECT_EQ(client.counts().failures, 0U);
}

TEST_F(HttpClientTest, WorkGoesBeforeNews) {
    FakeApi api([](const Asked&) { return Reply{}; });
    HttpClientOptions options = api.client_options();
    options.in_flight = 1;
    options.idle_in_flight = 1;
    options.connections = 1;  // so that requests arrive as they are begun
    HttpClient client(api.access(), options);
    std::promise<void> all;
    int open = 6;
    const auto send = [&](const std::string& path, Lane lane) {
        HttpRequest request = get(path);
        request.lane = lane;
        client.send(this, std::move(request), [&](const HttpAnswer&) {
            if (--open == 0) all.set_value();
        });
    };
    client.run(this, [&] {  // all at once
        for (const char* path : {"/idle1", "/idle2", "/idle3"})
            send(path, Lane::kIdle);
        for (const char* path : {"/usual1", "/usual2"})
            send(path, Lane::kUsual);
        send("/urgent", Lane::kUrgent);
    });
    all.get_future().get();
    const std::vector<std::string> order = paths_asked(api);
    // Nothing of lower rank is begun before there is room.
    const auto at = [&](const std::string& path) { return std::ranges::find(order, path) - order.begin(); };
    EXPECT_LT(at("/usual1"), at("/usual2"));
    EXPECT_LT(at("/usual1"), at("/idle2"));
    EXPECT_LT(at("/idle1"), at("/idle2"));
    EXPECT_LT(at("/idle2"), at("/idle3"));
}

TEST_F(HttpClientTest, WhoWaitsMayBeGivenABetterRank) {
    FakeApi api([](const Asked&) { return Reply{}; });
    HttpClientOptions options = api.client_options();
    options.in_flight = 1;
    options.connections = 1;
    HttpClient client(api.access(), options);
    std::promise<void> all;
    int open = 4;
    client.run(this, [&] {
        std::vector<std::uint64_t> numbers;
        for (const char* path : {"/first", "/second", "/third", "/fourth"}) {
            HttpRequest request = get(path);
            request.rank = 7;
            numbers.push_back(client.submit(this, std::move(request), [&](const HttpAnswer&) {
                if (--open == 0) all.set_value();
            }));
        }
        EXPECT_TRUE(client.hasten(numbers[2], 7, 0));
        EXPECT_FALSE(client.hasten(numbers[2], 7, 0)) << "it has another rank now";
    });
    all.get_future().get();
    const std::vector<std::string> order = paths_asked(api);
    EXPECT_EQ(order, (std::vector<std::string>{"/third", "/first", "/second", "/fourth"}));
}

TEST_F(HttpClientTest, WhoRestsMayBeGivenABetterRank) {
    FakeApi api([first = std::make_shared<std::atomic<bool>>(true)](const Asked& asked) {
        if (asked.path == "/slow") return Reply{.silent = true};
        if (asked.path == "/rests" && first->exchange(false)) return Reply{.status = 503, .retry_after = "1"};
        return Reply{};
    });
    HttpClientOptions options = api.client_options();
    options.in_flight = 1;
    HttpClient client(api.access(), options);
    std::promise<void> all;
    int open = 3;
    const auto send = [&](const char* path, std::uint64_t rank) {
        HttpRequest request = get(path);
        request.rank = rank;
        return client.submit(this, std::move(request), [&](const HttpAnswer&) {
            if (--open == 0) all.set_value();
        });
    };
    std::uint64_t rests = 0;
    client.run(this, [&] { rests = send("/rests", 7); });
    while (client.counts().retries == 0)
        std::this_thread::yield();
    client.run(this, [&] {
        static_cast<void>(send("/slow", 3));
        static_cast<void>(send("/waits", 3));
        EXPECT_TRUE(client.hasten(rests, 7, 0));
        // Timers end in order: this one after the longest that anybody rests who was told to wait for a second.
        client.run_after(this, {1'300'000}, [&] { api.end_streams(); });
    });
    all.get_future().get();
    const std::vector<std::string> order = paths_asked(api);
    EXPECT_EQ(order, (std::vector<std::string>{"/rests", "/slow", "/rests", "/waits"}));
}

TEST_F(HttpClientTest, NewsGoesBehindState) {
    FakeApi api([](const Asked&) { return Reply{}; });
    HttpClientOptions options = api.client_options();
    options.idle_in_flight = 1;
    options.connections = 1;
    HttpClient client(api.access(), options);
    std::promise<void> all;
    int open = 4;
    client.run(this, [&] {
        const auto send = [&](const char* path, std::uint64_t rank) {
            HttpRequest request = get(path);
            request.lane = Lane::kIdle;
            request.rank = rank;
            client.send(this, std::move(request), [&](const HttpAnswer&) {
                if (--open == 0) all.set_value();
            });
        };
        send("/news1", HttpRequest::kNews);
        send("/news2", HttpRequest::kNews);
        send("/state1", 0);
        send("/state2", 0);
    });
    all.get_future().get();
    const std::vector<std::string> order = paths_asked(api);
    EXPECT_EQ(order, (std::vector<std::string>{"/state1", "/state2", "/news1", "/news2"}));
}

TEST_F(HttpClientTest, TheOldestNewsIsGivenUpWhenTooMuchWaits) {
    FakeApi api([](const Asked&) { return Reply{}; });
    HttpClientOptions options = api.client_options();
    options.idle_waiting = 2;
    HttpClient client(api.access(), options);
    std::promise<std::string> first;
    client.run(this, [&] {
        for (int i = 0; i < 3; ++i) {
            HttpRequest request = get("/" + std::to_string(i));
            request.lane = Lane::kIdle;
            client.send(this, std::move(request), [&, i](const HttpAnswer& answer) {
                if (i == 0) first.set_value(answer.failure);
            });
        }
    });
    EXPECT_THAT(first.get_future().get(), ::testing::HasSubstr("given up"));
    EXPECT_TRUE(api.wait([](const auto& asked) { return asked.size() == 2; }));
    client.forget(this);
}

TEST_F(HttpClientTest, ForgottenOwnersAreNotCalled) {
    FakeApi api([](const Asked&) { return Reply{.body = "", .stays_open = true}; });
    HttpClient client(api.access(), api.client_options());
    const auto owner = std::make_unique<int>(0);
    client.send(owner.get(), get("/slow"), [&](const HttpAnswer&) { ++*owner; });
    ASSERT_TRUE(api.wait([](const auto& asked) { return asked.size() == 1; }));
    client.run_after(owner.get(), {1}, [&] { client.run(owner.get(), [&] { ++*owner; }); });
    client.forget(owner.get());
    const int before = *owner;
    api.end_streams();
    std::promise<void> round;  // whatever was to come has come
    client.run_after(this, {1'000}, [&] { round.set_value(); });
    round.get_future().get();
    EXPECT_EQ(*owner, before);
}

TEST_F(HttpClientTest, AStreamThatIsRefusedIsOfferedAgain) {
    FakeApi api([](const Asked&) { return Reply{.status = 200, .body = "line\n", .stays_open = true}; });
    HttpClient client(api.access(), api.client_options());
    std::promise<void> refused;
    std::promise<std::string> received;
    std::promise<HttpAnswer> ended;
    bool accept = false;
    client.run(this, [&] {
        client.open(
            this,
            get("/watch"),
            [&](std::string_view bytes) {
                if (bytes.empty()) return true;  // it has begun
                if (!accept) {
                    refused.set_value();
                    return false;
                }
                received.set_value(std::string(bytes));
                return true;
            },
            [&](HttpAnswer answer) { ended.set_value(std::move(answer)); });
    });
    refused.get_future().get();
    client.run(this, [&] {
        accept = true;
        client.resume_streams();
    });
    EXPECT_EQ(received.get_future().get(), "line\n");
    api.end_streams();
    EXPECT_EQ(ended.get_future().get().status, 200);
}

TEST_F(HttpClientTest, TheTokenIsNeverLogged) {
    std::ostringstream text;
    const auto before = spdlog::default_logger();
    const auto logger =
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
    logger->set_level(spdlog::level::trace);
    spdlog::set_default_logger(logger);
    {
        int calls = 0;
        FakeApi api([&](const Asked&) { return Reply{.status = ++calls < 3 ? 500 : 401, .body = "{}"}; });
        HttpClient client(api.access(), api.client_options());
        EXPECT_EQ(ask(client, get("/x")).status, 401);
    }
    spdlog::set_default_logger(before);
    EXPECT_THAT(text.str(), ::testing::HasSubstr("GET /x"));
    EXPECT_THAT(text.str(), ::testing::Not(::testing::HasSubstr("very-secret")));
}

}  // namespace
}  // namespace reprieve
