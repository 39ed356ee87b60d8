// Conditional requests: whether the client has already what it asks for.
#pragma once

#include <string>
#include <string_view>

namespace reprieve {

// The strong ETag of a body.
[[nodiscard]] std::string etag_of(std::string_view body);

// Whether an `If-None-Match` header (a list of ETags, or "*") names this one. Weak ones ("W/...", as proxies that
// compress make of ours) count as the same, as RFC 9110 asks of this header.
[[nodiscard]] bool names_etag(std::string_view if_none_match, std::string_view etag);

}  // namespace reprieve
