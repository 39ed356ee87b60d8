#include "web/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <regex>
#include <thread>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "web/connection_threads.h"
#include "web/gzip.h"

namespace reprieve {
namespace {

constexpr std::size_t kMostConnections = 512;
constexpr int kBacklog = 512;  // connections that the kernel keeps until somebody has time to take them
constexpr std::size_t kLargestBody = 8U << 20U;
constexpr std::size_t kWorthCompressing = 1024;
constexpr int kBindTries = 40;
constexpr std::chrono::milliseconds kBindPause{50};

WebRequest request_of(const httplib::Request& request) {
    return {.method = request.method,
            .path = request.path,
            .body = request.body,
            .query = [&](const std::string& key) { return request.get_param_value(key.c_str()); },
            .header = [&](const std::string& name) { return request.get_header_value(name.c_str()); }};
}

bool accepts_gzip(const httplib::Request& request) {
    return request.get_header_value("Accept-Encoding").find("gzip") != std::string::npos;
}

// The stream ends with the client, with the server, or by itself.
void send_stream(httplib::Response& response, const WebAnswer& answer, const std::atomic<bool>& stopping) {
    response.set_chunked_content_provider(answer.content_type,
                                          [next = answer.stream, &stopping](std::size_t, httplib::DataSink& sink) {
                                              if (stopping || !sink.is_writable()) return false;
                                              const std::optional<std::string> piece = next();
                                              if (!piece) {
                                                  sink.done();
                                                  return true;
                                              }
                                              return piece->empty() || sink.write(piece->data(), piece->size());
                                          });
}

// By a content provider: the library would compress what is set as content again, and slowly.
void send_body(httplib::Response& response, std::string bytes, const std::string& type) {
    auto body = std::make_shared<const std::string>(std::move(bytes));
    response.set_content_provider(
        body->size(), type, [body](std::size_t at, std::size_t size, httplib::DataSink& sink) {
            return sink.write(body->data() + at, size);
        });
}

void send(const httplib::Request& request,
          httplib::Response& response,
          WebAnswer answer,
          const std::atomic<bool>& stopping) {
    response.status = answer.status;
    for (const auto& [name, value] : answer.headers)
        response.set_header(name, value);
    if (answer.stream) return send_stream(response, answer, stopping);
    if (answer.gzipped && !accepts_gzip(request)) {
        auto plain = gunzip(answer.body);
        if (plain) answer.body = std::move(*plain);
        answer.gzipped = !plain;
    } else if (!answer.gzipped && answer.body.size() >= kWorthCompressing && accepts_gzip(request)) {
        answer.body = gzip(answer.body);
        answer.gzipped = true;
    }
    response.set_header("Vary", "Accept-Encoding");
    if (answer.gzipped) response.set_header("Content-Encoding", "gzip");
    if (answer.body.empty()) return;
    send_body(response, std::move(answer.body), answer.content_type);
}

std::string sentence_of(int status, const httplib::Request& request) {
    switch (status) {
        case 404:
            return fmt::format("nothing is at {}", valid_utf8(request.path));
        case 405:
            return fmt::format("{} is not for {}", valid_utf8(request.path), request.method);
        case 411:
            return "the request does not say how long its body is (Content-Length)";
        case 413:
            return fmt::format("bodies of more than {} MiB are not taken", kLargestBody >> 20U);
        case 415:
            return "a form with parts is not taken: the body is the text itself";
        case 414:
            return fmt::format("addresses of more than {} bytes are not taken", CPPHTTPLIB_REQUEST_URI_MAX_LENGTH);
        default:
            return status < 500 ? "the request cannot be understood" : "the request could not be answered";
    }
}

// The library would wait for a body without a length until it runs out of patience.
bool has_endless_body(const httplib::Request& request) {
    const bool brings_body = request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
    return brings_body && !request.has_header("Content-Length") && !request.has_header("Transfer-Encoding");
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
    socket_t socket = INVALID_SOCKET;  // the last one that was made: that which is listened on
    std::atomic<bool> stopping = false;
    Guard guard;
    Refusal refusal = [](int status, const std::string& sentence) {
        return WebAnswer{.status = status, .body = sentence + "\n"};
    };
    struct Route {
        std::regex path;
        std::string method;
    };
    std::vector<Route> routes;

    httplib::Server::Handler adapt(Handler handler) {
        return [this, handler = std::move(handler)](const httplib::Request& request, httplib::Response& response) {
            send(request, response, handler(request_of(request)), stopping);
        };
    }

    // The methods that are routed at that path: "GET, HEAD"; empty: nothing is.
    [[nodiscard]] std::string allowed(const std::string& path) const {
        std::string out;
        for (const Route& route : routes) {
            if (std::regex_match(path, route.path)) out += (out.empty() ? "" : ", ") + route.method;
        }
        return out;
    }

    httplib::Server::HandlerResponse look_first(const httplib::Request& request, httplib::Response& response) {
        using enum httplib::Server::HandlerResponse;
        if (guard) {
            if (std::optional<WebAnswer> answer = guard(request_of(request))) {
                send(request, response, std::move(*answer), stopping);
                return Handled;
            }
        }
        if (!has_endless_body(request)) return Unhandled;
        const std::string methods = allowed(request.path);
        response.status = methods.find(request.method) == std::string::npos ? 404 : 411;
        return Handled;
    }

    // The library comes here with every error, also with those that a handler has answered.
    void refuse(const httplib::Request& request, httplib::Response& response) const {
        if (!response.body.empty() || response.content_provider_) return;
        int status = response.status;
        const std::string methods = allowed(request.path);
        // The library calls a TRACE that no route takes a bad request.
        const bool unrouted = status == 404 || (status == 400 && request.method == "TRACE");
        if (unrouted && !methods.empty()) status = 405;
        WebAnswer answer = refusal(status, sentence_of(status, request));
        if (status == 405) answer.headers["Allow"] = methods;
        send(request, response, std::move(answer), stopping);
    }
};

WebServer::WebServer() : listener_(std::make_unique<Listener>()) {
    listener_->server.new_task_queue = [] { return new ConnectionThreads(kMostConnections); };
    // A connection holds a thread: it is given back after the answer.
    listener_->server.set_keep_alive_max_count(1);
    listener_->server.set_payload_max_length(kLargestBody);
    listener_->server.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
        return listener_->look_first(request, response);
    });
    listener_->server.set_error_handler(
        [this](const httplib::Request& request, httplib::Response& response) { listener_->refuse(request, response); });
    // So that a second server on the port is noticed, and a restart is not kept waiting.
    listener_->server.set_socket_options([this](socket_t socket) {
        listener_->socket = socket;
        const int yes = 1;
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
}

WebServer::~WebServer() { stop(); }

void WebServer::get(const std::string& path, Handler handler) {
    listener_->routes.push_back({std::regex(path), "GET, HEAD"});
    listener_->server.Get(path, listener_->adapt(std::move(handler)));
}

// Bodies are read here: the library would refuse more than 8 KiB of what calls itself a form, as curl does unasked.
void WebServer::post(const std::string& path, Handler handler) {
    listener_->routes.push_back({std::regex(path), "POST"});
    listener_->server.Post(
        path,
        [listener = listener_.get(), handler = std::move(handler)](
            const httplib::Request& request, httplib::Response& response, const httplib::ContentReader& read) {
            if (request.is_multipart_form_data()) {
                response.status = 415;
                return;
            }
            WebRequest taken = request_of(request);
            const auto keep = [&](const char* bytes, std::size_t size) {
                taken.body.append(bytes, size);
                return taken.body.size() <= kLargestBody;
            };
            if (!read(keep)) {
                // Compressed bodies grow only here.
                if (taken.body.size() > kLargestBody) response.status = 413;
                if (response.status < 400) response.status = 400;
                return;
            }
            send(request, response, handler(taken), listener->stopping);
        });
}

void WebServer::probe(const std::string& path, Probe probe) {
    get(path, [probe = std::move(probe)](const WebRequest&) -> WebAnswer {
        const Result<void> well = probe();
        if (well) return {.status = 200, .body = "ok"};
        return {.status = 503, .body = well.error().message + "\n"};
    });
}

void WebServer::guard(Guard guard) { listener_->guard = std::move(guard); }

void WebServer::refusals(Refusal refusal) { listener_->refusal = std::move(refusal); }

Result<void> WebServer::start(const std::string& text) {
    const Result<Address> address = read_address(text);
    if (!address) return std::unexpected(address.error());
    httplib::Server& server = listener_->server;
    const auto bind = [&](const std::string& host) {
        if (address->port == 0) return server.bind_to_any_port(host);
        return server.bind_to_port(host, address->port) ? address->port : -1;
    };
    const auto bind_any = [&] {
        // No host means every address, of both families where there are two.
        const int port = bind(address->host.empty() ? "::" : address->host);
        return port <= 0 && address->host.empty() ? bind("0.0.0.0") : port;
    };
    int port = bind_any();
    // Who was killed a moment ago may still be letting go of the port.
    for (int tries = 0; port <= 0 && tries < kBindTries; ++tries) {
        std::this_thread::sleep_for(kBindPause);
        port = bind_any();
    }
    if (port <= 0)
        return fail(fmt::format("{}: cannot be listened on: another program does, or it is not of this machine", text));
    listener_->port = port;
    // The library has listened with room for five: a sixth that comes in the same moment would try again after seconds.
    ::listen(listener_->socket, kBacklog);
    listener_->thread = std::thread([this] { listener_->server.listen_after_bind(); });
    // A stop before the loop runs would be missed by it.
    while (!server.is_running())
        std::this_thread::yield();
    return {};
}

void WebServer::stop() {
    if (!listener_->thread.joinable()) return;
    listener_->stopping = true;
    listener_->server.stop();
    listener_->thread.join();
}

bool names_this_machine(const std::string& host) {
    in_addr address{};
    return host == "localhost" || host == "::1" ||
           (inet_pton(AF_INET, host.c_str(), &address) == 1 && ntohl(address.s_addr) >> 24U == 127);
}

bool listens_only_here(const std::string& text) {
    const Result<Address> address = read_address(text);
    return address && names_this_machine(address->host);
}

int WebServer::port() const { return listener_->port; }

}  // namespace reprieve
