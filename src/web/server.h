// WebServer: a small HTTP server: health, readiness, metrics, the window, and whatever else is routed through it.
//
// Handlers run on the server's own threads; they must take care of what they touch. Routes are set before `start`.
// Every connection gets a thread of its own, up to a bound that is far above what probes and windows need together: an
// open window cannot keep a probe waiting (decision 66). Answers are compressed here, at zlib's quickest level, and
// never by the library, which would take seconds for what this does in milliseconds.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace reprieve {

struct WebRequest {
    std::string method;
    std::string path;
    std::string body;
    std::function<std::string(const std::string& key)> query;    // empty: not given
    std::function<std::string(const std::string& name)> header;  // empty: not given
};

struct WebAnswer {
    int status = 200;
    std::string body;
    std::string content_type = "text/plain; charset=utf-8";
    std::map<std::string, std::string> headers;
    bool gzipped = false;  // the body is compressed already
    // Set: the answer goes on for as long as this returns a piece (an empty one: nothing for now). It is called again
    // and again, so it should wait a little for news, and it ends when the client is gone or the server stops.
    std::function<std::optional<std::string>()> stream;
};

class WebServer {
public:
    using Handler = std::function<WebAnswer(const WebRequest&)>;
    // Nothing: all is well; else what is wrong.
    using Probe = std::function<Result<void>()>;
    // Looks at a request before it is routed, its body not yet read. An answer ends it there.
    using Guard = std::function<std::optional<WebAnswer>(const WebRequest&)>;

    // An answer with this status that says this sentence.
    using Refusal = std::function<WebAnswer(int status, const std::string& sentence)>;

    WebServer();
    ~WebServer();
    WebServer(const WebServer&) = delete;
    WebServer& operator=(const WebServer&) = delete;

    // `path` is a regular expression that must match as a whole.
    void get(const std::string& path, Handler handler);
    void post(const std::string& path, Handler handler);
    // GET answers "ok" with 200, or what is wrong with 503.
    void probe(const std::string& path, Probe probe);
    void guard(Guard guard);
    // What the server itself answers with: where nothing is routed (404), or not for that method (405, with `Allow`),
    // to bodies and addresses that are too long, to what is no HTTP. The default is the sentence as plain text.
    void refusals(Refusal refusal);

    // "host:port"; port 0 is any that is free. Returns when connections are accepted.
    [[nodiscard]] Result<void> start(const std::string& address);
    void stop();
    // The port that is listened on; 0 before `start`.
    [[nodiscard]] int port() const;

private:
    struct Listener;
    std::unique_ptr<Listener> listener_;
};

// Whether only this machine can reach that address. REQUIRES: it can be listened on.
[[nodiscard]] bool listens_only_here(const std::string& address);
// "localhost", "::1" or a whole address of 127.0.0.0/8: a name of a stranger may begin like one.
[[nodiscard]] bool names_this_machine(const std::string& host);

}  // namespace reprieve
