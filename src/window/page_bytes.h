// The bytes of the page; page_bytes.cc is written by the build (cmake/window.cmake).
#pragma once

#include <array>
#include <string_view>

namespace reprieve::window {

struct EmbeddedFile {
    std::string_view name;
    std::string_view bytes;  // gzip; empty: this build has no window
};

extern const std::array<EmbeddedFile, 3> kPageFiles;

}  // namespace reprieve::window
