// WebServer: a small HTTP server: health, readiness, metrics, and whatever else is routed through it.
//
// Handlers run on the server's own threads; they must take care of what they touch. Routes are set before `start`.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"

namespace reprieve {

struct WebRequest {
    std::string path;
    std::string body;
    std::function<std::string(const std::string& key)> query;  // empty: not given
};

struct WebAnswer {
    int status = 200;
    std::string body;
    std::string content_type = "text/plain; charset=utf-8";
};

class WebServer {
public:
    using Handler = std::function<WebAnswer(const WebRequest&)>;
    // Nothing: all is well; else what is wrong.
    using Probe = std::function<Result<void>()>;

    WebServer();
    ~WebServer();
    WebServer(const WebServer&) = delete;
    WebServer& operator=(const WebServer&) = delete;

    // `path` is a regular expression that must match as a whole.
    void get(const std::string& path, Handler handler);
    void post(const std::string& path, Handler handler);
    // GET answers "ok" with 200, or what is wrong with 503.
    void probe(const std::string& path, Probe probe);

    // "host:port"; port 0 is any that is free. Returns when connections are accepted.
    [[nodiscard]] Result<void> start(const std::string& address);
    void stop();
    // The port that is listened on; 0 before `start`.
    [[nodiscard]] int port() const;

private:
    struct Listener;
    std::unique_ptr<Listener> listener_;
};

}  // namespace reprieve
