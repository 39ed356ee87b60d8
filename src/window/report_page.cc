#include "window/report_page.h"

#include "web/etag.h"
#include "window/manners.h"
#include "window/report.h"

namespace reprieve::window {

ReportPage::ReportPage(std::string html, bool only_loopback)
    : html_(std::move(html)),
      // What a report says of itself in its head, and what only a header can say.
      policy_(std::string(kReportPolicy) + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
      etag_(etag_of(html_)),
      only_loopback_(only_loopback) {}

void ReportPage::route(WebServer& server) const {
    server.guard([this](const WebRequest& request) { return refuse_foreign(request, only_loopback_); });
    server.refusals(refusal);
    server.get("/", [this](const WebRequest& request) {
        return with_manners(unless_known(request, {.body = html_, .content_type = "text/html; charset=utf-8"}, etag_),
                            policy_);
    });
}

}  // namespace reprieve::window
