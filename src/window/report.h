// A report as one HTML file that needs nothing else: the page, with its data inside.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace reprieve::window {

// A report may not ask anybody for anything; its scripts are inline, as it is one file.
inline constexpr const char* kReportPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

// `kind` says what the data is: "simulate" or "referee". `json` is the data, any valid JSON document: the same that the
// command writes with -o json, and for `simulate` what docs/window.md lists beside it. Written by the code that draws
// the window, scripts inline; nothing is loaded from elsewhere. The error: this build has no window.
[[nodiscard]] Result<std::string> report_html(std::string_view kind, std::string_view json);

}  // namespace reprieve::window
