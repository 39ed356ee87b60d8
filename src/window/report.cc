#include "window/report.h"

#include "web/gzip.h"
#include "window/page.h"

namespace reprieve::window {
namespace {

// Inside a script element "</script" would end it, "<!--" would change how it is read.
std::string inside_script(std::string_view json) {
    std::string out;
    out.reserve(json.size());
    for (const char c : json) {
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    }
    return out;
}

Result<std::string> plain_file(std::string_view name) {
    const auto file = page_file("", name);
    if (!file) return std::unexpected(file.error());
    return gunzip(file->gzip);
}

}  // namespace

Result<std::string> report_html(std::string_view kind, std::string_view json) {
    if (!has_page()) return fail("this build has no window, so it writes no HTML: it was made without Node");
    const auto script = plain_file("app.js");
    const auto style = plain_file("style.css");
    if (!script) return std::unexpected(script.error());
    if (!style) return std::unexpected(style.error());
    std::string title = "Reprieve";
    if (kind == "simulate") title = "Reprieve: simulation";
    if (kind == "referee") title = "Reprieve: referee";
    std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + std::string(kReportPolicy) + "\">\n";
    out += "<title>" + title + "</title>\n<style>\n" + *style + "\n</style>\n</head>\n<body>\n<div id=\"app\"></div>\n";
    out +=
        "<noscript><p>This report is drawn by a script; its data is in this file, in the element "
        "#report-data.</p></noscript>\n";
    out += "<script type=\"application/json\" id=\"report-data\" data-kind=\"" + std::string(kind) + "\">" +
           inside_script(json);
    out += "</script>\n<script>\n" + *script + "\n</script>\n</body>\n</html>\n";
    return out;
}

}  // namespace reprieve::window
