#include "kube/fake_api.h"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <thread>

#include "base/check.h"

namespace reprieve {
namespace {

constexpr std::chrono::seconds kNever{60};
constexpr std::size_t kThreads = 64;
constexpr int kBacklog = 256;

}  // namespace

struct FakeApi::Listener {
    httplib::Server server;
    std::thread thread;
    int port = 0;
};

FakeApi::FakeApi(Script script) : script_(std::move(script)), listener_(std::make_unique<Listener>()) {
    httplib::Server& server = listener_->server;
    server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server.set_keep_alive_max_count(1'000'000);
    server.set_tcp_nodelay(true);
    const auto handle = [this](const httplib::Request& request, httplib::Response& response) {
        const std::size_t mark = request.target.find('?');
        Asked asked{.method = request.method,
                    .path = request.path,
                    .query = mark == std::string::npos ? std::string() : request.target.substr(mark + 1),
                    .body = request.body,
                    .authorization = request.get_header_value("Authorization")};
        Reply reply;
        std::size_t round = 0;
        {
            std::unique_lock lock(mutex_);
            asked_.push_back(asked);
            round = stream_round_;
            reply = script_(asked);
            changed_.notify_all();
            if (reply.silent) wait_for_end(lock, round);
        }
        response.status = reply.status;
        if (!reply.retry_after.empty()) response.set_header("Retry-After", reply.retry_after);
        if (!reply.date.empty()) response.set_header("Date", reply.date);
        if (!reply.stays_open) return response.set_content(reply.body, "application/json");
        response.set_chunked_content_provider("application/json",
                                              [this, round, body = reply.body](std::size_t, httplib::DataSink& sink) {
                                                  if (!body.empty()) sink.write(body.data(), body.size());
                                                  std::unique_lock lock(mutex_);
                                                  wait_for_end(lock, round);
                                                  sink.done();
                                                  return true;
                                              });
    };
    server.Get(".*", handle).Post(".*", handle).Put(".*", handle).Patch(".*", handle).Delete(".*", handle);
    // The library lets five connections wait; one more and its client tries again only after a second.
    socket_t accepting = INVALID_SOCKET;
    server.set_socket_options([&](socket_t made) { accepting = made; });
    listener_->port = server.bind_to_any_port("127.0.0.1");
    REPRIEVE_CHECK(::listen(accepting, kBacklog) == 0, "no port to listen on");
    listener_->thread = std::thread([this] { listener_->server.listen_after_bind(); });
    while (!server.is_running())
        std::this_thread::yield();
}

FakeApi::~FakeApi() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    listener_->server.stop();
    listener_->thread.join();
}

void FakeApi::wait_for_end(std::unique_lock<std::mutex>& lock, std::size_t round) {
    changed_.wait_for(lock, kNever, [&] { return stopping_ || stream_round_ != round; });
}

Access FakeApi::access() const {
    return {.server = fmt::format("http://127.0.0.1:{}", listener_->port), .token = "very-secret"};
}

HttpClientOptions FakeApi::client_options() const {
    HttpClientOptions options;
    options.line.plain_http = true;
    return options;
}

std::vector<FakeApi::Asked> FakeApi::asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
}

std::size_t FakeApi::count(const std::string& method, const std::string& path) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::ranges::count_if(asked_, [&](const Asked& one) { return one.is(method, path); }));
}

bool FakeApi::wait(const std::function<bool(const std::vector<Asked>&)>& condition) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kNever, [&] { return condition(asked_); });
}

void FakeApi::end_streams() {
    {
        const std::lock_guard lock(mutex_);
        ++stream_round_;
    }
    changed_.notify_all();
}

std::string list_json(const std::string& version, const std::vector<std::string>& items, const std::string& continued) {
    return fmt::format(
        R"({{"kind":"List","apiVersion":"v1","metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
        version,
        continued,
        fmt::join(items, ","));
}

std::string pod_json(const std::string& name,
                     const std::string& version,
                     const std::string& spec,
                     const std::string& status,
                     const std::string& metadata) {
    return fmt::format(
        R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{}","namespace":"ns","uid":"uid-{}","resourceVersion":"{}"{}{}}},"spec":{{{}}},"status":{{{}}}}})",
        name,
        name,
        version,
        metadata.empty() ? "" : ",",
        metadata,
        spec,
        status);
}

std::string event_json(const std::string& type, const std::string& object) {
    return fmt::format(R"({{"type":"{}","object":{}}})", type, object) + "\n";
}

std::string status_json(int code, const std::string& reason, const std::string& message) {
    return fmt::format(
        R"({{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"{}","message":"{}","code":{}}})",
        reason,
        message,
        code);
}

}  // namespace reprieve
