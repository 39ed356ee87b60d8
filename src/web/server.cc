#include "web/server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <charconv>
#include <thread>

namespace reprieve {
namespace {

constexpr std::size_t kThreads = 4;
constexpr std::size_t kLargestBody = 8U << 20U;

httplib::Server::Handler adapt(WebServer::Handler handler) {
    return [handler = std::move(handler)](const httplib::Request& request, httplib::Response& response) {
        const WebAnswer answer =
            handler({.path = request.path, .body = request.body, .query = [&](const std::string& key) {
                         return request.get_param_value(key.c_str());
                     }});
        response.status = answer.status;
        response.set_content(answer.body, answer.content_type);
    };
}

struct Address {
    std::string host;
    int port = 0;
};

Result<Address> read_address(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    const auto wrong = [&] { return fail(fmt::format("{}: not an address of the form host:port", text)); };
    if (colon == std::string::npos) return wrong();
    Address address{.host = text.substr(0, colon)};
    if (address.host.starts_with('[') && address.host.ends_with(']'))
        address.host = address.host.substr(1, address.host.size() - 2);
    if (address.host.empty()) address.host = "0.0.0.0";
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, address.port);
    if (error != std::errc() || rest != end || address.port < 0 || address.port > 65535) return wrong();
    return address;
}

}  // namespace

struct WebServer::Listener {
    httplib::Server server;
    std::thread thread;
    int port = 0;
};

WebServer::WebServer() : listener_(std::make_unique<Listener>()) {
    listener_->server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    listener_->server.set_payload_max_length(kLargestBody);
    // So that a second server on the port is noticed, and a restart is not kept waiting.
    listener_->server.set_socket_options([](socket_t socket) {
        const int yes = 1;
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
}

WebServer::~WebServer() { stop(); }

void WebServer::get(const std::string& path, Handler handler) {
    listener_->server.Get(path, adapt(std::move(handler)));
}

void WebServer::post(const std::string& path, Handler handler) {
    listener_->server.Post(path, adapt(std::move(handler)));
}

void WebServer::probe(const std::string& path, Probe probe) {
    get(path, [probe = std::move(probe)](const WebRequest&) -> WebAnswer {
        const Result<void> well = probe();
        if (well) return {.status = 200, .body = "ok"};
        return {.status = 503, .body = well.error().message + "\n"};
    });
}

Result<void> WebServer::start(const std::string& text) {
    const Result<Address> address = read_address(text);
    if (!address) return std::unexpected(address.error());
    httplib::Server& server = listener_->server;
    int port = address->port;
    if (port == 0)
        port = server.bind_to_any_port(address->host);
    else if (!server.bind_to_port(address->host, port))
        port = -1;
    if (port <= 0) return fail(fmt::format("{}: cannot be listened on", text));
    listener_->port = port;
    listener_->thread = std::thread([this] { listener_->server.listen_after_bind(); });
    // A stop before the loop runs would be missed by it.
    while (!server.is_running())
        std::this_thread::yield();
    return {};
}

void WebServer::stop() {
    if (!listener_->thread.joinable()) return;
    listener_->server.stop();
    listener_->thread.join();
}

int WebServer::port() const { return listener_->port; }

}  // namespace reprieve
