// ReportPage: a report of simulate or referee on a web server, as safe from foreign pages as the window.
#pragma once

#include <string>

#include "web/server.h"

namespace reprieve::window {

class ReportPage {
public:
    // `only_loopback`: see WindowOptions.
    ReportPage(std::string html, bool only_loopback);

    // Routes it to "/". The server must not outlive this.
    void route(WebServer& server) const;

private:
    std::string html_;
    std::string policy_;
    std::string etag_;
    bool only_loopback_;
};

}  // namespace reprieve::window
