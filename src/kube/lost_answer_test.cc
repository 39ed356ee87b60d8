// What becomes of a request whose connection ends before an answer comes.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <future>
#include <string>
#include <string_view>
#include <thread>

#include "kube/http_client.h"

namespace reprieve {
namespace {

// Answers every request but the second one: there it closes the connection.
class ForgetfulServer {
public:
    ForgetfulServer() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(listener_, 8), 0);
        EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~ForgetfulServer() {
        ::shutdown(listener_, SHUT_RDWR);
        ::close(listener_);
        thread_.join();
    }
    ForgetfulServer(const ForgetfulServer&) = delete;
    ForgetfulServer& operator=(const ForgetfulServer&) = delete;

    [[nodiscard]] std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] int requests() const { return requests_; }

private:
    void serve() {
        for (int connection = 0; (connection = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(connection)) {
            std::array<char, 4096> bytes{};
            while (::recv(connection, bytes.data(), bytes.size(), 0) > 0) {
                if (++requests_ == 2) break;
                constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
                if (::send(connection, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL) < 0) break;
            }
        }
    }

    int listener_;
    std::uint16_t port_ = 0;
    std::atomic<int> requests_ = 0;
    std::thread thread_;
};

class LostAnswerTest : public ::testing::Test {
protected:
    HttpAnswer ask(const char* method) {
        HttpRequest request;
        request.method = method;
        request.path = "/x";
        std::promise<HttpAnswer> answered;
        client_.send(this, std::move(request), [&](HttpAnswer answer) { answered.set_value(std::move(answer)); });
        return answered.get_future().get();
    }
    static HttpClientOptions options() {
        HttpClientOptions out;
        out.line.plain_http = true;
        return out;
    }

    ForgetfulServer server_;
    HttpClient client_{Access{.server = server_.address()}, options()};
};

TEST_F(LostAnswerTest, WhoeverChangesSomethingKnowsThatItWasSentTwice) {
    EXPECT_FALSE(ask("DELETE").unsure);
    const HttpAnswer answer = ask("DELETE");
    EXPECT_TRUE(answer.ok());
    EXPECT_TRUE(answer.unsure);
    EXPECT_EQ(client_.counts().retries, 1U);
    EXPECT_EQ(server_.requests(), 3);
}

TEST_F(LostAnswerTest, WhoeverReadsDoesNotCare) {
    EXPECT_TRUE(ask("GET").ok());
    EXPECT_FALSE(ask("GET").unsure);
    EXPECT_EQ(server_.requests(), 3);
}

}  // namespace
}  // namespace reprieve
