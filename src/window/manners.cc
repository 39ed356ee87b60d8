#include "window/manners.h"

#include "base/utf8.h"
#include "manifest/json_fields.h"
#include "web/etag.h"
#include "web/server.h"

namespace reprieve::window {
namespace {

// "host:port" -> "host"; "[::1]:port" -> "::1"
std::string host_name(std::string host) {
    if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
    return host.substr(0, host.find(':'));
}

}  // namespace

WebAnswer with_manners(WebAnswer answer, const std::string& policy) {
    answer.headers["Content-Security-Policy"] = policy;
    answer.headers["X-Content-Type-Options"] = "nosniff";
    answer.headers["Referrer-Policy"] = "no-referrer";
    answer.headers["Cross-Origin-Opener-Policy"] = "same-origin";
    answer.headers["Cross-Origin-Resource-Policy"] = "same-origin";
    return answer;
}

WebAnswer unless_known(const WebRequest& request, WebAnswer answer, const std::string& etag) {
    answer.headers["ETag"] = etag;
    answer.headers.try_emplace("Cache-Control", "no-cache");
    const bool reads = request.method == "GET" || request.method == "HEAD";
    if (!reads || !names_etag(request.header("If-None-Match"), etag)) return answer;
    answer.status = 304;
    answer.body.clear();
    answer.gzipped = false;
    return answer;
}

WebAnswer refusal(int status, const std::string& message) {
    OrderedJson body = OrderedJson::object();
    body["error"] = valid_utf8(message);
    return with_manners(
        {.status = status, .body = body.dump() + "\n", .content_type = "application/json; charset=utf-8"});
}

std::optional<WebAnswer> refuse_foreign(const WebRequest& request, bool only_loopback) {
    const std::string host = request.header("Host");
    if (only_loopback && !names_this_machine(host_name(host)))
        return refusal(421, "the window answers only to names of this machine");
    const std::string origin = request.header("Origin");
    if (request.method == "POST" && !origin.empty() && origin != "http://" + host && origin != "https://" + host)
        return refusal(403, "requests from other pages are not answered");
    return std::nullopt;
}

}  // namespace reprieve::window
