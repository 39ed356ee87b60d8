#include "window/page.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "web/etag.h"
#include "web/gzip.h"
#include "window/page_bytes.h"

namespace reprieve::window {
namespace {

std::string type_of(std::string_view name) {
    if (name.ends_with(".html")) return "text/html; charset=utf-8";
    if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
    if (name.ends_with(".css")) return "text/css; charset=utf-8";
    if (name.ends_with(".svg")) return "image/svg+xml";
    return "application/octet-stream";
}

PageFile file_of(std::string_view name, std::string bytes) {
    return {.gzip = bytes, .content_type = type_of(name), .etag = etag_of(bytes)};
}

// "app-1a2b3c4d.js" -> "app.js"
std::string without_digest(std::string_view name) {
    const std::size_t dash = name.rfind('-');
    const std::size_t dot = name.rfind('.');
    if (dash == std::string_view::npos || dot == std::string_view::npos || dot < dash) return std::string(name);
    return std::string(name.substr(0, dash)) + std::string(name.substr(dot));
}

bool is_plain_name(std::string_view name) {
    return !name.empty() && name.front() != '.' && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    });
}

}  // namespace

bool has_page() { return !std::empty(kPageFiles) && !kPageFiles[0].bytes.empty(); }

Result<PageFile> page_file(const std::string& folder, std::string_view name) {
    if (!is_plain_name(name)) return fail("no such file");
    if (!folder.empty()) {
        std::ifstream in(folder + "/" + without_digest(name) + ".gz", std::ios::binary);
        if (in) return file_of(name, {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()});
    }
    if (!has_page()) {
        return fail(
            "this build has no window: it was made without Node. The API is at /api/v1/now, "
            "/api/v1/decisions and so on (docs/window.md).");
    }
    for (const EmbeddedFile& file : kPageFiles) {
        if (file.name == without_digest(name)) return file_of(name, std::string(file.bytes));
    }
    return fail("no such file");
}

}  // namespace reprieve::window
