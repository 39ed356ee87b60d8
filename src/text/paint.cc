#include "text/paint.h"

#include <fmt/format.h>

#include "base/check.h"

namespace reprieve {
namespace {

std::string_view code_of(Paint paint) {
    switch (paint) {
        case Paint::kPlain:
            return "";
        case Paint::kBold:
            return "1";
        case Paint::kDim:
            return "2";
        case Paint::kRed:
            return "31";
        case Paint::kGreen:
            return "32";
        case Paint::kYellow:
            return "33";
    }
    REPRIEVE_CHECK(false, "paint {}", static_cast<int>(paint));
}

}  // namespace

std::string painted(std::string_view text, Paint paint, bool colour) {
    if (!colour || paint == Paint::kPlain || text.empty()) return std::string(text);
    return fmt::format("\x1b[{}m{}\x1b[0m", code_of(paint), text);
}

}  // namespace reprieve
