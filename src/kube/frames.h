// Frames: list pages and watch lines cut into objects, each as the JSON text that the server sent.
//
// Cutting looks only at what stands around the objects; whether one of them is any good is for the decoder to say.
#pragma once

#include <simdjson.h>

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reprieve {

struct PageHead {
    std::string version;    // metadata.resourceVersion
    std::string continued;  // metadata.continue: empty on the last page
};

enum class WatchEvent : unsigned char { kAdded, kModified, kDeleted, kBookmark, kError, kUnknown };

struct WatchFrame {
    WatchEvent event = WatchEvent::kUnknown;
    std::string_view object;
};

class FrameReader {
public:
    [[nodiscard]] Result<PageHead> page_head(std::string_view page);
    // Calls `visit` with every item, in order.
    [[nodiscard]] Result<void> each_item(std::string_view page, const std::function<void(std::string_view)>& visit);

    // One line of a watch, without its end.
    [[nodiscard]] WatchFrame frame(std::string_view line);
    // metadata.resourceVersion of an object; empty: it has none.
    [[nodiscard]] std::string version_of(std::string_view object);
    // metadata.namespace and metadata.name of an object that cannot be decoded.
    struct Name {
        std::string ns;
        std::string name;
    };
    [[nodiscard]] Name name_of(std::string_view object);
    // The code of a Status object; 0: it has none.
    [[nodiscard]] int status_code(std::string_view object);

private:
    [[nodiscard]] bool open(std::string_view json, simdjson::ondemand::document& document);

    simdjson::ondemand::parser parser_;
    std::string padded_;
    std::string frame_;
};

}  // namespace reprieve
