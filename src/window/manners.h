// Manners: what every answer to a browser carries, and whom the window answers at all.
#pragma once

#include <optional>
#include <string>

#include "web/server.h"

namespace reprieve::window {

// Where everything on a page comes from the server itself.
inline constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// The answer with a Content-Security-Policy and the other headers that keep foreign pages away from it.
[[nodiscard]] WebAnswer with_manners(WebAnswer answer, const std::string& policy = kPagePolicy);

// The answer with this ETag, which the client asks about before it trusts what it has; 304 without a body where it has
// just that.
[[nodiscard]] WebAnswer unless_known(const WebRequest& request, WebAnswer answer, const std::string& etag);

// {"error": "a sentence"}, as every error of the window is told. Bytes of the message that are no UTF-8 are replaced.
[[nodiscard]] WebAnswer refusal(int status, const std::string& message);

// A foreign page whose name was made to point here must not get an answer, where only this machine is to be answered
// to; nor may one send us a form. Nothing: the request may go on.
[[nodiscard]] std::optional<WebAnswer> refuse_foreign(const WebRequest& request, bool only_loopback);

}  // namespace reprieve::window
