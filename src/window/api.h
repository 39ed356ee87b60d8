// Window: the page and its API on a web server.
//
// Everything is read-only but for what-if, which works on a copy. Every answer of the API is JSON with an ETag; changes
// are told by server-sent events, and the page then asks for what it shows. docs/window.md describes paths and fields.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "web/server.h"
#include "window/moment.h"
#include "window/questions.h"

namespace reprieve::window {

// What somebody may see.
struct Viewer {
    bool everything = true;
    std::set<std::string> namespaces;  // else only what is in these
};

struct WindowOptions {
    std::string version;
    TakeManifests take;  // none: there is no what-if
    // Whether whoever has this bearer token may look; none: everybody may. The error is what they are told.
    std::function<Result<Viewer>(const std::string& token)> authorize;
    bool only_loopback = true;  // then only names of this machine are answered to, so that no foreign page can ask
    std::string page_folder;    // for development: the page from this folder, not from the program
};

class Window {
public:
    Window(MomentSource& source, WindowOptions options);

    // Routes the page and the API. The server must not outlive this.
    void route(WebServer& server);
    // Event streams end.
    void close() { closing_ = true; }

private:
    using Ask = std::function<Result<std::string>(const WebRequest&)>;

    [[nodiscard]] std::optional<WebAnswer> refuse(const WebRequest& request);
    [[nodiscard]] Result<Viewer> viewer_of(const WebRequest& request);
    void document(WebServer& server, const std::string& path, Ask ask);
    [[nodiscard]] WebAnswer answer(const WebRequest& request, const Result<std::string>& text);

    [[nodiscard]] Result<std::string> now(const WebRequest& request);
    [[nodiscard]] Result<std::string> decisions(const WebRequest& request);
    [[nodiscard]] Result<std::string> decision(const WebRequest& request);
    [[nodiscard]] Result<std::string> waiting(const WebRequest& request);
    [[nodiscard]] WebAnswer what_if(const WebRequest& request);
    [[nodiscard]] WebAnswer events(const WebRequest& request);
    [[nodiscard]] WebAnswer page(const WebRequest& request);
    [[nodiscard]] WebAnswer asset(const WebRequest& request);
    [[nodiscard]] std::string why(const DecisionEntry& entry, bool wait);

    MomentSource& source_;
    WindowOptions options_;
    std::atomic<bool> closing_ = false;
    std::atomic<int> streams_ = 0;
    std::mutex asking_;  // one question to a copy at a time
    std::mutex whys_mutex_;
    std::map<std::string, std::string> whys_;  // decision's id -> its why document
};

}  // namespace reprieve::window
