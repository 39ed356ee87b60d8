// The page as it was built from ui/, inside the program: compressed once, served as it is, and put into reports.
//
// A build without Node has no page. Then the program says so wherever somebody asks for it; the API works all the same.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace reprieve::window {

struct PageFile {
    std::string gzip;
    std::string content_type;
    std::string etag;
};

[[nodiscard]] bool has_page();

// A file of the page; `folder` is where to look first, empty: only in the program.
[[nodiscard]] Result<PageFile> page_file(const std::string& folder, std::string_view name);

}  // namespace reprieve::window
